"""What one head's messages say: from payloads to what is heard of it. Knows no broker and no clock.

A head may speak on several topics and say a part at a time. What it said of its state is remembered by the profile's
rule; a number is never: a message without it is no sample.
"""

import binascii
import math
import struct
from dataclasses import dataclass
from typing import Final, TypeAlias

from sensors.readings import Status
from sensors.wire.conversion import Sentinels
from sensors.wire.documents import (
    ABSENT,
    GarbledPayloadError,
    Json,
    as_number,
    bytes_of,
    documents,
    found_at,
    holds,
    printable,
    scalar_of,
    seconds_of,
)
from sensors.wire.meanings import ALARMS, NOTHING_TOLD, Precedence, Told, as_text, both, precedence, told
from sensors.wire.payload_points import FieldPoint, PayloadPoints, PayloadState, Step, pointer_tokens
from sensors.wire.topics import captures, filled
from sensors.wire.units import UnitOfValue

OUT_OF_ORDER_S: Final = 60.0
"""A sample that is older than the last by no more than this came late; by more, the device's clock was set anew."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What one message says of one head, before it is judged.

    Attributes:
        value: in the profile's unit; NaN where the field holds no number (the head is at fault, `reason` says how);
            None where the message does not speak of it, but of the head's state.
        gas: what a yes-or-no head says; None for a head with a number.
        told: what its state fields say together.
        complete: False when a state field that the profile expects is not in the message.
        raw: the field as it came, for the eye.
        sequence: what tells this sample from the one before; None where nothing does.
        reason: short code for what is wrong with the value; empty when nothing is.
        word: what a sentinel says instead of a number; None for a measurement.
        unit: the unit that a field tells; None for the profile's own.
        late: an older sample than the one before.
    """

    value: float | None
    gas: bool | None
    told: Told
    complete: bool
    raw: float | str
    sequence: str | None = None
    reason: str = ""
    word: str | None = None
    unit: UnitOfValue | None = None
    late: bool = False


@dataclass(frozen=True, slots=True)
class Words:
    """Registers that a message carries: their bytes, high byte first."""

    data: bytes


Lookup: TypeAlias = "tuple[str, tuple[Step, ...]]"
"""(topic, steps): where a field is, once the head's own topic is known."""


