"""Births of Sparkplug B (``spBv1.0/<group>/NBIRTH|DBIRTH/...``) -> metrics that speak of gas, by name or unit.

Only what a birth says of its metrics is read: the payload is a protocol buffer, whose wire format is simple enough to
be walked without a schema. Anything that is none yields nothing.
"""

from collections.abc import Iterator
from typing import Final

from sensors.announcements.found import Announced, speaks_of_gas, unit_of

VARINT: Final = 0
FIXED64: Final = 1
BYTES: Final = 2
FIXED32: Final = 5

METRICS: Final = 2
"""Field of a payload that holds a metric."""

NAME: Final = 1
DATATYPE: Final = 4
PROPERTIES: Final = 9
KEYS: Final = 1
VALUES: Final = 2
STRING_VALUE: Final = 8
"""Fields of a metric, of its properties, and of a property's value (Sparkplug 3.0, chapter 6)."""

NUMBERS: Final = frozenset(range(1, 11))
"""Data types of whole and floating numbers."""

MOST_METRICS: Final = 5000
UNIT_KEY: Final = "engUnit"


class _NoBufferError(ValueError):
    """The bytes are no protocol buffer."""


def heads(topic: str, payload: bytes) -> Iterator[Announced]:
    """Yield the gas metrics of one birth."""
    steps = topic.split("/")
    if len(steps) not in (4, 5) or steps[2] not in ("NBIRTH", "DBIRTH"):
        return
    data = steps[2].replace("BIRTH", "DATA")
    own = "/".join([*steps[:2], data, *steps[3:]])
    try:
        metrics = list(_metrics(payload))
    except _NoBufferError:
        return
    for name, kind, unit in metrics:
        if kind in NUMBERS and (speaks_of_gas(name) or unit_of(unit) is not None):
            found = unit_of(unit)
            keys = {"metric": name} | ({"unit_of_value": found.value} if found else {})
            yield Announced("sparkplug", f"{steps[-1]} {name}", "", own, "", keys, ("no-profile",))


def _metrics(payload: bytes) -> Iterator[tuple[str, int, str]]:
    """Yield (name, data type, unit) of every metric."""
    seen = 0
    for field, value in _fields(payload):
        if field == METRICS and isinstance(value, bytes):
            seen += 1
            if seen > MOST_METRICS:
                return
            yield _metric(value)


def _metric(content: bytes) -> tuple[str, int, str]:
    name, kind, unit = "", 0, ""
    for field, value in _fields(content):
        if field == NAME and isinstance(value, bytes):
            name = value.decode("utf-8", "replace")
        elif field == DATATYPE and isinstance(value, int):
            kind = value
        elif field == PROPERTIES and isinstance(value, bytes):
            unit = _unit(value)
    return name, kind, unit


def _unit(properties: bytes) -> str:
    keys, values = [], []
    for field, value in _fields(properties):
        if field == KEYS and isinstance(value, bytes):
            keys.append(value.decode("utf-8", "replace"))
        elif field == VALUES and isinstance(value, bytes):
            texts = [text for inner, text in _fields(value) if inner == STRING_VALUE and isinstance(text, bytes)]
            values.append(texts[0].decode("utf-8", "replace") if texts else "")
    return dict(zip(keys, values, strict=False)).get(UNIT_KEY, "")


def _fields(content: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(content):
        tag, at = _varint(content, at)
        field, kind = tag >> 3, tag & 7
        if kind == VARINT:
            number, at = _varint(content, at)
            yield field, number
            continue
        if kind == BYTES:
            size, at = _varint(content, at)
        elif kind in (FIXED32, FIXED64):
            size = 4 if kind == FIXED32 else 8
        else:
            raise _NoBufferError(f"wire type {kind}")
        if at + size > len(content):
            raise _NoBufferError("it ends early")
        yield field, content[at : at + size]
        at += size


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(content):
            raise _NoBufferError("it ends early")
        byte = content[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise _NoBufferError("a number of more than ten bytes")
