"""What late entries show of days gone by: breaches that were over before anybody knew, and those never there."""

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from depot_text import SMALLEST, loaded
from hypothesis import given
from hypothesis import strategies as st
from journal_lives import DEADLINE_S

from compliance.registers.entries import Millis
from gateway.engine.events import Entry, Record
from gateway.journal import Journal
from gateway.journal.reader import JournalReader
from gateway.office import entries as kept
from gateway.office import findings
from gateway.office.books import Books
from gateway.office.bygone import Bygone, Course, Told, past
from gateway.office.findings import Key
from gateway.office.judge import changes
from gateway.office.law import law_of
from gateway.office.lawfacts import Asked, measured, measured_each

ON = date(2026, 11, 29)
KEY: Key = ("rule", "area:patio")
OVER = "house-13"
DAY_MS = 24 * 3600 * 1000
NOON = Millis(1_795_964_400_000)  # 2026-11-29 12:00 in São Paulo


def back(days: int) -> date:
    return ON - timedelta(days=days)


def told(found: list[Bygone]) -> list[tuple[str, int, int]]:
    return [(one.told.value, (ON - one.first).days, (ON - one.until).days) for one in found]


def compared(now: set[int], before: set[int], course: Course | None = None) -> tuple[list[tuple[str, int, int]], Any]:
    """Compare so many days ago, as known now and as known before, every one of them a turn."""
    found = past(
        map(back, range(1, 31)),
        ON,
        lambda day: {KEY} if (ON - day).days in now else (),
        lambda day: {KEY} if (ON - day).days in before else (),
        {} if course is None else {KEY: course},
    )
    return told(list(found.bygones)), found.mended.get(KEY)


def test_what_was_broken_and_nobody_knew_is_told_of_its_days() -> None:
    assert compared({9, 8, 7, 3}, set()) == ([("known-later", 9, 6), ("known-later", 3, 2)], None)


def test_what_was_told_to_be_broken_and_was_not_is_taken_back() -> None:
    assert compared({9}, {9, 8, 7}) == ([("never-was", 8, 6)], None)


def test_what_a_standing_breach_tells_by_its_first_day_is_not_told_twice() -> None:
    assert compared({9, 5, 4, 3, 2, 1}, set(), Course(None, back(5))) == ([("known-later", 9, 8)], None)
    assert compared({3, 2, 1}, {5, 4, 3, 2, 1}, Course(back(5), back(3))) == ([], None)


def test_a_breach_that_is_younger_now_leaves_its_earlier_days_as_one_that_was_over() -> None:
    found, _ = compared({9, 8, 2, 1}, set(range(1, 10)), Course(back(9), back(2)))
    assert found == [("known-later", 9, 7), ("never-was", 7, 2)]


def test_a_breach_that_late_entries_end_ended_on_the_day_they_say() -> None:
    assert compared({9, 8, 7}, set(range(1, 10)), Course(back(9), None)) == ([], back(6))
    assert compared(set(), set(range(1, 10)), Course(back(9), None)) == ([], back(9)), "it never was"
    assert compared({9, 8, 7}, set(), Course(back(40), None)) == ([], back(6)), "it began before the days looked at"


@given(st.sets(st.integers(1, 30)), st.sets(st.integers(1, 30)), st.sets(st.integers(1, 30), min_size=1))
def test_every_day_that_is_known_otherwise_is_told_and_no_other(
    now: set[int], before: set[int], turns: set[int]
) -> None:
    """Between two turns time only breaks: from some day on, up to the next turn."""

    def days_of(broken: set[int]) -> set[int]:
        found: set[int] = set()
        starts = sorted(turns, reverse=True)
        for start, following in zip(starts, (*starts[1:], 0), strict=True):
            first = max((day for day in broken if following < day <= start), default=0)
            found |= set(range(following + 1, first + 1))
        return found

    is_so, was_so = days_of(now), days_of(before)
    found = past(
        map(back, turns),
        ON,
        lambda day: {KEY} if (ON - day).days in is_so else (),
        lambda day: {KEY} if (ON - day).days in was_so else (),
        {},
    ).bygones
    for which, expected in ((Told.KNOWN_LATER, is_so - was_so), (Told.NEVER_WAS, was_so - is_so)):
        days = [
            (ON - one.first).days - ago
            for one in found
            if one.told is which
            for ago in range((one.until - one.first).days)
        ]
        assert len(days) == len(set(days)) and set(days) == expected


