"""Logic in which a thing can be unknown: truths of three values, and numbers known only within a span.

A truth is True, False or None. A span holds every value that is still possible, both ends included.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

Truth: TypeAlias = bool | None


class Span(NamedTuple):
    """All numbers from `low` to `high`; one number when they are equal."""

    low: float
    high: float

    @property
    def exact(self) -> bool:
        """Only one value is possible."""
        return self.low == self.high


ANYTHING = Span(-math.inf, math.inf)
NOTHING = Span(0.0, 0.0)


def exactly(value: float) -> Span:
    """Return the span of one number."""
    return Span(value, value)


def both(one: Truth, other: Truth) -> Truth:
    """And."""
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def either(one: Truth, other: Truth) -> Truth:
    """Or."""
    if one is True or other is True:
        return True
    return None if one is None or other is None else False


def opposite(one: Truth) -> Truth:
    """Not."""
    return None if one is None else not one


def throughout(cases: Collection[bool]) -> Truth:
    """What holds or does not hold in every case that is still possible; None where they differ, or where none is."""
    if not cases or (any(cases) and not all(cases)):
        return None
    return all(cases)


def compare(left: Span, order: str, right: Span) -> Truth:
    """Tell whether two spans stand in an order (``<  <=  =  >=  >``), whatever their true values are."""
    return ORDERS[order](left, right)


def _at_most(left: Span, right: Span) -> Truth:
    if left.high <= right.low:
        return True
    return False if left.low > right.high else None


def _less(left: Span, right: Span) -> Truth:
    if left.high < right.low:
        return True
    return False if left.low >= right.high else None


def _equal(left: Span, right: Span) -> Truth:
    if left.high < right.low or right.high < left.low:
        return False
    return True if left.exact and right.exact else None


ORDERS: Mapping[str, Callable[[Span, Span], Truth]] = {
    "<": _less,
    "<=": _at_most,
    "=": _equal,
    ">=": lambda left, right: _at_most(right, left),
    ">": lambda left, right: _less(right, left),
}


def total(spans: Iterable[Span]) -> Span:
    """Add spans; the result does not hang on their order."""
    listed = list(spans)
    return Span(math.fsum([span.low for span in listed]), math.fsum([span.high for span in listed]))


def difference(left: Span, right: Span) -> Span:
    """Subtract spans."""
    return Span(left.low - right.high, left.high - right.low)


def product(left: Span, right: Span) -> Span:
    """Multiply spans; nothing times anything is nothing."""
    if left.low == left.high and right.low == right.high and left.low - left.low == right.low - right.low == 0:
        return exactly(left.low * right.low)
    corners = [0.0 if 0 in (one, other) else one * other for one in left for other in right]
    return Span(min(corners), max(corners))


def largest(spans: Sequence[Span]) -> Span:
    """The larger of spans."""
    return Span(max(span.low for span in spans), max(span.high for span in spans))


def smallest(spans: Sequence[Span]) -> Span:
    """The smaller of spans."""
    return Span(min(span.low for span in spans), min(span.high for span in spans))


def hull(spans: Sequence[Span]) -> Span:
    """The span that holds them all."""
    return Span(min(span.low for span in spans), max(span.high for span in spans))


DECIMALS = 9
"""More than any number of a law or a register has."""


def tidy(span: Span) -> Span:
    """Take off what binary fractions add to a sum or a difference: 14.8 - 14.5 is 0.3, not 0.3 and a bit."""
    return Span(round(span.low, DECIMALS), round(span.high, DECIMALS))


def stepped(span: Span, step: Callable[[float], float]) -> Span:
    """Apply a function that never falls to both ends; an end without a limit stays so."""
    return Span(*(end if math.isinf(end) else step(end) for end in span))
