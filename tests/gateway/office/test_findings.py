"""Findings over time: what is kept, what is told, and what waits because it may pass."""

from dataclasses import replace
from datetime import date, timedelta

import pytest

from compliance import catalogue, statutes
from compliance.evaluate import evaluate
from compliance.situation import Situation
from compliance.vocabulary import DEPOT, Fact, Finding, Severity, StatuteKind, Subject, Verdict
from gateway.office import findings
from gateway.office.findings import SETTLE_MS, Key, Stand

ON = date(2026, 11, 30)
FACTS = catalogue.load()
HOUSE = statutes.load("house", catalogue=FACTS)
FERRAZ = statutes.load("ferraz-de-vasconcelos-3190-2013", catalogue=FACTS)


def judged(*facts: Fact) -> list[Finding]:
    situation = Situation.of(facts, FACTS, ON)
    return [finding for statute in (FERRAZ, HOUSE) for finding in evaluate(statute, situation, ON)]


def fact(kind: str, name: str, what: str, value: object) -> Fact:
    subject = DEPOT if kind == "depot" else Subject(kind, name)
    return Fact(subject, what, value, date(2020, 1, 1))  # type: ignore[arg-type]


AREA = (fact("area", "patio", "licensed_kg", 6240.0), fact("area", "patio", "use", "resale"))
SILENT = (*AREA, fact("depot", "", "outputs_listed", True), fact("depot", "", "detectors_listed", True))


def kept(changes: list[dict[str, object]], at_ms: int = 0) -> dict[Key, Stand]:
    standing: dict[Key, Stand] = {}
    for change in changes:
        findings.keep(standing, {**change, "at_ms": at_ms})
    return standing


def told(found: list[Finding]) -> set[str]:
    kinds = {"house": StatuteKind.HOUSE, FERRAZ.id: StatuteKind.STATUTE}
    return {breach.subject for breach in findings.breaches(found, kinds, lambda finding: finding.rule.text.pt)}


def test_only_what_changed_is_kept_and_what_is_no_longer_asked_ends() -> None:
    first = findings.changes({}, judged(*AREA), ON, [])
    standing = kept(first)
    assert first and findings.changes(standing, judged(*AREA), ON, []) == []
    gone = findings.changes(standing, [], ON, [{"register": "area", "subject": "patio"}])
    assert {change["verdict"] for change in gone} == {"NOT_APPLICABLE"}
    assert all(change["because"] for change in gone)


def test_unknown_is_never_told_and_a_breach_is() -> None:
    open_only = judged(*AREA)
    assert {one.verdict for one in open_only} >= {Verdict.UNDETERMINED}
    broken = judged(*SILENT)
    assert any("detection" in subject or "6-II-c" in subject for subject in told(broken) - told(open_only)), told(
        broken
    )


@pytest.mark.parametrize(("age_ms", "passing"), [(0, True), (SETTLE_MS - 1, True), (SETTLE_MS, False)])
def test_a_head_that_fails_for_a_while_is_no_breach_to_be_told_yet(age_ms: int, passing: bool) -> None:
    head = (
        fact("detector", "GD-1", "area", "patio"),
        fact("detector", "GD-1", "watching", False),
        fact("detector", "GD-1", "set_point_lel_pct", 10.0),
    )
    broken = [
        finding
        for finding in judged(*SILENT, *head)
        if finding.verdict is Verdict.VIOLATED and any(one.name == "watching" for one in finding.evidence)
    ]
    assert broken
    standing = kept(findings.changes({}, broken, ON, []), at_ms=1_000_000)
    for finding in broken:
        stood = standing[findings.key_of(finding)]
        assert findings.is_passing(finding, stood, 1_000_000 + age_ms) is passing
        assert findings.is_passing(finding, None, 1_000_000)


def test_a_breach_that_rests_on_what_people_told_never_waits() -> None:
    over = (
        fact("container", "a", "area", "patio"),
        fact("container", "a", "count", 541),
        fact("container", "a", "size_kg", 13.0),
        fact("container", "a", "state", "full"),
    )
    broken = [one for one in judged(*AREA, *over) if one.verdict is Verdict.VIOLATED]
    assert broken and not any(findings.is_passing(one, None, 0) for one in broken)


@pytest.mark.parametrize(
    ("on", "near"),
    [
        (date(2026, 12, 1), ""),
        (date(2026, 12, 2), "30"),
        (date(2026, 12, 24), "30"),
        (date(2026, 12, 25), "7"),
        (date(2026, 12, 31), "7"),
        (date(2027, 1, 1), "0"),
        (date(2027, 1, 2), ""),
    ],
)
def test_people_are_told_thirty_and_seven_days_before_the_last_good_day_and_on_it(on: date, near: str) -> None:
    paper = (
        fact("document", "licenca", "kind", "operating-licence"),
        fact("document", "licenca", "valid_until", date(2027, 1, 1)),
        fact("document", "licenca", "no_expiry", False),
        fact("document", "licenca", "revoked", False),
    )
    complete = fact("depot", "", "documents_listed", True)
    situation = Situation.of((*AREA, *paper, complete), FACTS, on)

    (licence,) = (each for each in evaluate(FERRAZ, situation, on) if each.rule.id == "ferraz-7")

    assert findings.soon(licence) == near