class Office:
    """Books on a journal, told of deliveries and judged."""

    def __init__(self, folder: Path) -> None:
        self.depot = loaded(folder, SMALLEST).depot
        self.depot.journal.parent.mkdir(parents=True, exist_ok=True)
        self.tickets = iter(range(1, 1000))
        self.now = int(NOON)
        self.law = law_of(self.depot)
        self.books = self.opened()
        self.filed()
        self.judged()

    def opened(self) -> Books:
        """Open the books anew, as an office does that starts."""
        books = Books(self.depot, self.law)
        if self.depot.journal.exists():
            books.catch_up()
        return books

    def filed(self, *bodies: tuple[str, dict[str, object]]) -> None:
        journal = Journal.open(self.depot.journal, depot=self.depot.id)
        journal.start(committed=lambda _: None, trouble=lambda *_: None)
        entries = tuple(Entry(kind, body, "Ana") for kind, body in bodies)  # type: ignore[arg-type]
        assert journal.submit(Record(next(self.tickets), entries)) and journal.close(DEADLINE_S)
        self.books.catch_up()

    def told(self, *lines: dict[str, object]) -> None:
        self.now += 1000
        self.filed((kept.KIND, {"at_ms": self.now, "entries": list(lines)}))

    def judged(self) -> list[dict[str, Any]]:
        self.now += 1000
        found = [dict(change) for change in self.books.judge.judge(self.books.desk, Millis(self.now)).changes]
        if found:
            self.filed((findings.KIND, {"at_ms": self.now, "changes": found}))
        return [change for change in found if change["rule"] == OVER]

    def moved(self, act: str, days_ago: int, id_: str, **more: object) -> dict[str, object]:
        values = {"size_kg": "13", "state": "full", "units": 5000}
        line = {"id": id_, "register": "stock", "subject": self.depot.areas[0].id, "act": act, "values": values}
        return line | {"effective_ms": int(NOON) - days_ago * DAY_MS, "source": "person"} | more


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


def gone(found: list[dict[str, Any]]) -> list[tuple[object, ...]]:
    return [(one["past"], one["on"], one["effective"], one["until"]) for one in found if "past" in one]


def test_a_breach_begun_and_ended_before_anybody_entered_it_stands_in_the_history(office: Office) -> None:
    office.told(office.moved("in", 10, "e1"), office.moved("out", 6, "e2"))
    (step,) = office.judged()
    assert gone([step]) == [("known-later", "2026-11-29", "2026-11-19", "2026-11-23")]
    assert {cause["entry"] for cause in step["because"]} == {"e1", "e2"} and step["evidence"]
    assert not office.judged(), "and is told once"
    (kept_step,) = [one for one in office.books.finding(OVER, step["subject"]) if "past" in one]
    assert (kept_step["verdict"], kept_step["because"][0]["by"]) == ("VIOLATED", "Ana")
    shown = office.books.judge.findings(office.books.desk, Millis(office.now), None)["findings"]
    assert {one["verdict"] for one in shown if one["rule"] == OVER} == {"UNDETERMINED"}, "it is no breach of today"


def test_an_office_that_starts_anew_does_not_tell_it_again(office: Office) -> None:
    office.told(office.moved("in", 10, "e1"), office.moved("out", 6, "e2"))
    assert gone(office.judged())
    office.books = office.opened()
    assert not gone(office.judged())


