"""Where a value sits in a device's registers, and how its words become %LEL of the depot's reference basis."""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from sensors.gases import UNKNOWN_BASIS_VOL_PCT, lel_pct_from_ppm, lel_pct_from_vol_pct, rebased
from sensors.readings import Status


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
    """What a head's number counts."""

    LEL_PCT = "lel_pct"
    PPM = "ppm"
    VOL_PCT = "vol_pct"


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


class Function(Enum):
    """Which table of the device a point lives in, by the function code that reads it."""

    HOLDING = 3
    INPUT = 4


class Type(Enum):
    """How words make a number."""

    INT16 = "int16"
    UINT16 = "uint16"
    INT32 = "int32"
    UINT32 = "uint32"
    FLOAT32 = "float32"

    @property
    def words(self) -> int:
        """Registers it fills."""
        return 1 if self in (Type.INT16, Type.UINT16) else 2


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

_LETTER: Final = {Type.INT16: "h", Type.UINT16: "H", Type.INT32: "i", Type.UINT32: "I", Type.FLOAT32: "f"}


def extractor(kind: Type, order: WordOrder) -> Extractor:
    """Return the fastest reader of this type and order."""
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
            return _halves_swapped(">", letter)
        case WordOrder.BADC:
            return _halves_swapped("<", letter)


def _plain(form: str) -> Extractor:
    read = struct.Struct(form).unpack_from

    def extract(buffer: bytes | bytearray, offset: int) -> Raw:
        value: Raw = read(buffer, offset)[0]
        return value

    return extract


def _halves_swapped(endian: str, letter: str) -> Extractor:
    """CDAB is ABCD with its words exchanged; BADC is DCBA with its words exchanged."""
    words = struct.Struct(endian + "HH").unpack_from
    join = struct.Struct(endian + "HH").pack
    read = struct.Struct(endian + letter).unpack

    def extract(buffer: bytes | bytearray, offset: int) -> Raw:
        first, second = words(buffer, offset)
        value: Raw = read(join(second, first))[0]
        return value

    return extract


@dataclass(frozen=True, slots=True)
class StatusPoint:
    """One register in which the device says what it is doing, by bits or by codes.

    Attributes:
        bits: (status, mask): any set bit of the mask means that status.
        alarm_mask: bits by which the device says "gas" on its own account.
        codes: (low, high, status) ranges of the whole register, first match wins; a code outside all of them is a
            FAULT. Empty for a register of bits.
    """

    function: Function
    register: int
    bits: tuple[tuple[Status, int], ...] = ()
    alarm_mask: int = 0
    codes: tuple[tuple[int, int, Status], ...] = ()


@dataclass(frozen=True, slots=True)
class UnitPoint:
    """A register that tells the unit of the value; a code not listed makes the value unusable."""

    function: Function
    register: int
    codes: tuple[tuple[int, UnitOfValue], ...]


@dataclass(frozen=True, slots=True)
class IdentityPoint:
    """A register that tells which model answers: `register & mask == equals`, else it is another device."""

    function: Function
    register: int
    mask: int
    equals: int


@dataclass(frozen=True, slots=True)
class ModbusPoints:
    """Where one head's value and state sit in the registers of its unit. Addresses are wire addresses, from 0.

    Attributes:
        unit_of_value: unit after scale and offset; a `UnitPoint` where a register tells it.
        full_scale: at or above it the head is over range; in the unit of the value. None is 100 %LEL.
        zero_drift: how far below zero still counts as zero; in the unit of the value. None is 5 %LEL.
        trip: the value at which the device sets its own alarm bit; None where nobody knows.
        sentinels: raw values, compared before scaling, that are no measurement.
    """

    function: Function
    register: int
    type: Type = Type.INT16
    word_order: WordOrder = WordOrder.ABCD
    scale: float = 1.0
    offset: float = 0.0
    unit_of_value: UnitOfValue | UnitPoint = UnitOfValue.LEL_PCT
    full_scale: float | None = None
    zero_drift: float | None = None
    trip: float | None = None
    sentinels: tuple[tuple[Raw, Status], ...] = ()
    states: tuple[StatusPoint, ...] = ()
    identity: IdentityPoint | None = None

    def spans(self) -> tuple[tuple[Function, int, int], ...]:
        """Everything that must be read: (function, register, words), the value first."""
        spans = [(self.function, self.register, self.type.words)]
        spans += [(point.function, point.register, 1) for point in self.states]
        if isinstance(self.unit_of_value, UnitPoint):
            spans.append((self.unit_of_value.function, self.unit_of_value.register, 1))
        if self.identity is not None:
            spans.append((self.identity.function, self.identity.register, 1))
        return tuple(spans)
