"""Tries the two usual mistakes of an installation on one head: an address one off, and the order of words and bytes.

Every way of reading is judged like any reading; whether it fits is a question of the plausible range, or of what the
head's own display shows, where a person says so. Knows no socket and no clock.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from sensors.profiles import Profile
from sensors.profiles.points import modbus_points
from sensors.profiles.shapes import KeyFault
from sensors.quality import NOT_MEASURING_ON_PURPOSE
from sensors.readings import DetectorId, Quality, Reading, Status
from sensors.stamps import Stamp
from sensors.wire.places import Place, Type, WordOrder
from sensors.wire.points import ModbusPoints, UnitPoint
from sensors.wire.registers import Block, InstalledHead, stretches
from sensors.wire.units import Basis, UnitOfValue, reference_lel_pct_per

SHIFTS: Final = (0, -1, 1)
"""Addresses tried around the one that is set."""

TINY: Final = 1e-6
"""A floating number that is not zero and nearer to it than this is no measurement but words in a wrong order."""

HIGH_WORD_STEPS: Final = 128
"""Steps that the seven bits of mantissa in a float32's high word make of a number."""

NEAR_LEL_PCT: Final = 1.0
NEAR_SHARE: Final = 0.05
"""How far a reading may be from what the display shows: the larger of both."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to read a head: so many addresses further, its value in this order of words and bytes."""

    shift: int
    order: WordOrder
    block: Block
    place: Place


@dataclass(frozen=True, slots=True)
class Trial:
    """What one way of reading made of the device's answer.

    Attributes:
        raw: the bytes of the value as they came, for the eye; empty where nothing came.
        reading: None where nothing came, and `reason` says why.
        fits: whether it is plausible.
    """

    shift: int
    order: WordOrder
    raw: bytes
    reading: Reading | None
    reason: str
    fits: bool


class Diagnosis(Enum):
    """What the trials of one head say together."""

    AS_SET = "as-set"
    AS_SET_AND_OTHERS = "as-set-and-others"
    ANOTHER = "another"
    SEVERAL = "several"
    NONE = "none"
    WAIT = "wait"
    SILENT = "silent"


def ways(profile: Profile, detector: DetectorId, unit: int, basis: Basis) -> tuple[Way, ...]:
    """Return every way to read an installed Modbus head, the one that is set first.

    Raises:
        TypeError: its profile is not installed, or says nothing of registers.
    """
    points = profile.points
    if not isinstance(points, ModbusPoints):
        raise TypeError(f"{detector}: profile {profile.id} says nothing of registers")
    found = []
    for shift in SHIFTS:
        for order in _orders(points):
            varied = _varied(profile, shift, order)
            if varied is not None:
                head = InstalledHead(detector, varied, basis)
                found.append(Way(shift, order, Block(unit, (head,), stretches((head,))), varied.place))
    return tuple(found)


def trial(way: Way, words: bytes, taken: Stamp, expected: float | None = None) -> Trial:
    """Judge the joined answers to the way's questions.

    `expected` is what the display shows, as `on_display` has it; None where nobody looked.
    """
    (reading,) = way.block.readings(words, 0, taken)
    return Trial(way.shift, way.order, _own_bytes(way, words), reading, reading.reason, _fits(reading, expected))


def without_answer(way: Way, reason: str) -> Trial:
    """Return the trial of a way whose questions nobody answered."""
    return Trial(way.shift, way.order, b"", None, reason, fits=False)


def on_display(shown: float, points: ModbusPoints, basis: Basis) -> float:
    """Turn a number on the head's display into %LEL of the reference."""
    unit: Any = points.head.unit if points.head is not None else points.unit_of_value
    return shown * reference_lel_pct_per(UnitOfValue.LEL_PCT if isinstance(unit, UnitPoint) else unit, basis)


def verdict(trials: Sequence[Trial]) -> tuple[Diagnosis, tuple[Trial, ...]]:
    """Return what they say together, and the trials it is about. The first trial is the way that is set."""
    as_set, fitting = trials[0], tuple(one for one in trials if one.fits)
    if as_set.fits:
        others = tuple(one for one in fitting[1:] if not _same(one, as_set))
        return (Diagnosis.AS_SET_AND_OTHERS, others) if others else (Diagnosis.AS_SET, (as_set,))
    if all(one.reading is None for one in trials):
        return Diagnosis.SILENT, ()
    if as_set.reading is not None and as_set.reading.status in NOT_MEASURING_ON_PURPOSE:
        return Diagnosis.WAIT, (as_set,)
    if not fitting:
        return Diagnosis.NONE, ()
    different = tuple(
        one for index, one in enumerate(fitting) if not any(_same(one, other) for other in fitting[:index])
    )
    return (Diagnosis.ANOTHER if len(different) == 1 else Diagnosis.SEVERAL), different


# --- details


def _orders(points: ModbusPoints) -> tuple[WordOrder, ...]:
    """The orders that can differ for this type, the one that is set first."""
    kind, own = points.type, points.word_order
    if kind in (Type.BOOL, Type.INT8, Type.UINT8, Type.ASCII) or points.function.of_bits:
        return (own,)
    possible = (WordOrder.ABCD, WordOrder.BADC) if kind.words == 1 else tuple(WordOrder)
    if kind.words == 1 and own not in possible:
        possible = (own, WordOrder.ABCD)
    return (own, *(order for order in possible if order is not own))


def _varied(profile: Profile, shift: int, order: WordOrder) -> ModbusPoints | None:
    offset = profile.table.get("address_offset", 0)
    table: Mapping[str, object] = {
        **profile.table,
        "address_offset": (offset if isinstance(offset, int) else 0) + shift,
        "word_order": order.value,
    }
    try:
        return modbus_points(table, profile.limits)
    except KeyFault:  # before the first address, or beyond the last
        return None


def _own_bytes(way: Way, words: bytes) -> bytes:
    function, start, size = way.place.span
    before = 0
    for read in stretches(way.block.heads):
        if read.holds(function, start, size):
            if function.of_bits:
                return words[before : before + read.bytes]
            at = before + (start - read.start) * 2
            return words[at : at + size * 2]
        before += read.bytes
    return b""


def _fits(reading: Reading, expected: float | None) -> bool:
    if reading.quality is not Quality.GOOD or reading.status is not Status.MEASURING or reading.lel_pct is None:
        return False
    if isinstance(reading.raw, float) and 0 < abs(reading.raw) < TINY:
        return False
    if expected is None:
        return True
    return abs(reading.lel_pct - expected) <= max(NEAR_LEL_PCT, NEAR_SHARE * abs(expected))


def _same(one: Trial, other: Trial) -> bool:
    """Whether both ways come to one answer, so that it does not matter which is right.

    Two orders of the same words may (all zeros, say). So may two addresses of a floating number: its high word alone
    makes it to one part in 128, whatever is taken for its low word. That both show zero at different addresses is none.
    """
    if one.reading is None or other.reading is None or one.reading.lel_pct is None or other.reading.lel_pct is None:
        return False
    value, against = one.reading.lel_pct, other.reading.lel_pct
    if one.shift == other.shift:
        return value == against
    return isinstance(one.reading.raw, float) and 0 < abs(value - against) <= abs(against) / HIGH_WORD_STEPS
