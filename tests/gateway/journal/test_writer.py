"""The writer thread on a disk that is slow, full or broken."""

import time

import apsw
import pytest

from gateway.engine.events import Entry, Record
from gateway.journal import Journal, JournalReader, check, writer

DEPOT = "deposito-centro"


@pytest.mark.measured
def test_a_sync_of_two_seconds_never_holds_up_submit(path, disk, answers, record):
    journal = Journal.open(path, depot=DEPOT, vfs=disk.name)
    journal.start(committed=answers.committed, trouble=answers.trouble)
    journal.submit(record(1))
    answers.wait_for(1)
    disk.sync_s = 2.0
    slowest = 0.0
    for seq in range(2, 302):
        started = time.perf_counter()
        assert journal.submit(record(seq))
        slowest = max(slowest, time.perf_counter() - started)
    assert answers.tickets == [1]
    assert slowest < 0.2
    disk.sync_s = 0.0
    answers.wait_for(301)
    assert answers.tickets == list(range(1, 302))
    assert journal.close(10)
    assert check(path) == []


def test_a_slow_commit_is_trouble_until_a_quick_one(path, disk, answers, record, monkeypatch):
    monkeypatch.setattr(writer, "SLOW_COMMIT_S", 0.5)
    journal = Journal.open(path, depot=DEPOT, vfs=disk.name)
    journal.start(committed=answers.committed, trouble=answers.trouble)
    disk.sync_s = 0.6
    journal.submit(record(1))
    answers.wait(lambda: answers.troubles == [(True, "slow")])
    disk.sync_s = 0.0
    journal.submit(record(2))
    answers.wait(lambda: answers.troubles == [(True, "slow"), (False, "")])
    assert journal.health().p99_commit_ms > 500
    assert journal.close(10)


def test_a_sync_that_does_not_return_shows_as_a_queue_that_stands(path, disk, answers, record):
    journal = Journal.open(path, depot=DEPOT, vfs=disk.name)
    journal.start(committed=answers.committed, trouble=answers.trouble)
    journal.submit(record(1))
    answers.wait_for(1)
    assert journal.stands_s() == 0.0
    disk.sync_s = 60.0
    journal.submit(record(2))
    answers.wait(lambda: journal.stands_s() > 0.05)
    journal.submit(record(3))
    assert journal.stands_s() > 0.05, "what comes after does not hide it"
    assert answers.troubles == []
    disk.sync_s = 0.0
    answers.wait_for(3)
    answers.wait(lambda: journal.stands_s() == 0.0)
    assert journal.close(10)


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_was_deleted_or_replaced_under_its_writer_is_trouble(path, answers, record, replaced):
    journal = Journal.open(path, depot=DEPOT)
    journal.start(committed=answers.committed, trouble=answers.trouble)
    journal.submit(record(1))
    answers.wait_for(record(1).ticket)
    path.unlink()
    if replaced:
        path.write_bytes(b"")
    journal.submit(record(2))  # SQLite takes it without an error
    answers.wait(lambda: answers.troubles == [(True, "gone")])
    assert journal.close(10)
    assert answers.tickets == [record(1).ticket], "what went into the lost file is on no record"


@pytest.mark.parametrize(("fault", "code"), [("full", "full"), ("failing", "failing")])
def test_a_bad_disk_is_told_once_and_nothing_is_lost_when_it_recovers(path, disk, answers, record, fault, code):
    journal = Journal.open(path, depot=DEPOT, vfs=disk.name)
    journal.start(committed=answers.committed, trouble=answers.trouble)
    journal.submit(record(1))
    answers.wait_for(1)
    if fault == "full":
        disk.free_bytes = 6_000
    else:
        disk.failing = True
    for seq in range(2, 52):
        assert journal.submit(record(seq))
    answers.wait(lambda: bool(answers.troubles))
    assert journal.health().trouble == code
    assert journal.health().last_error
    with JournalReader(path) as reader:
        kept = reader.head()[1]
    acknowledged = len(answers.tickets)
    assert kept == 2 * acknowledged
    disk.free_bytes, disk.failing = None, False
    answers.wait_for(51)
    answers.wait(lambda: len(answers.troubles) == 2)
    assert answers.troubles == [(True, code), (False, "")]
    assert answers.tickets == list(range(1, 52))
    assert journal.close(10)
    assert check(path) == []


def test_a_disk_full_in_the_middle_of_a_large_batch_loses_no_part_of_it(path, disk, answers, record):
    journal = Journal.open(path, depot=DEPOT, vfs=disk.name)
    disk.free_bytes = 300_000
    for seq in range(1, 1001):
        assert journal.submit(record(seq))
    journal.start(committed=answers.committed, trouble=answers.trouble)
    answers.wait(lambda: answers.troubles == [(True, "full")])
    assert answers.tickets == []
    disk.free_bytes = None
    answers.wait_for(1000)
    assert answers.tickets == list(range(1, 1001))
    assert journal.close(10)
    assert check(path) == []


