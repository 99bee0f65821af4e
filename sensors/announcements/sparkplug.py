"""Births of Sparkplug B (``spBv1.0/<group>/NBIRTH|DBIRTH/...``) -> metrics that speak of gas, by name or unit.

A payload that is none yields nothing.
"""

from collections.abc import Iterator
from typing import Final

from sensors.announcements.found import Announced, speaks_of_gas, unit_of
from sensors.wire.protobuf import NoBufferError, fields

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

PROFILE: Final = "sparkplug-b"
NODE_TOPIC: Final = "spBv1.0/{group}/NDATA/{node}"
"""The profile's topic for metrics of the node itself."""


def heads(topic: str, payload: bytes) -> Iterator[Announced]:
    """Yield the gas metrics of one birth. One whose unit is not told has no profile: nobody may guess it."""
    steps = topic.split("/")
    if len(steps) not in (4, 5) or steps[2] not in ("NBIRTH", "DBIRTH"):
        return
    data = steps[2].replace("BIRTH", "DATA")
    own = "/".join([*steps[:2], data, *steps[3:]])
    try:
        metrics = list(_metrics(payload))
    except NoBufferError:
        return
    for name, kind, unit in metrics:
        found = unit_of(unit)
        if kind not in NUMBERS or not (speaks_of_gas(name) or found is not None):
            continue
        keys = {"metric": name} | ({"unit_of_value": found.value} if found else {})
        if data == "NDATA":
            keys["topic"] = NODE_TOPIC
        profile, note = (PROFILE, "silent-death") if found else ("", "no-profile")
        yield Announced("sparkplug", f"{steps[-1]} {name}", "", own, profile, keys, (note,))


def _metrics(payload: bytes) -> Iterator[tuple[str, int, str]]:
    """Yield (name, data type, unit) of every metric."""
    seen = 0
    for field, value in fields(payload):
        if field == METRICS and isinstance(value, bytes):
            seen += 1
            if seen > MOST_METRICS:
                return
            yield _metric(value)


def _metric(content: bytes) -> tuple[str, int, str]:
    name, kind, unit = "", 0, ""
    for field, value in fields(content):
        if field == NAME and isinstance(value, bytes):
            name = value.decode("utf-8", "replace")
        elif field == DATATYPE and isinstance(value, int):
            kind = value
        elif field == PROPERTIES and isinstance(value, bytes):
            unit = _unit(value)
    return name, kind, unit


def _unit(properties: bytes) -> str:
    keys, values = [], []
    for field, value in fields(properties):
        if field == KEYS and isinstance(value, bytes):
            keys.append(value.decode("utf-8", "replace"))
        elif field == VALUES and isinstance(value, bytes):
            texts = [text for inner, text in fields(value) if inner == STRING_VALUE and isinstance(text, bytes)]
            values.append(texts[0].decode("utf-8", "replace") if texts else "")
    return dict(zip(keys, values, strict=False)).get(UNIT_KEY, "")
