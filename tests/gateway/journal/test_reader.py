"""What the screens and the auditors read."""

import json

import apsw
import pytest

from gateway.engine.events import Entry, Record
from gateway.journal import JournalReader, StoreError, check, tree


def words(body):
    return f"{body['subject']} {body['event']} {body['level']} por {body['by']}"


def test_events_after_a_seq_come_oldest_first_and_complete(path, write, record):
    write(*(record(seq, person="Maria" if seq == 3 else None) for seq in range(1, 8)))
    with JournalReader(path, words) as reader:
        events = reader.events(2, 3)
        assert [event.seq for event in events] == [3, 4, 5]
        assert events[0].by == "Maria"
        assert events[0].text == "GD-101 raised A1 por Maria"
        assert events[0].lel_pct == 12.3
        assert events[0].peak == 12.303
        assert events[0].since == "2026-09-21T14:13:20.000Z"
        assert events[0].sampled == "2026-09-21T14:13:20.003Z"
        assert events[0].at == "2026-09-21T14:13:20.004Z"
        assert events[0].note == "válvula aberta"
        assert events[1].by is None
        assert reader.events(7, 3) == []
        assert reader.events(-5, 0) == []
        assert len(reader.events(2**80, 10**9)) == 0


def test_a_reader_sees_what_is_committed_after_it_opened(path, write, record):
    write(record(1))
    with JournalReader(path) as reader:
        assert len(reader.events(0, 10)) == 1
        write(record(2))
        assert len(reader.events(0, 10)) == 2


def test_proofs_out_of_the_file_verify(path, write, record):
    write(*(record(seq) for seq in range(1, 12)))
    with JournalReader(path) as reader:
        depot, size, root = reader.head()
        assert (depot, size) == ("deposito-centro", 22)
        assert reader.root(size) == root
        for idx in range(size):
            leaf = tree.leaf_hash(reader.entry(idx))
            assert tree.verify_inclusion(leaf, idx, size, reader.inclusion(idx, size), root)
        for first in range(1, size + 1):
            proof = reader.consistency(first, size)
            assert tree.verify_consistency(first, size, reader.root(first), root, proof)


def test_a_reader_cannot_write(path, write, record):
    write(record(1))
    with JournalReader(path) as reader, pytest.raises(StoreError, match="readonly"):
        reader.ask("DELETE FROM entry")


def test_a_journal_that_is_not_there_is_named(path):
    with pytest.raises(StoreError, match=r"journal\.db: no journal is there; start the gateway once"):
        JournalReader(path)
    assert not path.exists()


def test_what_the_journal_does_not_hold_is_named(path, write, record):
    write(record(1))
    with JournalReader(path) as reader:
        with pytest.raises(StoreError, match="entry 2 is not there"):
            reader.entry(2)
        with pytest.raises(StoreError, match="no node"):
            reader.root(3)


def test_an_alarm_entry_without_its_times_is_named(path, write, record):
    write(record(1))
    db = apsw.Connection(str(path))
    ((data,),) = db.execute("SELECT bytes FROM entry WHERE idx = 0").fetchall()
    value = json.loads(data)
    del value["body"]["at_ms"]
    db.execute("UPDATE entry SET bytes = ? WHERE idx = 0", (json.dumps(value).encode(),))
    db.close()
    with JournalReader(path) as reader, pytest.raises(StoreError, match=r"entry 0 is no alarm event .*at_ms"):
        reader.events(0, 1)


def test_filed_entries_are_found_by_their_kind_with_the_person_behind_them(path, write):
    write(
        Record(1, (Entry("register", {"at_ms": 1, "entries": []}, "Ana Souza"), Entry("stop", {"at_ms": 2}))),
        Record(2, (Entry("finding", {"at_ms": 3}),)),
        Record(3, (Entry("register", {"at_ms": 4, "entries": []}, None),)),
    )
    with JournalReader(path) as reader:
        assert [(body["at_ms"], by) for _, body, by in reader.filed("register")] == [(1, "Ana Souza"), (4, "")]
        assert [idx for idx, _, _ in reader.filed("register", after=0)] == [3]
        assert [body["at_ms"] for _, body, _ in reader.filed("finding")] == [3]
    assert check(path) == []


def test_an_index_of_filed_entries_that_was_meddled_with_is_found(path, write):
    write(Record(1, (Entry("register", {"at_ms": 1, "entries": []}),)))
    db = apsw.Connection(str(path))
    db.execute("DELETE FROM filed")
    db.close()
    assert any("filed entries" in problem for problem in check(path))
