"""Payloads as documents: JSON, text, lists; and single fields found in them. Knows no device, broker or clock."""

import base64
import json
import math
import struct
from datetime import datetime
from typing import Final, TypeAlias

import msgspec

from sensors.wire.meanings import as_text
from sensors.wire.payload_points import SampleTime, Step, When
from sensors.wire.places import Raw

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

MAX_TEXT: Final = 40
"""Longest text taken over from a payload, in characters."""

MAX_SAMPLES: Final = 64
"""Samples read from one message; further ones are left out."""


TWICE: Final = object()
"""Stands in a document in place of a member whose name was given twice: nobody knows which of the two is meant."""


class GarbledPayloadError(ValueError):
    """The bytes are not what a head would send."""


def decode(payload: bytes) -> Json:
    """Read one JSON text, strictly: UTF-8, no NaN or Infinity, no number beyond a double, nothing after it.

    A member given twice is `TWICE`; the others stand. The caller bounds the length; nesting is bounded by the
    interpreter's own limit.

    Raises:
        GarbledPayloadError: if it is not that.
    """
    try:
        document: Json = msgspec.json.decode(payload)  # it alone is strict, the other alone sees repeated names
        if payload.count(b":") > 1:
            _scan(payload.decode())
    except _RepeatedNameError:
        return _marked(payload)
    except (ValueError, RecursionError) as error:  # msgspec's and the codec's errors are ValueErrors
        raise GarbledPayloadError(printable(str(error))) from None
    return document


class _RepeatedNameError(Exception):
    """An object has two members of one name."""


def _no_repeats(members: list[tuple[str, object]]) -> None:
    if len(members) > 1 and len({name for name, _ in members}) < len(members):
        raise _RepeatedNameError


def _mark_repeats(members: list[tuple[str, object]]) -> dict[str, object]:
    document: dict[str, object] = {}
    for name, value in members:
        document[name] = TWICE if name in document else value
    return document


_scan = json.JSONDecoder(object_pairs_hook=_no_repeats, parse_int=str, parse_float=str).decode


def _marked(payload: bytes) -> Json:
    """Read a text that is known for valid JSON once more, with `TWICE` for every member given twice."""
    try:
        document: Json = json.loads(payload, object_pairs_hook=_mark_repeats)
    except (ValueError, RecursionError) as error:  # a whole number of thousands of digits
        raise GarbledPayloadError(printable(str(error))) from None
    return document


def documents(payload: bytes, kind: str) -> tuple[Json, ...]:
    """Return the samples in one payload, by its kind: one of `sensors.wire.payload_points.KINDS`.

    Raises:
        GarbledPayloadError: if it is not of that kind.
    """
    match kind:
        case "text":
            try:
                return (payload.decode("utf-8").strip(),)
            except UnicodeDecodeError:
                raise GarbledPayloadError("no UTF-8 text") from None
        case "list":
            document = decode(payload)
            if not isinstance(document, list):
                raise GarbledPayloadError("no list")
            return tuple(document[:MAX_SAMPLES])
        case "lines":
            return _glued(payload)
        case _:
            return (decode(payload),)


def _glued(payload: bytes) -> tuple[Json, ...]:
    """Several documents in a row, with or without line ends between them."""
    lines = [line for line in payload.splitlines() if line.strip()]
    try:
        return tuple(decode(line) for line in lines[:MAX_SAMPLES])
    except GarbledPayloadError:
        joined = payload.replace(b"}{", b"},{").replace(b"}\n{", b"},{")
        document = decode(b"[" + joined + b"]")
        return tuple(document[:MAX_SAMPLES]) if isinstance(document, list) else ()


def printable(text: str) -> str:
    """Cut a text from outside to `MAX_TEXT` characters of which none can act on a screen, page or log line."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text[:MAX_TEXT])


ABSENT: Final = object()
MAX_INDEX_DIGITS: Final = 6


def found_at(document: Json, steps: tuple[Step, ...]) -> object:
    """Follow the steps; a value of no JSON kind where the document has no such place.

    Raises:
        GarbledPayloadError: if a step leads to a member that was given twice.
    """
    place: object = document
    for step in steps:
        if isinstance(step, tuple):
            place = _chosen(place, *step)
        elif isinstance(place, dict):
            place = place.get(step, ABSENT)
            if place is TWICE:
                raise GarbledPayloadError(printable(f"{step} is given twice"))
        elif isinstance(place, list) and _is_index(step):
            place = place[int(step)] if int(step) < len(place) else ABSENT
        else:
            return ABSENT
    return place


def _chosen(place: object, key: str, value: str) -> object:
    """Return the first item of a list whose `key` has this value."""
    if not isinstance(place, list):
        return ABSENT
    return next((item for item in place if isinstance(item, dict) and as_text(item.get(key)) == value), ABSENT)


def _is_index(token: str) -> bool:
    """RFC 6901, section 4: ASCII digits without a leading zero."""
    digits = token.isascii() and token.isdigit() and len(token) <= MAX_INDEX_DIGITS
    return digits and str(int(token)) == token


def holds(document: Json, steps: tuple[Step, ...], when: When) -> bool:
    """Tell whether a document fulfils this condition, its pointer taken apart."""
    found = found_at(document, steps)
    if when.absent:
        return found is ABSENT
    return found is not ABSENT and as_text(found) in when.equals


def scalar_of(found: object) -> int | float | str | bool:
    """Return a field as a number, a yes or no, or a text; a list or object by its kind only."""
    return found if isinstance(found, int | float | str) else as_text(found)


def as_number(found: object, *, texts: bool) -> Raw | None:
    """Return a field as a number, texts too where they may be numbers; None for what is none."""
    if isinstance(found, bool) or (isinstance(found, str) and not texts):
        return None
    if isinstance(found, str):
        plain = found.strip().replace(",", ".")
        try:
            number = float(plain) if plain.isascii() and len(plain) <= MAX_TEXT else math.nan
        except ValueError:
            return None
        return number if math.isfinite(number) else None
    return found if isinstance(found, int | float) else None


def seconds_of(found: object, time: SampleTime) -> float | None:
    """Return a time as seconds since 1970; None for what is no time of this form."""
    try:
        if time.form == "rfc3339":
            return datetime.fromisoformat(found).timestamp() if isinstance(found, str) else None
        number = as_number(found, texts=True)
        return None if number is None else number / (1000.0 if time.form == "unix_ms" else 1.0)
    except (ValueError, OverflowError):
        return None


def bytes_of(found: object, form: str) -> bytes:
    """Return the bytes of registers that a field carries.

    Raises:
        TypeError, ValueError, struct.error: if it carries none in this form.
    """
    if form == "list":
        if not isinstance(found, list):
            raise TypeError("no list")
        return struct.pack(f">{len(found)}H", *(value & 0xFFFF if isinstance(value, int) else value for value in found))
    if not isinstance(found, str):
        raise TypeError("no text")
    return base64.b64decode(found, validate=True) if form == "base64" else bytes.fromhex(found)
