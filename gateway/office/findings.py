"""What the law says of the depot, over time: which findings changed, what stands now, and the conditions to be told.

Pure. A finding is kept as an entry only when something of it changed: its history is short, each step has a cause.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Literal

from compliance.vocabulary import Finding, Severity, StatuteKind, Verdict
from dashboards.office import MOST_DETAIL_CHARS, Breach
from gateway.engine.events import Json

if TYPE_CHECKING:
    from gateway.office.bygone import Bygone

KIND: Literal["finding"] = "finding"
"""The kind of journal entry."""

SOON_DAYS = (30, 7, 0)
"""How many days before the last good day of a verdict people are told of it; 0 is that day itself."""

THIS_YEAR = "year"
"""Nearness of what ends later in this calendar year, of a rule that asks for it: shown, and no condition yet."""

DUE: Mapping[str, Literal["due-30", "due-7", "due-0"]] = {"30": "due-30", "7": "due-7", "0": "due-0"}

TOLD = (Severity.DANGER, Severity.SERIOUS)
"""Severities that become a condition; the others stand on the page and in reports."""

LIVE = frozenset({"watching", "working"})
"""Facts that the watch proves and that may come and go in a moment."""

SETTLE_MS = 15 * 60 * 1000

MOST_CAUSES = 20
MOST_EVIDENCE = 40

Key = tuple[str, str]
"""A rule's id and the thing it was judged on, as in ``("ferraz-6-II-b-kg", "area:patio")``."""


@dataclass(frozen=True, slots=True)
class Stand:
    """Where one finding stands, as its last entry says.

    Attributes:
        since: the local day on which its verdict was first judged so.
        at_ms: when that was.
        of: its statute, clause and severity, which are told when it is no longer asked.
        effective: the local day since which it was so, as the registers have it; of a breach it may be before `since`.
    """

    verdict: str
    soon: str
    since: str
    at_ms: int
    of: tuple[str | None, str | None, str | None]
    effective: str = ""


def key_of(finding: Finding) -> Key:
    """Return what tells one finding from another."""
    return finding.rule.id, str(finding.subject)


def last_good(finding: Finding) -> date | None:
    """Return the last day on which a verdict still stands; None if none is known.

    What is due and not done yet stands until its day; what was done in time stands for ever, and nothing of it is near.
    """
    worse_on = finding.holds_until  # the first day on which it is worse
    return None if worse_on is None else worse_on - timedelta(days=1)


def soon(finding: Finding) -> str:
    """Return how near the last good day of a verdict is: ``30``, ``7`` or ``0`` days, or `THIS_YEAR`; empty: not near.

    Where only an answer grows old, which a weekly round does always, that day itself is near.
    """
    last = last_good(finding)
    if finding.verdict is not Verdict.COMPLIANT or last is None:
        return ""
    left, steps = (last - finding.on).days, SOON_DAYS if _is_to_be_broken(finding) else (0,)
    this_year = finding.rule.all_year and last.year == finding.on.year
    return next((str(days) for days in sorted(steps) if left <= days), THIS_YEAR if this_year else "")


def _is_to_be_broken(finding: Finding) -> bool:
    """Tell whether what is near is a breach or a deadline, and not an answer that the survey will ask anew."""
    return finding.due is not None or finding.then is Verdict.VIOLATED


def changes(
    before: Mapping[Key, Stand],
    found: Iterable[Finding],
    on: date,
    causes: Sequence[Mapping[str, Json]],
    begun: Mapping[Key, date] | None = None,
) -> list[dict[str, Json]]:
    """Return an entry for each finding that is not as it stood, and for each that is no longer asked.

    `causes` are the register entries told since the last judgement: who changed it. `begun` has the first day of
    breaches that were looked into; another breach began on the day of its first judgement.
    """
    first_days = begun or {}
    changed: list[dict[str, Json]] = []
    seen: set[Key] = set()
    because: Json = list(causes[:MOST_CAUSES])
    for finding in found:
        key = key_of(finding)
        seen.add(key)
        stood = before.get(key)
        now = (finding.verdict.value, soon(finding))
        if stood is None and finding.verdict is Verdict.NOT_APPLICABLE:
            continue
        first = _effective(finding, stood, on, first_days.get(key))
        if stood is None or (stood.verdict, stood.soon) != now or stood.effective != first:
            changed.append({**_entry(finding, stood, on), "effective": first, "because": because})
    for key, stood in before.items():
        if key not in seen and stood.verdict != Verdict.NOT_APPLICABLE.value:
            changed.append({**_gone(key, stood, on), "because": because})
    return changed


