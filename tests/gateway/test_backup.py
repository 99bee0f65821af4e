"""A backup is a whole depot at one moment; a restore never loses events without saying so."""

import json
import shutil
import stat
import threading
from dataclasses import replace
from pathlib import Path

import apsw
import pytest
from journal_lives import Answers, make_record

from gateway.backup import ShorterError, backup, restore
from gateway.configuration.loading import load
from gateway.engine.events import Entry, Record
from gateway.journal import Journal, JournalReader, StoreError, check
from gateway.sealing.sealing import Sealing

BASE = Path(__file__).with_name("base.toml").read_text("utf-8")
DEADLINE_S = 20.0


@pytest.fixture
def depot(tmp_path):
    file = tmp_path / "depot.toml"
    file.write_text(BASE, "utf-8")
    found = load(file, {}).depot
    found.data.mkdir()
    return found


class Running:
    """The journal of a gateway at work: opened, signing, with a boot entry."""

    def __init__(self, depot, boot=True):
        self.sealing = Sealing(depot)
        self.answers = Answers()
        self.journal = Journal.open(depot.data / "journal.db", depot=depot.id, seal=self.sealing.seal)
        self.journal.start(committed=self.answers.committed, trouble=self.answers.trouble)
        if boot:
            self.write(Record(10_000, (Entry("boot", {"at_ms": 1, "vkey": self.sealing.vkey, "watches": ["GD-101"]}),)))

    def write(self, *records):
        for record in records:
            assert self.journal.submit(record)
            self.answers.wait_for(record.ticket)

    def stop(self):
        assert self.journal.close(DEADLINE_S)


def checkpoint(depot, target):
    with JournalReader(depot.data / "journal.db") as reader:
        target.write_text(reader.checkpoint(), "utf-8")
    return target


def kinds(depot):
    with JournalReader(depot.data / "journal.db") as reader:
        return [json.loads(data)["kind"] for _, data in reader.entries(0, 1000)]


def test_a_backup_of_a_journal_being_written_is_sound_and_whole(depot, tmp_path):
    running = Running(depot)
    over = threading.Event()

    def write():
        seq = 0
        while not over.is_set():
            seq += 1
            running.write(make_record(seq))

    busy = threading.Thread(target=write)
    busy.start()
    running.answers.wait_for(5)
    (depot.data / "notes").mkdir()
    (depot.data / "notes" / "one.txt").write_text("olá")
    try:
        manifest = backup(depot, tmp_path / "copy")
    finally:
        over.set()
        busy.join()
        running.stop()
    assert {"journal.db", "signing-key.pem", "signing-key.pub.pem", "notes/one.txt"} == set(manifest.files)
    assert check(tmp_path / "copy" / "data" / "journal.db", vkey=running.sealing.vkey) == []
    assert manifest.size >= 11 and manifest.checkpoint is not None
    assert stat.S_IMODE((tmp_path / "copy" / "data" / "signing-key.pem").stat().st_mode) == 0o600
    assert not list((tmp_path / "copy").rglob("*-wal"))


def test_a_restored_depot_goes_on_where_the_backup_was_taken_and_says_so(depot, tmp_path):
    running = Running(depot)
    running.write(make_record(1))
    running.stop()
    backup(depot, tmp_path / "copy")
    elsewhere = replace(depot, data=tmp_path / "new")
    manifest, lost = restore(tmp_path / "copy", elsewhere, kept=None, yes_shorter=False)
    assert (manifest.size, lost) == (3, 0)
    assert kinds(elsewhere) == ["boot", "alarm", "output", "restore"]
    again = Running(elsewhere)
    again.write(make_record(2))
    again.stop()
    assert check(elsewhere.data / "journal.db", vkey=running.sealing.vkey) == []


def test_a_journal_shorter_than_the_checkpoint_kept_elsewhere_is_refused_unless_one_says_so(depot, tmp_path):
    running = Running(depot)
    running.write(make_record(1))
    backup(depot, tmp_path / "copy")
    running.write(make_record(2), make_record(3))
    running.stop()
    kept = checkpoint(depot, tmp_path / "kept")
    elsewhere = replace(depot, data=tmp_path / "new")
    with pytest.raises(ShorterError, match=r"ends after 3 entries, .*kept covers 7: 4 would be lost"):
        restore(tmp_path / "copy", elsewhere, kept=kept, yes_shorter=False)
    assert [one for one in elsewhere.data.iterdir() if one.name != "journal.db.lock"] == []
    assert restore(tmp_path / "copy", elsewhere, kept=kept, yes_shorter=True)[1] == 4
    with JournalReader(elsewhere.data / "journal.db") as reader:
        assert json.loads(reader.entry(3))["body"]["lost"] == 4


