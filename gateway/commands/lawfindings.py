"""Findings of the law as lines for a person and as JSON. Knows no command, no file and no judge."""

from collections.abc import Iterator, Sequence
from math import isinf
from typing import Any

from compliance.vocabulary import Finding, Margin, Statute, Subject, Verdict
from dashboards.conformity.phrases import Phrases
from gateway.commands.lawpages import statute_row
from gateway.commands.lawwords import amount, day_of, number_of, said, words_row
from gateway.commands.talk import Talk

SHOWN = (Verdict.VIOLATED, Verdict.UNDETERMINED)
"""What is told without ``--all``."""

MOST_MISSING = 8
"""Missing facts named in one line; the rest is counted."""


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
        "text": words_row(finding.rule.text),
        "remedy": words_row(finding.rule.remedy),
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
            text=said(talk, first.rule.text),
            id=first.rule.id,
        )
        for detail in details if len(found) > 1 else _details(talk, phrases, first, first.subject.id):
            yield f"      {detail}"


def _details(talk: Talk, phrases: Phrases, finding: Finding, own: str) -> tuple[str, ...]:
    """What is said of a finding beneath its line; `own` is what the thing itself is called in it."""
    margin = finding.margin
    details = [] if margin is None or isinf(margin.low) or isinf(margin.high) else [_margin(talk, margin)]
    if finding.due is not None:
        details.append(talk.text("law.due", day=day_of(talk, finding.due)))
    if finding.holds_until is not None:
        details.append(talk.text("law.holds_until", day=day_of(talk, finding.holds_until)))
    if len(finding.together) > 1:
        details.append(talk.text("law.together", areas=", ".join(finding.together)))
    if finding.verdict is Verdict.UNDETERMINED and finding.missing:
        details.append(talk.text("law.missing", facts=_missing(talk, phrases, finding, own)))
    if finding.verdict is Verdict.VIOLATED:
        details.append(talk.text("law.remedy_short", text=said(talk, finding.rule.remedy)))
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
        return talk.text("law.margin", value=amount(talk, margin.low, margin.unit))
    low, high = number_of(talk, margin.low), amount(talk, margin.high, margin.unit)
    return talk.text("law.margin", value=talk.text("law.between", low=low, high=high))


def _subjects(talk: Talk, phrases: "Phrases", subjects: Sequence[Subject]) -> str:
    """One thing as the page calls it; several alike by their names after one word."""
    if len(subjects) == 1:
        return phrases.subject(str(subjects[0]))
    thing = talk.text(f"thing.{subjects[0].kind}")
    return f"{thing[:1].upper()}{thing[1:]} {', '.join(phrases.areas.get(one.id, one.id) for one in subjects)}"
