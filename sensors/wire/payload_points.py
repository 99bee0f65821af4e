"""Where a head that speaks MQTT keeps its value and its state: which topic, which field, which words."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from sensors.sentences import Sentence
from sensors.wire.meanings import ALARMS, Meaning
from sensors.wire.places import Function, Raw
from sensors.wire.points import AnalogueHead, ModbusPoints
from sensors.wire.sparkplug import topics_of
from sensors.wire.topics import DEFAULT, UnknownNameError, captures, filled, names
from sensors.wire.units import UnitOfValue

SPARKPLUG: Final = "sparkplug"
KINDS: Final = ("json", "text", "list", "lines", SPARKPLUG)
"""How a payload is read: one JSON document; plain text; a JSON list of samples; several JSON documents in a row; the
metrics of Sparkplug B, as a document of their names."""

Step: TypeAlias = "str | tuple[str, str]"
"""One step of a pointer: a key or index, or (key, value): the first item of a list whose key has that value."""

_CHOICE: Final = re.compile(r"\[([^=\[\]]+)=([^\[\]]*)\]")


def pointer_tokens(pointer: str) -> tuple[Step, ...]:
    """Take a JSON pointer apart: RFC 6901, and ``[key=value]`` for the item of a list that has this value.

    Raises:
        ValueError: if it is neither empty nor starts with ``/``, or has a ``~`` not followed by 0 or 1.
    """
    if pointer == "":
        return ()
    if not pointer.startswith("/"):
        raise ValueError(Sentence("it begins with a slash: {right}", right=f"/{pointer}"))
    tokens = pointer[1:].split("/")
    for token in tokens:
        if "~" in token.replace("~0", "").replace("~1", ""):
            raise ValueError(Sentence("`~` is written `~0` in it"))
    plain = [token.replace("~1", "/").replace("~0", "~") for token in tokens]
    return tuple((match[1], match[2]) if (match := _CHOICE.fullmatch(token)) else token for token in plain)


def pointer_to(name: str) -> str:
    """Return the JSON pointer to this key of a document, whatever signs it has."""
    return "/" + name.replace("~", "~0").replace("/", "~1")


@dataclass(frozen=True, slots=True)
class FieldPoint:
    """One field of what a device publishes.

    Attributes:
        pointer: JSON pointer; ``""`` is the whole payload.
        topic: template or topic; empty for the head's own.
        payload: one of `KINDS`; empty for the head's own.
    """

    pointer: str = ""
    topic: str = ""
    payload: str = ""


@dataclass(frozen=True, slots=True)
class PayloadState:
    """One field in which the head says what it is doing.

    Attributes:
        missing: what a message without it means: ``uncertain`` (raises alarms, ends none), ``unchanged`` (as last
            said, before that uncertain), ``last`` (as last said, before that normal), ``normal`` or ``fault``.
        retained: whether what the broker kept is believed (never for an alarm).
        gate: while it says anything but "measuring", nothing else the device says is believed.
    """

    field: FieldPoint
    meaning: Meaning
    missing: str = "uncertain"
    retained: bool = False
    gate: bool = False


@dataclass(frozen=True, slots=True)
class Availability:
    """A field by which the device, or its broker for it, says that it is there. Never a sign of fresh gas."""

    field: FieldPoint
    online: tuple[str, ...] = ("online",)
    offline: tuple[str, ...] = ("offline",)


@dataclass(frozen=True, slots=True)
class When:
    """A condition for a message to be this head's at all: the field is one of these, or is not there."""

    pointer: str
    equals: tuple[str, ...] = ()
    absent: bool = False


@dataclass(frozen=True, slots=True)
class SampleTime:
    """The device's own time of a sample. Only its order is used: clocks in the field are wrong."""

    pointer: str
    form: str = "rfc3339"


@dataclass(frozen=True, slots=True)
class Carrier:
    """Registers inside a payload, as a bridge sends them.

    Attributes:
        form: ``list`` of register values, ``base64`` or ``hex`` text of their bytes, high byte first.
        first: wire address of the first one.
    """

    pointer: str
    form: str
    first: int
    function: Function
    points: ModbusPoints


