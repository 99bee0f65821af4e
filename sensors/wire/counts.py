"""Counters that wrap and start anew, and tags that are read twice: what happened since the last look. Knows no wire."""

import base64
import binascii
from dataclasses import dataclass
from typing import Final

from sensors.stamps import SECOND, Instant
from sensors.wire.documents import MAX_TEXT, Json, found_at, holds, printable
from sensors.wire.meanings import as_text
from sensors.wire.payload_points import FieldPoint, When, pointer_tokens
from sensors.wire.points import Place

NEAR_THE_END: Final = 0.9
"""Beyond this part of its range a counter that shows less than before has wrapped; below it, it started anew."""

MAX_TAGS: Final = 4096
"""Tags whose last read is remembered; the oldest are forgotten."""


@dataclass(frozen=True, slots=True)
class CounterPoint:
    """A counter of a Modbus device.

    Attributes:
        wrap: it starts at 0 again after this many counts.
        resets_to_zero: a restart of the device begins at 0; False for one that keeps its count.
        per_count: what one count stands for.
    """

    place: Place
    wrap: int
    resets_to_zero: bool
    per_count: float = 1.0
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Counted:
    """What happened between two looks. `restarted`: some counts before the restart may be lost."""

    counts: int
    restarted: bool = False


def counted(counter: CounterPoint, before: int, now: int) -> Counted:
    """Return the counts between two looks: plainly, over the end of the range, or since a restart."""
    if now >= before:
        return Counted(now - before)
    wrapped = not counter.resets_to_zero or before >= counter.wrap * NEAR_THE_END
    return Counted(now + counter.wrap - before) if wrapped else Counted(now, restarted=True)


@dataclass(frozen=True, slots=True)
class TagPoints:
    """Where a reader of tags keeps them in its messages.

    Attributes:
        field: topic and payload kind.
        each: pointer to the list of reads; the whole payload where it is one itself.
        identity, encoding: pointer to the tag's number inside a read, and how it is written: hex, base64 or text.
        same_within_s: the same tag so soon again is one read.
    """

    field: FieldPoint
    each: str
    identity: str
    encoding: str
    when: tuple[When, ...]
    same_within_s: float
    antenna: str | None = None


@dataclass(frozen=True, slots=True)
class TagRead:
    """One tag, its number in upper-case hex (or as text), and the antenna that saw it."""

    tag: str
    antenna: str = ""


class TagReader:
    """Takes tags out of messages, each once within its time."""

    def __init__(self, points: TagPoints) -> None:
        self._points = points
        self._each = pointer_tokens(points.each)
        self._identity = pointer_tokens(points.identity)
        self._antenna = None if points.antenna is None else pointer_tokens(points.antenna)
        self._when = tuple((pointer_tokens(when.pointer), when) for when in points.when)
        self._seen: dict[str, Instant] = {}

    def read(self, document: Json, now: Instant) -> tuple[TagRead, ...]:
        """Return the new reads in one document; what is no read of a tag is left out."""
        found = found_at(document, self._each)
        reads = found if isinstance(found, list) else [found]
        tags = [tag for read in reads for tag in self._tag(read)]
        return tuple(tag for tag in tags if self._new(tag, now))

    def _tag(self, read: object) -> list[TagRead]:
        if not isinstance(read, dict) or any(not holds(read, steps, when) for steps, when in self._when):
            return []
        raw = found_at(read, self._identity)
        tag = _number(raw, self._points.encoding) if isinstance(raw, str) else ""
        antenna = "" if self._antenna is None else found_at(read, self._antenna)
        where = as_text(antenna) if isinstance(antenna, str | int) else ""
        return [TagRead(tag, where[:MAX_TEXT])] if tag else []

    def _new(self, read: TagRead, now: Instant) -> bool:
        last = self._seen.pop(read.tag, None)
        self._seen[read.tag] = now
        if len(self._seen) > MAX_TAGS:
            del self._seen[next(iter(self._seen))]
        return last is None or now - last > self._points.same_within_s * SECOND


def _number(raw: str, encoding: str) -> str:
    try:
        match encoding:
            case "hex":
                return bytes.fromhex(raw).hex().upper()
            case "base64":
                return base64.b64decode(raw, validate=True).hex().upper()
            case _:
                return printable(raw.strip())
    except (ValueError, binascii.Error):
        return ""
