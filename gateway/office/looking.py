"""Answers what screens and commands look at: registers, stock, findings, a report, out of the books. Enters nothing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from compliance.registers.entries import Millis
from compliance.registers.forms import Form, Problem
from dashboards.office import Fault, Look, Reply
from gateway.depot import Depot
from gateway.office import refusals, shown
from gateway.office.asked import MomentError, end_of, moment, until
from gateway.office.books import Books
from gateway.office.report import report


def look(ask: Look, books: Books, now: Millis) -> Reply:
    """Answer a look at the books, now or at a moment, as known now or then."""
    if ask.what in ("register", "history") and ask.name not in books.forms:
        return refused(ask.ref, [unknown_register(ask.name, books.forms)], books.forms)
    try:
        on = until(ask.on, books.zone, now) if ask.on else None
        known = until(ask.known, books.zone, now) if ask.known else None
        data = _looked(ask, books, on, known, now)
    except MomentError as error:
        problem = Problem(0, "on", "not-a-date", str(error), "2026-07-31, 2026-07")
        return refused(ask.ref, [problem], books.forms)
    if data is None:
        return Reply(ask.ref, ok=False, error="bad-request", data=ask.what)
    return Reply(ask.ref, ok=True, data=data)


def report_of(ask: Look, depot: Depot, books: Books, now: Millis) -> Reply:
    """Answer with a report out of the journal alone, in books of its own: it takes seconds, and nobody waits for it."""
    told: dict[str, Millis] = {}
    for name, text, read in (("start", ask.start, moment), ("end", ask.end, end_of)):
        try:
            told[name] = read(text, books.zone, now)
        except MomentError as error:
            return refused(ask.ref, [Problem(0, name, "not-a-date", str(error), "2026-07-31")], books.forms)
    start, end = told["start"], told["end"]
    if end <= start:
        return refused(ask.ref, [Problem(0, "end", "not-after", ask.end, f"> {ask.start}")], books.forms)
    if start > now:
        problem = Problem(0, "start", "in-the-future", ask.start, "a time that has been")
        return refused(ask.ref, [problem], books.forms)
    return Reply(ask.ref, ok=True, data=report(depot, start, end, now))


def refused(ref: int, problems: Sequence[Problem], forms: Mapping[str, Form]) -> Reply:
    """Refuse what somebody asked, with every problem in words."""
    faults = tuple(Fault(**asdict(problem), texts=refusals.said(problem, forms)) for problem in problems)
    return Reply(ref, ok=False, error="refused", faults=faults)


def unknown_register(name: str, forms: Mapping[str, Form]) -> Problem:
    """Return the problem of whoever asks for a register that is none."""
    return Problem(0, "register", "unknown-register", name, ", ".join(sorted(forms)))


def _looked(ask: Look, books: Books, on: Millis | None, known: Millis | None, now: Millis) -> Any:  # noqa: ANN401 - JSON
    desk, judge = books.desk, books.judge
    looks: dict[str, Callable[[], Any]] = {
        "forms": lambda: shown.forms(books.forms),
        "register": lambda: shown.register(desk.holdings(ask.name, on, known)),
        "history": lambda: shown.history(desk.history(ask.name, ask.subject, on, known)),
        "stock": lambda: books.stock(on, known, now),
        "movements": lambda: books.movements(ask.name),
        "findings": lambda: judge.findings(desk, now if on is None else on, known),
        "finding": lambda: books.finding(ask.name, ask.subject),
        "survey": lambda: judge.survey(desk, now),
    }
    return looks[ask.what]() if ask.what in looks else None