@dataclass(frozen=True, slots=True)
class PayloadPoints:
    """Where a head's messages keep its value and its state.

    Attributes:
        value: JSON pointer to the value; ``""`` is the whole payload; None for a head that only says words.
        value_topic, value_payload: where the value differs from the head's own topic and payload.
        unit_of_value: unit of the value after `scale` and `offset`; (field, words) where a field tells it.
        scale, offset: value = number x scale + offset.
        full_scale: at or above it the head is over range; same unit; None is 100 %LEL for a head in %LEL, and for
            others that nobody knows.
        zero_drift: how far below zero is still zero; same unit; None is 5 %LEL.
        trip: for a head that says only yes or no: the least value that a "yes" stands for; same unit.
        states: the fields that tell what the head is doing.
        sequence: pointer to a field that differs in every new sample (counter or time); None where there is none.
        topic: template of the head's own topic.
        text_numbers: numbers may come as texts.
        missing: what a message without the value means: ``ignore`` (it is no sample), ``zero`` (if the object that
            would hold it is there), ``fault``.

    Raises:
        ValueError: if a pointer or a template is malformed, or a number is not finite, or the scale is zero.
    """

    value: str | None
    unit_of_value: UnitOfValue = UnitOfValue.LEL_PCT
    scale: float = 1.0
    offset: float = 0.0
    full_scale: float | None = None
    zero_drift: float | None = None
    trip: float | None = None
    states: tuple[PayloadState, ...] = ()
    sequence: str | None = None
    value_topic: str = ""
    value_payload: str = ""
    unit_field: FieldPoint | None = None
    unit_words: tuple[tuple[str, UnitOfValue], ...] = ()
    sentinels: tuple[tuple[Raw, Raw, str], ...] = ()
    trips: tuple[tuple[str, float], ...] = ()
    precedence: tuple[str, ...] = ()
    head: AnalogueHead | None = None
    topic: str = DEFAULT
    payload: str = "json"
    text_numbers: bool = False
    missing: str = "ignore"
    when: tuple[When, ...] = ()
    availability: Availability | None = None
    sample_time: SampleTime | None = None
    carrier: Carrier | None = None
    frozen_after_s: float | None = None
    drift_warning: float | None = None

    def __post_init__(self) -> None:
        """Refuse what could never be read."""
        for pointer in self._pointers():
            pointer_tokens(pointer)
        known = names(self.topic)
        for topic in (field.topic for field in self.fields() if field.topic):
            if unknown := names(topic) - known:
                name = min(unknown)
                raise UnknownNameError(
                    Sentence("{name} of {topic} is not in {other}", name=name, topic=topic, other=self.topic)
                )
        numbers = (self.scale, self.offset, self.zero_drift or 0.0, self.full_scale or 0.0, self.trip or 0.0)
        if not all(map(math.isfinite, numbers)) or self.scale == 0:
            what = Sentence("scale, offset, drift, full scale and trip are finite numbers, and the scale is not zero")
            raise ValueError(what)

    @property
    def says_alarm(self) -> bool:
        """Whether a state of it can say "gas"."""
        return any(state.meaning.says() & set(ALARMS) for state in self.states)

    @property
    def says_yes_or_no(self) -> bool:
        """Whether its value is no number: `trip` is set, and no state of it has an alarm word that trip could mean."""
        return self.trip is not None and not self.says_alarm

    @property
    def top(self) -> float | None:
        """Full scale; None is 100 %LEL; infinite where nobody knows, which is so for heads in ppm or %vol."""
        if self.full_scale is not None or self.head is not None or self.unit_of_value is UnitOfValue.LEL_PCT:
            return self.full_scale
        return math.inf

    def fields(self) -> tuple[FieldPoint, ...]:
        """Every field that is listened to, the value first."""
        found = [] if self.value is None else [FieldPoint(self.value, self.value_topic, self.value_payload)]
        found += [state.field for state in self.states]
        found += [field for field in (self.unit_field, self.availability and self.availability.field) if field]
        return tuple(found)

    def topics(self, topic: str) -> tuple[str, ...]:
        """Return every topic to subscribe to, the head's own first.

        Raises:
            TopicError: if the head's own topic does not fit the profile's template.
        """
        values = captures(self.topic, topic)
        if self.payload == SPARKPLUG:
            return topics_of(topic)
        found = [filled(field.topic, values) if field.topic else topic for field in self.fields()]
        return tuple(dict.fromkeys([topic, *found] if self.own_topic_speaks else found))

    @property
    def own_topic_speaks(self) -> bool:
        """Whether anything is read from the head's own topic itself."""
        return self.carrier is not None or any(not field.topic for field in self.fields())

    def on_channel(self, values: Mapping[str, str]) -> "PayloadPoints":
        """Return these points with ``{channel}`` in their pointers filled in."""

        def put(pointer: str) -> str:
            for name, value in values.items():
                pointer = pointer.replace("{" + name + "}", value)
            return pointer

        return replace(
            self,
            value=None if self.value is None else put(self.value),
            states=tuple(
                replace(state, field=replace(state.field, pointer=put(state.field.pointer))) for state in self.states
            ),
            when=tuple(
                replace(when, pointer=put(when.pointer), equals=tuple(put(text) for text in when.equals))
                for when in self.when
            ),
        )

    def _pointers(self) -> list[str]:
        found = [
            self.sequence or "",
            *(field.pointer for field in self.fields()),
            *(when.pointer for when in self.when),
        ]
        return found + [point.pointer for point in (self.sample_time, self.carrier) if point is not None]
