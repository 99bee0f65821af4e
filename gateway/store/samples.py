"""A reading as the store keeps it: two bytes of value, one of state. Knows no file and no clock."""

import sys
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite

from sensors.readings import Quality, Reading, Status

MISSING = -32768
"""The value of a second without a number."""

LOWEST, HIGHEST = -32767, 32767
"""Values are whole hundredths of a %LEL, cut to what 16 bits hold: -327.67 to 327.67 %LEL."""

SCALE = 100
NOTHING = 0xFF
"""The state of a second in which the head was not read at all."""

BOUND = 0x40
"""Bit of a state: the value is a lower bound (over-range, or a head that only says yes), not a measurement."""

QUALITY_NUMBER: Mapping[Quality, int] = {Quality.BAD: 0, Quality.UNCERTAIN: 1, Quality.GOOD: 2}
STATUS_NUMBER: Mapping[Status, int] = {
    Status.MEASURING: 0,
    Status.WARM_UP: 1,
    Status.INHIBITED: 2,
    Status.CALIBRATING: 3,
    Status.FAULT: 4,
    Status.OVER_RANGE: 5,
    Status.UNDER_RANGE: 6,
    Status.NO_CONTACT: 7,
    Status.STALE: 8,
    Status.FROZEN: 9,
}
"""Numbers of the contract: kept for ever, in our files and in other people's databases. Only ever add."""

STATUS_OF_NUMBER = {number: status for status, number in STATUS_NUMBER.items()}
QUALITY_OF_NUMBER = {number: quality for quality, number in QUALITY_NUMBER.items()}
_CODES = {
    (quality, status): QUALITY_NUMBER[quality] << 4 | STATUS_NUMBER[status] for quality in Quality for status in Status
}


_GOOD, _MEASURING = Quality.GOOD, Status.MEASURING
_PLAIN = _CODES[_GOOD, _MEASURING]


@dataclass(frozen=True, slots=True)
class Sample:
    """One second of one head, read back. `lel_pct` None: no number. A second never read has no sample."""

    lel_pct: float | None
    bound: bool
    quality: int
    status: int


def is_plain(reading: Reading) -> bool:
    """Whether it is a good measurement, as nearly all are: an Enum's member is dear to look up by."""
    return reading.quality is _GOOD and reading.status is _MEASURING


def value_of(reading: Reading) -> int:
    """The reading's gas in hundredths of a %LEL; `MISSING` where it has neither a number nor a bound."""
    gas = reading.lel_pct if reading.at_least is None else reading.gas()
    if gas is None or not isfinite(gas):
        return MISSING
    hundredths = gas * SCALE
    return round(hundredths) if LOWEST <= hundredths <= HIGHEST else LOWEST if gas < 0 else HIGHEST


def code_of(reading: Reading) -> int:
    """The reading's quality, status and whether its value is a bound, in one byte below 0x80."""
    number, least = reading.lel_pct, reading.at_least
    code = _PLAIN if is_plain(reading) else _CODES[reading.quality, reading.status]
    if least is not None and (number is None or least > number):
        return code | BOUND
    return code


def sample(value: int, code: int) -> Sample | None:
    """Read a second back; None where the head was not read."""
    if code == NOTHING:
        return None
    lel_pct = None if value == MISSING else value / SCALE
    return Sample(lel_pct, bool(code & BOUND), quality_in(code), status_in(code))


def quality_in(code: int) -> int:
    """The quality number in a state."""
    return code >> 4 & 0x3


def status_in(code: int) -> int:
    """The status number in a state."""
    return code & 0xF


# --- bytes ----------------------------------------------------------------------------------------


def values_to_bytes(values: "array[int]") -> bytes:
    """Little-endian 16-bit integers."""
    return _swapped(values).tobytes()


def values_from_bytes(data: bytes) -> "array[int]":
    """Undo `values_to_bytes`.

    Raises:
        ValueError: the length is odd.
    """
    values = array("h")
    values.frombytes(data)
    return _swapped(values)


def codes_to_bytes(codes: Iterable[int]) -> bytes:
    """Run lengths: pairs of (count up to 255, state). A quiet minute takes two bytes."""
    packed = bytearray()
    for code in codes:
        if packed and packed[-1] == code and packed[-2] < 0xFF:
            packed[-2] += 1
        else:
            packed += bytes((1, code))
    return bytes(packed)


def codes_from_bytes(data: bytes) -> bytes:
    """Undo `codes_to_bytes`."""
    return b"".join(bytes((code,)) * count for count, code in zip(data[::2], data[1::2], strict=True))


def _swapped(values: "array[int]") -> "array[int]":
    if sys.byteorder == "big":
        values = array("h", values)
        values.byteswap()
    return values