def test_a_delivery_and_its_leaving_told_one_after_the_other_end_the_breach_on_their_own_day(office: Office) -> None:
    office.told(office.moved("in", 10, "e1"))
    assert [(one["verdict"], one["effective"]) for one in office.judged()] == [("VIOLATED", "2026-11-19")]
    office.told(office.moved("out", 6, "e2"))
    assert [(one["verdict"], one["effective"]) for one in office.judged()] == [("UNDETERMINED", "2026-11-23")]


def test_a_bygone_breach_that_was_a_slip_of_the_pen_is_taken_back(office: Office) -> None:
    office.told(office.moved("in", 10, "e1"), office.moved("out", 6, "e2"))
    office.judged()
    office.told(*(office.moved("void", 6, f"v{one}", corrects=one, values={}, reason="slip") for one in ("e2", "e1")))
    assert gone(office.judged()) == [("never-was", "2026-11-29", "2026-11-19", "2026-11-23")]


def test_a_bygone_breach_is_of_the_shape_that_the_watch_lets_in(office: Office) -> None:
    from dashboards.office import paper
    from gateway.office.shape import read

    office.told(office.moved("in", 10, "e1"), office.moved("out", 6, "e2"))
    found = office.judged()
    assert gone(found) and not isinstance(read(0, paper(findings.KIND, {"at_ms": office.now, "changes": found})), str)


def test_what_the_journal_proves_of_many_days_is_what_it_proves_of_each(office: Office) -> None:
    clock = [0, 3, 1, 5, 4, 9]  # set back over midnight twice
    office.filed(
        *(
            ("output", {"output": f"o{number}", "on": number % 2 == 0, "at_ms": int(NOON) - (20 - days) * DAY_MS})
            for number, days in enumerate(clock)
        ),
        ("boot", {"at_ms": 5, "time_trusted": False, "boot": "b", "detectors": 0, "watches": []}),
        ("output", {"output": "late", "on": True, "at_ms": int(NOON) - 8 * DAY_MS}),
    )
    days = [back(ago) for ago in range(25, 0, -1)]
    with JournalReader(office.depot.journal) as journal:
        at_once = measured_each(office.depot, journal, days, int(NOON))
        assert list(changes(journal)) and sorted(at_once) == days
        for day in days:
            one = measured(office.depot, journal, Asked(day, int(NOON)))
            assert sorted(map(str, at_once[day])) == sorted(map(str, one)), day


def test_what_was_told_in_time_is_not_taken_back_by_an_office_that_starts_anew(office: Office) -> None:
    """A licence that was renewed before it ran out was never told to be broken, though it would have run out."""
    line = {"register": "document", "subject": "licenca", "act": "record", "source": "person"}
    days = {days_ago: {"effective_ms": int(NOON) - days_ago * DAY_MS} for days_ago in (30, 11)}
    kind = {"kind": "operating-licence", "no_expiry": False, "revoked": False, "valid_until": "2026-11-18"}
    all_listed = {"register": "depot", "subject": "depot", "act": "record", "source": "person", "id": "d1"}
    told_early = [
        line | days[30] | {"id": "l1", "values": kind},
        all_listed | days[30] | {"values": {"documents_listed": True}},
    ]
    office.filed((kept.KIND, {"at_ms": int(NOON) - 30 * DAY_MS, "entries": told_early}))
    office.now = int(NOON) - 30 * DAY_MS + 1000
    office.books = office.opened()
    office.judged()
    renewed = line | days[11] | {"id": "l2", "values": {"valid_until": "2027-11-18"}}
    office.filed((kept.KIND, {"at_ms": int(NOON) - 11 * DAY_MS, "entries": [renewed]}))
    office.now = int(NOON)
    office.books = office.opened()
    office.books.judge._changed_ms = Millis(int(NOON) - 29 * DAY_MS)  # as if nothing had changed since
    changes_then = office.books.judge.judge(office.books.desk, Millis(office.now)).changes
    assert not [change for change in changes_then if change["rule"] == "house-23-licence" and "past" in change]
