"""JSON payloads of MQTT heads <-> the values in them: which field says what. Knows no topic, broker or clock."""

import json
import math
from dataclasses import dataclass
from typing import Final, TypeAlias

import msgspec

from sensors.quality import worst
from sensors.readings import Status
from sensors.wire.points import UnitOfValue

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

MAX_TEXT: Final = 40
"""Longest text taken over from a payload, in characters."""


@dataclass(frozen=True, slots=True)
class StatusPoint:
    """One field in which the head says what it is doing.

    Attributes:
        pointer: RFC 6901 JSON pointer to the field.
        words: what its values mean; a value is written as JSON would (``true``, ``3``), a text without its quotes.
        otherwise: what a value outside `words` means. A code nobody knows is a fault unless the profile says otherwise.
    """

    pointer: str
    words: tuple[tuple[str, Status], ...]
    otherwise: Status = Status.FAULT


@dataclass(frozen=True, slots=True)
class PayloadPoints:
    """Where a head's JSON keeps its value and its state.

    Attributes:
        value: RFC 6901 JSON pointer to the value; ``""`` is the whole payload.
        unit_of_value: unit of the value after `scale` and `offset`.
        scale, offset: value = number x scale + offset.
        full_scale: at or above it the head is over range; same unit; None where nobody knows, but for a head in %LEL
            that is 100.
        zero_drift: how far below zero is still zero; same unit.
        trip: set for a head that says only yes or no: the least value that a "yes" stands for; same unit.
        states: the fields that tell what the head is doing.
        sequence: pointer to a field that differs in every new sample (counter or time); None where there is none.

    Raises:
        ValueError: if a pointer is malformed, or a number is not finite, or the scale is zero.
    """

    value: str
    unit_of_value: UnitOfValue = UnitOfValue.LEL_PCT
    scale: float = 1.0
    offset: float = 0.0
    full_scale: float | None = None
    zero_drift: float = 5.0
    trip: float | None = None
    states: tuple[StatusPoint, ...] = ()
    sequence: str | None = None

    def __post_init__(self) -> None:
        """Refuse what could never be read."""
        for pointer in (self.value, self.sequence, *(state.pointer for state in self.states)):
            if pointer is not None:
                pointer_tokens(pointer)
        numbers = (self.scale, self.offset, self.zero_drift, self.full_scale or 0.0, self.trip or 0.0)
        if not all(map(math.isfinite, numbers)) or self.scale == 0:
            raise ValueError("scale, offset, drift, full scale and trip are finite numbers, and the scale is not zero")


def pointer_tokens(pointer: str) -> tuple[str, ...]:
    """Take an RFC 6901 JSON pointer apart into its reference tokens.

    Raises:
        ValueError: if it is neither empty nor starts with ``/``, or has a ``~`` not followed by 0 or 1.
    """
    if pointer == "":
        return ()
    if not pointer.startswith("/"):
        raise ValueError(f"{pointer!r} is no JSON pointer: it would be {'/' + pointer!r}")
    tokens = pointer[1:].split("/")
    for token in tokens:
        if "~" in token.replace("~0", "").replace("~1", ""):
            raise ValueError(f"{pointer!r} is no JSON pointer: '~' is written '~0' in it")
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in tokens)


class GarbledPayloadError(ValueError):
    """The bytes are no JSON text that a head would send."""


TWICE: Final = object()
"""Stands in a document in place of a member whose name was given twice: nobody knows which of the two is meant."""


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


@dataclass(frozen=True, slots=True)
class Heard:
    """What one message says of one head, before it is judged.

    Attributes:
        value: in the profile's unit; NaN where the field holds no number (the head is at fault, `reason` says how).
        gas: what a yes-or-no head says; None for a head with a number.
        status: the worst that its state fields say.
        complete: False when a state field that the profile expects is not in the message.
        raw: the field as it came, for the eye.
        sequence: what tells this sample from the one before; None where nothing does.
        reason: short code for what is wrong with the value; empty when nothing is.
    """

    value: float
    gas: bool | None
    status: Status
    complete: bool
    raw: float | str
    sequence: str | None
    reason: str = ""


class PayloadReader:
    """The points of one head, prepared once so that a message costs no parsing of pointers."""

    def __init__(self, points: PayloadPoints) -> None:
        self._points = points
        self._value = pointer_tokens(points.value)
        self._sequence = None if points.sequence is None else pointer_tokens(points.sequence)
        self._states = tuple(
            (pointer_tokens(state.pointer), dict(state.words), state.otherwise) for state in points.states
        )

    def read(self, document: Json) -> Heard | None:
        """Return what the message says of this head; None if it does not speak of its value at all.

        Raises:
            GarbledPayloadError: if it says the value or a state twice.
        """
        found = _find(document, self._value)
        if found is _ABSENT:
            return None
        status, complete = self._state(document)
        value, gas, reason = self._number(found)
        raw: float | str = printable(_as_text(found))
        if not reason and gas is None and isinstance(found, int | float):
            raw = float(found)
        sequence = None if self._sequence is None else _find(document, self._sequence)
        return Heard(
            value=value,
            gas=gas,
            status=status,
            complete=complete,
            raw=raw,
            sequence=_as_text(sequence) if isinstance(sequence, str | int | float) else None,
            reason=reason,
        )

    def _number(self, found: object) -> tuple[float, bool | None, str]:
        """Return (value, yes or no, reason). A yes-or-no head may say 1 and 0; a head with a number says a number."""
        if self._points.trip is not None:
            if isinstance(found, bool) or found in (0, 1):
                return math.nan, bool(found), ""
            return math.nan, None, "nan"
        if isinstance(found, bool) or not isinstance(found, int | float):
            return math.nan, None, "nan"
        try:
            value = found * self._points.scale + self._points.offset
        except OverflowError:
            return math.nan, None, "nan"
        return (value, None, "") if math.isfinite(value) else (math.nan, None, "nan")

    def _state(self, document: Json) -> tuple[Status, bool]:
        said: list[Status] = []
        complete = True
        for tokens, words, otherwise in self._states:
            found = _find(document, tokens)
            if found is _ABSENT:
                complete = False
                continue
            said.append(words.get(_as_text(found), otherwise))
        return worst(said), complete


def printable(text: str) -> str:
    """Cut a text from outside to `MAX_TEXT` characters of which none can act on a screen, page or log line."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text[:MAX_TEXT])


_ABSENT: Final = object()
MAX_INDEX_DIGITS: Final = 6


def _find(document: Json, tokens: tuple[str, ...]) -> object:
    """Follow the tokens; `_ABSENT` where the document has no such place."""
    place: object = document
    for token in tokens:
        if isinstance(place, dict):
            place = place.get(token, _ABSENT)
            if place is TWICE:
                raise GarbledPayloadError(printable(f"{token} is given twice"))
        elif isinstance(place, list) and _is_index(token):
            place = place[int(token)] if int(token) < len(place) else _ABSENT
        else:
            return _ABSENT
    return place


def _is_index(token: str) -> bool:
    """RFC 6901, section 4: ASCII digits without a leading zero."""
    digits = token.isascii() and token.isdigit() and len(token) <= MAX_INDEX_DIGITS
    return digits and str(int(token)) == token


def _as_text(value: object) -> str:
    """Write a scalar as JSON would, a text without its quotes; a list or object by its kind only."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        # Beyond 64 bits the digits say nothing to a person and would cost time that grows with their square.
        return str(value) if value.bit_length() <= 64 else "huge"
    return repr(value) if isinstance(value, float) else type(value).__name__
