"""Opening, restoring and writing a journal on a healthy disk."""

import json
import subprocess
import sys
import tempfile
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.alarms import AlarmKey, Delivery, EventId, Kind
from gateway.engine.events import Due, Entry, OutboxRow, Record, StateRow
from gateway.journal import Journal, JournalReader, StoreError, check, schema, writer
from sensors.stamps import UtcNanos

DEPOT = "deposito-centro"


def test_a_new_journal_knows_nothing_and_is_sound(path):
    journal = Journal.open(path, depot=DEPOT)
    assert journal.restored.last_seq == 0
    assert journal.restored.states == journal.restored.owed == ()
    assert journal.close(1)
    assert check(path) == []


def test_names_of_persons_are_not_for_every_user_of_the_machine(path, write, record):
    write(record(1))
    assert path.stat().st_mode & 0o077 == 0


def test_restart_restores_last_seq_states_and_what_is_owed(path, write, record):
    write(record(1), record(2, subject="GD-102"))
    event = EventId(f"{DEPOT}-b00t-1")
    done = OutboxRow(Delivery(f"{event}:hook:dona", event, "dona", "hook", 3), Due.ACCEPTED, UtcNanos(9))
    again = OutboxRow(Delivery(f"{event}:mqtt:dona", event, "dona", "mqtt", 4), Due.OWED, UtcNanos(9))
    gone = StateRow(AlarmKey("GD-101", Kind.GAS), None)
    write(Record(3, (Entry("delivery", {"id": "x", "seq": 1}),), (done, again), (gone,)))

    restored = (journal := Journal.open(path, depot=DEPOT)).restored
    assert restored.last_seq == 2
    assert [(row.key.subject, row.body["id"]) for row in restored.states] == [("GD-102", f"{DEPOT}-b00t-2")]
    assert [(row.delivery.id, row.delivery.attempt, body["seq"]) for row, body in restored.owed] == [
        (f"{event}:mqtt:dona", 4, 1),
        (f"{DEPOT}-b00t-2:hook:dona", 1, 2),
        (f"{DEPOT}-b00t-2:mqtt:dona", 1, 2),
    ]
    assert all(row.state is Due.OWED for row, _ in restored.owed)
    assert journal.close(1)
    assert check(path) == []


def test_an_entry_says_what_where_and_of_which_kind(path, write, record):
    write(record(1))
    with JournalReader(path) as reader:
        assert reader.entry(1) == b'{"body":{"on":true,"output":"sirene"},"idx":1,"kind":"output"}'
        assert json.loads(reader.entry(0))["body"]["note"] == "válvula aberta"


def test_settings_that_durability_rests_on(path):
    journal = Journal.open(path, depot=DEPOT)
    db = journal._writer._db
    assert db.pragma("journal_mode") == "wal"
    assert db.pragma("synchronous") == 2
    assert db.pragma("mmap_size") == 0
    assert db.pragma("application_id") == schema.APPLICATION_ID
    assert db.pragma("wal_autocheckpoint") == 0
    journal.close(1)


def test_the_log_is_moved_into_the_file_while_the_journal_runs(path, answers, record, monkeypatch):
    monkeypatch.setattr(writer, "CHECKPOINT_PAGES", 10)
    journal = Journal.open(path, depot=DEPOT)
    before = path.stat().st_size
    for seq in range(1, 301):
        assert journal.submit(record(seq))
    journal.start(committed=answers.committed, trouble=answers.trouble)
    answers.wait_for(300)
    journal.submit(record(301))
    answers.wait_for(301)  # the batch before it was beyond the bound, so it was moved before this one was begun
    assert path.stat().st_size > before + 100_000
    assert journal.close(5)
    assert not path.with_name(path.name + "-wal").exists()


SUBJECTS = st.sampled_from(["GD-101", "GD-102", "saidas", "ção"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("raise"), SUBJECTS),
        st.tuples(st.just("end"), SUBJECTS),
        st.tuples(st.just("settle"), st.integers(0, 99)),
        st.tuples(st.just("restart"), st.none()),
    ),
    max_size=25,
)


@settings(max_examples=25)
@given(STEPS)
def test_every_restart_finds_what_a_plain_model_holds(steps):
    states, owed, seq, ticket = {}, {}, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal.db"
        journal = None
        for step, what in [*steps, ("restart", None)]:
            if journal is None:
                journal = Journal.open(path, depot=DEPOT)
                journal.start(committed=lambda _ticket: None, trouble=lambda _present, _reason: None)
            ticket += 1
            match step:
                case "raise":
                    seq += 1
                    event = EventId(f"e-{seq}")
                    states[what] = {"id": event}
                    row = OutboxRow(Delivery(f"{event}:hook", event, "dona", "hook", seq), Due.OWED, UtcNanos(seq))
                    owed[row.delivery.id] = row
                    state = StateRow(AlarmKey(what, Kind.GAS), {"id": event})
                    assert journal.submit(
                        Record(ticket, (Entry("alarm", {"seq": seq, "id": event}),), (row,), (state,))
                    )
                case "end":
                    states.pop(what, None)
                    assert journal.submit(Record(ticket, (), (), (StateRow(AlarmKey(what, Kind.GAS), None),)))
                case "settle" if owed:
                    row = owed.pop(sorted(owed)[what % len(owed)])
                    assert journal.submit(Record(ticket, (), (replace(row, state=Due.REFUSED),)))
                case "restart":
                    assert journal.close(10)
                    journal = Journal.open(path, depot=DEPOT)
                    assert journal.restored.last_seq == seq
                    assert {row.key.subject: row.body for row in journal.restored.states} == states
                    assert {row.delivery.id: row for row, _ in journal.restored.owed} == owed
                    assert journal.close(1)
                    journal = None
        assert check(path) == []


