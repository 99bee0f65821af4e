"""What follows from kg and distances: the class of an area, the areas that count as one, days a while later."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from itertools import combinations
from typing import TypeAlias

from compliance.grammar import Flag, Measure, Reference
from compliance.kleene import Span, Truth, compare, exactly, hull, tidy, total
from compliance.situation import Situation
from compliance.vocabulary import Scheme, StorageClass, Table

JUDGED_KG = Measure(Reference("", "judged_kg", 0.0, derived=True))
LICENSED_KG = Measure(Reference("", "group_licensed_kg", 0.0, derived=True))
WALLED = Flag(Reference("", "boundary_walled"))

Areas: TypeAlias = tuple[str, ...]

MOST_SETS = 64
"""How many sets of areas that may count as one are judged one by one; beyond it only the whole and each pair are."""


# --- classes --------------------------------------------------------------------------------------


def classes(scheme: Scheme, kg: Span) -> Sequence[str]:
    """Return the classes that so many kg can fall into, the smallest first."""
    return [each.name for each in _between(scheme, kg)]


def limits(scheme: Scheme, kg: Span, *, p13: bool) -> Sequence[float]:
    """Return the upper limits of those classes; a class without one has an infinite one."""
    ends = [each.up_to_p13 if p13 else each.up_to_kg for each in _between(scheme, kg)]
    return [float("inf") if end is None else end for end in ends]


def value_of(table: Table, scheme: Scheme, name: str) -> Span:
    """Return a table's value for a class; where the text is silent, no less than for any class below it."""
    if name in table.values:
        return exactly(table.values[name])
    order = [each.name for each in scheme.classes]
    below = [table.values[each] for each in order[: order.index(name)] if each in table.values]
    return Span(max(below, default=float("-inf")), float("inf"))


def _between(scheme: Scheme, kg: Span) -> Sequence[StorageClass]:
    """The classes from that of the least to that of the most kg."""
    first = _index(scheme, kg.low)
    last = first if kg.exact else _index(scheme, kg.high)
    return scheme.classes[first : last + 1]


def _index(scheme: Scheme, kg: float) -> int:
    for number, each in enumerate(scheme.classes):
        if each.up_to_kg is None or kg <= each.up_to_kg:
            return number
    raise AssertionError("the last class of a scheme has no limit")


# --- areas that count as one ----------------------------------------------------------------------


def apart(facts: Situation) -> Mapping[frozenset[str], Span]:
    """Return the distance between each two areas that somebody measured (m)."""
    found: dict[frozenset[str], Span] = {}
    for holder in facts.holders.get("between", ()):
        distance = holder.known.get("distance_m")
        pair = frozenset(name for name in (holder.text("one"), holder.text("other")) if name)
        if distance is not None and len(pair) == 2:
            found[pair] = hull([distance.span, found.get(pair, distance.span)])
    return found


def groups(
    kg: Mapping[str, Span],
    walled: Mapping[str, Truth],
    distances: Mapping[frozenset[str], Span],
    scheme: Scheme,
    tables: Mapping[bool, Table],
) -> Mapping[str, Sequence[tuple[Areas, bool]]]:
    """Return for each area every set of areas it may have to be judged in, alone first, and whether that is certain.

    Areas closer than the sum of their distances to the boundary are one, and as one may be of a higher class, with
    longer distances: the sets grow until none is left to join.
    """
    joined = {sure: _joined(kg, walled, distances, scheme, tables, sure=sure) for sure in (True, False)}
    return {area: _sets(area, joined) for area in kg}


def _joined(
    kg: Mapping[str, Span],
    walled: Mapping[str, Truth],
    distances: Mapping[frozenset[str], Span],
    scheme: Scheme,
    tables: Mapping[bool, Table],
    *,
    sure: bool,
) -> frozenset[frozenset[str]]:
    """Return the pairs that certainly (or else possibly) are one."""
    pairs: frozenset[frozenset[str]] = frozenset()
    while True:
        whole = {area: _component(area, pairs) for area in kg}
        weight = {area: total(kg[each] for each in sorted(whole[area])) for area in kg}
        own = {area: _boundary(scheme, weight[area], walled[area], tables) for area in kg}
        found = set(pairs)
        for one, other in combinations(sorted(kg), 2):
            pair = frozenset((one, other))
            close = compare(distances.get(pair, Span(0.0, float("inf"))), "<", tidy(total([own[one], own[other]])))
            if close is True or (close is None and not sure):
                found.add(pair)
        if found == pairs:
            return pairs
        pairs = frozenset(found)


def _boundary(scheme: Scheme, kg: Span, walled: Truth, tables: Mapping[bool, Table]) -> Span:
    """The distance that an area keeps to the property's boundary."""
    spans = []
    for side in (True, False):
        if walled is None or walled is side:
            spans += [value_of(tables[side], scheme, name) for name in classes(scheme, kg)]
    return hull(spans)


def _component(area: str, pairs: Iterable[frozenset[str]]) -> frozenset[str]:
    reached, grown = frozenset((area,)), True
    while grown:
        more = reached.union(*(pair for pair in pairs if pair & reached))
        grown = more != reached
        reached = more
    return reached


def _sets(area: str, joined: Mapping[bool, frozenset[frozenset[str]]]) -> Sequence[tuple[Areas, bool]]:
    neighbours = [each for each in sorted(_component(area, joined[False])) if each != area]
    if 2 ** len(neighbours) <= MOST_SETS:
        chosen = [part for size in range(len(neighbours) + 1) for part in combinations(neighbours, size)]
    else:
        chosen = [(), *((each,) for each in neighbours), tuple(neighbours)]
    found = []
    for part in chosen:
        members = tuple(sorted((area, *part)))
        inside = {sure: [pair for pair in joined[sure] if pair <= set(members)] for sure in (True, False)}
        if _component(area, inside[False]) == set(members):
            found.append((members, _component(area, inside[True]) == set(members)))
    return found


# --- days -----------------------------------------------------------------------------------------

FIRST, LAST = float(date.min.toordinal()), float(date.max.toordinal())


def _days_later(day: float, days: int) -> float:
    return min(day + days, LAST) if day < LAST else LAST


def _years_later(day: float, years: int) -> float:
    """The same day of a later year; a 29 February falls back to the 28th, the earlier of the two."""
    if day in (FIRST, LAST):
        return day
    start = date.fromordinal(int(day))
    if start.year + years > date.max.year:
        return LAST
    leap = start.month == 2 and start.day == 29
    return float(start.replace(year=start.year + years, day=28 if leap else start.day).toordinal())


def _working_days_later(day: float, days: int) -> float:
    """So many days later, Saturdays and Sundays not counted. Holidays are: without them this is the earliest day."""
    if day in (FIRST, LAST):
        return day
    start, left = date.fromordinal(int(day)), days
    while left > 0 and start < date.max:
        start += timedelta(days=1)
        left -= start.weekday() < 5
    return float(start.toordinal())


MOVES: Mapping[str, Callable[[float, int], float]] = {
    "days": _days_later,
    "years": _years_later,
    "working_days": _working_days_later,
}
