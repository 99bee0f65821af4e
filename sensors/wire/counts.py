"""Where counters stand in a device, and the tags in a reader's message. Knows no connection and no clock."""

import base64
import binascii
from dataclasses import dataclass

from sensors.wire.documents import Json, found_at, holds, printable
from sensors.wire.payload_points import FieldPoint, When, pointer_tokens
from sensors.wire.places import Place


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


def tags_in(points: TagPoints, document: Json) -> tuple[str, ...]:
    """Return the tags in one document, in upper-case hex or as text; what is no read of a tag is left out."""
    found = found_at(document, pointer_tokens(points.each))
    identity = pointer_tokens(points.identity)
    when = [(pointer_tokens(each.pointer), each) for each in points.when]
    tags = [
        _number(raw, points.encoding)
        for read in (found if isinstance(found, list) else [found])
        if isinstance(read, dict) and all(holds(read, steps, each) for steps, each in when)
        if isinstance(raw := found_at(read, identity), str)
    ]
    return tuple(dict.fromkeys(tag for tag in tags if tag))


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
