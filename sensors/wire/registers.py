"""From heads to few reads, and from the words of an answer to readings. Knows no socket and no clock."""

from collections.abc import Iterable, Sequence
from typing import Final

from sensors.quality import Movement
from sensors.readings import Reading
from sensors.stamps import Stamp
from sensors.wire.modbus import Ask, ask_bits, ask_registers
from sensors.wire.places import Reach
from sensors.wire.points import ReadLimits
from sensors.wire.reader import HeadReader, InstalledHead
from sensors.wire.words import Stretch

__all__ = ["MAX_GAP", "Block", "HeadReader", "InstalledHead", "Stretch", "plan", "stretches"]

MAX_GAP: Final = ReadLimits().max_gap
"""Unasked registers that one read may span to save another read, unless the device asks for less."""


def stretches(heads: Sequence[InstalledHead], max_gap: int | None = None) -> tuple[Stretch, ...]:
    """Return the fewest reads, in rising order, that cover all points of these heads of one unit."""
    limits = _strictest(head.points.limits for head in heads)
    spans = sorted({span for head in heads for span in head.points.spans()}, key=lambda span: (span[0].value, span[1]))
    merged: list[Stretch] = []
    exact = {Stretch(span[0], first, count) for first, count in limits.exact for span in spans if not span[0].of_bits}
    taken: set[Stretch] = set()
    for span in spans:
        fitting = next((read for read in exact if read.holds(*span)), None)
        if fitting is not None:
            taken.add(fitting)
        elif merged and (joined := _joined(merged[-1], span, limits, max_gap)) is not None:
            merged[-1] = joined
        else:
            merged.append(Stretch(*span))
    return tuple(sorted([*merged, *taken], key=lambda read: (read.function.value, read.start)))


def _joined(last: Stretch, span: Reach, limits: ReadLimits, max_gap: int | None) -> Stretch | None:
    """Return one read for both; None if it would be too long, too wasteful, or touch what must not be read."""
    function, start, size = span
    of_bits = function.of_bits
    gap = limits.max_gap if max_gap is None else max_gap
    if last.function is not function or start - last.end > (gap * 16 if of_bits else gap):
        return None
    end = max(last.end, start + size)
    if end - last.start > (limits.max_bits if of_bits else limits.max_registers):
        return None
    if any(last.end <= hole_end and first < start for first, hole_end in limits.holes if not of_bits):
        return None
    return Stretch(function, last.start, end - last.start)


def _strictest(limits: Iterable[ReadLimits]) -> ReadLimits:
    """Return what all these devices of one unit can bear."""
    found = set(limits)
    if len(found) == 1:
        return found.pop()
    return ReadLimits(
        max_registers=min((each.max_registers for each in found), default=ReadLimits().max_registers),
        max_bits=min((each.max_bits for each in found), default=ReadLimits().max_bits),
        max_gap=min((each.max_gap for each in found), default=MAX_GAP),
        holes=tuple(sorted({hole for each in found for hole in each.holes})),
        exact=tuple(sorted({read for each in found for read in each.exact})),
    )


class Block:
    """The reads of one unit that belong together, and the heads that can be judged once all have answered.

    Almost always one read. A head whose points lie too far apart for one read makes a block of several; its
    words are joined in the order of the reads, and judged only when all came in the same round.
    """

    __slots__ = ("_apart", "_movement", "asks", "heads", "readers", "unit")

    def __init__(
        self, unit: int, heads: Sequence[InstalledHead], reads: Sequence[Stretch], movement: Movement | None = None
    ) -> None:
        self.unit = unit
        self.heads = tuple(heads)
        self.asks: tuple[Ask, ...] = tuple(ask_for(unit, read) for read in reads)
        self._movement = movement or Movement()
        self.readers = tuple(HeadReader(head, reads, unit, self._movement) for head in heads)
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
            apart = tuple(
                Block(self.unit, (head,), stretches((head,), max_gap=0), self._movement) for head in self.heads
            )
            for block, reader in zip(apart, self.readers, strict=True):
                block.readers[0].seen = reader.seen
            self._apart = apart if len(apart) > 1 or len(apart[0].asks) > len(self.asks) else (self,)
        return self._apart


def ask_for(unit: int, read: Stretch) -> Ask:
    """Return the request that makes this read."""
    if read.function.of_bits:
        return ask_bits(unit, read.function.value, read.start, read.size)
    return ask_registers(unit, read.function.value, read.start, read.size)


def plan(unit: int, heads: Sequence[InstalledHead], movement: Movement | None = None) -> tuple[Block, ...]:
    """Group the heads of one unit into blocks, each as few reads as its points allow.

    Args:
        unit: their address on the line.
        heads: who answers there.
        movement: shared by heads of which one that stands still is suspicious while the others move.
    """
    movement = movement or Movement()
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
    return tuple(
        Block(unit, members, [read for read in reads if read in needed], movement) for members, needed in groups
    )