class PayloadReader:
    """The points of one head, prepared once so that a message costs no parsing of pointers.

    Remembers what states said that the profile keeps (`missing = "unchanged"`), and the newest sample's own time.
    """

    def __init__(self, points: PayloadPoints, topic: str = "") -> None:
        self._points = points
        self._values = captures(points.topic, topic) if topic else {}
        self._topic = topic
        self._value = None if points.value is None else self._lookup(FieldPoint(points.value, points.value_topic))
        self._sequence = None if points.sequence is None else pointer_tokens(points.sequence)
        self._order = precedence(points.precedence)
        ordered = sorted(points.states, key=lambda state: not state.gate)
        self._states = tuple(_StateField(state, *self._lookup(state.field)) for state in ordered)
        self._when = tuple((pointer_tokens(when.pointer), when) for when in points.when)
        self._sentinels = Sentinels(points.sentinels)
        self._unit = None if points.unit_field is None else self._lookup(points.unit_field)
        self._unit_words = dict(points.unit_words)
        self._unit_now: UnitOfValue | None = None
        self._newest = -math.inf
        self.kinds = self._kinds()

    def _lookup(self, field: FieldPoint) -> Lookup:
        topic = filled(field.topic, self._values) if field.topic and self._topic else self._topic
        return topic, pointer_tokens(field.pointer)

    def _kinds(self) -> dict[str, str]:
        """Topic -> how its payloads are read."""
        points = self._points
        found: dict[str, str] = {}
        for field in points.fields():
            topic, _ = self._lookup(field)
            found.setdefault(topic, field.payload or points.payload)
        if points.own_topic_speaks:
            found.setdefault(self._topic, points.payload)
        return found

    def availability(self, topic: str, payload: bytes) -> bool | None:
        """Tell whether this message says that the head is there; None if it says nothing of that."""
        said = self._points.availability
        if said is None:
            return None
        at, steps = self._lookup(said.field)
        if at != topic:
            return None
        for kind in (said.field.payload or self._points.payload, "text"):
            try:
                found = as_text(found_at(documents(payload, kind)[0], steps if kind != "text" else ()))
            except (GarbledPayloadError, IndexError):
                continue
            if found in said.online:
                return True
            if found in said.offline:
                return False
        return None

    def read(self, document: Json, topic: str | None = None, *, retained: bool = False) -> Heard | None:
        """Return what the message says of this head; None if it says nothing new of it.

        Args:
            document: one of `documents`.
            topic: where it came; None for the head's own.
            retained: kept by the broker from before: only states that allow it are believed, never an alarm.
        """
        topic = self._topic if topic is None else topic
        if any(not holds(document, steps, when) for steps, when in self._when):
            return None
        said, complete, spoke = self._state(document, topic, retained=retained)
        if retained:
            return self._kept(said, spoke=spoke)
        if (
            self._unit is not None
            and self._unit[0] == topic
            and (found := found_at(document, self._unit[1])) is not ABSENT
        ):
            self._unit_now = self._unit_words.get(as_text(found))
        found = self._value_in(document, topic)
        if found is ABSENT:
            return self._without_value(document, said, complete, spoke=spoke)
        value, gas, reason, word = self._number(found)
        raw: float | str = printable(as_text(found))
        if not reason and gas is None and isinstance(found, int | float):
            raw = float(found)
        if self._unit is not None and self._unit_now is None and not word:
            value, reason = math.nan, "unknown-unit"
        return Heard(
            value=value,
            gas=gas,
            told=said,
            complete=complete,
            raw=raw,
            sequence=self._sequence_in(document),
            reason=reason,
            word=word,
            unit=self._unit_now,
            late=self._late(document),
        )

    def registers(self, document: Json) -> Words | None:
        """Return the registers that the message carries; None if it carries none for this head.

        Raises:
            GarbledPayloadError: if what should be registers is none.
        """
        carrier = self._points.carrier
        if carrier is None or any(not holds(document, steps, when) for steps, when in self._when):
            return None
        found = found_at(document, pointer_tokens(carrier.pointer))
        if found is ABSENT:
            return None
        try:
            return Words(bytes_of(found, carrier.form))
        except (ValueError, struct.error, binascii.Error, TypeError):
            raise GarbledPayloadError(f"no {carrier.form} of registers") from None

    # --- details

    def _value_in(self, document: Json, topic: str) -> object:
        if self._value is None or self._value[0] != topic:
            return ABSENT
        found = found_at(document, self._value[1])
        if found is not ABSENT and found is not None:
            return found
        match self._points.missing:
            case "zero" if isinstance(found_at(document, self._value[1][:-1]), dict):
                return 0
            case "fault":
                return None
            case _:
                return found

    def _without_value(self, document: Json, said: Told, complete: bool, *, spoke: bool) -> Heard | None:
        """A message that speaks of states only: a head of words says gas by it, one of numbers only what is wrong."""
        worse = bool(said.alarms) or said.status is not Status.MEASURING
        if not (spoke if self._points.value is None else worse and spoke):
            return None
        return Heard(None, None, said, complete, "", self._sequence_in(document), late=self._late(document))

    def _kept(self, said: Told, *, spoke: bool) -> Heard | None:
        if not spoke or said.status is Status.MEASURING:
            return None
        return Heard(None, None, said._replace(alarms=0), True, "")

    def _sequence_in(self, document: Json) -> str | None:
        found = None if self._sequence is None else found_at(document, self._sequence)
        return as_text(found) if isinstance(found, str | int | float) else None

    def _late(self, document: Json) -> bool:
        """Tell whether this sample is older than the newest. A time from the future is used, and not remembered."""
        time = self._points.sample_time
        if time is None:
            return False
        at = seconds_of(found_at(document, pointer_tokens(time.pointer)), time)
        if at is None:
            return False
        late = 0 < self._newest - at <= OUT_OF_ORDER_S
        if not late:
            self._newest = at
        return late

    def _number(self, found: object) -> tuple[float, bool | None, str, str | None]:
        """Return (value, yes or no, reason, sentinel's word). A yes-or-no head may say 1 and 0."""
        points = self._points
        texts = points.text_numbers or (points.value_payload or points.payload) == "text"
        if points.says_yes_or_no:
            said = None if isinstance(found, str) and not texts else YES_NO.get(as_text(found).lower())
            return (math.nan, said, "" if said is not None else "nan", None)
        number = as_number(found, texts=texts)
        if number is None:
            return math.nan, None, "nan", None
        if (word := self._sentinels.word(number)) is not None:
            return math.nan, None, "", word
        try:
            value = number * points.scale + points.offset
        except OverflowError:
            return math.nan, None, "nan", None
        return (value, None, "", None) if math.isfinite(value) else (math.nan, None, "nan", None)

    def _state(self, document: Json, topic: str, *, retained: bool) -> tuple[Told, bool, bool]:
        """Return (what is told, nothing missing, whether this message speaks of a state).

        For a head of words only that a state must be one that can say "gas", or say now that it does not measure:
        another is no sample.
        """
        said, complete, spoke = NOTHING_TOLD, True, False
        numbers = self._points.value is not None
        for field in self._states:
            here = field.topic == topic
            found = found_at(document, field.steps) if here else ABSENT
            if found is not ABSENT and not (retained and not field.state.retained):
                field.told = told(field.state.meaning.of(scalar_of(found)), self._order)
                spoke = spoke or numbers or field.says_alarm or field.told.status is not Status.MEASURING
                now: Told | None = field.told
            else:
                now = field.without(self._order, here=here)
                complete = complete and now is not None
            if now is None:
                continue
            if field.state.gate and now.status is not Status.MEASURING:
                return Told(now.rank, now.status, now.reason, 0, now.doubtful), complete, spoke
            said = both(said, now)
        return said, complete, spoke


class _StateField:
    """One state field, and what it last said."""

    __slots__ = ("says_alarm", "state", "steps", "told", "topic")

    def __init__(self, state: PayloadState, topic: str, steps: tuple[Step, ...]) -> None:
        self.state = state
        self.topic = topic
        self.steps = steps
        self.says_alarm = bool(state.meaning.says() & set(ALARMS))
        self.told: Told | None = None

    def without(self, order: Precedence, *, here: bool) -> Told | None:
        """Return what a message means that does not have it; None where nobody knows."""
        match self.state.missing:
            case "normal":
                return self.told if not here and self.told is not None else NOTHING_TOLD
            case "last":
                return NOTHING_TOLD if self.told is None else self.told
            case "fault" if here:
                return told(("fault",), order)
            case "uncertain" if here:
                return None
            case _:
                return self.told


YES_NO: Final = {
    "true": True,
    "1": True,
    "on": True,
    "yes": True,
    "false": False,
    "0": False,
    "off": False,
    "no": False,
}
"""How a head says yes or no."""
