"""The survey asks what rules need and nothing else, danger first, and again when the area is no longer as it was."""

from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from compliance import catalogue
from compliance.registers.entries import Act, Entry, EntryId, Millis, fold
from compliance.statutes import load
from compliance.vocabulary import DEPOT, Evidence, Finding, Rule, Severity, Subject, Verdict
from gateway.office import survey

ZONE = ZoneInfo("America/Sao_Paulo")
FACTS = catalogue.load()
DAY_MS = 86_400_000
NOW = Millis(1_796_040_000_000)
PATIO = Subject("area", "patio")
RULES = {rule.severity: rule for rule in load("house").rules}


def finding(*names: str, verdict: Verdict = Verdict.UNDETERMINED, grave: bool = False, **more: Any) -> Finding:
    rule: Rule = RULES[Severity.DANGER if grave else Severity.MINOR]
    subject = more.get("subject", PATIO)
    evidence = tuple(Evidence(subject, name, more.get("value")) for name in names)
    return Finding("house", rule, subject, verdict, date(2026, 11, 30), evidence)


def told(number: int, register: str, subject: str, days_ago: int = 10, act: Act = Act.RECORD, **values: Any) -> Entry:
    at = Millis(NOW - days_ago * DAY_MS)
    return Entry(EntryId(f"e{number}"), register, subject, act, values, at, at, "Ana")


def asked(findings: list[Finding], *entries: Entry) -> list[survey.Question]:
    return survey.questions(findings, fold(entries, NOW), entries, FACTS, ZONE)


def test_what_no_rule_needs_is_not_asked() -> None:
    idle = finding("roofed", verdict=Verdict.NOT_APPLICABLE)
    judged = finding("distance_drain_m", verdict=Verdict.COMPLIANT)
    assert asked([idle, judged]) == []


def test_what_the_configuration_tells_is_not_asked() -> None:
    assert asked([finding("licensed_kg", "use")]) == []


def test_danger_comes_first_and_the_groups_have_an_area_and_a_theme() -> None:
    questions = asked([finding("distance_drain_m"), finding("ventilated", grave=True), finding("stacks_checked")])
    data = survey.as_json(questions, {}, {}, date(2026, 11, 30))
    assert [group["id"] for group in data["groups"]] == ["building@patio", "routine@patio", "distances@patio"]
    assert (data["told"], data["total"]) == (0, 3)
    assert data["groups"][0]["questions"][0]["severity"] == "danger"


def test_an_answer_that_grew_too_old_is_asked_again_and_says_until_when_it_held() -> None:
    old = told(1, "area", "patio", 20, stacks_checked=True)
    (question,) = asked([finding("stacks_checked")], old)
    assert (question.state, question.due) == ("expired", date(2026, 11, 17))


def test_a_routine_is_named_as_due_a_week_before_its_answer_ends() -> None:
    entries = [told(1, "area", "patio", 3, stacks_checked=True)]
    questions = asked([finding("stacks_checked", verdict=Verdict.COMPLIANT, value=True)], *entries)
    data = survey.as_json(questions, fold(entries, NOW), {}, date(2026, 11, 30))
    assert data["groups"] == [] and data["told"] == 1
    assert [one["field"] for one in data["due"]] == ["stacks_checked"]


MEASURED = finding("distance_drain_m", verdict=Verdict.COMPLIANT, value=6.0)


@pytest.mark.parametrize(
    "change",
    [
        told(2, "lot", "L2", 5, area="patio"),
        told(2, "opening", "portão", 5, area="patio", width_m="1.2"),
        told(2, "lot", "L1", 5, act=Act.REMOVE),
        told(2, "area", "patio", 5, roofed=True, licensed_kg="12480"),
    ],
)
def test_a_measure_is_asked_again_after_the_area_was_changed_and_says_by_what(change: Entry) -> None:
    first = told(0, "area", "patio", 30, licensed_kg="6240", roofed=False)
    answer = told(1, "area", "patio", 10, distance_drain_m="6")
    (question,) = asked([MEASURED], first, answer, change)
    assert (question.state, question.because) == ("again", change)
    data = survey.as_json([question], fold([first, answer, change], NOW), {}, date(2026, 11, 30))
    assert data["told"] == 0
    assert data["groups"][0]["questions"][0]["because"]["by"] == "Ana"
    again = told(3, "area", "patio", 1, distance_drain_m="6")
    assert [one.state for one in asked([MEASURED], first, answer, change, again)] == ["told"]


@pytest.mark.parametrize(
    "change",
    [
        told(2, "lot", "L2", 5, area="fundos"),
        told(2, "area", "patio", 5, licensed_kg="6240"),
        told(2, "extinguisher", "EXT-1", 5, area="patio"),
        told(2, "lot", "L1", 20, area="patio"),
    ],
)
def test_what_leaves_the_area_as_it_was_asks_nothing_again(change: Entry) -> None:
    first = told(0, "area", "patio", 30, licensed_kg="6240", roofed=False)
    answer = told(1, "area", "patio", 10, distance_drain_m="6")
    ordered = sorted([first, answer, change], key=lambda entry: entry.recorded)
    assert [one.state for one in asked([MEASURED], *ordered)] == ["told"]


def test_one_answer_for_the_whole_depot_spares_the_same_question_of_each_area() -> None:
    both = [finding("containers_listed", subject=DEPOT), finding("containers_listed")]
    assert [question.subject for question in asked(both)] == [DEPOT]


FULL, EMPTY = (Subject("container", f"stock patio: P-13 {state}") for state in ("full", "empty"))


def test_what_movements_tell_of_a_pile_is_not_asked_and_the_rest_once_for_all_piles_of_an_area() -> None:
    both = [finding("brand", "plate_until", subject=FULL), finding("plate_until", subject=EMPTY, grave=True)]
    (question,) = asked(both)
    assert (question.subject, question.fact.name) == (Subject("container", "stock patio"), "plate_until")
    assert (question.state, question.severity) == ("open", Severity.DANGER)
    (group,) = survey.as_json([question], {}, {}, date(2026, 11, 30))["groups"]
    assert group["id"] == "stock@patio"


def test_an_answer_is_asked_anew_once_a_pile_stands_there_that_it_does_not_cover() -> None:
    answer = told(1, "container", "stock patio", plate_until=date(2030, 1, 1))
    old = finding("plate_until", subject=FULL, verdict=Verdict.COMPLIANT, value=date(2030, 1, 1))
    assert [one.state for one in asked([old], answer)] == ["told"]
    (question,) = asked([old, finding("plate_until", subject=EMPTY)], answer)
    assert (question.state, question.due) == ("expired", None)
