"""Measures terms: each is a span that holds every value still possible."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import ceil, fsum, inf
from typing import Any as Whatever

from compliance import derive
from compliance.grammar import (
    Age,
    Ceil,
    ClassOf,
    Combined,
    Constant,
    Count,
    Extreme,
    Group,
    Later,
    Limit,
    Lookup,
    Measure,
    Reference,
    Steps,
    Sum,
    Term,
    Today,
)
from compliance.hearing import ONE, Batch, Frame, complete, members
from compliance.kleene import (
    ANYTHING,
    NOTHING,
    Span,
    difference,
    exactly,
    hull,
    largest,
    product,
    smallest,
    stepped,
    tidy,
    total,
)
from compliance.situation import COUNT
from compliance.things import alike


def measure(term: Term, frame: Frame) -> Span:
    """Return the span a term lies in; what runs over members is measured once."""
    return _TERMS[type(term)](term, frame)


def _constant(term: Constant, frame: Frame) -> Span:  # noqa: ARG001 - as every term
    return Span(term.value, term.value)


def _today(term: Today, frame: Frame) -> Span:  # noqa: ARG001 - as every term
    return exactly(frame.day)


def _value(term: Measure, frame: Frame) -> Span:
    return _span(term.fact, frame)


def _span(fact: Reference, frame: Frame) -> Span:
    if fact.derived:
        return _derived(fact, frame)
    known = frame.known(fact)
    return Span(fact.low, fact.high) if known is None else known.span


def _derived(fact: Reference, frame: Frame) -> Span:
    holder = frame.parent(fact.of)
    if holder is None:
        return Span(fact.low, fact.high)
    term = frame.hearing.statute.derived[holder.subject.kind, fact.name]
    found: Span = frame.remembered(term, holder, partial(measure, term))
    return found


def _age(term: Age, frame: Frame) -> Span:
    known = frame.known(term.fact)
    return ANYTHING if known is None else exactly(frame.day - known.span.low)


def _sum(term: Sum, frame: Frame) -> Span:
    return frame.remembered(term, frame.own, partial(_added, term))


def _added(term: Sum, frame: Frame) -> Span:
    listed, fact, facts = members(term.group, frame), term.fact, frame.hearing.facts
    if listed.sure and not fact.of and not fact.derived and term.group.kind in facts.counted:
        parts = []
        for several in alike((fact.name, COUNT), listed.things).values():
            known, count = frame.told_alike(several, fact.name), frame.told(several[0].first, COUNT)
            each = Span(fact.low, fact.high) if known is None else known.span
            assert count is not None, "a member that is there for sure has a count"
            many = sum(len(things.all) for things in several)
            parts.append(product(product(each, count.span), exactly(float(many))))
    else:
        parts = [part for batch in listed.batches for part in _parts(term.fact, batch, frame)]
    return _open_ended(tidy(total(parts)), term.group, frame, floor_=min(fact.low, 0.0))


def _parts(fact: Reference, batch: Batch, frame: Frame) -> Sequence[Span]:
    parts = _of_each(fact, batch, frame)
    if batch.number is not ONE:
        parts = [product(part, batch.number) for part in parts]
    return parts if batch.belongs is True else [hull([NOTHING, part]) for part in parts]


def _of_each(fact: Reference, batch: Batch, frame: Frame) -> Sequence[Span]:
    each = [own for things in batch.things for own in things.all]
    if fact.of or fact.derived:
        return [_span(fact, frame.at(own, frame.trace)) for own in each]
    unknown = Span(fact.low, fact.high)
    return [unknown if known is None else known.span for known in (frame.told(own, fact.name) for own in each)]


def _count(term: Count, frame: Frame) -> Span:
    return frame.remembered(term, frame.own, partial(_counted, term.group))


def _counted(group: Group, frame: Frame) -> Span:
    batches = members(group, frame).batches
    many = [sum([len(things.all) for things in batch.things]) for batch in batches]
    low = fsum([batch.number.low * each for batch, each in zip(batches, many, strict=True) if batch.belongs is True])
    high = fsum([batch.number.high * each for batch, each in zip(batches, many, strict=True)])
    return _open_ended(Span(low, high), group, frame, floor_=0.0)


def _open_ended(found: Span, group: Group, frame: Frame, floor_: float) -> Span:
    """Open the upper end where more members may be there than were told of."""
    if complete(group, frame) is True:
        return found
    return Span(found.low if floor_ == 0 else -inf, inf)


def _extreme(term: Extreme, frame: Frame) -> Span:
    return frame.remembered(term, frame.own, partial(_outermost, term))


def _outermost(term: Extreme, frame: Frame) -> Span:
    """The least or the most: a member that only perhaps belongs, or was not told of, can move it one way only."""
    ends = Span(term.fact.low, term.fact.high)
    sure: list[Span] = []
    loose: list[Span] = []
    for batch in members(term.group, frame).batches:
        (sure if batch.there is True else loose).extend(_of_each(term.fact, batch, frame))
    if complete(term.group, frame) is not True:
        loose.append(ends)
    pick = largest if term.most else smallest
    if not sure:
        return hull([ends, *loose])
    found = pick(sure)
    return hull([found, pick([found, *loose])])


def _lookup(term: Lookup, frame: Frame) -> Span:
    scheme, table = frame.hearing.scheme(frame.day), frame.hearing.statute.tables[term.table]
    names = classes(term.class_of, frame)
    if scheme is None or table.scheme != scheme.id or not names:
        return ANYTHING
    return hull([derive.value_of(table, scheme, name) for name in names])


def _limit(term: Limit, frame: Frame) -> Span:
    scheme = frame.hearing.scheme(frame.day)
    if scheme is None:
        return ANYTHING
    for each in frame.hearing.statute.schemes:
        frame.note_period(each.period)
    return hull([exactly(limit) for limit in derive.limits(scheme, measure(term.kg, frame), p13=term.p13)])


def _combined(term: Combined, frame: Frame) -> Span:
    spans = [measure(each, frame) for each in term.terms]
    match term.how:
        case "plus":
            return tidy(total(spans))
        case "minus":
            return tidy(difference(*spans))
        case "max":
            return largest(spans)
        case "min":
            return smallest(spans)
        case _:
            found = ONE
            for span in spans:
                found = product(found, span)
            return tidy(found)


def _ceil(term: Ceil, frame: Frame) -> Span:
    return stepped(measure(term.term, frame), lambda end: ceil(end / term.step.value) * term.step.value)


def _steps(term: Steps, frame: Frame) -> Span:
    above, step = term.above.value, term.step.value
    return stepped(measure(term.term, frame), lambda end: float(max(0, ceil((end - above) / step))))


def _later(term: Later, frame: Frame) -> Span:
    move, number = derive.MOVES[term.unit], int(term.number.value)
    return Span(*(move(end, number) for end in measure(term.day, frame)))


# --- classes --------------------------------------------------------------------------------------


def classes(class_of: ClassOf, frame: Frame) -> Sequence[str]:
    """Return the classes that the thing's area can be in, the smallest first; none without a scheme."""
    scheme = frame.hearing.scheme(frame.day)
    for each in frame.hearing.statute.schemes:
        frame.note_period(each.period)
    if scheme is None:
        return ()
    area = frame.area()
    term = derive.JUDGED_KG if class_of is ClassOf.JUDGED else derive.LICENSED_KG
    kg = Span(0.0, inf) if area is None else frame.remembered(term, area, partial(measure, term))
    return derive.classes(scheme, kg)


_TERMS: Mapping[type, Callable[[Whatever, Frame], Span]] = {
    Constant: _constant,
    Today: _today,
    Measure: _value,
    Age: _age,
    Sum: _sum,
    Count: _count,
    Extreme: _extreme,
    Lookup: _lookup,
    Limit: _limit,
    Combined: _combined,
    Ceil: _ceil,
    Steps: _steps,
    Later: _later,
}
