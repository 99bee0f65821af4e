"""Laws, clauses, rules and findings as lines for a person and as JSON. Knows no command and no file."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from math import isinf
from typing import Any, TypeAlias

from alerts.messages.catalogue import Catalogue
from compliance.overview import Number, Row, clauses_of, counts, coverage, numbers_of
from compliance.vocabulary import (
    Clause,
    Figure,
    Finding,
    Margin,
    Period,
    Rule,
    Scheme,
    Statute,
    StorageClass,
    Subject,
    Table,
    Value,
    Verdict,
    Words,
)
from dashboards.conformity.phrases import Phrases
from gateway.commands.talk import Talk

Found: TypeAlias = Statute | Row | tuple[Statute, Rule]

SHOWN = (Verdict.VIOLATED, Verdict.UNDETERMINED)
"""What is told without ``--all``."""

MOST_MISSING = 8
"""Missing facts named in one line; the rest is counted."""


# --- laws -----------------------------------------------------------------------------------------


def statute_row(statute: Statute) -> dict[str, Any]:
    """A law as JSON."""
    return {
        "law": statute.id,
        "title": statute.title,
        "citation": statute.citation,
        "kind": statute.kind.value,
        "jurisdiction": statute.jurisdiction,
        **_period_row(statute.period),
        "clauses": {mode.value: count for mode, count in counts(statute).items()},
        "rules": len(statute.rules),
    }


def statute_lines(talk: Talk, statute: Statute) -> Iterator[str]:
    """A law: what it is, since when, and how many clauses are held how."""
    yield f"{statute.id}  {statute.title}"
    held = ", ".join(f"{talk.text(f'mode.{mode.value}')} {count}" for mode, count in counts(statute).items() if count)
    yield talk.text(
        "law.line",
        kind=talk.text(f"law_kind.{statute.kind.value}"),
        citation=statute.citation,
        since=_in_force(talk, statute.period),
        rules=len(statute.rules),
        held=held,
    )


# --- one law, clause or rule -----------------------------------------------------------------------


def page(found: Found) -> dict[str, Any]:
    """What `vigia law show` gives, as JSON."""
    match found:
        case Statute():
            return {
                **statute_row(found),
                "doubts": [_words_row(doubt) for doubt in found.doubts],
                "numbers": [_number_row(found, each) for each in _all_numbers(found)],
            }
        case Row():
            return {
                **coverage_row(found),
                **_clause_row(found.clause),
                "numbers": [_number_row(found.statute, each) for each in _numbers(found)],
                "details": [_rule_row(rule) for rule in found.rules],
            }
        case (statute, rule):
            return {
                "law": statute.id,
                **_rule_row(rule),
                "clauses": [{"clause": each.locator, **_clause_row(each)} for each in clauses_of(statute, rule)],
                "numbers": [_number_row(statute, each) for each in numbers_of(statute, rule)],
            }


def page_lines(talk: Talk, found: Found) -> Iterator[str]:
    """The same for a person."""
    match found:
        case Statute():
            yield from statute_lines(talk, found)
            for doubt in found.doubts:
                yield talk.text("law.doubt", text=_said(talk, doubt))
            for number in _all_numbers(found):
                yield from _number_lines(talk, number)
        case Row():
            yield f"{found.statute.citation}, {found.clause.locator}"
            yield from _clause_lines(talk, found.clause)
            for rule in found.rules:
                yield from _rule_lines(talk, rule)
            for number in _numbers(found):
                yield from _number_lines(talk, number)
        case (statute, rule):
            yield f"{rule.id}  ({statute.citation}, {', '.join((rule.clause, *rule.also))})"
            yield from _rule_lines(talk, rule)
            for clause in clauses_of(statute, rule):
                yield f"  {clause.locator}"
                yield from _clause_lines(talk, clause)
            for number in numbers_of(statute, rule):
                yield from _number_lines(talk, number)


def _numbers(row: Row) -> list[Number]:
    """The numbers of a clause: those its rules use, and those that stand in it."""
    found: dict[int, Number] = {id(number): number for rule in row.rules for number in numbers_of(row.statute, rule)}
    own = (each for each in _all_numbers(row.statute) if _stands_in(each, row.clause) and id(each) not in found)
    return [*found.values(), *own]


def _stands_in(number: Number, clause: Clause) -> bool:
    """Whether a number stands in a clause, in the wording of its time."""
    meets = not isinstance(number, Scheme) or number.period.meets(clause.period)
    return number.clause == clause.locator and meets


def _all_numbers(statute: Statute) -> Sequence[Number]:
    return (*statute.schemes, *statute.tables.values(), *statute.figures.values())


def _clause_row(clause: Clause) -> dict[str, Any]:
    told = {
        "summary": clause.summary,
        "reading": clause.reading,
        "ambiguity": clause.ambiguity,
        "reason": clause.reason,
    }
    return {name: None if words is None else _words_row(words) for name, words in told.items()}


def _clause_lines(talk: Talk, clause: Clause) -> Iterator[str]:
    since = "" if clause.period == Period() else f"; {_in_force(talk, clause.period)}"
    yield talk.text("law.mode", mode=talk.text(f"mode.{clause.mode.value}"), since=since)
    for key, words in (
        ("summary", clause.summary),
        ("reading", clause.reading),
        ("ambiguity", clause.ambiguity),
        ("reason", clause.reason),
    ):
        if words is not None:
            yield talk.text(f"law.{key}", text=_said(talk, words))


def _rule_row(rule: Rule) -> dict[str, Any]:
    return {
        "rule": rule.id,
        "clause": rule.clause,
        "also": list(rule.also),
        "each": rule.each,
        "severity": rule.severity.value,
        "text": _words_row(rule.text),
        "remedy": _words_row(rule.remedy),
        **_period_row(rule.period),
    }


def _rule_lines(talk: Talk, rule: Rule) -> Iterator[str]:
    yield talk.text(
        "law.rule",
        id=rule.id,
        each=talk.text(f"thing.{rule.each}"),
        severity=talk.text(f"severity.{rule.severity.value}"),
        text=_said(talk, rule.text),
    )
    yield talk.text("law.remedy", text=_said(talk, rule.remedy))


def _number_row(statute: Statute, number: Number) -> dict[str, Any]:
    row: dict[str, Any] = {"id": number.id, "law": statute.id, "clause": number.clause}
    match number:
        case Figure():
            row |= {"value": number.value, "unit": number.unit, "provenance": _provenance_row(number.provenance)}
        case Table():
            row |= {
                "values": dict(number.values),
                "unit": number.unit,
                "provenance": _provenance_row(number.provenance),
            }
        case Scheme():
            limits = [
                {"name": each.name, "up_to_kg": each.up_to_kg, "up_to_p13": each.up_to_p13} for each in number.classes
            ]
            row |= {"classes": limits, **_period_row(number.period), "provenance": None}
    return row


def _number_lines(talk: Talk, number: Number) -> Iterator[str]:
    told = None if isinstance(number, Scheme) else number.provenance
    source = talk.text("law.own_text") if told is None else _said(talk, told)
    value = _shown(talk, number)
    yield talk.text("law.number", id=number.id, value=value, clause=number.clause, provenance=source)


def _shown(talk: Talk, number: Number) -> str:
    match number:
        case Figure():
            return _amount(talk, number.value, number.unit)
        case Table():
            values = ", ".join(f"{name} {_number(talk, each)}" for name, each in number.values.items())
            return f"{values} ({_unit(talk, number.unit)})"
        case Scheme():
            classes = ", ".join(_class(talk, each) for each in number.classes)
            return classes if number.period == Period() else f"{classes} ({_in_force(talk, number.period)})"


def _class(talk: Talk, one: StorageClass) -> str:
    limit = talk.text("law.no_limit") if one.up_to_kg is None else f"≤ {_number(talk, one.up_to_kg)} kg"
    return f"{one.name} {limit}"


def _provenance_row(words: Words | None) -> dict[str, str] | None:
    return None if words is None else _words_row(words)


# --- coverage -------------------------------------------------------------------------------------


def coverage_row(row: Row) -> dict[str, Any]:
    """One clause as JSON: law, clause, mode, rule ids."""
    return {
        "law": row.statute.id,
        "clause": row.clause.locator,
        "mode": row.clause.mode.value,
        "rules": [rule.id for rule in row.rules],
        **_period_row(row.clause.period),
    }


def coverage_lines(talk: Talk, statutes: Sequence[Statute]) -> Iterator[str]:
    """Every clause with how it is held, law by law."""
    for statute in statutes:
        yield from statute_lines(talk, statute)
        width = max((len(clause.locator) for clause in statute.clauses), default=0)
        for row in coverage([statute]):
            clause = row.clause
            held = ", ".join(rule.id for rule in row.rules) or (_said(talk, clause.reason) if clause.reason else "-")
            until = "" if clause.period.until is None else f" ({_in_force(talk, clause.period)})"
            yield f"  {clause.locator:<{width}}  {talk.text(f'mode.{clause.mode.value}')}: {held}{until}"


# --- findings -------------------------------------------------------------------------------------


def finding_row(finding: Finding) -> dict[str, Any]:
    """A finding as JSON."""
    margin = finding.margin
    return {
        "law": finding.statute,
        "rule": finding.rule.id,
        "clause": finding.rule.clause,
        "subject": str(finding.subject),
        "verdict": finding.verdict.value,
        "severity": finding.rule.severity.value,
        "text": _words_row(finding.rule.text),
        "remedy": _words_row(finding.rule.remedy),
        "margin": None if margin is None else margin._asdict(),
        "holds_until": finding.holds_until,
        "due": finding.due,
        "together": list(finding.together),
        "missing": [{"subject": str(each.subject), "name": each.name} for each in finding.missing],
        "evidence": [
            {"subject": str(each.subject), "name": each.name, "value": each.value} for each in finding.evidence
        ],
    }


def evaluation(statutes: Sequence[Statute], findings: Sequence[Finding]) -> dict[str, Any]:
    """The laws that were judged by, and what they say, as JSON."""
    return {
        "laws": [statute_row(statute) for statute in statutes],
        "findings": [finding_row(finding) for finding in findings],
    }


def finding_lines(
    talk: Talk, phrases: Phrases, statutes: Sequence[Statute], findings: Sequence[Finding], *, every: bool
) -> Iterator[str]:
    """Law by law: how many findings of each verdict, then those that need somebody, the worst first."""
    for statute in statutes:
        mine = [finding for finding in findings if finding.statute == statute.id]
        count = {verdict: sum(1 for each in mine if each.verdict is verdict) for verdict in Verdict}
        told = ", ".join(phrases.locale.count(f"count.{one.value}", number) for one, number in reversed(count.items()))
        yield f"{statute.citation} ({talk.text(f'law_kind.{statute.kind.value}')}): {told}"
        order = list(reversed(Verdict))
        shown = [each for each in mine if every or each.verdict in SHOWN]
        yield from _grouped(talk, phrases, sorted(shown, key=lambda each: order.index(each.verdict)))


def _grouped(talk: Talk, phrases: Phrases, findings: Sequence[Finding]) -> Iterator[str]:
    """What is said alike of several things is said once, with the list of them."""
    alike: dict[tuple[str, Verdict, tuple[str, ...]], list[Finding]] = {}
    for finding in findings:
        key = (finding.rule.id, finding.verdict, _details(talk, phrases, finding, "*"))
        alike.setdefault(key, []).append(finding)
    for (_, verdict, details), found in alike.items():
        first = found[0]
        yield talk.text(
            "law.finding",
            verdict=phrases.locale.text(f"verdict.{verdict.value}").upper(),
            clause=first.rule.clause,
            subject=_subjects(talk, phrases, [each.subject for each in found]),
            text=_said(talk, first.rule.text),
            id=first.rule.id,
        )
        for detail in details if len(found) > 1 else _details(talk, phrases, first, first.subject.id):
            yield f"      {detail}"


def _details(talk: Talk, phrases: Phrases, finding: Finding, own: str) -> tuple[str, ...]:
    """What is said of a finding beneath its line; `own` is what the thing itself is called in it."""
    margin = finding.margin
    details = [] if margin is None or isinf(margin.low) or isinf(margin.high) else [_margin(talk, margin)]
    if finding.due is not None:
        details.append(talk.text("law.due", day=_day(talk, finding.due)))
    if finding.holds_until is not None:
        details.append(talk.text("law.holds_until", day=_day(talk, finding.holds_until)))
    if len(finding.together) > 1:
        details.append(talk.text("law.together", areas=", ".join(finding.together)))
    if finding.verdict is Verdict.UNDETERMINED and finding.missing:
        details.append(talk.text("law.missing", facts=_missing(talk, phrases, finding, own)))
    if finding.verdict is Verdict.VIOLATED:
        details.append(talk.text("law.remedy_short", text=_said(talk, finding.rule.remedy)))
    return tuple(details)


def _missing(talk: Talk, phrases: Phrases, finding: Finding, own: str) -> str:
    missing = [
        one._replace(subject=Subject(one.subject.kind, own)) if one.subject == finding.subject else one
        for one in finding.missing
    ]
    named = [f"{phrases.fact(str(one.subject), one.name)} [{one.subject}.{one.name}]" for one in missing[:MOST_MISSING]]
    rest = len(missing) - len(named)
    return "; ".join([*named, talk.text("law.more", count=rest)] if rest else named)


def _margin(talk: Talk, margin: Margin) -> str:
    if margin.low == margin.high:
        return talk.text("law.margin", value=_amount(talk, margin.low, margin.unit))
    low, high = _number(talk, margin.low), _amount(talk, margin.high, margin.unit)
    return talk.text("law.margin", value=talk.text("law.between", low=low, high=high))


# --- words ----------------------------------------------------------------------------------------


def _subjects(talk: Talk, phrases: "Phrases", subjects: Sequence[Subject]) -> str:
    """One thing as the page calls it; several alike by their names after one word."""
    if len(subjects) == 1:
        return phrases.subject(str(subjects[0]))
    thing = talk.text(f"thing.{subjects[0].kind}")
    return f"{thing[:1].upper()}{thing[1:]} {', '.join(phrases.areas.get(one.id, one.id) for one in subjects)}"


def _said(talk: Talk, words: Words) -> str:
    return words.en if talk.words.language == "en" else words.pt


def _words_row(words: Words) -> dict[str, str]:
    return {"pt": words.pt, "en": words.en}


def _in_force(talk: Talk, period: Period) -> str:
    match period:
        case Period(since=None, until=None):
            return talk.text("law.always")
        case Period(since=since, until=None) if since is not None:
            return talk.text("law.since", since=_day(talk, since))
        case Period(since=None, until=until) if until is not None:
            return talk.text("law.until", until=_day(talk, until))
        case _:
            ends = {"since": period.since or date.min, "until": period.until or date.max}
            return talk.text("law.since_until", **{name: _day(talk, day) for name, day in ends.items()})


def _period_row(period: Period) -> dict[str, Value | None]:
    return {"from": period.since, "until": period.until}


def _day(talk: Talk, day: date) -> str:
    return day.isoformat() if talk.words.language == "en" else f"{day:%d/%m/%Y}"


def _amount(talk: Talk, value: float, unit: str) -> str:
    return f"{_number(talk, value)}{'' if unit == '%' else ' '}{_unit(talk, unit, one=abs(value) == 1)}"


def _unit(talk: Talk, unit: str, *, one: bool = False) -> str:
    """A unit of the law's files in words; they are a closed list."""
    words = Catalogue.load("dashboards.conformity", talk.words.language).texts
    single = words.get(f"unit.{unit}_one") if one else None
    return single or words.get(f"unit.{unit}", unit)


def _number(talk: Talk, value: float) -> str:
    text = f"{value:,.10g}" if abs(value) >= 1000 else f"{value:.10g}"
    return text if talk.words.language == "en" else text.translate(_SWAPPED)


_SWAPPED: Mapping[int, str] = str.maketrans({",": ".", ".": ","})
