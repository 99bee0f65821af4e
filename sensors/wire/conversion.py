"""From a raw number to %LEL of the depot's reference, whatever registers tell of unit, scale, decimals and range."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from sensors.quality import UNKNOWN_TRIP_LEL_PCT, Span
from sensors.wire.meanings import ALARMS
from sensors.wire.places import Raw
from sensors.wire.points import AnalogueHead
from sensors.wire.units import Basis, UnitOfValue, reference_lel_pct_per

DECIMALS: Final = 6
"""%LEL is rounded to so many, so that a register that says 10.0 is 10 whatever the factors between."""

MAX_PLACES: Final = 9
"""A register that tells more decimals than this tells nonsense."""


class Conversion(NamedTuple):
    """What one raw value becomes.

    Attributes:
        scale, offset: %LEL of the reference = number x scale + offset.
        inner_scale, inner_offset: number = raw x inner_scale + inner_offset: mA for an analogue head, else as raw.
        trips: %LEL that each word of `ALARMS` stands for.
    """

    scale: float
    offset: float
    span: Span
    trips: tuple[float, ...]
    inner_scale: float = 1.0
    inner_offset: float = 0.0

    def bound(self, alarms: int) -> float | None:
        """Return the highest trip among these alarm bits; None when none is set."""
        if not alarms:
            return None
        return max(trip for bit, trip in enumerate(self.trips) if alarms >> bit & 1)


@dataclass(frozen=True, slots=True)
class Measure:
    """What a profile says of its number, in its own unit; see `ModbusPoints` and `PayloadPoints` for the meanings."""

    offset: float
    full_scale: float | None
    zero_drift: float | None
    trip: float | None
    trips: Mapping[str, float]
    head: AnalogueHead | None = None


def conversion(measure: Measure, unit: UnitOfValue, scale: float, basis: Basis, full_scale: float | None) -> Conversion:
    """Return the conversion for a number with this scale in this unit.

    Args:
        measure: the rest of what is known of it.
        unit: of the number after scale and offset.
        scale: its decimals and divisor worked in.
        basis: of the installed head.
        full_scale: as a register tells it; None for the profile's.
    """
    head, offset, inner = measure.head, measure.offset, (1.0, 0.0)
    full = measure.full_scale if full_scale is None else full_scale
    if head is not None:
        inner, (scale, offset), unit = (scale, offset), head.scale(), head.unit
        full = head.high if full is None else full
    per = reference_lel_pct_per(unit, basis)
    per_lel = per if unit is UnitOfValue.LEL_PCT else basis.factor
    whole = 100.0 * per_lel if full is None else full * per
    zero_drift = 5.0 * per_lel if measure.zero_drift is None else measure.zero_drift * per
    trip = UNKNOWN_TRIP_LEL_PCT if measure.trip is None else measure.trip * per
    span = Span(round(whole, DECIMALS), round(zero_drift, DECIMALS), round(trip, DECIMALS))
    trips = tuple(round(measure.trips[word] * per, DECIMALS) if word in measure.trips else span.trip for word in ALARMS)
    return Conversion(scale * per, offset * per, span, trips, *inner)


class Sentinels:
    """Raw values that are no measurement: a table for single ones, a short list for ranges."""

    __slots__ = ("_ranges", "_single")

    def __init__(self, sentinels: tuple[tuple[Raw, Raw, str], ...]) -> None:
        self._single = {low: word for low, high, word in sentinels if low == high}
        self._ranges = tuple((low, high, word) for low, high, word in sentinels if low != high)

    def word(self, raw: Raw) -> str | None:
        """Return what this raw value says; None for a measurement."""
        word = self._single.get(raw)
        if word is None:
            for low, high, said in self._ranges:
                if low <= raw <= high:
                    return said
        return word


def band(head: AnalogueHead, milliamp: float) -> str | None:
    """Return what this current says; None for a measurement."""
    for low, high, word in head.bands:
        if low <= milliamp <= high:
            return word
    return None
