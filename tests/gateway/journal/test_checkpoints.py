"""Checkpoints: signed when the tree has grown, soon after a gas alarm, held against the tree by all who check."""

import sqlite3
import subprocess
import time

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from journal_lives import DEPOT, KEY, OTHER, Life, boot, entries, make_record, quiet, seal

from gateway.engine.events import Entry, Record
from gateway.journal import Journal, JournalReader, check, notes, schema, writer
from gateway.journal.tree import EMPTY_ROOT
from gateway.sealing.keys import KeyFileError
from gateway.sealing.signing import note_signer, public_key


@pytest.fixture
def sealed(path, monkeypatch):
    """A closed journal with a boot, ten alarms and a checkpoint after each."""
    monkeypatch.setattr(writer, "SEAL_S", 0.0)
    life = Life(path)
    life.write(boot())
    for seq in range(1, 11):
        life.write(make_record(seq, person="Ana"))
        life.wait_for_seals(seq + 1)
    life.close()
    return path


def test_a_gas_alarm_is_sealed_with_the_next_record_and_what_is_less_urgent_waits_for_the_minute(path, monkeypatch):
    monkeypatch.setattr(writer, "SEAL_S", 60.0)
    life = Life(path)
    life.write(boot())
    life.write(quiet(1001), quiet(1002), make_record(1), make_record(2), quiet(1003), quiet(1004))
    life.close()
    # The boot; both alarms with all before them and the record after, which no output waited for; the end.
    assert [one.size for one in life.sealed] == [1, 8, 9]
    assert check(path) == []
    with JournalReader(path) as reader:
        for one in life.sealed:
            assert notes.opened(one.note, [KEY.public], alone=True) == notes.Checkpoint(
                KEY.public.name, one.size, one.root
            )
            assert reader.root(one.size) == one.root


def test_a_gas_alarm_is_sealed_within_the_second_without_another_record(path, monkeypatch):
    assert writer.SEAL_S <= 1.0
    monkeypatch.setattr(writer, "SEAL_S", 0.02)
    life = Life(path)
    life.write(boot(), make_record(1))
    life.wait_for_seals(2)
    assert [one.size for one in life.sealed] == [1, 3]
    life.close()
    assert len(life.sealed) == 2
    assert check(path) == []


def test_alarms_that_come_without_end_are_sealed_all_the_same(path, monkeypatch):
    monkeypatch.setattr(writer, "SEAL_S", 0.0)
    life = Life(path)
    life.write(boot(), make_record(1), make_record(2), make_record(3))
    life.wait_for_seals(2)
    life.close()
    assert life.sealed[-1].size == 7
    assert check(path) == []


def test_what_has_grown_is_sealed_within_the_minute_without_another_record(path, monkeypatch):
    monkeypatch.setattr(writer, "PULSE_S", 0.05)
    life = Life(path)
    life.write(boot())
    life.write(quiet(1001))
    life.wait_for_seals(2)
    assert [one.size for one in life.sealed] == [1, 2]
    life.close()
    assert len(life.sealed) == 2  # nothing has grown since


def test_the_last_sign_of_life_survives_a_kill_and_is_known_to_the_next_life(path, monkeypatch):
    monkeypatch.setattr(writer, "PULSE_S", 0.01)
    life = Life(path)
    life.journal.alive(1_790_000_000_000)
    life.write(boot(), quiet(1001))
    life.close()
    again = Journal.open(path, depot=DEPOT)
    assert again.restored.last_alive_ms == 1_790_000_000_000
    again.close(1)


def test_signs_of_life_are_kept_while_nothing_else_is_written(path, monkeypatch):
    monkeypatch.setattr(writer, "PULSE_S", 0.01)
    life = Life(path)
    life.write(boot())
    with sqlite3.connect(path) as db:
        for sign in range(1, 4):
            life.journal.alive(sign)
            kept = [(0,)]
            for _ in range(500):
                if kept == [(sign,)]:
                    break
                time.sleep(0.002)
                kept = db.execute("SELECT value FROM meta WHERE name = 'last_alive_ms'").fetchall()
            assert kept == [(sign,)]
    db.close()
    life.close()


def test_the_last_entrys_time_is_a_sign_of_life_too_unless_its_clock_was_wrong(path):
    life = Life(path)
    life.journal.alive(500)
    life.write(boot(), Record(7, (Entry("stop", {"at_ms": 900}),)))
    life.close()
    assert reopened(path) == 900
    life = Life(path)
    life.write(Record(8, (Entry("stop", {"at_ms": 2000, "time_trusted": False}),)))
    life.close()
    assert reopened(path) == 500


def reopened(path):
    again = Journal.open(path, depot=DEPOT)
    again.close(1)
    return again.restored.last_alive_ms


def test_a_journal_of_the_first_format_is_brought_on_when_it_is_opened(path, monkeypatch):
    monkeypatch.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:1])
    monkeypatch.setattr(schema, "VERSION", 1)
    db = apsw.Connection(str(path))
    schema.migrate(db, DEPOT, EMPTY_ROOT)
    db.close()
    monkeypatch.undo()
    with JournalReader(path) as reader:
        assert reader.version == 1 and reader.checkpoint() is None
    assert check(path) == []
    life = Life(path)
    life.write(boot(), make_record(1))
    life.close()
    with JournalReader(path) as reader:
        assert reader.version == schema.VERSION and reader.checkpoint() is not None
    assert check(path) == []


