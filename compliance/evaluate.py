"""Judges a statute's rules on what is known of a depot on a day. Knows no clock; unknown is never compliant."""

from collections.abc import Sequence
from datetime import date
from functools import partial
from itertools import combinations
from math import isinf
from typing import NamedTuple

from compliance import derive
from compliance.conditions import holds
from compliance.grammar import All, Compare, Condition
from compliance.hearing import Frame, Groups, Hearing
from compliance.kleene import Span, Truth, both, difference, opposite, tidy
from compliance.memory import Trace
from compliance.situation import Situation
from compliance.terms import measure
from compliance.things import Holder
from compliance.vocabulary import Evidence, Finding, Margin, MarginOf, Rule, Statute, Subject, Verdict

HORIZON_DAYS = 10 * 366
"""How far ahead a verdict is followed; by then the facts are others."""


def evaluate(statute: Statute, facts: Situation, on: date) -> tuple[Finding, ...]:
    """Judge each rule on each thing it speaks of, in the order of the rules and of the things' ids."""
    hearing = Hearing(statute, facts, on.toordinal(), holds)
    return tuple(
        _finding(hearing, rule, holder, on) for rule in statute.rules for holder in facts.holders.get(rule.each, ())
    )


# --- a finding ------------------------------------------------------------------------------------


class _Opinion(NamedTuple):
    """What was found on one day, together with certain areas."""

    verdict: Verdict
    trace: Trace
    together: tuple[str, ...]


def _finding(hearing: Hearing, rule: Rule, holder: Holder, on: date) -> Finding:
    day = on.toordinal()
    opinions = _opinions(hearing, rule, holder, day, keep=True)
    worst = _worst(opinions)
    together = Trace([opinion.trace for opinion in opinions])
    holds_until, then = _worse_on(hearing, rule, holder, worst.verdict, _until(opinions))
    return Finding(
        statute=hearing.statute.id,
        rule=rule,
        subject=holder.subject,
        verdict=worst.verdict,
        on=on,
        evidence=tuple(together.evidence().values()),
        margin=_margin(hearing, rule, holder, worst, day),
        holds_until=holds_until,
        then=then,
        due=date.fromordinal(int(worst.trace.due)) if worst.trace.due is not None else None,
        together=worst.together,
    )


def _opinions(hearing: Hearing, rule: Rule, holder: Holder, day: int, *, keep: bool) -> list[_Opinion]:
    """Judge the thing's area alone and with each set of neighbours it counts as one with; `keep` the evidence."""
    found = []
    for together, certain in _sets(hearing, holder, day):
        frame = Frame(hearing, day, holder, holder, together, Trace([] if keep else None))
        verdict = _verdict(rule, frame)
        if not certain and verdict in (Verdict.VIOLATED, Verdict.UNDETERMINED):
            verdict = Verdict.UNDETERMINED
            _ask_distances(hearing, together, frame.trace)
        found.append(_Opinion(verdict, frame.trace, together))
    return found


def _worst(opinions: Sequence[_Opinion]) -> _Opinion:
    worst = opinions[0]
    for opinion in opinions[1:]:
        if opinion.verdict.worse_than(worst.verdict):
            worst = opinion
    return worst


def _verdict(rule: Rule, frame: "Frame") -> Verdict:
    for period in (frame.hearing.statute.period, rule.period):
        if period.since is None and period.until is None:
            continue
        frame.note_period(period)
        if not period.holds(date.fromordinal(frame.day)):
            return Verdict.NOT_APPLICABLE
    applies = holds(rule.applies, frame)
    if applies is not False and rule.exempt:
        applies = both(applies, opposite(_exempt(frame)))
    if applies is False:
        return Verdict.NOT_APPLICABLE
    required = holds(rule.requires, frame)
    if required is True:
        return Verdict.COMPLIANT
    return Verdict.VIOLATED if required is False and applies is True else Verdict.UNDETERMINED


def _exempt(frame: "Frame") -> Truth:
    """Tell whether the statute spares the thing's area, or, for the depot, every area there is."""
    exemption = frame.hearing.statute.exemption
    if exemption is None:
        return False
    if frame.own.subject.kind != "depot":
        area = frame.area()
        return None if area is None else frame.remembered(exemption.when, area, partial(holds, exemption.when))
    found: Truth = True
    areas = frame.hearing.facts.holders.get("area", ())
    for area in areas:
        found = both(found, frame.remembered(exemption.when, area, partial(holds, exemption.when)))
    return found if areas else False