def test_a_locked_journal_is_retried_until_the_other_lets_go(path, answers, record):
    journal = Journal.open(path, depot=DEPOT)
    journal.start(committed=answers.committed, trouble=answers.trouble)
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    journal.submit(record(1))
    answers.wait(lambda: answers.troubles == [(True, "locked")])
    other.execute("ROLLBACK")
    other.close()
    answers.wait_for(1)
    answers.wait(lambda: answers.troubles[1:] == [(False, "")])
    assert journal.close(10)


def test_a_foreign_write_is_never_built_upon(path, answers, record, write):
    write(record(1))
    journal = Journal.open(path, depot=DEPOT)
    other = apsw.Connection(str(path))
    other.execute("UPDATE head SET size = 7")
    other.close()
    journal.start(committed=answers.committed, trouble=answers.trouble)
    journal.submit(record(2))
    answers.wait(lambda: answers.troubles == [(True, "other-writer")])
    assert not journal.close(0.3)
    assert answers.tickets == []


def test_the_queue_keeps_the_oldest_and_counts_what_it_refuses(path, disk, answers, monkeypatch, record):
    monkeypatch.setattr(writer, "MOST_QUEUED", 20)
    journal = Journal.open(path, depot=DEPOT, vfs=disk.name)
    journal.start(committed=answers.committed, trouble=answers.trouble)
    disk.failing = True
    taken = [seq for seq in range(1, 31) if journal.submit(record(seq))]
    assert taken == list(range(1, 21))
    assert journal.health().dropped == 10
    answers.wait(lambda: answers.troubles == [(True, "failing")])
    disk.failing = False
    answers.wait_for(20)
    answers.wait(lambda: answers.troubles[1:] == [(True, "dropped")])
    journal.submit(Record(31, (Entry("output", {"on": False}),)))
    answers.wait(lambda: answers.troubles[2:] == [(False, "")])
    assert answers.tickets == [*taken, 31]
    assert journal.close(10)
    assert check(path) == []


@pytest.mark.measured
def test_close_says_when_something_was_left_unwritten(path, disk, answers, record):
    journal = Journal.open(path, depot=DEPOT, vfs=disk.name)
    journal.start(committed=answers.committed, trouble=answers.trouble)
    disk.failing = True
    journal.submit(record(1))
    answers.wait(lambda: bool(answers.troubles))
    started = time.monotonic()
    assert journal.close(0.5) is False
    assert time.monotonic() - started < 2
    assert not journal.submit(record(2))
    disk.failing = False


def test_close_writes_what_is_queued_first(path, answers, record):
    journal = Journal.open(path, depot=DEPOT)
    for seq in range(1, 3001):
        assert journal.submit(record(seq))
    journal.start(committed=answers.committed, trouble=answers.trouble)
    assert journal.close(20)
    assert answers.tickets == list(range(1, 3001))
    assert not journal.submit(record(3001))


class LateFault:
    """Stands before a connection; one COMMIT succeeds and reports failure all the same."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self.armed = True

    def __getattr__(self, name):
        return getattr(self._db, name)

    def execute(self, statement, *values):
        answer = self._db.execute(statement, *values)
        if statement == "COMMIT" and self.armed:
            self.armed = False
            raise apsw.IOError("simulated: the error came after the commit")
        return answer


def test_a_commit_that_failed_too_late_is_not_written_twice(path, answers, record):
    journal = Journal.open(path, depot=DEPOT)
    journal._writer._db = LateFault(journal._writer._db)
    journal.start(committed=answers.committed, trouble=answers.trouble)
    journal.submit(record(1))
    answers.wait_for(1)
    journal.submit(record(2))
    answers.wait_for(2)
    assert answers.troubles == [(True, "failing"), (False, "")]
    assert journal.close(5)
    assert check(path) == []
    with JournalReader(path) as reader:
        assert reader.head()[1] == 4


class RefusesToBegin(LateFault):
    """Stands before a connection; the first three transactions do not begin."""

    def __init__(self, db: apsw.Connection) -> None:
        super().__init__(db)
        self.left = 3

    def execute(self, statement, *values):
        if statement == "BEGIN IMMEDIATE" and self.left:
            self.left -= 1
            raise apsw.IOError("simulated: not now")
        return self._db.execute(statement, *values)


def test_the_length_of_an_outage_makes_no_commit_slow(path, answers, record, monkeypatch):
    monkeypatch.setattr(writer, "SLOW_COMMIT_S", 0.6)  # three retries take 0.7 s
    journal = Journal.open(path, depot=DEPOT)
    journal._writer._db = RefusesToBegin(journal._writer._db)
    journal.start(committed=answers.committed, trouble=answers.trouble)
    journal.submit(record(1))
    answers.wait(lambda: len(answers.troubles) == 2)
    assert answers.troubles == [(True, "failing"), (False, "")]
    assert journal.health().last_commit_ms < 600
    assert journal.close(5)
