"""A tampered journal is found out, and the fault is named."""

import json

import apsw
import pytest

from gateway.journal import check
from gateway.journal.canonical import encode
from gateway.journal.tree import leaf_hash, position


@pytest.fixture
def tamper(path, write, record):
    """A journal of 20 entries, and a way to change it behind Vigia's back."""
    write(*(record(seq, person="Ana") for seq in range(1, 11)))
    assert check(path) == []

    def change(*statements):
        db = apsw.Connection(str(path))
        for statement, values in statements:
            db.execute(statement, values)
        db.close()
        return check(path)

    return change


def forged(path, idx, **facts):
    db = apsw.Connection(str(path))
    ((data,),) = db.execute("SELECT bytes FROM entry WHERE idx = ?", (idx,)).fetchall()
    db.close()
    value = json.loads(data)
    value["body"].update(facts)
    return encode(value)


def test_a_changed_byte_is_found(tamper, path):
    data = forged(path, 6, note="nada")
    assert tamper(("UPDATE entry SET bytes = ? WHERE idx = 6", (data,))) == [
        "entry 6 does not match its hash in the tree"
    ]


def test_a_changed_entry_with_its_leaf_made_to_match_is_found(tamper, path):
    data = forged(path, 6, note="nada")
    problems = tamper(
        ("UPDATE entry SET bytes = ? WHERE idx = 6", (data,)),
        ("UPDATE node SET hash = ? WHERE pos = ?", (leaf_hash(data), position(0, 6))),
    )
    assert problems[0] == "the node over entries 6 to 7 (level 1) does not match its hash in the tree"
    assert problems[-1].startswith("the root over 20 entries is ")


def test_a_removed_entry_is_found(tamper):
    problems = tamper(("DELETE FROM entry WHERE idx = 7", ()))
    assert problems == ["entry 7 is missing"]


def test_a_removed_alarm_is_found_by_its_seq_too(tamper):
    problems = tamper(("DELETE FROM alarm WHERE seq = 4", ()), ("DELETE FROM entry WHERE idx = 6", ()))
    assert "entry 6 is missing" in problems
    assert "alarm seq 4 is missing" in problems
    assert any(line.startswith("outbox row deposito-centro-b00t-4:hook:dona belongs to the event") for line in problems)


def test_two_swapped_entries_are_found(tamper):
    problems = tamper(
        ("UPDATE entry SET idx = 99 WHERE idx = 4", ()),
        ("UPDATE entry SET idx = 4 WHERE idx = 6", ()),
        ("UPDATE entry SET idx = 6 WHERE idx = 99", ()),
    )
    assert "entry 4 says it is entry 6" in problems
    assert "entry 4 does not match its hash in the tree" in problems
    assert "entry 6 does not match its hash in the tree" in problems


def test_a_cut_end_is_found(tamper):
    problems = tamper(
        ("DELETE FROM outbox WHERE event LIKE '%-10'", ()),
        ("DELETE FROM alarm WHERE seq = 10", ()),
        ("DELETE FROM entry WHERE idx >= 18", ()),
    )
    assert "entry 18 is missing" in problems
    assert "entry 19 is missing" in problems


def test_rows_beyond_the_head_are_found(tamper):
    problems = tamper(
        ("INSERT INTO entry VALUES (20, CAST('{}' AS BLOB))", ()), ("INSERT INTO node VALUES (38, zeroblob(32))", ())
    )
    assert problems == [
        "entry 20 stands beyond the head, which counts 20 entries",
        "1 tree nodes stand beyond those of 20 entries",
    ]


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("DELETE FROM node WHERE pos = 2", "the node over entries 0 to 1 (level 1) is missing from the tree"),
        ("DELETE FROM node WHERE pos = 3", "entry 2: its leaf is missing from the tree"),
        ("UPDATE head SET root = zeroblob(32)", "the root over 20 entries is "),
        (
            "UPDATE alarm SET idx = 1 WHERE seq = 1",
            "alarm seq 1 (deposito-centro-b00t-1) points to entry 1, which is not",
        ),
        ("DELETE FROM alarm WHERE seq = 10", "entry 18 is alarm seq 10 (deposito-centro-b00t-10), which the index"),
        ("UPDATE alarm SET idx = 77 WHERE seq = 2", "alarm seq 2 (deposito-centro-b00t-2) points to entry 77, which"),
        ("UPDATE person SET name = 'Bruna'", "the person under "),
        ("UPDATE alarm_state SET body = CAST('{\"a\": 1}' AS BLOB)", "the alarm state of GD-101 GAS is not canonical"),
        ("UPDATE entry SET bytes = CAST('{}' AS BLOB) WHERE idx = 1", "entry 1 is not of the form body, idx, kind"),
        ("UPDATE entry SET bytes = CAST('[' AS BLOB) WHERE idx = 1", "entry 1 is not canonical JSON: "),
    ],
)
def test_each_fault_has_a_name(tamper, statement, named):
    assert any(line.startswith(named) for line in tamper((statement, ())))


def test_a_flipped_bit_anywhere_in_the_entries_is_found(tamper, path):
    whole = path.read_bytes()
    at = whole.index(b'"note"')
    path.write_bytes(whole[:at] + b'"nota"' + whole[at + 6 :])
    assert any("does not match its hash in the tree" in line for line in check(path))


def test_a_damaged_database_page_is_reported_not_raised(tamper, path):
    whole = bytearray(path.read_bytes())
    for page in range(2, len(whole) // 4096):
        whole[page * 4096 : page * 4096 + 16] = b"\xff" * 16
    path.write_bytes(whole)
    assert check(path)


def test_the_list_of_problems_has_an_end(path, write, record):
    write(*(record(seq) for seq in range(1, 200)))
    db = apsw.Connection(str(path))
    db.execute("UPDATE entry SET bytes = CAST('{}' AS BLOB)")
    db.close()
    assert len(check(path)) == 100
