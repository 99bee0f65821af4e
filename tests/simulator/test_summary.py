"""What the demo tells at its end: the slowest first output, and what nobody took."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event

import pytest

from alerts.alarms import AlarmEvent, AlarmKey, Cause, EventId, Kind, Level, Phase
from gateway.engine.events import Entry, Record
from gateway.engine.records import event_body
from gateway.journal import Journal
from sensors.stamps import Instant, Stamp, UtcNanos
from simulator.summary import JournalUnreadableError, summarise

BEGAN = datetime(2026, 11, 30, 12, tzinfo=UTC)
BEGAN_MS = int(BEGAN.timestamp() * 1000)


def stamp(after_ms: int) -> Stamp:
    return Stamp(Instant(0), UtcNanos((BEGAN_MS + after_ms) * 1_000_000))


def alarm(seq: int, sampled_ms: int, level: Level, cause: Cause = Cause.RAISED) -> Entry:
    event = AlarmEvent(
        seq=seq,
        id=EventId(f"depot-boot-{seq}"),
        key=AlarmKey("GD-103", Kind.GAS),
        cause=cause,
        before=Phase.NORMAL,
        after=Phase.UNACKNOWLEDGED,
        level=level,
        reading=None,
        lel_pct=12.0,
        peak=12.0,
        since=stamp(sampled_ms),
        sampled=stamp(sampled_ms),
        at=stamp(sampled_ms + 1),
    )
    return Entry("alarm", event_body(event))


def delivery(seq: int, channel: str, at_ms: int, outcome: str = "accepted") -> Entry:
    body = {"event": f"depot-boot-{seq}", "channel": channel, "outcome": outcome, "at_ms": BEGAN_MS + at_ms}
    return Entry("delivery", body)


def siren(at_ms: int, *, on: bool = True) -> Entry:
    return Entry("output", {"output": "sirene", "on": on, "reason": "", "at_ms": BEGAN_MS + at_ms})


def beacon(at_ms: int) -> Entry:
    body = {"output": "sinalizador", "kind": "beacon", "on": True, "reason": "", "at_ms": BEGAN_MS + at_ms}
    return Entry("output", body)


def journal(folder: Path, *entries: Entry) -> Path:
    path = folder / "journal.db"
    opened, done = Journal.open(path, depot="depot"), Event()
    opened.start(committed=lambda _: done.set(), trouble=lambda *_: None)
    assert opened.submit(Record(1, entries))
    assert done.wait(5)
    assert opened.close(5)
    return path


def test_the_slowest_first_output_is_named(tmp_path):
    path = journal(
        tmp_path,
        alarm(1, 1000, Level.A1),
        siren(1012),
        delivery(1, "painel", 1030),
        siren(3000, on=False),
        alarm(2, 5000, Level.A2, Cause.RISEN),
        delivery(2, "painel", 5044),
    )
    summary = summarise(path, BEGAN)
    assert [alarm.took_ms for alarm in summary.alarms] == [12, 44]
    assert (summary.worst_ms, summary.missed) == (44, 0)


def test_a_siren_that_sounds_already_has_taken_a_rise(tmp_path):
    path = journal(tmp_path, alarm(1, 1000, Level.A1), siren(1012), alarm(2, 5000, Level.A2, Cause.RISEN))
    assert [alarm.took_ms for alarm in summarise(path, BEGAN).alarms] == [12, 1]


def test_a_siren_that_was_stopped_has_not_taken_what_came_later(tmp_path):
    path = journal(
        tmp_path, alarm(1, 1000, Level.A1), siren(1012), siren(3000, on=False), alarm(2, 5000, Level.A2, Cause.RISEN)
    )
    assert [alarm.took_ms for alarm in summarise(path, BEGAN).alarms] == [12, None]


def test_a_console_never_counts_nor_does_a_refusal_or_a_siren_that_stops(tmp_path):
    path = journal(
        tmp_path,
        alarm(1, 1000, Level.A1),
        delivery(1, "console", 1001),
        delivery(1, "painel", 1002, "retry"),
        siren(1003, on=False),
    )
    summary = summarise(path, BEGAN)
    assert (len(summary.alarms), summary.worst_ms, summary.missed) == (1, None, 1)


def test_what_was_before_this_run_is_left_out(tmp_path):
    path = journal(tmp_path, alarm(1, 1000, Level.A1), delivery(1, "painel", 1002))
    assert summarise(path, BEGAN + timedelta(seconds=2)).alarms == ()


def test_no_journal_and_no_journal_at_all_are_said(tmp_path):
    with pytest.raises(JournalUnreadableError):
        summarise(tmp_path / "journal.db", BEGAN)
    (tmp_path / "journal.db").write_text("not a journal, but long enough to be looked at" * 50)
    with pytest.raises(JournalUnreadableError):
        summarise(tmp_path / "journal.db", BEGAN)


def test_a_beacon_that_flashes_already_is_no_first_output_of_a_rise(tmp_path):
    rise = alarm(2, 5000, Level.A2, Cause.RISEN)
    path = journal(tmp_path, alarm(1, 1000, Level.A1), beacon(1012), rise, siren(5300))
    assert [alarm.took_ms for alarm in summarise(path, BEGAN).alarms] == [12, 300]
