"""A journal whatever the disk is like: what is set aside, what is kept in memory, what is carried over."""

import os
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from gateway.engine.events import Record, StateRow
from gateway.engine.records import state_body
from gateway.journal import Journal, NotOursError, check, open_anyhow
from gateway.journal import log as journal_log
from gateway.journal.opening import IN_MEMORY, MOST_ASIDE, SET_ASIDE
from sensors.stamps import Instant, Stamp, UtcNanos

DEPOT = "deposito-centro"
NOW = Stamp(Instant(5_000_000_000), UtcNanos(1_796_037_059_000_000_000))  # 2026-11-30T11:10:59Z


@pytest.fixture
def told(record: Callable[..., Record]) -> Callable[[int], Record]:
    """A record whose alarm state the engine could put back."""
    from alerts.alarmbook import AlarmBook
    from alerts.alarms import AlarmKey, Kind, Level

    def make(seq: int) -> Record:
        book, key = AlarmBook(DEPOT, "b00t", 0), AlarmKey(f"GD-{seq}", Kind.GAS)
        book.raise_(key, NOW, level=Level.A1)
        whole = record(seq, subject=key.subject)
        body = {**whole.entries[0].body, "quality": None, "status": None, "reading_reason": None}
        entry = type(whole.entries[0])("alarm", body)
        alarm = book.get(key)
        assert alarm is not None
        return Record(seq, (entry, *whole.entries[1:]), whole.outbox, (StateRow(key, state_body(alarm)),))

    return make


def sql(path: Path, statement: str) -> None:
    db = apsw.Connection(str(path))
    db.execute(statement)
    db.close()


def subjects(journal: Journal) -> list[str]:
    return [row.key.subject for row in journal.restored.states]


def test_a_sound_journal_is_opened_as_it_is(path, write, told):
    write(told(1), told(2))
    opened = open_anyhow(path, depot=DEPOT, now=NOW)
    assert (opened.reason, opened.detail) == ("", "")
    assert subjects(opened.journal) == ["GD-1", "GD-2"]
    assert opened.journal.close(1)


def test_a_damaged_file_keeps_its_bytes_under_a_name_with_the_time_and_what_it_still_says_is_carried_over(
    path, write, told, answers
):
    write(told(1), told(2))
    sql(path, "UPDATE head SET root = zeroblob(32)")
    before = path.read_bytes()
    opened = open_anyhow(path, depot=DEPOT, now=NOW)
    assert opened.reason == SET_ASIDE
    assert "does not lead to the stored root" in opened.detail
    assert path.with_name("journal.db.damaged-20261130T111059Z").read_bytes() == before
    assert opened.journal.restored.last_seq == 0
    assert subjects(opened.journal) == ["GD-1", "GD-2"]
    assert len(opened.journal.restored.owed) == 4

    opened.journal.start(committed=answers.committed, trouble=answers.trouble)
    assert opened.journal.submit(told(1))
    answers.wait_for(1)
    assert answers.troubles == [(True, SET_ASIDE)]
    assert opened.journal.health().trouble == SET_ASIDE
    assert opened.journal.close(1)
    assert check(path) == []

    again = open_anyhow(path, depot=DEPOT, now=NOW)
    assert (again.reason, subjects(again.journal)) == ("", ["GD-1", "GD-2"])
    again.journal.close(1)


def test_rows_that_the_engine_could_not_put_back_are_left_out_and_the_others_kept(path, write, told):
    write(told(1), told(2))
    sql(path, "UPDATE alarm_state SET body = CAST('{}' AS BLOB) WHERE subject = 'GD-1'")
    opened = open_anyhow(path, depot=DEPOT, now=NOW)
    assert (opened.reason, subjects(opened.journal)) == (SET_ASIDE, ["GD-2"])
    opened.journal.close(1)


@pytest.mark.parametrize("page", range(30))
def test_a_zeroed_page_anywhere_never_keeps_the_journal_from_opening(path, write, told, page):
    write(*map(told, range(1, 20)))
    content = bytearray(path.read_bytes())
    if (page + 1) * 4096 > len(content):
        page %= len(content) // 4096
    content[page * 4096 : (page + 1) * 4096] = bytes(4096)
    path.write_bytes(content)
    opened = open_anyhow(path, depot=DEPOT, now=NOW)
    assert opened.reason in ("", SET_ASIDE)
    opened.journal.close(1)


