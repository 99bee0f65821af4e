"""The first day of a breach: found by looking at few days, and the one that looking at every day would find."""

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

from depot_text import SMALLEST, loaded
from hypothesis import given
from hypothesis import strategies as st
from journal_lives import DEADLINE_S

from compliance.registers.entries import Millis
from gateway.engine.events import Entry, Record
from gateway.journal import Journal
from gateway.office import entries as kept
from gateway.office import findings
from gateway.office.beginnings import beginnings
from gateway.office.books import Books
from gateway.office.findings import Key

ON = date(2026, 11, 30)
KEY: Key = ("rule", "area:patio")
OVER = "house-13"
DAY_MS = 24 * 3600 * 1000
NOON = Millis(1_795_964_400_000)  # 2026-11-29 12:00 in São Paulo


def back(days: int) -> date:
    return ON - timedelta(days=days)


def broken_from(stretches: dict[int, int | None]) -> Callable[[date], frozenset[Key]]:
    """What is broken where, in the stretch that began so many days ago, only the last n days were (None: no day)."""
    ends = {start: max((other for other in stretches if other < start), default=0) for start in stretches}

    def on_day(day: date) -> frozenset[Key]:
        ago = (ON - day).days
        for start, last in stretches.items():
            if ends[start] < ago <= start:
                return frozenset({KEY} if last is not None and ago <= ends[start] + last else ())
        return frozenset()

    return on_day


@given(st.dictionaries(st.integers(1, 60), st.one_of(st.none(), st.integers(0, 60)), max_size=6))
def test_the_first_day_is_that_of_looking_at_every_day(stretches: dict[int, int | None]) -> None:
    on_day = broken_from(stretches)
    expected = 0
    while expected < max(stretches, default=0) and on_day(back(expected + 1)):
        expected += 1
    assert beginnings([KEY], map(back, stretches), ON, on_day, {}) == {KEY: back(expected)}


def test_what_was_broken_before_the_days_looked_at_has_been_so_for_as_long_as_was_known() -> None:
    on_day = broken_from({5: 5})
    assert beginnings([KEY], [back(5)], ON, on_day, {KEY: back(40)}) == {KEY: back(40)}
    assert beginnings([KEY], [back(5)], ON, broken_from({5: 2}), {KEY: back(40)}) == {KEY: back(2)}, "it was mended"


def test_a_breach_older_than_the_looks_reach_is_said_to_be_as_old_as_they_reach() -> None:
    looked: list[date] = []

    def on_day(day: date) -> frozenset[Key]:
        looked.append(day)
        return frozenset({KEY})

    found = beginnings([KEY], map(back, range(1, 100)), ON, on_day, {}, looks=10)
    assert found == {KEY: back(10)} and len(looked) == 10


def test_a_delivery_entered_late_breaks_the_law_since_the_day_on_which_it_came(tmp_path: Path) -> None:
    depot = loaded(tmp_path, SMALLEST).depot
    depot.journal.parent.mkdir(parents=True, exist_ok=True)
    books = Books(depot)
    tickets = iter(range(1, 100))

    def filed(*bodies: tuple[str, dict[str, object]]) -> None:
        journal = Journal.open(depot.journal, depot=depot.id)
        journal.start(committed=lambda _: None, trouble=lambda *_: None)
        entries = tuple(Entry(kind, body, "Ana") for kind, body in bodies)  # type: ignore[arg-type]
        assert journal.submit(Record(next(tickets), entries)) and journal.close(DEADLINE_S)
        books.catch_up()

    def told(days_ago: int, units: int, now: int) -> None:
        values = {"size_kg": "13", "state": "full", "units": units}
        line = {"id": f"e{now}", "register": "stock", "subject": depot.areas[0].id, "act": "in", "values": values}
        line |= {"effective_ms": now - days_ago * DAY_MS, "source": "person"}
        filed((kept.KIND, {"at_ms": now, "entries": [line]}))

    def judged(now: int) -> list[dict[str, object]]:
        changes = [dict(change) for change in books.judge.judge(books.desk, Millis(now)).changes]
        filed((findings.KIND, {"at_ms": now, "changes": changes}))
        return [change for change in changes if change["verdict"] == "VIOLATED" and change["rule"] == OVER]

    def over(changes: list[dict[str, object]]) -> set[tuple[object, object]]:
        return {(change["on"], change["effective"]) for change in changes}

    filed()
    judged(NOON)
    told(4, 5000, NOON + 1000)
    assert over(judged(NOON + 2000)) == {("2026-11-29", "2026-11-25")}
    told(6, 5000, NOON + 3000)
    assert over(judged(NOON + 4000)) == {("2026-11-29", "2026-11-23")}, "the same breach, known anew to be older"
    assert not over(judged(NOON + 5000 + DAY_MS)), "and nothing more is told of it"
    shown = books.judge.findings(books.desk, Millis(NOON + 6000 + DAY_MS), None)["findings"]
    assert ("2026-11-29", "2026-11-23") in {(one["since"], one["effective"]) for one in shown if one["rule"] == OVER}
