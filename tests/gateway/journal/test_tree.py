"""The tree against RFC 6962 section 2.1, written down naively here."""

from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.journal import tree


def mth(leaves: list[bytes]) -> bytes:
    """Merkle Tree Hash, as the RFC defines it."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return sha256(b"\x00" + leaves[0]).digest()
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return sha256(b"\x01" + mth(leaves[:k]) + mth(leaves[k:])).digest()


def path(m: int, leaves: list[bytes]) -> list[bytes]:
    """PATH(m, D[n]), as the RFC defines it."""
    if len(leaves) <= 1:
        return []
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    if m < k:
        return [*path(m, leaves[:k]), mth(leaves[k:])]
    return [*path(m - k, leaves[k:]), mth(leaves[:k])]


def subproof(m: int, leaves: list[bytes], whole: bool) -> list[bytes]:
    """SUBPROOF(m, D[n], b), as the RFC defines it."""
    if m == len(leaves):
        return [] if whole else [mth(leaves)]
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    if m <= k:
        return [*subproof(m, leaves[:k], whole), mth(leaves[k:])]
    return [*subproof(m - k, leaves[k:], False), mth(leaves[:k])]


class Grown:
    """A tree grown leaf by leaf, with its nodes kept by position as the journal keeps them."""

    def __init__(self, count: int) -> None:
        self.leaves = [b"entry %d" % number for number in range(count)]
        self.nodes: list[bytes] = []
        self.tree = tree.Frontier()
        for leaf in self.leaves:
            self.tree, born = self.tree.append(tree.leaf_hash(leaf))
            self.nodes.extend(born)

    def fetch(self, level: int, index: int) -> bytes:
        return self.nodes[tree.position(level, index)]


SIZES = st.integers(1, 140)


@pytest.mark.parametrize("count", [*range(20), 31, 32, 33, 127, 128, 129, 255, 256, 257, 511])
def test_root_equals_the_recursive_definition(count):
    grown = Grown(count)
    assert grown.tree.root() == mth(grown.leaves)
    assert len(grown.nodes) == tree.stored(count)


def test_known_root_of_the_certificate_transparency_test_vectors():
    leaves = [bytes.fromhex(text) for text in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657")]
    grown = tree.Frontier()
    for leaf in leaves:
        grown, _ = grown.append(tree.leaf_hash(leaf))
    assert grown.root().hex() == "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c"


@given(SIZES, st.data())
def test_every_earlier_root_is_read_back_from_the_stored_nodes(count, data):
    grown = Grown(count)
    size = data.draw(st.integers(0, count))
    assert tree.frontier(size, grown.fetch).root() == mth(grown.leaves[:size])


@given(SIZES, st.data())
def test_inclusion_proof_is_the_rfc_path_and_verifies(count, data):
    grown = Grown(count)
    index = data.draw(st.integers(0, count - 1))
    proof = tree.inclusion(index, count, grown.fetch)
    leaf = tree.leaf_hash(grown.leaves[index])
    assert proof == path(index, grown.leaves)
    assert tree.verify_inclusion(leaf, index, count, proof, grown.tree.root())


@given(SIZES, st.data())
def test_inclusion_of_anything_else_is_found_out(count, data):
    grown = Grown(count)
    root = grown.tree.root()
    index = data.draw(st.integers(0, count - 1))
    proof = tree.inclusion(index, count, grown.fetch)
    leaf = tree.leaf_hash(grown.leaves[index])
    other = data.draw(st.integers(0, count - 1).filter(lambda number: number != index) if count > 1 else st.just(-1))
    assert not tree.verify_inclusion(tree.leaf_hash(b"forged"), index, count, proof, root)
    assert not tree.verify_inclusion(leaf, other, count, proof, root)
    assert not tree.verify_inclusion(leaf, index, count, proof, sha256(root).digest())
    assert not tree.verify_inclusion(leaf, index, count, [*proof, leaf], root)
    for cut in range(len(proof)):
        assert not tree.verify_inclusion(leaf, index, count, proof[:cut] + proof[cut + 1 :], root)
        bent = [*proof[:cut], sha256(proof[cut]).digest(), *proof[cut + 1 :]]
        assert not tree.verify_inclusion(leaf, index, count, bent, root)


@given(SIZES, st.data())
def test_consistency_proof_is_the_rfc_proof_and_verifies(count, data):
    grown = Grown(count)
    first = data.draw(st.integers(1, count))
    proof = tree.consistency(first, count, grown.fetch)
    assert proof == subproof(first, grown.leaves, True)
    assert tree.verify_consistency(first, count, mth(grown.leaves[:first]), grown.tree.root(), proof)


@given(SIZES, st.data())
def test_a_rewritten_beginning_is_found_out(count, data):
    grown = Grown(count)
    first = data.draw(st.integers(1, count))
    proof = tree.consistency(first, count, grown.fetch)
    old, new = mth(grown.leaves[:first]), grown.tree.root()
    rewritten = mth([b"forged", *grown.leaves[1:first]])
    assert not tree.verify_consistency(first, count, rewritten, new, proof)
    assert not tree.verify_consistency(first, count, old, rewritten, proof)
    assert not tree.verify_consistency(first, count, old, new, [*proof, old])
    for cut in range(len(proof)):
        assert not tree.verify_consistency(first, count, old, new, proof[:cut] + proof[cut + 1 :])
        bent = [*proof[:cut], sha256(proof[cut]).digest(), *proof[cut + 1 :]]
        assert not tree.verify_consistency(first, count, old, new, bent)


@settings(max_examples=20)
@given(st.integers(0, 2**40))
def test_positions_follow_the_order_in_which_nodes_are_born(size):
    _, born = tree.Frontier(size, (b"",) * size.bit_count()).append(b"")
    last = [(level, size >> level) for level in range(len(born))]
    assert [tree.position(level, index) for level, index in last] == list(
        range(tree.stored(size), tree.stored(size + 1))
    )


def test_proofs_beyond_the_tree_are_refused():
    grown = Grown(5)
    with pytest.raises(ValueError, match="leaf 5 is not in a tree of 5"):
        tree.inclusion(5, 5, grown.fetch)
    with pytest.raises(ValueError, match="0 < first <= second"):
        tree.consistency(0, 5, grown.fetch)
