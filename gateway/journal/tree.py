"""The Merkle tree of RFC 6962 section 2.1 over the journal's entries: hashes, roots and proofs. Knows no file.

A *complete* node (level, index) covers the 2^level leaves from index * 2^level on. Only complete nodes are stored, each
once and for ever, in the order in which they come to be: the leaf, then every subtree that this leaf completes, lowest
first. `position` is a node's place in that order, so appending writes at the end and nowhere else.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeAlias

Fetch: TypeAlias = Callable[[int, int], bytes]
"""(level, index) -> the stored hash of that complete node."""

EMPTY_ROOT = sha256(b"").digest()


def leaf_hash(data: bytes) -> bytes:
    """SHA-256(0x00 || entry bytes)."""
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """SHA-256(0x01 || left || right)."""
    return sha256(b"\x01" + left + right).digest()


def position(level: int, index: int) -> int:
    """Where the complete node (level, index) stands in the order of writing, from 0."""
    last_leaf = ((index + 1) << level) - 1
    return 2 * last_leaf - last_leaf.bit_count() + level


def stored(size: int) -> int:
    """How many complete nodes a tree of `size` leaves has."""
    return 2 * size - size.bit_count()


def peaks(size: int) -> list[tuple[int, int]]:
    """The complete nodes (level, index) that tile a tree of `size` leaves, largest first."""
    return [(level, (size >> level) - 1) for level in reversed(range(size.bit_length())) if size >> level & 1]


def tiles(start: int, end: int) -> list[tuple[int, int]]:
    """The largest complete nodes (level, index) that cover the leaves start to end - 1, from left to right."""
    found = []
    while start < end:
        level = (end - start).bit_length() - 1
        if start:
            level = min(level, (start & -start).bit_length() - 1)
        found.append((level, start >> level))
        start += 1 << level
    return found


@dataclass(frozen=True, slots=True)
class Frontier:
    """All that appending needs to know of a tree: its size and the hashes of its `peaks`, largest first."""

    size: int = 0
    hashes: tuple[bytes, ...] = ()

    def append(self, leaf: bytes) -> tuple["Frontier", list[bytes]]:
        """Add one leaf hash.

        Returns:
            The new frontier and the hashes of the nodes that came to be; their positions follow `stored(self.size)`.
        """
        hashes = list(self.hashes)
        born = [leaf]
        below = self.size
        while below & 1:
            born.append(node_hash(hashes.pop(), born[-1]))
            below >>= 1
        return Frontier(self.size + 1, (*hashes, born[-1])), born

    def graft(self, level: int, node: bytes) -> "Frontier":
        """Add a complete node of 2^level leaves at once; the size must be a multiple of that."""
        hashes = list(self.hashes)
        below = self.size >> level
        while below & 1:
            node = node_hash(hashes.pop(), node)
            below >>= 1
        return Frontier(self.size + (1 << level), (*hashes, node))

    def root(self) -> bytes:
        """The tree head hash; of no leaves, SHA-256 of nothing."""
        if not self.hashes:
            return EMPTY_ROOT
        *rest, root = self.hashes
        for left in reversed(rest):
            root = node_hash(left, root)
        return root


def frontier(size: int, fetch: Fetch) -> Frontier:
    """Read the frontier of the first `size` leaves back from the stored nodes."""
    return Frontier(size, tuple(fetch(level, index) for level, index in peaks(size)))


# --- proofs --------------------------------------------------------------------------------------


def inclusion(index: int, size: int, fetch: Fetch) -> list[bytes]:
    """The audit path of leaf `index` in the tree of `size` leaves (RFC 6962 2.1.1), lowest node first.

    Raises:
        ValueError: if the tree has no such leaf.
    """
    if not 0 <= index < size:
        raise ValueError(f"leaf {index} is not in a tree of {size}")
    path: list[bytes] = []
    low, high = 0, size
    while high - low > 1:
        middle = low + _split(high - low)
        if index < middle:
            path.append(_range_hash(middle, high, fetch))
            high = middle
        else:
            path.append(_range_hash(low, middle, fetch))
            low = middle
    return path[::-1]


def consistency(first: int, second: int, fetch: Fetch) -> list[bytes]:
    """The proof that the tree of `first` leaves is the beginning of that of `second` (RFC 6962 2.1.2).

    Raises:
        ValueError: unless 0 < first <= second.
    """
    if not 0 < first <= second:
        raise ValueError(f"no consistency proof from {first} to {second}: sizes must be 0 < first <= second")
    path: list[bytes] = []
    low, high, whole = 0, second, True
    while first != high:
        middle = low + _split(high - low)
        if first <= middle:
            path.append(_range_hash(middle, high, fetch))
            high = middle
        else:
            path.append(_range_hash(low, middle, fetch))
            low, whole = middle, False
    if not whole:
        path.append(_range_hash(low, high, fetch))
    return path[::-1]


def verify_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Tell whether `path` proves that the leaf hash stands at `index` in the tree of `size` leaves with this root."""
    if not 0 <= index < size:
        return False
    here, last, found = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return False
        if here & 1 or here == last:
            found = node_hash(sibling, found)
            while here and not here & 1:
                here, last = here >> 1, last >> 1
        else:
            found = node_hash(found, sibling)
        here, last = here >> 1, last >> 1
    return last == 0 and found == root


def verify_consistency(first: int, second: int, first_root: bytes, second_root: bytes, path: Sequence[bytes]) -> bool:
    """Tell whether `path` proves that the first tree is the beginning of the second."""
    if not 0 < first <= second:
        return False
    if first == second:
        return not path and first_root == second_root
    steps = list(path) if first & (first - 1) else [first_root, *path]
    if not steps:
        return False
    here, last = first - 1, second - 1
    while here & 1:
        here, last = here >> 1, last >> 1
    old = new = steps[0]
    for sibling in steps[1:]:
        if last == 0:
            return False
        if here & 1 or here == last:
            old, new = node_hash(sibling, old), node_hash(sibling, new)
            while here and not here & 1:
                here, last = here >> 1, last >> 1
        else:
            new = node_hash(new, sibling)
        here, last = here >> 1, last >> 1
    return last == 0 and old == first_root and new == second_root


def _split(count: int) -> int:
    """The largest power of two below `count` (which is 2 or more)."""
    return 1 << (count - 1).bit_length() - 1


def _range_hash(low: int, high: int, fetch: Fetch) -> bytes:
    """The hash of leaves low to high - 1: the right end of a tree, or a complete node of it."""
    count = high - low
    if count & (count - 1) == 0:
        level = count.bit_length() - 1
        return fetch(level, low >> level)
    middle = low + _split(count)
    return node_hash(fetch((middle - low).bit_length() - 1, low // (middle - low)), _range_hash(middle, high, fetch))