# --- refusals ------------------------------------------------------------------------------------


def test_another_depots_journal_is_refused(path, write, record):
    write(record(1))
    with pytest.raises(
        StoreError, match=r"journal\.db: belongs to the depot 'deposito-centro', not 'outro'; each depot"
    ):
        Journal.open(path, depot="outro")


def test_a_newer_format_is_refused_and_left_alone(path, write, record):
    write(record(1))
    db = apsw.Connection(str(path))
    db.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    db.close()
    before = path.read_bytes()
    newer = schema.VERSION + 1
    with pytest.raises(StoreError, match=f"has format {newer}; this Vigia knows formats up to {schema.VERSION}"):
        Journal.open(path, depot=DEPOT)
    with pytest.raises(StoreError, match=f"has format {newer}"):
        JournalReader(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_refused_and_left_alone(path):
    path.write_text("apontamentos do depósito\n" * 200, encoding="utf-8")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="is not a journal"):
        Journal.open(path, depot=DEPOT)
    assert path.read_bytes() == before
    assert len(check(path)) == 1


def test_somebody_elses_database_is_refused_and_left_alone(path):
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE estoque (a)")
    db.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="not a journal of Vigia"):
        Journal.open(path, depot=DEPOT)
    assert path.read_bytes() == before


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(StoreError, match=r"nowhere/journal\.db: cannot be written .* its folder must exist"):
        Journal.open(tmp_path / "nowhere" / "journal.db", depot=DEPOT)


def test_a_second_writer_is_refused(path, record):
    journal = Journal.open(path, depot=DEPOT)
    with pytest.raises(StoreError, match="another program is writing it"):
        Journal.open(path, depot=DEPOT)
    journal.close(1)
    Journal.open(path, depot=DEPOT).close(1)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE head SET size = size - 1",
        "UPDATE head SET root = zeroblob(32)",
        "DELETE FROM entry WHERE idx = 5",
        "UPDATE entry SET bytes = CAST('{}' AS BLOB) WHERE idx = 5",
        "UPDATE node SET hash = zeroblob(32) WHERE pos = 6",
        "DELETE FROM node WHERE pos = (SELECT max(pos) FROM node)",
        "DELETE FROM head",
        "UPDATE alarm_state SET body = CAST('{' AS BLOB)",
    ],
)
def test_a_damaged_end_of_the_tree_is_found_on_opening(path, write, record, statement):
    write(record(1), record(2), record(3))
    db = apsw.Connection(str(path))
    db.execute(statement)
    db.close()
    with pytest.raises(StoreError, match="is damaged"):
        Journal.open(path, depot=DEPOT)
    assert check(path) != []


# --- records that cannot be ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "error"),
    [
        (Entry("output", {"lel": 1.5}), TypeError),
        (Entry("alarm", {"seq": 1}), TypeError),
        (Entry("alarm", {"seq": True, "id": "x"}), TypeError),
        (Entry("alarm", {"seq": 0, "id": "x"}), ValueError),
        (Entry("output", {"by": "Maria"}, "Maria"), ValueError),
        (Entry("", {}), ValueError),
    ],
)
def test_a_record_that_cannot_be_written_is_refused_where_it_was_made(path, entry, error):
    journal = Journal.open(path, depot=DEPOT)
    with pytest.raises(error):
        journal.submit(Record(1, (entry,)))
    assert journal.health().queued == 0
    journal.close(1)


def test_a_repeated_seq_is_refused_loudly_and_the_rest_is_written(path, answers, record):
    journal = Journal.open(path, depot=DEPOT)
    for one in (record(1), record(1, event="another-1"), record(2)):
        assert journal.submit(one)  # queued before the start, so that all three share a transaction
    journal.start(committed=answers.committed, trouble=answers.trouble)
    answers.wait_for(2)
    answers.wait(lambda: bool(answers.troubles))
    assert answers.tickets == [1, 2]
    assert answers.troubles == [(True, "refused")]
    journal.submit(record(3))
    answers.wait(lambda: answers.troubles[-1] == (False, ""))
    assert journal.health().refused == 1
    assert journal.close(5)
    assert check(path) == []
    with JournalReader(path) as reader:
        assert [event.id for event in reader.events(0, 9)] == [f"{DEPOT}-b00t-{seq}" for seq in (1, 2, 3)]


