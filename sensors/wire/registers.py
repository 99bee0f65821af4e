"""From heads to few reads, and from the words of an answer to readings. Knows no socket and no clock."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from sensors.quality import UNKNOWN_TRIP_LEL_PCT, Span, judge, unusable, worst
from sensors.readings import DetectorId, Quality, Reading, Status
from sensors.stamps import Stamp
from sensors.wire.modbus import MAX_REGISTERS, Ask, ask_registers
from sensors.wire.points import (
    Basis,
    Function,
    ModbusPoints,
    Raw,
    StatusPoint,
    UnitOfValue,
    UnitPoint,
    extractor,
    reference_lel_pct_per,
)

MAX_GAP: Final = 8
"""Unasked registers that one read may span to save another read."""

DECIMALS: Final = 6
"""%LEL is rounded to so many, so that a register that says 10.0 is 10 whatever the factors between."""


class Stretch(NamedTuple):
    """Registers read by one request: `size` of them from wire address `start` on."""

    function: Function
    start: int
    size: int

    @property
    def end(self) -> int:
        """First register after it."""
        return self.start + self.size

    def holds(self, function: Function, register: int, words: int) -> bool:
        """Tell whether a point lies wholly inside."""
        return function is self.function and self.start <= register and register + words <= self.end


@dataclass(frozen=True, slots=True)
class InstalledHead:
    """What a reader needs of a head: whose it is, where its registers are, and its basis."""

    detector: DetectorId
    points: ModbusPoints
    basis: Basis


def stretches(heads: Sequence[InstalledHead], max_gap: int = MAX_GAP) -> tuple[Stretch, ...]:
    """Return the fewest reads, in rising order, that cover all points of these heads of one unit."""
    spans = sorted({span for head in heads for span in head.points.spans()}, key=lambda span: (span[0].value, span[1]))
    merged: list[Stretch] = []
    for function, register, words in spans:
        if merged and merged[-1].function is function and register - merged[-1].end <= max_gap:
            last = merged[-1]
            end = max(last.end, register + words)
            if end - last.start <= MAX_REGISTERS:
                merged[-1] = Stretch(function, last.start, end - last.start)
                continue
        merged.append(Stretch(function, register, words))
    return tuple(merged)


class Block:
    """The reads of one unit that belong together, and the heads that can be judged once all have answered.

    Almost always one read. A head whose points lie too far apart for one read makes a block of several; its
    words are joined in the order of the reads, and judged only when all came in the same round.
    """

    __slots__ = ("_apart", "asks", "heads", "readers", "unit")

    def __init__(self, unit: int, heads: Sequence[InstalledHead], reads: Sequence[Stretch]) -> None:
        self.unit = unit
        self.heads = tuple(heads)
        self.asks: tuple[Ask, ...] = tuple(
            ask_registers(unit, read.function.value, read.start, read.size) for read in reads
        )
        self.readers = tuple(HeadReader(head, reads) for head in heads)
        self._apart: tuple[Block, ...] | None = None

    def readings(self, words: bytes | bytearray, base: int, taken: Stamp) -> tuple[Reading, ...]:
        """Judge every head from the joined words, which start at byte `base`."""
        readers = self.readers
        if len(readers) == 1:
            return (readers[0].reading(words, base, taken),)
        return tuple([reader.reading(words, base, taken) for reader in readers])

    def split(self) -> "tuple[Block, ...]":
        """Return this block taken apart, one per head and without gaps, for a device that refuses the whole."""
        if self._apart is None:
            apart = tuple(Block(self.unit, (head,), stretches((head,), max_gap=0)) for head in self.heads)
            for block, reader in zip(apart, self.readers, strict=True):
                block.readers[0].seen = reader.seen
            self._apart = apart if len(apart) > 1 or len(apart[0].asks) > len(self.asks) else (self,)
        return self._apart


def plan(unit: int, heads: Sequence[InstalledHead]) -> tuple[Block, ...]:
    """Group the heads of one unit into blocks, each as few reads as its points allow."""
    groups: list[tuple[list[InstalledHead], set[Stretch]]] = []
    reads = stretches(heads)
    for head in heads:
        needed = {read for read in reads for span in head.points.spans() if read.holds(*span)}
        members = [head]
        for group in [group for group in groups if group[1] & needed]:
            groups.remove(group)
            members = group[0] + members
            needed |= group[1]
        groups.append((members, needed))
    return tuple(Block(unit, members, [read for read in reads if read in needed]) for members, needed in groups)


class HeadReader:
    """Turns one head's words into its reading, everything that can be prepared being prepared.

    Remembers one thing: whether the head was ever plausible.
    """

    __slots__ = (
        "_at",
        "_conversions",
        "_detector",
        "_extract",
        "_flags",
        "_identity",
        "_offset",
        "_plain",
        "_scale",
        "_sentinels",
        "_span",
        "_unit_at",
        "seen",
    )

    def __init__(self, head: InstalledHead, reads: Sequence[Stretch]) -> None:
        points = head.points
        self.seen = False
        self._detector = head.detector
        self._at = _byte_offset(reads, points.function, points.register)
        self._extract = extractor(points.type, points.word_order)
        self._sentinels: dict[Raw, Status] = dict(points.sentinels)
        self._flags = tuple(
            (_byte_offset(reads, point.function, point.register), point, _telling_bits(point))
            for point in points.states
        )
        identity = points.identity
        self._identity = (
            None
            if identity is None
            else (_byte_offset(reads, identity.function, identity.register), identity.mask, identity.equals)
        )
        unit = points.unit_of_value
        self._unit_at = -1
        self._conversions: dict[int, tuple[float, float, Span]] = {}
        if isinstance(unit, UnitPoint):
            self._unit_at = _byte_offset(reads, unit.function, unit.register)
            self._conversions = {code: _conversion(points, each, head.basis) for code, each in unit.codes}
            self._scale, self._offset, self._span = 0.0, 0.0, Span()
        else:
            self._scale, self._offset, self._span = _conversion(points, unit, head.basis)
        self._plain = not (self._sentinels or self._flags or identity is not None or self._unit_at >= 0)

    def reading(self, words: bytes | bytearray, base: int, taken: Stamp) -> Reading:
        """Judge the head from the joined words of its block, which start at byte `base`."""
        raw = self._extract(words, base + self._at)
        if self._plain:
            value = round(raw * self._scale + self._offset, DECIMALS)
            reading = judge(self._detector, value, raw, taken, self._span, seen=self.seen)
        else:
            reading = self._with_states(raw, words, base, taken)
        if not self.seen and reading.quality is Quality.GOOD:
            self.seen = True
        return reading

    def _with_states(self, raw: Raw, words: bytes | bytearray, base: int, taken: Stamp) -> Reading:
        """Judge a head that says more than its number."""
        if self._identity is not None:
            at, mask, equals = self._identity
            if _word(words, base + at) & mask != equals:
                return unusable(self._detector, Status.FAULT, "other-device", raw, taken)
        scale, offset, span = self._scale, self._offset, self._span
        if self._unit_at >= 0:
            conversion = self._conversions.get(_word(words, base + self._unit_at))
            if conversion is None:
                return unusable(self._detector, Status.FAULT, "unknown-unit", raw, taken)
            scale, offset, span = conversion
        state, alarm = self._state(words, base)
        sentinel = self._sentinels.get(raw)
        if sentinel is None:
            value = round(raw * scale + offset, DECIMALS)
            return judge(self._detector, value, raw, taken, span, state, alarm=alarm, seen=self.seen)
        state = worst((sentinel, state))
        reading = judge(self._detector, None, raw, taken, span, state, alarm=alarm)
        return replace(reading, reason="sentinel") if state is Status.FAULT else reading

    def _state(self, words: bytes | bytearray, base: int) -> tuple[Status, bool]:
        """Return the state that counts among all status registers, and whether any says "gas"."""
        states: list[Status] = []
        alarm = False
        for at, point, telling in self._flags:
            word = _word(words, base + at)
            if telling is not None and not word & telling:
                continue
            if word & point.alarm_mask:
                alarm = True
            states.extend(status for status, mask in point.bits if word & mask)
            if point.codes:
                states.append(_by_code(point, word))
        return worst(states) if states else Status.MEASURING, alarm


def _conversion(points: ModbusPoints, unit: UnitOfValue, basis: Basis) -> tuple[float, float, Span]:
    """Scale and offset straight to %LEL of the reference, and the span there."""
    per = reference_lel_pct_per(unit, basis)
    per_lel = per if unit is UnitOfValue.LEL_PCT else basis.factor
    full_scale = 100.0 * per_lel if points.full_scale is None else points.full_scale * per
    zero_drift = 5.0 * per_lel if points.zero_drift is None else points.zero_drift * per
    trip = UNKNOWN_TRIP_LEL_PCT if points.trip is None else points.trip * per
    span = Span(round(full_scale, DECIMALS), round(zero_drift, DECIMALS), round(trip, DECIMALS))
    return points.scale * per, points.offset * per, span


def _telling_bits(point: StatusPoint) -> int | None:
    """The bits of a status register without any of which it says nothing; None where it holds codes."""
    if point.codes:
        return None
    together = point.alarm_mask
    for _, mask in point.bits:
        together |= mask
    return together


def _by_code(point: StatusPoint, word: int) -> Status:
    for low, high, status in point.codes:
        if low <= word <= high:
            return status
    return Status.FAULT


def _word(words: bytes | bytearray, at: int) -> int:
    return words[at] << 8 | words[at + 1]


def _byte_offset(reads: Sequence[Stretch], function: Function, register: int) -> int:
    before = 0
    for read in reads:
        if read.holds(function, register, 1):
            return (before + register - read.start) * 2
        before += read.size
    raise ValueError(f"register {register} is in none of the reads {reads}")