def change(path, *statements):
    db = apsw.Connection(str(path))
    for statement, values in statements:
        db.execute(statement, values)
    db.close()


def test_a_checkpoint_with_another_root_is_found(sealed):
    change(sealed, ("UPDATE checkpoint SET note = ? WHERE size = 3", (seal(3, bytes(32)),)))
    assert check(sealed) == ["the checkpoint over 3 entries names another root: what it covers was changed since"]


def test_a_checkpoint_of_a_strange_key_is_found(sealed):
    with JournalReader(sealed) as reader:
        root = reader.root(3)
    change(sealed, ("UPDATE checkpoint SET note = ? WHERE size = 3", (seal(3, root, OTHER),)))
    (problem,) = check(sealed)
    assert problem.startswith("the checkpoint over 3 entries: it is signed by vigia/deposito-centro+")


def test_a_checkpoint_over_more_than_there_is_shows_that_the_end_was_cut(sealed):
    change(sealed, ("INSERT INTO checkpoint VALUES (99, ?)", (seal(99, bytes(32)),)))
    assert check(sealed) == ["a checkpoint covers 99 entries, the journal holds 21"]


def test_a_journal_rewritten_whole_with_a_new_key_is_found_by_the_key_and_by_a_checkpoint_kept_elsewhere(
    sealed, tmp_path
):
    with JournalReader(sealed) as reader:
        kept = reader.checkpoint()
    assert check(sealed, vkey=KEY.public.text(), outside=kept) == []
    forged = tmp_path / "forged.db"
    life = Life(forged, OTHER)
    life.write(boot(key=OTHER), *(make_record(seq) for seq in range(1, 12)))
    life.close()
    assert check(forged) == []
    (by_key,) = check(forged, vkey=KEY.public.text())
    assert by_key.startswith("the last checkpoint is not signed by the key given")
    assert any("kept elsewhere" in line for line in check(forged, outside=kept))


def test_a_journal_shorter_than_the_checkpoint_kept_elsewhere_is_cut(path):
    life = Life(path)
    life.write(boot(), make_record(1))
    life.close()
    outside = seal(40, bytes(32))
    assert check(path, outside=outside) == [
        "the checkpoint kept elsewhere covers 40 entries, the journal holds 3: its end is cut off"
    ]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a journal file, and its entries."""
    path = tmp_path_factory.mktemp("whole") / "journal.db"
    life = Life(path)
    life.write(boot(), *(make_record(seq, person="Ana") for seq in range(1, 11)))
    life.close()
    return path.read_bytes(), entries(path)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 0.999999), st.integers(1, 255)), min_size=1, max_size=4))
def test_whatever_bytes_of_the_file_change_it_is_found_or_no_entry_is_altered(whole, tmp_path_factory, flips):
    content, known = whole
    damaged = bytearray(content)
    for where, bits in flips:
        damaged[int(where * len(damaged))] ^= bits
    path = tmp_path_factory.getbasetemp() / "damaged.db"
    path.write_bytes(damaged)
    if not check(path, vkey=KEY.public.text()):
        assert entries(path) == known


# --- the key -----------------------------------------------------------------------------------------


def test_the_depots_key_signs_under_its_logs_name_in_every_life(tmp_path):
    first, again = note_signer(tmp_path, "vigia/d"), note_signer(tmp_path, "vigia/d")
    assert first.public == again.public == notes.parse_vkey(first.public.text())
    assert notes.parse_checkpoint(notes.Checkpoint("vigia/d", 3, bytes(32)).text()).size == 3
    note = first.sign(notes.Checkpoint("vigia/d", 3, bytes(32)).text())
    assert notes.opened(note, [again.public], alone=True).size == 3


def test_a_public_half_that_is_no_key_is_named(tmp_path):
    (tmp_path / "pub.pem").write_text("rubbish")
    with pytest.raises(KeyFileError, match="no key can be read from it"):
        public_key(tmp_path / "pub.pem", "vigia/d")


def test_openssl_holds_the_signature_of_a_note(tmp_path):
    note = seal(7, bytes(32))
    text, _, lines = note.rpartition("\n\n")
    raw = notes.strict_base64(lines.split()[2])
    spki = bytes.fromhex("302a300506032b6570032100") + KEY.public.public
    (tmp_path / "key.der").write_bytes(spki)
    (tmp_path / "text").write_bytes(text.encode() + b"\n")
    (tmp_path / "signature").write_bytes(raw[4:])
    signed = ("-in", "text", "-sigfile", "signature")
    done = subprocess.run(
        ["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", "key.der", "-rawin", *signed],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert "Signature Verified Successfully" in done.stdout, done.stderr


@settings(max_examples=300)
@given(st.integers(0, 10_000), st.integers(1, 255))
def test_a_note_with_any_byte_changed_is_refused(where, bits):
    raw = bytearray(seal(123, bytes(range(32))).encode())
    raw[where % len(raw)] ^= bits
    with pytest.raises((notes.NoteError, UnicodeDecodeError)):
        notes.opened(raw.decode(), [KEY.public], alone=True)
