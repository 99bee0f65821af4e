"""A proof of the journal stands on its own, and any change of it is refused by name."""

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from journal_lives import KEY, OTHER, Life, boot, make_record, quiet, seal

from gateway.journal import JournalReader, StoreError, canonical, proof, tree

VERIFIER = Path(__file__).parents[3] / "docs" / "verify_export.py"


@pytest.fixture(scope="module")
def journal(tmp_path_factory):
    path = tmp_path_factory.mktemp("proof") / "journal.db"
    life = Life(path)
    life.write(boot(), *(make_record(seq, person="Ana") for seq in range(1, 11)), quiet(2000))
    life.close()
    return path


@pytest.fixture
def whole(journal, tmp_path):
    return exported(journal, tmp_path / "whole.jsonl")


def exported(journal, target, first=0, end=None):
    with JournalReader(journal) as reader, target.open("wb") as out:
        proof.write(reader, out, first, end)
    return target


def independently(path, *more):
    """Run the verifier of the documentation, isolated, so that nothing of ours can be imported."""
    done = subprocess.run(
        [sys.executable, "-I", VERIFIER, path, *more], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stderr == ""
    assert done.returncode == (0 if "sound" in done.stdout else 1)
    return done.stdout.strip()


def judged(path, lines, **more):
    """Write the lines and have both verifiers judge them; return what ours says."""
    path.write_bytes(b"".join(lines))
    problems = proof.check(path, **more)
    assert bool(problems) == ("sound" not in independently(path))
    return problems


@pytest.mark.parametrize(("first", "end"), [(0, None), (0, 1), (3, 9), (7, 8), (21, None), (1, 22), (8, 16)])
def test_any_stretch_of_the_journal_proves_itself(journal, tmp_path, first, end):
    path = exported(journal, tmp_path / "some.jsonl", first, end)
    claim = proof.read_claim(path)
    assert (claim.first, claim.first + claim.count, claim.size) == (first, 22 if end is None else end, 22)
    assert proof.check(path) == []
    assert proof.check(path, vkey=KEY.public.text()) == []
    assert "sound" in independently(path, KEY.public.text())


def test_a_change_is_named(whole):
    lines = whole.read_bytes().splitlines(keepends=True)
    lines[6] = lines[6].replace("válvula".encode(), b"torneira")
    assert judged(whole, lines) == ["entry 5 was changed: it does not match its leaf hash"]


def test_a_change_with_its_leaf_made_to_match_is_named(whole):
    lines = whole.read_bytes().splitlines(keepends=True)
    value = json.loads(lines[6])
    value["entry"]["body"]["note"] = "nada"
    value["leaf"] = tree.leaf_hash(canonical.encode(value["entry"])).hex()
    lines[6] = canonical.encode(value) + b"\n"
    assert judged(whole, lines) == ["the entries do not lead to the root that was signed"]


def test_a_removed_entry_is_named(whole):
    lines = whole.read_bytes().splitlines(keepends=True)
    assert judged(whole, lines[:6] + lines[7:]) == ["entry 5 is missing"]


def test_removed_entries_at_both_ends_are_named(whole):
    lines = whole.read_bytes().splitlines(keepends=True)
    assert judged(whole, lines[:1] + lines[3:]) == ["entries 0 to 1 are missing"]
    assert judged(whole, lines[:-3] + lines[-1:]) == ["entries 20 to 21 are missing: the file is cut off there"]


@pytest.mark.parametrize("other", [7, 12])
def test_swapped_entries_are_named(whole, other):
    lines = whole.read_bytes().splitlines(keepends=True)
    lines[6], lines[other] = lines[other], lines[6]
    problems = judged(whole, lines)
    assert f"entry {other - 1} stands where entry 5 belongs" in problems
    assert f"entry 5 stands where entry {other - 1} belongs" in problems


def test_a_repeated_entry_is_named(whole):
    lines = whole.read_bytes().splitlines(keepends=True)
    problems = judged(whole, [*lines[:7], lines[6], *lines[7:]])
    assert "entry 5 stands where entry 6 belongs" in problems


@pytest.mark.parametrize("keep", [0, 1, 5, 22, 23])
def test_a_file_cut_off_after_any_line_is_refused(whole, keep):
    lines = whole.read_bytes().splitlines(keepends=True)
    problems = judged(whole, lines[:keep])
    assert any("missing" in line for line in problems)


def test_something_behind_the_end_is_refused(whole):
    lines = whole.read_bytes().splitlines(keepends=True)
    assert judged(whole, [*lines, b"\n"]) == ["something stands behind the last line"]


def test_a_checkpoint_of_another_key_is_refused_and_a_header_that_names_it_needs_the_key_from_elsewhere(whole):
    lines = whole.read_bytes().splitlines(keepends=True)
    root = proof.notes.opened(json.loads(lines[-1])["checkpoint"], [KEY.public]).root
    lines[-1] = canonical.encode({"checkpoint": seal(22, root, OTHER)}) + b"\n"
    (problem,) = judged(whole, lines)
    assert problem.startswith("the last line, the checkpoint: it is signed by")
    lines[0] = lines[0].replace(KEY.public.text().encode(), OTHER.public.text().encode())
    assert judged(whole, lines) == []
    (problem,) = proof.check(whole, vkey=KEY.public.text())
    assert problem.startswith("it is signed by")
    assert "sound" not in independently(whole, KEY.public.text())


def test_a_checkpoint_kept_elsewhere_is_held_against_the_entries(journal, whole):
    with JournalReader(journal) as reader:
        root = reader.root(9)
    assert proof.check(whole, outside=seal(9, root)) == []
    assert proof.check(whole, outside=seal(9, bytes(32))) == [
        "the checkpoint kept elsewhere names another root: what it covers was changed since"
    ]
    assert proof.check(whole, outside=seal(50, root)) == [
        "the checkpoint kept elsewhere covers 50 entries, which lie outside this proof"
    ]


def test_a_journal_without_a_checkpoint_proves_nothing_yet(tmp_path, path, write, record):
    write(record(1))
    with JournalReader(path) as reader, pytest.raises(StoreError, match="has no signed checkpoint yet"):
        proof.write(reader, io.BytesIO())


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_any_changed_byte_is_refused(journal, tmp_path_factory, data):
    first = data.draw(st.sampled_from([0, 5]))
    raw = bytearray(_bytes(journal, tmp_path_factory, first))
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    path = tmp_path_factory.getbasetemp() / "mutated.jsonl"
    path.write_bytes(raw)
    assert proof.check(path)


def _bytes(journal, tmp_path_factory, first):
    path = tmp_path_factory.getbasetemp() / f"from-{first}.jsonl"
    if not path.exists():
        exported(journal, path, first)
    return path.read_bytes()


def test_the_second_verifier_refuses_bytes_changed_here_and_there(journal, tmp_path_factory, tmp_path):
    raw = _bytes(journal, tmp_path_factory, 5)
    path = tmp_path / "mutated.jsonl"
    for step in range(40):
        damaged = bytearray(raw)
        damaged[step * (len(raw) - 1) // 39] ^= 1 << (step % 8)
        path.write_bytes(damaged)
        assert proof.check(path)
        assert "sound" not in independently(path)


def test_the_second_verifier_is_short_and_imports_nothing_of_ours():
    source = VERIFIER.read_text("utf-8")
    assert len(source.splitlines()) < 150
    imports = re.findall(r"^ *(?:import|from) (.*)$", source, re.MULTILINE)
    assert imports == ["base64", "hashlib", "json", "re", "sys"]