@pytest.mark.parametrize(
    ("on", "near"),
    [
        (date(2026, 12, 31), ""),
        (date(2027, 1, 1), "year"),
        (date(2027, 12, 1), "30"),
        (date(2027, 12, 31), "0"),
    ],
)
def test_a_plate_of_a_year_warns_from_its_first_of_january_and_is_told_as_an_alarm_in_its_last_month(
    on: date, near: str
) -> None:
    bottles = (
        fact("container", "lote", "area", "patio"),
        fact("container", "lote", "count", 12),
        fact("container", "lote", "made_on", date(2005, 3, 1)),
        fact("container", "lote", "ever_requalified", True),
        fact("container", "lote", "requalified_on", date(2018, 3, 1)),
        fact("container", "lote", "plate_until", date(2027, 12, 31)),
        fact("container", "lote", "place", "area"),
        fact("depot", "", "containers_listed", True),
    )
    situation = Situation.of((*AREA, *bottles), FACTS, on)

    (dates,) = (each for each in evaluate(HOUSE, situation, on) if each.rule.id == "house-11-date")

    assert (dates.verdict, findings.soon(dates)) == (Verdict.COMPLIANT, near)
    grave = replace(dates, rule=replace(dates.rule, severity=Severity.SERIOUS))
    assert bool(told([grave])) is (near in findings.DUE)


@pytest.mark.parametrize(("on", "near"), [(date(2026, 3, 10), ""), (date(2026, 3, 11), "30"), (date(2026, 4, 10), "0")])
def test_a_deadline_is_told_by_the_same_days_as_a_validity(on: date, near: str) -> None:
    notice = (
        fact("notice", "auto-1", "served_by", "hand"),
        fact("notice", "auto-1", "received_on", date(2026, 3, 11)),
        fact("notice", "auto-1", "written_on", date(2026, 3, 11)),
    )
    situation = Situation.of(notice, FACTS, on)

    (appeal,) = (each for each in evaluate(FERRAZ, situation, on) if each.rule.id == "ferraz-13")

    assert findings.soon(appeal) == near


def test_an_answer_that_grows_old_is_a_routine_and_is_not_told_as_due() -> None:
    paper = (
        fact("document", "licenca", "kind", "operating-licence"),
        fact("document", "licenca", "valid_until", date(2026, 12, 15)),
        fact("document", "licenca", "no_expiry", False),
        fact("document", "licenca", "revoked", False),
    )
    walked = Fact(DEPOT, "nothing_outside", True, ON)
    last_day = ON + timedelta(days=7)
    found = judged(*AREA, *paper, fact("depot", "", "documents_listed", True), walked)
    (outside,) = (each for each in found if each.rule.id == "ferraz-6-I-j")

    assert (findings.soon(outside), outside.then) == ("", Verdict.UNDETERMINED)
    situation = Situation.of((*AREA, walked), FACTS, last_day)
    (outside,) = (each for each in evaluate(FERRAZ, situation, last_day) if each.rule.id == "ferraz-6-I-j")
    assert findings.soon(outside) == "0"
    assert told([outside]) == set()
    assert "ferraz-7/depot:depot" in told(found)
    assert "ferraz-6-I-j/depot:depot" not in told(found)


@pytest.mark.parametrize("on", [date(2026, 3, 20), date(2026, 4, 10), date(2026, 6, 1)])
def test_what_was_done_in_time_is_not_due_any_more(on: date) -> None:
    notice = (
        fact("notice", "auto-1", "served_by", "hand"),
        fact("notice", "auto-1", "received_on", date(2026, 3, 11)),
        fact("notice", "auto-1", "appealed_on", date(2026, 3, 18)),
    )
    situation = Situation.of(notice, FACTS, on)

    (appeal,) = (each for each in evaluate(FERRAZ, situation, on) if each.rule.id == "ferraz-13")

    assert appeal.verdict is Verdict.COMPLIANT
    assert appeal.due == date(2026, 4, 10), "the day stays on record"
    assert findings.soon(appeal) == ""


def test_a_breach_bears_its_first_day_and_a_late_entry_moves_only_that() -> None:
    broken = [finding for finding in judged(*SILENT) if finding.verdict is Verdict.VIOLATED][:1]
    key = findings.key_of(broken[0])
    (first,) = findings.changes({}, broken, ON, [])
    assert (first["on"], first["effective"]) == (ON.isoformat(), ON.isoformat())
    standing = kept([first], at_ms=5)
    earlier = ON - timedelta(days=3)
    (again,) = findings.changes(standing, broken, ON + timedelta(days=1), [], {key: earlier})
    assert (again["verdict"], again["was"], again["effective"]) == ("VIOLATED", "VIOLATED", earlier.isoformat())
    findings.keep(standing, {**again, "at_ms": 9})
    stood = standing[key]
    assert (stood.since, stood.at_ms, stood.effective) == (ON.isoformat(), 5, earlier.isoformat())
    assert findings.changes(standing, broken, ON + timedelta(days=2), []) == [], "it stands as it was told"


def test_a_change_that_an_older_gateway_kept_stands_since_its_judgement() -> None:
    standing: dict[Key, Stand] = {}
    findings.keep(
        standing, {"rule": "r", "subject": "depot:depot", "verdict": "VIOLATED", "on": "2026-11-01", "at_ms": 1}
    )
    assert standing["r", "depot:depot"].effective == "2026-11-01"
