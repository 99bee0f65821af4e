"""What a device tells in which of its registers: value, state, unit, scale, range, identity. Knows no answer of it."""

from dataclasses import dataclass
from typing import Final

from sensors.wire.meanings import Meaning
from sensors.wire.places import Function, Part, Place, Raw, Reach, Type, WordOrder
from sensors.wire.units import UnitOfValue


@dataclass(frozen=True, slots=True)
class StatePoint:
    """One place in which the device says what it is doing.

    Attributes:
        gate: while it says anything but "measuring", nothing else the device says is believed.
    """

    place: Place
    meaning: Meaning
    gate: bool = False


@dataclass(frozen=True, slots=True)
class UnitPoint:
    """A place that tells the unit of the value; a code or text not listed makes the value unusable."""

    place: Place
    codes: tuple[tuple[int, int, UnitOfValue], ...] = ()
    words: tuple[tuple[str, UnitOfValue], ...] = ()


@dataclass(frozen=True, slots=True)
class ScalePoint:
    """A place that tells the scale; a code not listed makes the value unusable."""

    place: Place
    codes: tuple[tuple[int, int, float], ...]


@dataclass(frozen=True, slots=True)
class FullScalePoint:
    """A place that tells the full scale, in the unit of the value once multiplied by `scale`."""

    place: Place
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class SignPoint:
    """A place that tells whether the value is below zero."""

    place: Place
    negative: tuple[int, ...] = (1,)


@dataclass(frozen=True, slots=True)
class IdentityPoint:
    """A place that tells which model answers: masked, one of `equals`, or one of `texts`; else it is another device."""

    place: Place
    mask: int = 0xFFFF_FFFF
    equals: tuple[int, ...] = ()
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HeartbeatPoint:
    """A place whose value changes every `period_s`; after `missed` periods without that the device stands still."""

    place: Place
    period_s: float
    missed: int = 2


TOLD_BESIDE: Final = (UnitPoint, ScalePoint, FullScalePoint, SignPoint, IdentityPoint, HeartbeatPoint)
"""Points that tell something about the value and have a place of their own."""


@dataclass(frozen=True, slots=True)
class AnalogueHead:
    """The head behind an analogue input: what its current (or percent of range) stands for.

    Attributes:
        unit: of `low` and `high`.
        low, high: value at the lower and upper end of the range.
        milliamp: current at the ends of the range; None for an input in percent of range.
        bands: (from, to, word) in mA: currents that are no measurement, the first that fits counts.
    """

    unit: UnitOfValue
    low: float
    high: float
    milliamp: tuple[float, float] | None = None
    bands: tuple[tuple[float, float, str], ...] = ()

    def scale(self) -> tuple[float, float]:
        """Return (scale, offset) from mA, or from percent of range, to the unit."""
        start, end = self.milliamp or (0.0, 100.0)
        slope = (self.high - self.low) / (end - start)
        return slope, self.low - slope * start


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """What one read of this device may span.

    Attributes:
        holes: (first, last) registers that must not be read.
        exact: (first, count) reads that must be made just so.
    """

    max_registers: int = 125
    max_bits: int = 2000
    max_gap: int = 8
    holes: tuple[tuple[int, int], ...] = ()
    exact: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ModbusPoints:
    """Where one head's value and state sit in the registers of its unit. Addresses are wire addresses, from 0.

    Attributes:
        function, register, type, word_order, part, at_byte: place of the value.
        scale, offset: value = raw x scale + offset; a `ScalePoint` where a register tells the scale.
        decimals: divides by so many tens; a place where a register tells it.
        divisor: a register that divides the value.
        unit_of_value: unit after scale and offset; a `UnitPoint` where a register tells it.
        full_scale: at or above it the head is over range; in the unit of the value. None is 100 %LEL.
        zero_drift: how far below zero still counts as zero; in the unit of the value. None is 5 %LEL.
        trip: the value at which the device sets its own alarm bit; None where nobody knows.
        trips: (alarm word, value) where the device has several alarms.
        sentinels: (from, to, word): raw values, compared before scaling, that are no measurement.
        precedence: words that count before the others when a device says several things at once.
        head: the analogue head behind an input; None for a device that knows its own unit.
        frozen_after_s: raw values that stand still longer than this, while others move, are frozen; None never.
        drift_warning: a zero further away than this for hours is worth a visit; in the unit of the value; None never.
    """

    function: Function
    register: int
    type: Type = Type.INT16
    word_order: WordOrder = WordOrder.ABCD
    scale: "float | ScalePoint" = 1.0
    offset: float = 0.0
    unit_of_value: UnitOfValue | UnitPoint = UnitOfValue.LEL_PCT
    full_scale: "float | FullScalePoint | None" = None
    zero_drift: float | None = None
    trip: float | None = None
    sentinels: tuple[tuple[Raw, Raw, str], ...] = ()
    states: tuple[StatePoint, ...] = ()
    identity: IdentityPoint | None = None
    part: Part | None = None
    at_byte: int = 0
    decimals: int | Place = 0
    divisor: Place | None = None
    sign: SignPoint | None = None
    echoes_unit: Place | None = None
    heartbeat: HeartbeatPoint | None = None
    trips: tuple[tuple[str, float], ...] = ()
    precedence: tuple[str, ...] = ()
    head: AnalogueHead | None = None
    frozen_after_s: float | None = None
    drift_warning: float | None = None
    limits: ReadLimits = ReadLimits()

    @property
    def place(self) -> Place:
        """Where the value itself is."""
        return Place(self.function, self.register, self.type, self.word_order, self.part, self.at_byte)

    def places(self) -> tuple[Place, ...]:
        """Everything that is read, the value first."""
        found = [self.place, *(state.place for state in self.states)]
        beside = (self.unit_of_value, self.scale, self.full_scale, self.sign, self.identity, self.heartbeat)
        found += [point.place for point in beside if isinstance(point, TOLD_BESIDE)]
        found += [place for place in (self.decimals, self.divisor, self.echoes_unit) if isinstance(place, Place)]
        return tuple(found)

    def spans(self) -> tuple[Reach, ...]:
        """Everything that must be read: (function, first address, registers or bits), the value first."""
        return tuple(place.span for place in self.places())