def _margin(hearing: Hearing, rule: Rule, holder: Holder, worst: _Opinion, day: int) -> Margin | None:
    if rule.margin is None or worst.verdict is Verdict.NOT_APPLICABLE:
        return None
    frame = Frame(hearing, day, holder, holder, worst.together, Trace(None))
    span = _room(rule.margin, rule.requires, frame)
    return None if span is None or (isinf(span.low) and isinf(span.high)) else Margin(*span, rule.margin.unit)


def _room(margin: MarginOf, requires: Condition, frame: "Frame") -> Span | None:
    if margin.term is not None:
        return measure(margin.term, frame)
    compared = _first_comparison(requires)
    if compared is None or compared.order == "=":
        return None
    left, right = measure(compared.left, frame), measure(compared.right, frame)
    return tidy(difference(right, left) if compared.order in ("<", "<=") else difference(left, right))


def _first_comparison(condition: Condition) -> Compare | None:
    if isinstance(condition, Compare):
        return condition
    if isinstance(condition, All):
        return next((found for each in condition.conditions if (found := _first_comparison(each))), None)
    return None


def _worse_on(
    hearing: Hearing, rule: Rule, holder: Holder, verdict: Verdict, change: float
) -> tuple[date, Verdict] | tuple[None, None]:
    """The first later day with a worse verdict, and it; only days on which something changes are looked at."""
    if verdict is Verdict.VIOLATED:
        return None, None
    last = min(hearing.day + HORIZON_DAYS, date.max.toordinal())
    while change <= last:
        opinions = _opinions(hearing, rule, holder, int(change), keep=False)
        then = _worst(opinions).verdict
        if then.worse_than(verdict):
            return date.fromordinal(int(change)), then
        change = _until(opinions)
    return None, None


def _until(opinions: Sequence[_Opinion]) -> float:
    return min([opinion.trace.until for opinion in opinions])


# --- areas that count as one ----------------------------------------------------------------------


def _sets(hearing: Hearing, holder: Holder, day: int) -> Sequence[tuple[tuple[str, ...], bool]]:
    """Return the sets of areas that the thing's area is judged in, and whether each is certain."""
    area = holder.subject.id if holder.subject.kind == "area" else holder.text("area")
    if area is None:
        return [((), True)]
    if hearing.statute.separation is None:
        return [((area,), True)]
    sets = next((known.sets for known in hearing.groups if known.first <= day < known.until), None)
    if sets is None:
        hearing.groups.append(_groups(hearing, day))
        sets = hearing.groups[-1].sets
    return sets.get(area, [((area,), True)])


def _groups(hearing: Hearing, day: int) -> Groups:
    areas = hearing.facts.holders.get("area", ())
    trace = Trace(None)
    frames = {each.subject.id: Frame(hearing, day, each, each, (each.subject.id,), trace) for each in areas}
    for frame in frames.values():
        for each in hearing.statute.schemes:
            frame.note_period(each.period)
    separation, scheme = hearing.statute.separation, hearing.scheme(day)
    if separation is None or scheme is None or len(areas) < 2:
        return Groups(day, trace.until, {})
    walled = {name: holds(derive.WALLED, frame) for name, frame in frames.items()}
    kg = {name: measure(derive.JUDGED_KG, frame) for name, frame in frames.items()}
    tables = {True: hearing.statute.tables[separation.walled], False: hearing.statute.tables[separation.open]}
    return Groups(day, trace.until, derive.groups(kg, walled, derive.apart(hearing.facts), scheme, tables))


def _ask_distances(hearing: Hearing, together: Sequence[str], trace: Trace) -> None:
    """Name the distances nobody measured that leave open whether these areas are one."""
    if trace.used is None:
        return
    measured = derive.apart(hearing.facts)
    for one, other in combinations(together, 2):
        if frozenset((one, other)) not in measured:
            trace.used.append(Evidence(Subject("between", f"{one}|{other}"), "distance_m", None))