def test_a_delivery_of_an_event_that_was_never_kept_is_counted_and_its_entry_stays(path, answers):
    journal = Journal.open(path, depot=DEPOT)
    journal.start(committed=answers.committed, trouble=answers.trouble)
    row = OutboxRow(Delivery("e:hook:dona", EventId("e"), "dona", "hook"), Due.ACCEPTED, UtcNanos(1))
    journal.submit(Record(1, (Entry("delivery", {"id": "e:hook:dona"}),), (row,)))
    answers.wait_for(1)
    assert journal.health().orphans == 1
    assert journal.health().size == 1
    journal.close(5)
    assert check(path) == []


def test_text_that_utf8_cannot_carry_stops_nobody(path, answers):
    journal = Journal.open(path, depot=DEPOT)
    journal.start(committed=answers.committed, trouble=answers.trouble)
    bad = "x\ud800"
    entry = Entry("alarm", {"seq": 1, "id": bad, "note": bad}, person=bad)
    row = OutboxRow(Delivery(bad, EventId(bad), bad, bad), Due.OWED, UtcNanos(1))
    journal.submit(Record(1, (entry,), (row,), (StateRow(AlarmKey(bad, Kind.GAS), {"by": bad}),)))
    answers.wait_for(1)
    assert journal.close(5)
    assert check(path) == []


# --- persons -------------------------------------------------------------------------------------


def test_a_leaf_holds_the_salted_hash_of_a_name(path, write, record):
    write(record(1, person="Maria das Dores"), record(2, person="Maria das Dores"), record(3, person="João"))
    with JournalReader(path) as reader:
        refs = [json.loads(reader.entry(idx))["body"]["by"] for idx in (0, 2, 4)]
        kept = reader.ask("SELECT ref, salt, name FROM person ORDER BY name DESC")
        assert b"Maria" not in b"".join(data for _, data in reader.entries(0, 99))
    assert refs == [kept[0][0], kept[0][0], kept[1][0]]
    for ref, salt, name in kept:
        assert len(salt) == 32
        assert sha256(salt + name.encode()).hexdigest() == ref


def test_erasing_a_name_keeps_every_proof_and_leaves_no_copy_in_the_file(path, answers, record):
    journal = Journal.open(path, depot=DEPOT)
    journal.start(committed=answers.committed, trouble=answers.trouble)
    journal.submit(record(1, person="Maria das Dores"))
    answers.wait_for(1)
    with JournalReader(path) as reader:
        ref = json.loads(reader.entry(0))["body"]["by"]
        root = reader.root(2)
        assert reader.events(0, 1)[0].by == "Maria das Dores"
        assert journal.erase(ref).result(10) is True
        assert journal.erase(ref).result(10) is False
        assert reader.events(0, 1)[0].by == f"#{ref[:8]}"
        assert reader.root(2) == root
    journal.submit(record(2, person="Maria das Dores", subject="GD-102"))
    answers.wait_for(2)
    assert check(path) == []
    assert journal.close(5)

    with JournalReader(path) as reader:
        assert json.loads(reader.entry(2))["body"]["by"] != ref
        ((body,),) = reader.ask("SELECT body FROM alarm_state WHERE subject = 'GD-101'")
        assert json.loads(body)["acknowledged_by"] == f"#{ref[:8]}"


def test_no_copy_of_an_erased_name_stays_in_any_file(path, tmp_path, answers, record):
    journal = Journal.open(path, depot=DEPOT)
    journal.start(committed=answers.committed, trouble=answers.trouble)
    journal.submit(record(1, person="Maria das Dores"))
    answers.wait_for(1)
    with JournalReader(path) as reader:
        ref = json.loads(reader.entry(0))["body"]["by"]
        assert journal.erase(ref).result(10)
        assert journal.close(5)  # with a reader still connected, which keeps the write-ahead log from being deleted
        for file in tmp_path.iterdir():
            assert b"Maria das Dores" not in file.read_bytes(), file.name
    assert check(path) == []


# --- another process -----------------------------------------------------------------------------


def test_another_process_reads_while_the_writer_writes(path, answers, record):
    journal = Journal.open(path, depot=DEPOT)
    journal.start(committed=answers.committed, trouble=answers.trouble)
    journal.submit(record(1))
    answers.wait_for(1)
    script = (
        "import sys; from pathlib import Path; from gateway.journal import JournalReader, check\n"
        "path = Path(sys.argv[1])\n"
        "with JournalReader(path) as reader:\n"
        "    print(reader.events(0, 10)[0].id, reader.head()[1], check(path))\n"
    )
    shown = subprocess.run([sys.executable, "-c", script, path], check=True, capture_output=True, text=True, timeout=30)
    assert shown.stdout.split() == [f"{DEPOT}-b00t-1", "2", "[]"]
    journal.submit(record(2))
    answers.wait_for(2)
    assert journal.close(5)
