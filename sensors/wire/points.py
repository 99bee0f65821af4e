"""Where values sit in a device's registers and bits, and what the numbers there count."""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from sensors.gases import UNKNOWN_BASIS_VOL_PCT, lel_pct_from_ppm, lel_pct_from_vol_pct, rebased
from sensors.wire.meanings import Meaning


@dataclass(frozen=True, slots=True)
class Basis:
    """What turns an installed head's number into %LEL of the depot's reference.

    Attributes:
        head_vol_pct: the LEL (%vol) the head was calibrated to; None where nobody knows, which over-reads on purpose.
        reference_vol_pct: the depot's reference LEL (%vol).
        factor: correction of this installed head, for example a methane-calibrated head on LPG.
    """

    head_vol_pct: float | None
    reference_vol_pct: float
    factor: float = 1.0


class UnitOfValue(Enum):
    """What a number counts. The last two become one of the first three through the installed head (`AnalogueHead`)."""

    LEL_PCT = "lel_pct"
    PPM = "ppm"
    VOL_PCT = "vol_pct"
    MILLIAMP = "milliamp"
    RANGE_PCT = "range_pct"


def reference_lel_pct_per(unit: UnitOfValue, basis: Basis) -> float:
    """%LEL of the reference basis for one `unit` of the head; every conversion is this one multiplication."""
    match unit:
        case UnitOfValue.LEL_PCT:
            head = UNKNOWN_BASIS_VOL_PCT if basis.head_vol_pct is None else basis.head_vol_pct
            return rebased(1.0, head, basis.reference_vol_pct) * basis.factor
        case UnitOfValue.PPM:
            return lel_pct_from_ppm(1.0, basis.reference_vol_pct) * basis.factor
        case UnitOfValue.VOL_PCT:
            return lel_pct_from_vol_pct(1.0, basis.reference_vol_pct) * basis.factor
        case UnitOfValue.MILLIAMP | UnitOfValue.RANGE_PCT:
            raise ValueError(f"{unit.value} is no gas until the head behind it is known")


class Function(Enum):
    """Which table of the device a point lives in, by the function code that reads it."""

    COIL = 1
    DISCRETE = 2
    HOLDING = 3
    INPUT = 4

    @property
    def of_bits(self) -> bool:
        """Whether an address holds one bit instead of a register."""
        return self in (Function.COIL, Function.DISCRETE)


class Type(Enum):
    """How words make a number, or a text."""

    INT16 = "int16"
    UINT16 = "uint16"
    INT32 = "int32"
    UINT32 = "uint32"
    FLOAT32 = "float32"
    BOOL = "bool"
    INT8 = "int8"
    UINT8 = "uint8"
    INT64 = "int64"
    UINT64 = "uint64"
    FLOAT64 = "float64"
    ASCII = "ascii"

    @property
    def bits(self) -> int:
        """Bits it fills; 0 for a text, whose length is said apart."""
        return _BITS[self]

    @property
    def words(self) -> int:
        """Registers it fills; at least one."""
        return max(1, self.bits // 16)


_BITS: Final = {
    Type.BOOL: 1,
    Type.INT8: 8,
    Type.UINT8: 8,
    Type.INT16: 16,
    Type.UINT16: 16,
    Type.INT32: 32,
    Type.UINT32: 32,
    Type.FLOAT32: 32,
    Type.INT64: 64,
    Type.UINT64: 64,
    Type.FLOAT64: 64,
    Type.ASCII: 0,
}


class WordOrder(Enum):
    """How a 32-bit value lies on the wire, A the highest byte: 77.51 arriving as 07 7A 42 9B is CDAB.

    A 16-bit value has its two bytes swapped in the orders that swap bytes within words (BADC, DCBA).
    """

    ABCD = "ABCD"
    CDAB = "CDAB"
    BADC = "BADC"
    DCBA = "DCBA"


Raw: TypeAlias = int | float
"""A value as the device sent it, before scale and offset; what sentinels are compared with."""

Extractor: TypeAlias = Callable[[bytes | bytearray, int], Raw]
"""Reads one raw value out of a buffer at a byte offset; raises struct.error beyond its end."""

_LETTER: Final = {
    Type.BOOL: "H",
    Type.INT8: "b",
    Type.UINT8: "B",
    Type.INT16: "h",
    Type.UINT16: "H",
    Type.INT32: "i",
    Type.UINT32: "I",
    Type.FLOAT32: "f",
    Type.INT64: "q",
    Type.UINT64: "Q",
    Type.FLOAT64: "d",
}


def extractor(kind: Type, order: WordOrder) -> Extractor:
    """Return the fastest reader of this number type and order."""
    letter = _LETTER[kind]
    if kind.words == 1:
        swapped = order in (WordOrder.BADC, WordOrder.DCBA)
        return _plain(("<" if swapped else ">") + letter)
    match order:
        case WordOrder.ABCD:
            return _plain(">" + letter)
        case WordOrder.DCBA:
            return _plain("<" + letter)
        case WordOrder.CDAB:
            return _words_turned(">", kind)
        case WordOrder.BADC:
            return _words_turned("<", kind)


def _plain(form: str) -> Extractor:
    read = struct.Struct(form).unpack_from

    def extract(buffer: bytes | bytearray, offset: int) -> Raw:
        value: Raw = read(buffer, offset)[0]
        return value

    return extract


def _words_turned(endian: str, kind: Type) -> Extractor:
    """CDAB is ABCD with its words in the other order; BADC is DCBA with its words in the other order."""
    form = f"{endian}{kind.words}H"
    words, join = struct.Struct(form).unpack_from, struct.Struct(form).pack
    read = struct.Struct(endian + _LETTER[kind]).unpack

    def extract(buffer: bytes | bytearray, offset: int) -> Raw:
        value: Raw = read(join(*words(buffer, offset)[::-1]))[0]
        return value

    return extract


@dataclass(frozen=True, slots=True)
class Part:
    """Some bits of a raw value, `width` of them from bit `low` on; bit 0 is the lowest."""

    low: int
    width: int

    def of(self, raw: int) -> int:
        """Cut them out."""
        return (raw >> self.low) & ((1 << self.width) - 1)


@dataclass(frozen=True, slots=True)
class Place:
    """Where one raw value sits. Addresses are wire addresses, from 0.

    Attributes:
        part: which bits of it; None for all.
        at_byte: bytes to skip from the register on, for blocks packed by bytes.
        length: registers of a text.
    """

    function: Function
    register: int
    type: Type = Type.UINT16
    word_order: WordOrder = WordOrder.ABCD
    part: Part | None = None
    at_byte: int = 0
    length: int = 1

    @property
    def span(self) -> "Reach":
        """What must be read for it: (function, first address, registers or bits)."""
        if self.function.of_bits:
            return self.function, self.register, max(1, self.type.bits)
        size = self.length * 2 if self.type is Type.ASCII else max(1, self.type.bits // 8)
        return self.function, self.register, (self.at_byte + size + 1) // 2


Reach: TypeAlias = tuple[Function, int, int]
"""(function, first address, registers or bits)."""


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
