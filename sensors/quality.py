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
More than pure gas would give no gas gives: the head is over range, and its number is none.
"""

from dataclasses import dataclass
from math import exp, inf
from typing import Final

from msgspec.structs import replace

from sensors.readings import DetectorId, Quality, Reading, Status
from sensors.stamps import SECOND, Instant, Stamp

UNKNOWN_TRIP_LEL_PCT: Final = 25.0
"""What a head's own alarm bit stands for where its trip point is unknown: the highest usual first set-point
(facts of the trade: 10, 20 or 25 %LEL), so that the bit is gas at whatever A1 the depot has."""

WILD_FACTOR: Final = 2.0
"""Beyond this many full scales a head that was never plausible is misread rather than over range."""

MOST_LEL_PCT: Final = 20_000.0
"""Pure gas, of which a two-hundredth can burn: the lowest basis that is taken is 0.5 %vol."""

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
    trip: float | None = None,
    reason: str = "",
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
        trip: what the alarm bit that is set stands for, where the head has several; None for the span's.
        reason: short code for what the head says of itself, where it is more than its status.
    """
    bound = (span.trip if trip is None else trip) if alarm else None
    if value is not None and state is Status.MEASURING:
        if 0.0 <= value < span.full_scale and not alarm:
            return Reading(detector, value, None, Quality.GOOD, Status.MEASURING, raw, taken, reason)
        return _measuring(detector, value, raw, taken, span, bound, reason, seen=seen)
    if state is Status.OVER_RANGE:
        number = value if value is not None and 0.0 <= value < inf else None
        return _over_range(detector, number, raw, taken, span, bound)
    if state in NOT_MEASURING_ON_PURPOSE:
        bound = None
    if state is Status.MEASURING:
        state = Status.FAULT
    return Reading(detector, None, bound, Quality.BAD, state, raw, taken, reason or REASONS[state])


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
    detector: DetectorId,
    value: float,
    raw: float | str | None,
    taken: Stamp,
    span: Span,
    bound: float | None,
    said: str,
    *,
    seen: bool,
) -> Reading:
    """Judge a number that is not plainly inside the span, or that comes with the alarm bit."""
    if -span.zero_drift <= value < span.full_scale:
        own = "own-alarm" if bound is not None else ""
        return Reading(detector, value, bound, Quality.GOOD, Status.MEASURING, raw, taken, own or said)
    wild = not value < inf or (not seen and value >= span.full_scale * WILD_FACTOR)
    if value >= span.full_scale and not wild:
        return _over_range(detector, value, raw, taken, span, bound)
    reason = "never-plausible"
    if seen:
        reason = "below-zero" if -inf < value < 0 else "not-a-number"
    return Reading(detector, None, bound, Quality.BAD, Status.FAULT, raw, taken, reason)


def _over_range(
    detector: DetectorId, value: float | None, raw: float | str | None, taken: Stamp, span: Span, bound: float | None
) -> Reading:
    at_least = span.full_scale if span.full_scale < inf else bound
    number = None if value is None or value > MOST_LEL_PCT else value
    return Reading(detector, number, at_least, Quality.UNCERTAIN, Status.OVER_RANGE, raw, taken, "over-range")


# --- what shows only over time


class Movement:
    """Who moved last among heads that are watched together: a head that stands still is suspicious beside them."""

    __slots__ = ("_last", "_other", "members", "watchers")

    def __init__(self) -> None:
        self.members = 0
        self.watchers = 0
        self._last: tuple[Instant, object] = (Instant(0), None)
        self._other = Instant(0)

    def moved(self, who: object, at: Instant) -> None:
        """Somebody's number changed."""
        if self._last[1] is not who:
            self._other = self._last[0]
        self._last = (at, who)

    def others_moved_since(self, who: object, since: Instant) -> bool:
        """Tell whether anybody else moved after that moment. A head watched alone has nobody to be held against."""
        if self.members < 2:
            return True
        return (self._other if self._last[1] is who else self._last[0]) > since


DRIFT_LIFETIME_S: Final = 3600.0
"""A zero is off when its mean over about an hour is: long enough that no passing leak is taken for it."""


class Watch:
    """What only time tells of one head: its heartbeat, its standing still, its drifting zero.

    Attributes:
        idle_itself: there is nothing to watch for in this head.
    """

    __slots__ = (
        "_beat",
        "_beat_at",
        "_beat_s",
        "_drift",
        "_drift_at",
        "_frozen_after_s",
        "_mean",
        "_movement",
        "_raw",
        "_raw_at",
        "_since",
        "idle_itself",
    )

    def __init__(
        self,
        movement: Movement,
        *,
        beat_s: float | None = None,
        frozen_after_s: float | None = None,
        drift: float | None = None,
    ) -> None:
        self._movement = movement
        movement.members += 1
        movement.watchers += frozen_after_s is not None
        self._beat_s = beat_s
        self._frozen_after_s = frozen_after_s
        self._drift = drift
        self.idle_itself = beat_s is None and frozen_after_s is None and drift is None
        self._beat: float | str | None = None
        self._raw: float | str | None = None
        self._beat_at = self._raw_at = self._drift_at = self._since = Instant(0)
        self._mean = 0.0

    @property
    def idle(self) -> bool:
        """Whether neither this head nor a neighbour asks for its movements."""
        return self.idle_itself and not self._movement.watchers

    def watched(self, reading: Reading, raw: float | str, beat: float | str | None = None) -> Reading:
        """Return the reading as time lets it stand: a head that stands still keeps no number, but its alarm bit.

        Args:
            reading: as judged by itself.
            raw: the number as it came.
            beat: the heartbeat as it came; None where the head has none.
        """
        now = reading.taken.mono
        if raw != self._raw:
            self._raw, self._raw_at = raw, now
            self._movement.moved(self, now)
        if beat is not None and beat != self._beat:
            self._beat, self._beat_at = beat, now
        if reading.quality is Quality.BAD:
            return reading
        if self._beat_s is not None and now - self._beat_at > self._beat_s * SECOND:
            return _frozen(reading, "no-heartbeat")
        stands = self._frozen_after_s is not None and now - self._raw_at > self._frozen_after_s * SECOND
        if stands and self._movement.others_moved_since(self, self._raw_at):
            return _frozen(reading, "frozen")
        if self._drift is not None and self._drifts(reading, now) and not reading.reason:
            return replace(reading, reason="zero-drift")
        return reading

    def _drifts(self, reading: Reading, now: Instant) -> bool:
        """Follow the slow mean of what the head shows in air; gas is left out, an hour of data is the least."""
        drift, value = self._drift or inf, reading.lel_pct
        if value is None or abs(value) >= DRIFT_CEILING * drift:
            return False
        if not self._since:
            self._since = self._drift_at = now
            self._mean = value
        weight = 1.0 - exp(-(now - self._drift_at) / SECOND / DRIFT_LIFETIME_S)
        self._mean += (value - self._mean) * weight
        self._drift_at = now
        return abs(self._mean) > drift and now - self._since >= DRIFT_LIFETIME_S * SECOND


DRIFT_CEILING: Final = 4.0
"""Numbers beyond so many times the drift limit are gas or a fault, not a zero."""


def _frozen(reading: Reading, reason: str) -> Reading:
    return replace(reading, lel_pct=None, quality=Quality.BAD, status=Status.FROZEN, reason=reason)
