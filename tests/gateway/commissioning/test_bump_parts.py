"""The parts of a bump test by themselves: its course, its verdict, what is due next, and what the journal remembers."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from alerts.alarms import AlarmKey, Kind
from dashboards.ports import AlarmView, Change, DetectorView, WindowView
from gateway.commissioning.bump_course import SETTLE_S, Course, Step
from gateway.commissioning.bump_history import bumped_on, bumps
from gateway.commissioning.bump_verdict import Limits, objections
from gateway.commissioning.upkeep import Care, Due, Intervals, dues
from gateway.engine.events import Entry, OpenWindow, Record, WindowKind
from gateway.engine.records import state_body, state_from
from gateway.journal import Journal
from gateway.journal.reader import JournalReader
from sensors.stamps import SECOND
from simulator.room import Room, orders, stamp

WINDOW = WindowView("test", "Ana", "2026-11-30T12:00:00.000Z")


def head(lel: float | None, *, window: WindowView | None = WINDOW, at_least: float | None = None) -> DetectorView:
    return DetectorView(
        "GD-1",
        "patio",
        "linha",
        lel,
        at_least,
        "good",
        "measuring",
        "",
        None,
        0.1,
        10,
        20,
        40,
        False,
        1.0,
        True,
        window=window,
    )


def gas(*, present: bool) -> AlarmView:
    return AlarmView(
        "1",
        "GD-1",
        "GAS",
        "A1",
        "unacknowledged",
        present,
        False,
        None,
        None,
        "good",
        "",
        "",
        "",
        None,
        None,
        False,
        "",
        "",
        "",
        "",
    )


def look(course: Course, view: DetectorView, now_s: float, *alarms: AlarmView) -> Step:
    return course.look(Change(1, "", (view,), alarms), now_s)


def test_the_course_waits_for_the_window_then_gas_then_its_end_and_then_settles() -> None:
    course = Course("GD-1")
    assert look(course, head(60.0, window=None), 0.0) is Step.OPENING
    assert look(course, head(0.4), 1.0) is Step.WAITING
    assert look(course, head(35.0), 2.0, gas(present=True)) is Step.GAS
    assert look(course, head(3.0), 3.0, gas(present=False)) is Step.GONE
    assert look(course, head(0.0), 3.0 + SETTLE_S - 0.1, gas(present=False)) is Step.GONE
    assert look(course, head(0.0), 3.0 + SETTLE_S, gas(present=False)) is Step.SETTLED
    assert (course.gas, course.peak) == (0.0, 35.0)


def test_gas_that_comes_back_while_it_settles_is_gas_again() -> None:
    course = Course("GD-1")
    for now_s, present in ((1.0, True), (2.0, False), (3.0, True)):
        look(course, head(20.0), now_s, gas(present=present))
    assert course.step is Step.GAS
    assert look(course, head(0.0), 3.0 + SETTLE_S, gas(present=False)) is Step.GONE


def test_a_window_that_ends_by_itself_ends_the_course_whatever_was_seen() -> None:
    course = Course("GD-1")
    look(course, head(20.0), 1.0, gas(present=True))
    assert look(course, head(20.0, window=None), 2.0, gas(present=True)) is Step.OVER


def test_a_head_that_says_only_yes_shows_its_bound() -> None:
    course = Course("GD-1")
    look(course, head(None, at_least=25.0), 1.0, gas(present=True))
    assert course.peak == 25.0


# --- verdict


LIMITS = Limits(within_s=3.0, siren=True, audible_within_s=3.0)


def body(**different: Any) -> dict[str, Any]:
    return {"sampled_ms": 1, "until_first_output_ms": 200, "until_siren_ms": 400} | different


@pytest.mark.parametrize(
    ("different", "limits", "why"),
    [
        ({}, LIMITS, ()),
        ({"sampled_ms": None, "until_first_output_ms": None, "until_siren_ms": None}, LIMITS, ("no-gas",)),
        ({"until_first_output_ms": None}, LIMITS, ("no-output",)),
        ({"until_first_output_ms": 3001}, LIMITS, ("late-output",)),
        ({"until_first_output_ms": 3000, "until_siren_ms": 3000}, LIMITS, ()),
        ({"until_siren_ms": None}, LIMITS, ("no-siren",)),
        ({"until_siren_ms": 3001}, LIMITS, ("late-siren",)),
        ({"until_siren_ms": 9000}, Limits(3.0, siren=True, audible_within_s=None), ()),
        ({"until_siren_ms": None}, Limits(3.0, siren=False, audible_within_s=3.0), ()),
    ],
)
def test_a_bump_is_passed_only_if_nothing_was_missing_or_late(
    different: dict[str, Any], limits: Limits, why: tuple[str, ...]
) -> None:
    assert objections(body(**different), limits) == why


# --- due


def test_what_was_never_done_is_overdue_and_the_last_day_is_still_in_time() -> None:
    calibration, bump, test = dues(
        Intervals(), calibrated_on=date(2026, 6, 1), bumped_on=date(2026, 11, 1), tested_on=None
    )
    assert (calibration.next, bump.next, test.next) == (date(2026, 11, 28), date(2026, 12, 1), None)
    assert not bump.overdue(date(2026, 12, 1)) and bump.overdue(date(2026, 12, 2))
    assert calibration.overdue(date(2026, 11, 30)) and test.overdue(date(2026, 1, 1))


def test_what_was_done_on_a_day_still_to_come_proves_nothing() -> None:
    calibration, _, test = dues(
        Intervals(), calibrated_on=date(2062, 8, 1), bumped_on=None, tested_on=date(2026, 12, 1)
    )
    assert calibration.ahead(date(2026, 12, 1)) and calibration.overdue(date(2026, 12, 1))
    assert not test.ahead(date(2026, 12, 1)) and not test.overdue(date(2026, 12, 1))


def test_a_profile_may_ask_for_other_intervals() -> None:
    assert Intervals.of({"bump_days": 7}) == Intervals(bump_days=7)
    assert Due(Care.BUMP, date(2026, 1, 1), Intervals.of({"bump_days": 7}).bump_days).next == date(2026, 1, 8)


# --- history


def moment(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)


def written(path: Path, *bodies: dict[str, Any]) -> None:
    journal = Journal.open(path, depot="x")
    journal.start(committed=lambda _: None, trouble=lambda *_: None)
    for ticket, each in enumerate(bodies, 1):
        kind = "bump" if "detector" in each else "reload"
        assert journal.submit(Record(ticket, (Entry(kind, each, "Ana" if kind == "bump" else None),)))
    assert journal.close(5.0)


def bump(detector: str, closed: str, **different: Any) -> dict[str, Any]:
    return {"detector": detector, "closed_ms": moment(closed), "note": 'a "kind":"bump"}', **body(**different)}


def test_the_last_passed_test_of_each_head_counts_by_the_depots_own_day(tmp_path: Path) -> None:
    journal = tmp_path / "journal.db"
    written(
        journal,
        bump("GD-1", "2026-10-01T12:00:00+00:00"),
        {"note": 'no test, whatever it says: "kind":"bump"}'},
        bump("GD-1", "2026-11-02T01:30:00+00:00"),
        bump("GD-1", "2026-11-20T12:00:00+00:00", until_siren_ms=None),
        bump("GD-9", "2026-11-21T12:00:00+00:00"),
    )
    heads = {"GD-1": LIMITS, "GD-2": LIMITS}
    assert bumped_on(journal, heads, ZoneInfo("America/Sao_Paulo")) == {"GD-1": date(2026, 11, 1)}
    assert bumped_on(journal, heads, UTC) == {"GD-1": date(2026, 11, 2)}
    assert bumped_on(tmp_path / "none.db", heads, UTC) == {}
    with JournalReader(journal) as reader:
        assert [found.detector for found in bumps(reader)] == ["GD-9", "GD-1", "GD-1", "GD-1"]
        assert [found.idx for found in bumps(reader, start=3)] == [4, 3]


def test_the_opener_of_a_window_is_kept_for_the_restart() -> None:
    room = Room(orders("GD-1"))
    room.read("GD-1", 0.0)
    room.give(OpenWindow(WindowKind.INHIBIT, "GD-1", 60 * SECOND, "Ana", "", stamp(room.at)))
    alarm = room.alarm("GD-1", Kind.BLIND)
    assert alarm is not None and alarm.opened_by == "Ana"
    again = state_from(AlarmKey("GD-1", Kind.BLIND), state_body(alarm), stamp(room.at))
    assert (again.opened_by, again.until is not None) == ("Ana", True)