def test_two_damaged_files_of_one_second_both_stay(path):
    for content in (b"one" * 1000, b"two" * 1000):
        path.write_bytes(content)
        open_anyhow(path, depot=DEPOT, now=NOW).journal.close(1)
    assert {each.read_bytes()[:3] for each in path.parent.glob("journal.db.damaged-*")} >= {b"one", b"two"}


def test_a_disk_that_spoils_every_file_is_written_no_more(path):
    for _ in range(MOST_ASIDE + 45):
        path.write_bytes(b"garbage" * 1000)
        opened = open_anyhow(path, depot=DEPOT, now=NOW)
        opened.journal.close(1)
    assert opened.reason == IN_MEMORY
    assert len(list(path.parent.iterdir())) <= 3 * MOST_ASIDE + 5


@pytest.mark.parametrize("fault", ["full", "failing"])
@pytest.mark.parametrize("damaged", [True, False])
def test_on_a_disk_that_cannot_be_written_it_is_kept_in_memory_and_commits_nothing(
    path, write, told, answers, disk, fault, damaged
):
    if damaged:
        write(told(1))
        sql(path, "DROP TABLE node")
    disk.free_bytes, disk.failing = (0, False) if fault == "full" else (None, True)
    opened = open_anyhow(path, depot=DEPOT, now=NOW, vfs=disk.name)
    assert opened.reason == IN_MEMORY
    assert subjects(opened.journal) == (["GD-1"] if damaged else [])
    assert opened.journal.restored.last_seq == (1 if damaged else 0)
    opened.journal.start(committed=answers.committed, trouble=answers.trouble)
    assert opened.journal.submit(told(2))
    assert opened.journal.close(5)
    assert (answers.tickets, answers.troubles) == ([], [(True, IN_MEMORY)])
    assert len(list(path.parent.glob("journal.db.damaged-*Z"))) == damaged


def test_a_journal_in_memory_is_bounded(path, told, answers, monkeypatch):
    monkeypatch.setattr(journal_log, "MEMORY_MAX_BYTES", 200_000)
    path.mkdir()
    journal = open_anyhow(path, depot=DEPOT, now=NOW).journal
    journal.start(committed=answers.committed, trouble=answers.trouble)
    for seq in range(1, 1001):
        journal.submit(told(seq))
    assert not journal.close(1)
    assert answers.troubles == [(True, IN_MEMORY)]


def test_another_trouble_is_told_beside_the_one_that_stands(path, told, answers, disk):
    path.write_bytes(b"garbage" * 1000)
    opened = open_anyhow(path, depot=DEPOT, now=NOW, vfs=disk.name)
    opened.journal.start(committed=answers.committed, trouble=answers.trouble)
    disk.free_bytes = 0
    opened.journal.submit(told(1))
    answers.wait(lambda: (True, "full") in answers.troubles)
    disk.free_bytes = None
    answers.wait_for(1)
    answers.wait(lambda: len(answers.troubles) == 5)
    assert answers.troubles == [(True, SET_ASIDE), (False, ""), (True, "full"), (False, ""), (True, SET_ASIDE)]
    opened.journal.close(1)


def test_what_is_somebody_elses_is_refused_on_any_disk(path, write, told, disk):
    write(told(1))
    with pytest.raises(NotOursError, match="belongs to the depot"):
        open_anyhow(path, depot="outro", now=NOW)
    held = open_anyhow(path, depot=DEPOT, now=NOW)
    for vfs in (None, disk.name):
        with pytest.raises(NotOursError, match="another program"):
            open_anyhow(path, depot=DEPOT, now=NOW, vfs=vfs)
    held.journal.close(1)


def test_the_lock_is_held_in_memory_too(path, tmp_path):
    path.mkdir()
    first = open_anyhow(path, depot=DEPOT, now=NOW)
    assert first.reason == IN_MEMORY
    with pytest.raises(NotOursError):
        open_anyhow(path, depot=DEPOT, now=NOW)
    first.journal.close(1)
    assert os.path.lexists(tmp_path / "journal.db.lock")
