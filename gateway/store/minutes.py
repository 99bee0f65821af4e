"""Sixty seconds: gathered of all heads, summed up of each, packed into a few bytes, read back. Knows no file."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gateway.store.samples import (
    MISSING,
    NOTHING,
    codes_from_bytes,
    codes_to_bytes,
    quality_in,
    values_from_bytes,
    values_to_bytes,
)

MINUTE = 60
NARROW = 0xFE
"""A minute whose values span no more than this (hundredths of a %LEL) is kept in one byte a second."""

GAP = 0xFF
"""The byte of a second without a number in such a minute."""


def _no_values() -> "array[int]":
    return array("h", [MISSING]) * MINUTE


def _no_codes() -> bytearray:
    return bytearray([NOTHING]) * MINUTE


@dataclass(slots=True)
class Minute:
    """The seconds of one head in one minute, as they come."""

    values: "array[int]" = field(default_factory=_no_values)
    codes: bytearray = field(default_factory=_no_codes)

    def lay(self, second: int, value: int, code: int) -> None:
        """Put a sample in its second (0 to 59). Where two meet (a clock set back) the higher value stays."""
        if code != NOTHING and (self.codes[second] == NOTHING or value >= self.values[second]):
            self.values[second], self.codes[second] = value, code

    def row(self) -> "Row | None":
        """Sum the minute up; None where the head was not read in it at all."""
        codes = bytes(self.codes)
        read = codes.replace(bytes([NOTHING]), b"")
        if not read:
            return None
        worst = _worst(read)
        numbers = self.values if MISSING not in self.values else [each for each in self.values if each != MISSING]
        low, high, total = (min(numbers), max(numbers), sum(numbers)) if numbers else (None, None, 0)
        return Row(
            len(numbers),
            low,
            high,
            total,
            worst,
            _pack(self.values, low, high, len(numbers)),
            None if codes == bytes([worst]) * MINUTE else codes_to_bytes(codes),
        )


class Sheet:
    """The seconds of all heads in one minute, as they come: a row a second, a column for each head's number (from 1).

    What comes in one second lies side by side, so that a thousand heads cost the processor's caches a few KiB.
    """

    __slots__ = ("_codes", "_values", "_width")

    def __init__(self) -> None:
        self._width = 0
        self._values: dict[int, array[int]] = {}
        self._codes: dict[int, bytearray] = {}

    def lay(self, second: int, samples: Iterable[tuple[int, int, int]]) -> None:
        """Put heads' numbers, values and states in their second (0 to 59); where two meet the higher value stays."""
        samples = list(samples)
        width = max((num for num, _, _ in samples), default=0)
        if width > self._width or second not in self._values:
            self._make_room(second, width)
        values, codes = self._values[second], self._codes[second]
        for num, value, code in samples:
            if code != NOTHING and (codes[num - 1] == NOTHING or value >= values[num - 1]):
                values[num - 1], codes[num - 1] = value, code

    def second(self, second: int) -> bytes:
        """The row of a second as it is kept: every value, then every state."""
        return values_to_bytes(self._values[second]) + bytes(self._codes[second])

    def put_back(self, num: int, minute: Minute) -> None:
        """Lay a head's whole minute anew, to go on with it."""
        for second, (value, code) in enumerate(zip(minute.values, minute.codes, strict=True)):
            self.lay(second, [(num, value, code)])

    def minutes(self) -> Iterator[tuple[int, Minute]]:
        """Each head's number and minute; of one that was not read too."""
        values, codes = array("h"), bytearray()
        for second in range(MINUTE):
            values += self._values.get(second) or array("h", [MISSING]) * self._width
            codes += self._codes.get(second) or bytes([NOTHING]) * self._width
        for column in range(self._width):
            yield column + 1, Minute(values[column :: self._width], codes[column :: self._width])

    def _make_room(self, second: int, width: int) -> None:
        more = max(0, width - self._width)
        self._width += more
        for row in self._values:
            self._values[row] += array("h", [MISSING]) * more
            self._codes[row] += bytes([NOTHING]) * more
        if second not in self._values:
            self._values[second] = array("h", [MISSING]) * self._width
            self._codes[second] = bytearray([NOTHING]) * self._width


@dataclass(frozen=True, slots=True)
class Row:
    """A minute as it is kept.

    Attributes:
        n: seconds with a number.
        low, high, total: hundredths of a %LEL; None without a number.
        code: the state of the minute's worst quality, the most frequent one of those.
        seconds: packed values; None once they were dropped.
        states: run lengths of the states; None where all sixty are `code`, or once the seconds were dropped.
    """

    n: int
    low: int | None
    high: int | None
    total: int
    code: int
    seconds: bytes | None
    states: bytes | None

    def values(self) -> "array[int] | None":
        """The sixty values; None once they were dropped.

        Raises:
            ValueError: the bytes are none of `Minute.row`.
        """
        if self.seconds is None:
            return None
        if not self.seconds:
            return array("h", [MISSING if self.low is None else self.low]) * MINUTE
        if self.is_narrow() and self.low is not None:
            low = self.low
            return array("h", [MISSING if each == GAP else low + each for each in self.seconds])
        return values_from_bytes(self.seconds)

    def is_narrow(self) -> bool:
        """Tell whether the seconds are kept as distances from `low`, one byte each (or none, all being equal)."""
        return self.low is not None and self.seconds is not None and len(self.seconds) in (0, MINUTE)

    def codes(self) -> bytes:
        """The sixty states, where the seconds are still kept."""
        return bytes([self.code]) * MINUTE if self.states is None else codes_from_bytes(self.states)

    def minute(self) -> Minute:
        """The minute as it was before it was packed, to go on with it."""
        values = self.values()
        return Minute() if values is None else Minute(values, bytearray(self.codes()))


def _worst(codes: bytes) -> int:
    found = Counter(codes)
    return min(found, key=lambda code: (quality_in(code), -found[code]))


def _pack(values: "array[int]", low: int | None, high: int | None, n: int) -> bytes:
    if low is None or high is None or (low == high and n == MINUTE):
        return b""
    if high - low > NARROW:
        return values_to_bytes(values)
    if n == MINUTE:
        return bytes([each - low for each in values])
    return bytes([GAP if each == MISSING else each - low for each in values])
