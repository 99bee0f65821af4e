"""What is still to be told so that a depot's laws can be judged: one question for each missing fact, danger first.

Pure. A question is asked only where a rule needs its answer; an answer that grew too old, or whose area was changed
after it was given, is asked again and says why.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from compliance.catalogue import Catalogue, FactType, Source, Type
from compliance.registers.entries import Act, Entry, Holding
from compliance.registers.facts import CONTAINER, MARKS, PILES, area_of_piles, day, piles_of
from compliance.registers.forms import to_json
from compliance.vocabulary import DEPOT, Finding, Severity, Subject, Verdict
from gateway.office.shown import time

ASKED = (Source.SURVEY, Source.CHECKLIST, Source.DOCUMENT, Source.REGISTER)
"""Facts that a person answers; what the configuration or the heads say is not asked."""

SOON_DAYS = 7
"""A routine whose answer ends within so many days is named as due."""

LAID_OUT_BY = frozenset({"lot", "opening", "between"})
"""Registers that say how an area is laid out."""

LAYOUT = frozenset({
    "licensed_kg", "floor_area_m2", "floor_level", "room_below", "roofed", "enclosure", "walled_pct", "boundary_walled",
})  # fmt: skip
"""Facts of an area that, once changed, leave no measure of it as it was."""

MEASURED_TOO = frozenset({"detectors_cover_area", "distances_confirmed", "openings_apart", "class_plate_shown"})
"""Answers that rest on the layout without being a number."""

SEVERITIES = tuple(Severity)

Told = Mapping[tuple[str, str], Holding]


@dataclass(slots=True)
class Question:
    """One fact of one thing, as the rules need it.

    Attributes:
        state: ``open`` (never told), ``expired`` (too long ago), ``again`` (the layout changed since), ``told``.
        severity: of the gravest rule that needs it.
        clauses: what needs it, as "statute clause".
        due: the last day on which a told answer counts; None where it does not grow old.
        because: the entry that changed the layout.
    """

    subject: Subject
    fact: FactType
    severity: Severity
    state: str = "open"
    clauses: list[str] = field(default_factory=list)
    due: date | None = None
    because: Entry | None = None


def questions(
    findings: Iterable[Finding], told: Told, entries: Sequence[Entry], catalogue: Catalogue, zone: ZoneInfo
) -> list[Question]:
    """Return every fact that some rule rests on and a person answers, told or not.

    Args:
        findings: of the laws that bind; what does not apply asks nothing.
        told: what the registers hold now.
        entries: everything ever told, to see what changed after an answer.
        catalogue: the list of facts.
        zone: of the depot, whose days count.
    """
    asked: dict[tuple[Subject, str], Question] = {}
    for finding in findings:
        if finding.verdict is Verdict.NOT_APPLICABLE:
            continue
        for one in finding.evidence:
            fact = catalogue.find(one.subject.kind, one.name)
            if fact is None or fact.source not in ASKED or (_is_pile(one.subject) and one.name in MARKS):
                continue
            if one.value is None and finding.verdict is not Verdict.UNDETERMINED:
                continue  # the rule is judged without it
            subject = _asked_of(one.subject)
            key = (subject, one.name)
            question = asked.get(key)
            if question is None:
                question = asked[key] = Question(subject, fact, finding.rule.severity)
                _state(question, told.get((subject.kind, subject.id)), entries, zone, known=one.value)
            elif one.value is None and question.state == "told":
                question.state = "expired"  # another pile of the area stands there since a later day
            question.severity = min(question.severity, finding.rule.severity, key=SEVERITIES.index)
            clause = f"{finding.statute} {finding.rule.clause}"
            if clause not in question.clauses:
                question.clauses.append(clause)
    return [question for question in asked.values() if not _said_by_depot(question, asked)]


def as_json(asked: Sequence[Question], told: Told, areas: Mapping[str, str], on: date) -> dict[str, Any]:
    """The survey as screens and programs get it: progress, the open questions in groups, and routines that are due.

    `areas` are those of the detectors, which the configuration knows.
    """
    waiting = [question for question in asked if question.state != "told"]
    groups: dict[tuple[str, str], list[Question]] = {}
    for question in waiting:
        groups.setdefault((_place(question.subject, told, areas), _theme(question)), []).append(question)
    ordered = sorted(groups.items(), key=lambda item: (_gravest(item[1]), _THEMES.index(item[0][1]), item[0][0]))
    soon = [
        question
        for question in asked
        if question.state == "told" and question.due is not None and (question.due - on).days <= SOON_DAYS
    ]
    return {
        "on": on.isoformat(),
        "told": len(asked) - len(waiting),
        "total": len(asked),
        "groups": [
            {"id": f"{theme}@{area}", "theme": theme, "area": area, "questions": _sorted(members, told)}
            for (area, theme), members in ordered
        ],
        "due": _sorted(soon, told),
    }


# --- details --------------------------------------------------------------------------------------


def _said_by_depot(question: Question, asked: Mapping[tuple[Subject, str], Question]) -> bool:
    """Whether "the register of this area is complete" is asked of the whole depot anyway: one answer does for both."""
    whole = asked.get((DEPOT, question.fact.name))
    listed = question.fact.name.endswith("_listed") and question.subject != DEPOT
    return listed and whole is not None and whole.state != "told"


def _state(
    question: Question, holding: Holding | None, entries: Sequence[Entry], zone: ZoneInfo, *, known: object
) -> None:
    name, fact = question.fact.name, question.fact
    held = None if holding is None else holding.values.get(name)
    if holding is None or held is None:
        question.state = "open" if known is None else "told"
        return
    answer = holding.told[name]
    if fact.renew_days is not None:
        question.due = day(answer.effective, zone) + timedelta(days=fact.renew_days)
    question.state = "expired" if known is None else "told"
    if question.state == "told" and _rests_on_layout(question):
        question.because = _changed_after(answer, question.subject, entries)
        question.state = "told" if question.because is None else "again"


def _rests_on_layout(question: Question) -> bool:
    fact = question.fact
    if question.subject.kind != "area" or fact.name in LAYOUT:
        return False
    return fact.name in MEASURED_TOO or (fact.source is Source.SURVEY and fact.type is Type.NUMBER)


def _changed_after(answer: Entry, area: Subject, entries: Sequence[Entry]) -> Entry | None:
    """The last entry after an answer that changed how its area is laid out."""
    seen: dict[str, object] = {}
    found: Entry | None = None
    answered = False
    for entry in entries:
        answered |= entry is answer
        if entry.register == area.kind and entry.subject == area.id:
            changed = False
            for name in LAYOUT & entry.values.keys():
                changed |= name in seen and seen[name] != entry.values[name]
                seen[name] = entry.values[name]
        else:
            changed = entry.register in LAID_OUT_BY and _lies_in(entry, area.id)
        if changed and answered and entry is not answer and entry.effective >= answer.effective:
            found = entry
    return found


def _lies_in(entry: Entry, area: str) -> bool:
    if entry.act is Act.REMOVE:
        return True  # of which area is not said: rather ask once too often
    return area in (entry.values.get("area"), entry.values.get("one"), entry.values.get("other"))


def _is_pile(subject: Subject) -> bool:
    """A pile of the stock: how many of which size and state stand there, movements tell."""
    return subject.kind == CONTAINER and subject.id.startswith(PILES)


def _asked_of(subject: Subject) -> Subject:
    """What a question is put about: all the piles of an area at once, else the thing itself."""
    return piles_of(subject.id.removeprefix(PILES).partition(": ")[0]) if _is_pile(subject) else subject


_THEMES = (
    "stock", "extinguishers", "routine", "distances", "fire-walls", "building", "openings", "detectors", "documents",
    "people", "other",
)  # fmt: skip

_BY_KIND = {
    "container": "stock", "lot": "stock", "extinguisher": "extinguishers", "opening": "openings", "sign": "openings",
    "document": "documents", "notice": "documents", "detector": "detectors", "output": "detectors", "leak": "stock",
    "between": "distances", "vehicle": "people", "weighing": "people",
}  # fmt: skip

_BY_NAME = {
    "containers_listed": "stock", "lots_listed": "stock", "leaks_listed": "stock",
    "extinguishers_listed": "extinguishers", "openings_listed": "openings", "signs_listed": "openings",
    "documents_listed": "documents", "notices_listed": "documents", "vehicles_listed": "people",
    "weighings_listed": "people", "betweens_listed": "distances", "detectors_cover_area": "detectors",
}  # fmt: skip


def _theme(question: Question) -> str:
    kind, name = question.subject.kind, question.fact.name
    if kind in _BY_KIND or name in _BY_NAME:
        return _BY_KIND.get(kind) or _BY_NAME[name]
    if name.startswith(("distance", "corridor", "escape_walk")):
        return "distances"
    if name.startswith("fire_wall"):
        return "fire-walls"
    return "routine" if question.fact.source is Source.CHECKLIST else "building"


def _place(subject: Subject, told: Told, areas: Mapping[str, str]) -> str:
    """The area that a thing is in; empty for the depot as a whole."""
    if subject.kind == "area":
        return subject.id
    if subject.kind == "detector":
        return areas.get(subject.id, "")
    if piles_in := area_of_piles(subject.kind, subject.id):
        return piles_in
    holding = told.get((subject.kind, subject.id))
    area = None if holding is None else holding.values.get("area")
    return area if isinstance(area, str) else ""


def _gravest(members: Iterable[Question]) -> int:
    return min(SEVERITIES.index(question.severity) for question in members)


def _sorted(members: Iterable[Question], told: Told) -> list[dict[str, Any]]:
    ordered = sorted(members, key=lambda one: (SEVERITIES.index(one.severity), one.subject, one.fact.name))
    return [_question(question, told) for question in ordered]


def _question(question: Question, told: Told) -> dict[str, Any]:
    fact, subject, because = question.fact, question.subject, question.because
    holding = told.get((subject.kind, subject.id))
    return {
        "register": subject.kind,
        "subject": subject.id,
        "field": fact.name,
        "label": _words(fact.label),
        "ask": _words(fact.ask),
        "type": fact.type.value,
        "choices": {choice: _words(fact.words.get(choice)) for choice in fact.choices},
        "state": question.state,
        "severity": question.severity.value,
        "clauses": question.clauses,
        "due": None if question.due is None else question.due.isoformat(),
        "value": None if holding is None else to_json(holding.values.get(fact.name)),
        "expect": "" if holding is None else holding.last,
        "because": None
        if because is None
        else {
            "register": because.register,
            "subject": because.subject,
            "fields": sorted(because.values),
            "by": because.by,
            "effective": time(because.effective),
        },
    }


def _words(words: Any) -> dict[str, str]:  # noqa: ANN401 - compliance.vocabulary.Words or None
    return {} if words is None else {"pt-BR": words.pt, "en": words.en}
