"""What a counter or a tag reader at the gate says -> movements of the stock. Pure: messages and times in, entries out.

A counter's last reading is an entry of its own, in the batch of the movement it stands for: no crash comes between the
two. A step that no honest counter makes moves nothing, and stands there as doubtful: a person must count.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from compliance.registers.counters import Counter, Mark, Step, step
from compliance.registers.entries import Act, Entry, EntryId, Millis, Scalar
from sensors.wire.counts import TagPoints, tags_in
from sensors.wire.documents import GarbledPayloadError, documents
from sensors.wire.payload_points import pointer_tokens

MARKS = "counter"
"""The register of last readings; no form shows it."""

MOST_BYTES = 4096
MOST_READER_BYTES = 65_536
"""Of a message that may tell of many tags."""

MOVES: Mapping[str, tuple[Act, Mapping[str, Scalar]]] = {
    "in": (Act.ENTER, {"state": "full"}),
    "out": (Act.LEAVE, {"state": "full"}),
    "exchange": (Act.CHANGE, {"state": "full", "to_state": "empty"}),
    "empties-in": (Act.ENTER, {"state": "empty"}),
    "empties-out": (Act.LEAVE, {"state": "empty"}),
}
"""What one container that passes is."""


@dataclass(frozen=True, slots=True)
class StockSource:
    """One counter or reader.

    Attributes:
        kind: ``counter`` (messages bear a count that only goes up) or ``tags`` (each message is one container's tag).
        topic: without wildcards.
        value: JSON pointer to the count or the tag; empty: the whole payload.
        number: JSON pointer to the message's number, where it bears one; empty: none.
        again_s: the same tag within such a time is the same container.
        tags: where a reader whose profile is known has them: several in one message; None: one, at `value`.
    """

    id: str
    kind: str
    topic: str
    area: str
    size_kg: Decimal
    act: str
    value: str = ""
    number: str = ""
    brand: str = ""
    counter: Counter = field(default_factory=Counter)
    again_s: float = 10.0
    tags: TagPoints | None = None


@dataclass(frozen=True, slots=True)
class Passed:
    """What one message comes to: so many containers, and the mark to keep."""

    step: Step
    units: int
    mark: Mark


def heard(source: StockSource, payload: bytes, last: Mark | None) -> Passed | None:
    """Read a counter's message against its last reading; None where it says no count."""
    document = _document(payload)
    value = _whole(_at(document, source.value))
    number = 0 if not source.number else _whole(_at(document, source.number))
    if value is None or number is None:
        return None
    return Passed(*step(source.counter, last, Mark(value, number)))


def tags(source: StockSource, payload: bytes) -> tuple[str, ...]:
    """Read the tags that a message tells of, each once."""
    if source.tags is not None:
        return _of_reader(source.tags, payload)
    found = _at(_document(payload), source.value)
    text = str(found).strip() if isinstance(found, str | int) and not isinstance(found, bool) else ""
    return (text[:100],) if text else ()


def _of_reader(points: TagPoints, payload: bytes) -> tuple[str, ...]:
    try:
        found = documents(payload[:MOST_READER_BYTES], points.field.payload or "json")
    except GarbledPayloadError:
        return ()
    return tuple(dict.fromkeys(tag for document in found for tag in tags_in(points, document)))


def mark_of(values: Mapping[str, Any]) -> Mark | None:
    """Return the mark that an entry of `MARKS` holds."""
    value, number = values.get("value"), values.get("number")
    return Mark(value, number) if isinstance(value, int) and isinstance(number, int) else None


def movement(source: StockSource, units: int, now: Millis, new_id: Callable[[], str]) -> Entry:
    """Return the entry for so many containers."""
    act, states = MOVES[source.act]
    values: dict[str, Scalar] = {"size_kg": source.size_kg, "units": units, **states}
    if source.brand:
        values["brand"] = source.brand
    return Entry(EntryId(new_id()), "stock", source.area, act, values, now, now, source.id, "mqtt")


def marked(source: StockSource, mark: Mark, now: Millis, new_id: Callable[[], str], doubt: str = "") -> Entry:
    """Return the entry that keeps a counter's reading; `doubt` says why it moved nothing."""
    values: dict[str, Scalar] = {"value": mark.value, "number": mark.number, "doubt": doubt, "area": source.area}
    return Entry(EntryId(new_id()), MARKS, source.id, Act.RECORD, values, now, now, source.id, "mqtt")


def doubted(source: StockSource, now: Millis, new_id: Callable[[], str], doubt: str) -> Entry:
    """Return the entry that says why what a reader saw moved nothing."""
    return marked(source, Mark(0), now, new_id, doubt)


def _document(payload: bytes) -> object:
    text = payload[:MOST_BYTES].decode("utf-8", "replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _at(document: object, pointer: str) -> object:
    for token in pointer_tokens(pointer):
        if isinstance(document, dict) and isinstance(token, str):
            document = document.get(token)
        elif isinstance(document, list) and isinstance(token, str) and token.isdecimal() and int(token) < len(document):
            document = document[int(token)]
        else:
            return None
    return document


def _whole(value: object) -> int | None:
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdecimal():
        return int(value.strip()[:18])
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**15 else None