def bygone(one: "Bygone", finding: Finding, on: date, causes: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    """Return the entry for a stretch of days gone by; `finding`: the breach as it was on its first day."""
    days: dict[str, Json] = {"effective": one.first.isoformat(), "until": one.until.isoformat()}
    because: Json = list(causes[:MOST_CAUSES])
    return {**_entry(finding, None, on), **days, "past": one.told.value, "because": because}


def is_bygone(change: Mapping[str, Any]) -> bool:
    """Tell whether a kept change is of days gone by: it says nothing of how the finding stands."""
    return "past" in change


def keep(standing: dict[Key, Stand], change: Mapping[str, Any]) -> None:
    """Take one kept change into what stands."""
    key = (str(change["rule"]), str(change["subject"]))
    of = (change.get("statute"), change.get("clause"), change.get("severity"))
    verdict, since, at_ms = str(change["verdict"]), str(change["on"]), int(change["at_ms"])
    stood = standing.get(key)
    if stood is not None and stood.verdict == verdict:  # only how near it is, or since when, is told anew
        since, at_ms = stood.since, stood.at_ms
    effective = str(change.get("effective") or since)
    standing[key] = Stand(verdict, str(change.get("soon", "")), since, at_ms, of, effective)


def forget(standing: dict[Key, Stand], asked: Iterable[Finding]) -> None:
    """Let go of what is no longer asked and was told to be so: leaks, containers, years of papers."""
    keys = set(map(key_of, asked))
    for key in [key for key in standing if key not in keys]:
        if standing[key].verdict == Verdict.NOT_APPLICABLE.value:
            del standing[key]


def is_passing(finding: Finding, stood: Stand | None, now_ms: int) -> bool:
    """Tell whether a breach rests on a head or output that has failed just now.

    Its failing is an alarm of its own already; that the law is broken by it is told when it lasts `SETTLE_MS`.
    """
    if not any(one.name in LIVE and one.value is False for one in finding.evidence):
        return False
    begun = stood.at_ms if stood is not None and stood.verdict == Verdict.VIOLATED.value else now_ms
    return now_ms - begun < SETTLE_MS


def breaches(
    found: Iterable[Finding], kinds: Mapping[str, StatuteKind], say: Callable[[Finding], str]
) -> tuple[Breach, ...]:
    """Return the conditions of the law to be told: violated or soon due, of a law or the house, of some weight.

    `kinds` is by statute: what a reference says is shown and never told. `say` puts a finding into words.
    """
    told = []
    for finding in found:
        if kinds[finding.statute] is StatuteKind.REFERENCE or finding.rule.severity not in TOLD:
            continue
        near = soon(finding)
        if finding.verdict is not Verdict.VIOLATED and not (near in DUE and _is_to_be_broken(finding)):
            continue
        told.append(
            Breach(
                subject="/".join(key_of(finding)),
                reason="violated" if finding.verdict is Verdict.VIOLATED else DUE[near],
                detail=say(finding)[:MOST_DETAIL_CHARS],
                severity=finding.rule.severity.value,
            )
        )
    return tuple(told)


def as_json(finding: Finding) -> dict[str, Json]:
    """A finding's content without floats, as entries and answers carry it."""
    margin = finding.margin
    return {
        "statute": finding.statute,
        "rule": finding.rule.id,
        "clause": finding.rule.clause,
        "subject": str(finding.subject),
        "verdict": finding.verdict.value,
        "severity": finding.rule.severity.value,
        "soon": soon(finding),
        "margin": None
        if margin is None
        else {"low": _figure(margin.low), "high": _figure(margin.high), "unit": margin.unit},
        "holds_until": None if finding.holds_until is None else finding.holds_until.isoformat(),
        "due": None if finding.due is None else finding.due.isoformat(),
        "together": list(finding.together),
        "evidence": [
            {"subject": str(one.subject), "name": one.name, "value": _value(one.value)}
            for one in finding.evidence[:MOST_EVIDENCE]
        ],
    }


def _effective(finding: Finding, stood: Stand | None, on: date, looked_into: date | None) -> str:
    """The first day of a verdict: what was found of a breach, else what stands, else the day of its judgement."""
    if looked_into is not None:
        return looked_into.isoformat()
    return stood.effective if stood is not None and stood.verdict == finding.verdict.value else on.isoformat()


def _entry(finding: Finding, stood: Stand | None, on: date) -> dict[str, Json]:
    return as_json(finding) | {"on": on.isoformat(), "was": None if stood is None else stood.verdict}


def _gone(key: Key, stood: Stand, on: date) -> dict[str, Json]:
    statute, clause, severity = stood.of
    return {
        "statute": statute,
        "clause": clause,
        "severity": severity,
        "rule": key[0],
        "subject": key[1],
        "verdict": Verdict.NOT_APPLICABLE.value,
        "soon": "",
        "was": stood.verdict,
        "on": on.isoformat(),
        "evidence": [],
    }


def _figure(value: float) -> str | None:
    return f"{value:.6g}" if abs(value) < float("inf") else None


def _value(value: object) -> Json:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, int):
        return value
    return f"{value:.6g}"