def test_the_copy_that_the_configuration_names_is_asked_too(depot, tmp_path):
    running = Running(depot)
    backup(depot, tmp_path / "copy")
    running.write(make_record(1))
    running.stop()
    elsewhere = replace(depot, data=tmp_path / "new", checkpoint_copy=checkpoint(depot, tmp_path / "kept"))
    with pytest.raises(ShorterError):
        restore(tmp_path / "copy", elsewhere, kept=None, yes_shorter=False)


def test_a_longer_journal_in_place_is_not_replaced_by_a_shorter_one_and_moved_aside_when_told(depot, tmp_path):
    running = Running(depot)
    backup(depot, tmp_path / "copy")
    running.write(make_record(1))
    running.stop()
    with pytest.raises(ShorterError, match=r"journal\.db covers 3"):
        restore(tmp_path / "copy", depot, kept=None, yes_shorter=False)
    restore(tmp_path / "copy", depot, kept=None, yes_shorter=True)
    (aside,) = depot.data.glob("replaced-*")
    assert check(aside / "journal.db") == []
    assert kinds(depot) == ["boot", "restore"]


def test_another_journal_than_the_checkpoint_speaks_of_is_refused_whatever_one_says(depot, tmp_path):
    running = Running(depot)
    running.write(make_record(1))
    running.stop()
    backup(depot, tmp_path / "copy")
    forked = replace(depot, data=tmp_path / "forked")
    forked.data.mkdir()
    shutil.copy2(depot.data / "signing-key.pem", forked.data)
    other = Running(forked)
    other.write(make_record(9))
    other.stop()
    kept = checkpoint(forked, tmp_path / "kept")
    with pytest.raises(StoreError, match=r"is not the one that .*kept speaks of"):
        restore(tmp_path / "copy", replace(depot, data=tmp_path / "new"), kept=kept, yes_shorter=True)


def test_a_checkpoint_that_cannot_be_believed_is_refused_not_passed_over(depot, tmp_path):
    running = Running(depot)
    running.stop()
    backup(depot, tmp_path / "copy")
    kept = checkpoint(depot, tmp_path / "kept")
    kept.write_text(kept.read_text().replace("\n1\n", "\n9\n"), "utf-8")
    with pytest.raises(StoreError, match="cannot be believed"):
        restore(tmp_path / "copy", replace(depot, data=tmp_path / "new"), kept=kept, yes_shorter=True)


def test_a_backup_that_was_changed_or_cut_short_is_refused_by_name(depot, tmp_path):
    running = Running(depot)
    running.stop()
    backup(depot, tmp_path / "copy")
    elsewhere = replace(depot, data=tmp_path / "new")
    journal = tmp_path / "copy" / "data" / "journal.db"
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-1] + b"x")
    with pytest.raises(StoreError, match=r"journal\.db: is not the file that was saved"):
        restore(tmp_path / "copy", elsewhere, kept=None, yes_shorter=False)
    journal.write_bytes(whole)
    (tmp_path / "copy" / "backup.json").unlink()
    with pytest.raises(StoreError, match="holds no whole backup"):
        restore(tmp_path / "copy", elsewhere, kept=None, yes_shorter=False)


def test_nothing_is_restored_under_a_running_gateway(depot, tmp_path):
    running = Running(depot)
    backup(depot, tmp_path / "copy")
    with pytest.raises(StoreError, match=r"another program is writing it"):
        restore(tmp_path / "copy", depot, kept=None, yes_shorter=True)
    running.stop()


def test_another_depots_backup_is_refused(depot, tmp_path):
    running = Running(depot)
    running.stop()
    backup(depot, tmp_path / "copy")
    with pytest.raises(StoreError, match=r"is of the depot 'deposito-centro', not 'norte'"):
        restore(tmp_path / "copy", replace(depot, id="norte"), kept=None, yes_shorter=True)


def test_a_backup_goes_to_an_empty_place_outside_the_data(depot, tmp_path):
    running = Running(depot)
    running.stop()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    with pytest.raises(StoreError, match=r"is not empty"):
        backup(depot, tmp_path / "full")
    with pytest.raises(StoreError, match="lies within the data"):
        backup(depot, depot.data / "copy")


def test_other_databases_of_the_depot_come_along_as_they_stood(depot, tmp_path):
    running = Running(depot)
    db = apsw.Connection(str(depot.data / "readings.db"))
    db.execute("PRAGMA journal_mode = WAL").fetchall()
    db.execute("CREATE TABLE t (x)")
    db.execute("INSERT INTO t VALUES (42)")  # still in the write-ahead log only
    backup(depot, tmp_path / "copy")
    db.close()
    running.stop()
    with apsw.Connection(str(tmp_path / "copy" / "data" / "readings.db"), flags=apsw.SQLITE_OPEN_READONLY) as copied:
        assert copied.execute("SELECT x FROM t").fetchall() == [(42,)]
