"""The command, the page and the report say the same of a day: whatever the registers hold, and as known whenever."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from depot_text import SMALLEST, loaded
from hypothesis import example, given, settings
from hypothesis import strategies as st
from journal_lives import DEADLINE_S

from compliance.evaluate import evaluate
from compliance.registers.entries import Millis
from compliance.registers.facts import day
from compliance.situation import Situation
from gateway.depot import Depot
from gateway.engine.events import Entry, Record
from gateway.journal import Journal
from gateway.journal.reader import JournalReader
from gateway.office import entries as kept
from gateway.office.books import Books
from gateway.office.law import Law, law_of
from gateway.office.lawfacts import Asked, configured, end_of, measured, registered
from gateway.office.report import report

DAY_MS = 24 * 3600 * 1000
NOON = 1_795_964_400_000  # 2026-11-29 12:00 in São Paulo

Verdicts = Mapping[tuple[str, str], str]

VALUES: Mapping[str, st.SearchStrategy[dict[str, Any]]] = {
    "stock": st.fixed_dictionaries(
        {
            "size_kg": st.sampled_from(["13", "45"]),
            "state": st.sampled_from(["full", "empty"]),
            "units": st.sampled_from([1, 30, 500]),
        },
        optional={"lot": st.sampled_from(["L1", "none"])},
    ),
    "extinguisher": st.fixed_dictionaries(
        {"area": st.just("patio"), "charge_kg": st.sampled_from(["4", "12"]), "agent": st.just("powder-bc")},
        optional={"charge_until": st.sampled_from(["2026-11-20", "2026-11-29", "2027-05-01"]), "sealed": st.booleans()},
    ),
    "document": st.fixed_dictionaries(
        {"kind": st.sampled_from(["operating-licence", "anp-registration"])},
        optional={"valid_until": st.sampled_from(["2026-11-20", "2026-11-29"]), "no_expiry": st.booleans()},
    ),
    "depot": st.fixed_dictionaries({"containers_listed": st.booleans(), "extinguishers_listed": st.booleans()}),
}
ACTS = {"stock": ["in", "out", "count", "void"]}
SUBJECT = {"stock": "patio", "depot": "depot"}


@st.composite
def lines(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Entries in the order in which they were told, the senseless among them: what cannot be counts for nothing."""
    found = []
    for number in range(draw(st.integers(1, 8))):
        register = draw(st.sampled_from(sorted(VALUES)))
        act = draw(st.sampled_from(ACTS.get(register, ["record", "record", "remove", "void"])))
        line = {
            "id": f"e{number}",
            "register": register,
            "subject": SUBJECT.get(register, f"{register}-1"),
            "act": act,
            "values": draw(VALUES[register]),
            "effective_ms": NOON - draw(st.integers(0, 12)) * DAY_MS,
            "source": "person",
        }
        if number and (act == "void" or draw(st.booleans())):
            line |= {"corrects": f"e{draw(st.integers(0, number - 1))}", "reason": "engano"}
        found.append(line)
    return found


@cache
def law() -> Law:
    """Of the depot that is always the same."""
    with TemporaryDirectory() as folder:
        return law_of(loaded(Path(folder), SMALLEST).depot)


def written(depot: Depot, told: list[dict[str, Any]]) -> None:
    depot.journal.parent.mkdir(parents=True, exist_ok=True)
    journal = Journal.open(depot.journal, depot=depot.id)
    journal.start(committed=lambda _: None, trouble=lambda *_: None)
    for number, line in enumerate(told):
        at = NOON - (len(told) - number) * DAY_MS // 2
        body = {"at_ms": at, "entries": [line | {"effective_ms": min(at, line["effective_ms"])}]}
        assert journal.submit(Record(number + 1, (Entry(kept.KIND, body, "Ana"),)))
    assert journal.close(DEADLINE_S)


def by_command(depot: Depot, asked: Asked) -> Verdicts:
    listed = law().catalogue
    with JournalReader(depot.journal) as journal:
        told = [*configured(depot), *measured(depot, journal, asked), *registered(depot, journal, listed, asked)]
    situation = Situation.of(told, listed, asked.on)
    found = [finding for statute in law().statutes for finding in evaluate(statute, situation, asked.on)]
    return {(finding.rule.id, str(finding.subject)): finding.verdict.value for finding in found}


def by_page(books: Books, at: Millis, known: Millis | None) -> Verdicts:
    return verdicts(books.judge.findings(books.desk, at, known)["findings"])


def verdicts(found: list[dict[str, Any]], name: str = "verdict") -> Verdicts:
    return {(one["rule"], one["subject"]): one[name] for one in found if one[name] is not None}


GONE = {"id": "e0", "register": "stock", "subject": "patio", "act": "out", "effective_ms": NOON, "source": "person"}
NEVER_THERE = GONE | {"values": {"size_kg": "13", "state": "full", "units": 1}}


@example([NEVER_THERE], 0, None)
@given(lines(), st.integers(0, 12), st.none() | st.integers(0, 12))
@settings(max_examples=12, deadline=None)
def test_command_page_and_report_say_the_same_of_a_day(
    told: list[dict[str, Any]], days_ago: int, known_ago: int | None
) -> None:
    with TemporaryDirectory() as folder:
        depot = loaded(Path(folder), SMALLEST).depot
        written(depot, told)
        books = Books(depot, law(), lambda: NOON * 1_000_000)
        books.catch_up()
        on = day(Millis(NOON - days_ago * DAY_MS), books.zone)
        at = Millis(end_of(on, books.zone))
        known = (
            None
            if known_ago is None
            else Millis(end_of(day(Millis(NOON - known_ago * DAY_MS), books.zone), books.zone))
        )
        page = by_page(books, at, known)
        assert by_command(depot, Asked(on, NOON, known)) == page
        if known is None and days_ago:
            told_of = report(depot, Millis(at - DAY_MS), Millis(at + 1), Millis(NOON), law())["verdicts"]["findings"]
            assert verdicts(told_of) == page
            then = by_page(books, at, at)  # of things that are known now to have been there
            assert verdicts(told_of, "verdict_then") == {key: then[key] for key in page.keys() & then.keys()}
