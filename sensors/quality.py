"""How far to trust what a head said: range, nonsense, the head's own word -> a Reading. Knows no wire and no clock.

All values here are %LEL of the depot's reference basis. The table:

    what the head says                             quality    status        number
    inside its span, or within drift below zero    GOOD       MEASURING     as it is
    at or above full scale                         UNCERTAIN  OVER_RANGE    as it is, at_least = full scale
    a documented over-range code or bit            UNCERTAIN  OVER_RANGE    none, at_least = full scale
    NaN, infinite, below zero beyond drift         BAD        FAULT         none
    warming up, calibrating, inhibited             BAD        that status   none
    its own fault, a sentinel, below its span      BAD        that status   none
    its own alarm bit                              as above   as above      at_least = the trip of that bit

A head that has never yet been plausible is wired, set or configured wrongly: its nonsense carries the reason
``never-plausible``, and so does a number beyond twice its full scale, which from a head once plausible is over-range.
"""

from dataclasses import dataclass
from math import inf
from typing import Final

from sensors.readings import DetectorId, Quality, Reading, Status
from sensors.stamps import Stamp

UNKNOWN_TRIP_LEL_PCT: Final = 25.0
"""What a head's own alarm bit stands for where its trip point is unknown: the highest usual first set-point
(facts of the trade: 10, 20 or 25 %LEL), so that the bit is gas at whatever A1 the depot has."""

WILD_FACTOR: Final = 2.0
"""Beyond this many full scales a head that was never plausible is misread rather than over range."""

SEVERITY: Final = (
    Status.WARM_UP,
    Status.CALIBRATING,
    Status.INHIBITED,
    Status.OVER_RANGE,
    Status.FAULT,
    Status.UNDER_RANGE,
    Status.STALE,
    Status.FROZEN,
    Status.NO_CONTACT,
    Status.MEASURING,
)
"""Which word counts when a head says several at once.

A head that is not measuring on purpose comes first, since its gas is not gas; over-range comes before fault, since it
is both.
"""


@dataclass(frozen=True, slots=True)
class Span:
    """What an installed head can show, in %LEL of the reference.

    Attributes:
        full_scale: at or above it the head is over range; infinite where nobody knows.
        zero_drift: how far below zero still is zero.
        trip: what its own alarm bit stands for.
    """

    full_scale: float = inf
    zero_drift: float = 5.0
    trip: float = UNKNOWN_TRIP_LEL_PCT


def worst(states: tuple[Status, ...] | list[Status]) -> Status:
    """Return the state that counts; MEASURING when there is none."""
    return min(states, key=SEVERITY.index, default=Status.MEASURING)


def judge(
    detector: DetectorId,
    value: float | None,
    raw: float | str | None,
    taken: Stamp,
    span: Span,
    state: Status = Status.MEASURING,
    *,
    alarm: bool = False,
    seen: bool = True,
) -> Reading:
    """Return the reading for one number and what the head says of itself.

    Args:
        detector: whose it is.
        value: %LEL of the reference; None when the head gave a code instead of a number.
        raw: what came over the wire, for the eye.
        taken: when it arrived.
        span: of the installed head.
        state: the head's own word (bits, codes, sentinels), by `worst`.
        alarm: the head's own alarm bit.
        seen: whether this head was ever plausible.
    """
    if value is not None and state is Status.MEASURING:
        if 0.0 <= value < span.full_scale and not alarm:
            return Reading(detector, value, None, Quality.GOOD, Status.MEASURING, raw, taken)
        return _measuring(detector, value, raw, taken, span, alarm=alarm, seen=seen)
    if state is Status.OVER_RANGE:
        number = value if value is not None and 0.0 <= value < inf else None
        return _over_range(detector, number, raw, taken, span)
    bound = span.trip if alarm and state not in NOT_MEASURING_ON_PURPOSE else None
    if state is Status.MEASURING:
        state = Status.FAULT
    return Reading(detector, None, bound, Quality.BAD, state, raw, taken, REASONS[state])


def unusable(detector: DetectorId, status: Status, reason: str, raw: float | str | None, taken: Stamp) -> Reading:
    """Return the reading for an answer that holds no measurement: BAD, no number."""
    return Reading(detector, None, None, Quality.BAD, status, raw, taken, reason)


def silence(detector: DetectorId, reason: str, taken: Stamp) -> Reading:
    """Return the reading for no answer at all."""
    return Reading(detector, None, None, Quality.BAD, Status.NO_CONTACT, None, taken, reason)


NOT_MEASURING_ON_PURPOSE: Final = frozenset({Status.WARM_UP, Status.CALIBRATING, Status.INHIBITED})
"""States in which the head's own alarm bit is no gas."""

REASONS: Final = {
    Status.MEASURING: "",
    Status.WARM_UP: "warm-up",
    Status.INHIBITED: "inhibited",
    Status.CALIBRATING: "calibrating",
    Status.FAULT: "head-fault",
    Status.OVER_RANGE: "over-range",
    Status.UNDER_RANGE: "under-range",
    Status.NO_CONTACT: "no-contact",
    Status.STALE: "stale",
    Status.FROZEN: "frozen",
}


def _measuring(
    detector: DetectorId, value: float, raw: float | str | None, taken: Stamp, span: Span, *, alarm: bool, seen: bool
) -> Reading:
    """Judge a number that is not plainly inside the span, or that comes with the alarm bit."""
    bound = span.trip if alarm else None
    if -span.zero_drift <= value < span.full_scale:
        return Reading(detector, value, bound, Quality.GOOD, Status.MEASURING, raw, taken, "own-alarm" if alarm else "")
    wild = not value < inf or (not seen and value >= span.full_scale * WILD_FACTOR)
    if value >= span.full_scale and not wild:
        return _over_range(detector, value, raw, taken, span)
    reason = "never-plausible"
    if seen:
        reason = "below-zero" if -inf < value < 0 else "not-a-number"
    return Reading(detector, None, bound, Quality.BAD, Status.FAULT, raw, taken, reason)


def _over_range(
    detector: DetectorId, value: float | None, raw: float | str | None, taken: Stamp, span: Span
) -> Reading:
    at_least = span.full_scale if span.full_scale < inf else None
    return Reading(detector, value, at_least, Quality.UNCERTAIN, Status.OVER_RANGE, raw, taken, "over-range")
