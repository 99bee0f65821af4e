"""From what a head should show to the messages that say so, through its profile: `sensors.wire` backwards."""

import base64
import json
import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from sensors.wire.conversion import Conversion, Measure, conversion
from sensors.wire.payload_points import SPARKPLUG, FieldPoint, PayloadPoints, pointer_tokens
from sensors.wire.topics import captures, filled
from sensors.wire.units import Basis
from sensors.wire.words import Stretch
from simulator.edge_node import lifetime
from simulator.sayings import UnsayableError, Wanted, raw_saying
from simulator.spoken_registers import inside, preferred, registers


def payloads(points: PayloadPoints, topic: str, basis: Basis, wanted: Wanted) -> tuple[tuple[str, bytes], ...]:
    """Return the messages, topic and payload, by which this head shows what is wanted.

    Raises:
        UnsayableError: if the profile has no way of saying it.
    """
    return _Speech(points, topic).messages(basis, wanted)


def availability(points: PayloadPoints, topic: str, *, there: bool) -> tuple[str, bytes] | None:
    """Return the message by which the head, or its broker for it, says that it is there or not; None without one."""
    if points.availability is None:
        return None
    said = points.availability
    speech = _Speech(points, topic)
    speech.say(said.field, (said.online if there else said.offline)[0])
    return speech.whole()[0]


class _Speech:
    """The documents of one head, one for each topic, as they are being written."""

    def __init__(self, points: PayloadPoints, topic: str) -> None:
        self._points = points
        self._topic = topic
        self._values = captures(points.topic, topic)
        self._documents: dict[str, Any] = {}
        self._kinds: dict[str, str] = {}

    def messages(self, basis: Basis, wanted: Wanted) -> tuple[tuple[str, bytes], ...]:
        points = self._points
        for when in points.when:
            if not when.absent:
                self.say(FieldPoint(when.pointer), _typed(when.equals[0]))
        if points.carrier is not None:
            self._carry(basis, wanted)
            return self.whole()
        said = self._states(wanted.word)
        if points.value is not None:
            self.say(
                FieldPoint(points.value, points.value_topic, points.value_payload),
                self._value(basis, wanted, said=said),
            )
        elif not said:
            raise UnsayableError(f"this profile has no way of saying {wanted.word!r}")
        if points.unit_field is not None:
            self.say(points.unit_field, preferred(points.unit_words)[0])
        if points.sequence is not None:
            self.say(FieldPoint(points.sequence), wanted.beat)
        return self.whole()

    def say(self, at: FieldPoint, value: object) -> None:
        """Put a value where this field is."""
        topic = filled(at.topic, self._values) if at.topic else self._topic
        self._kinds.setdefault(topic, at.payload or self._points.payload)
        steps = pointer_tokens(at.pointer)
        self._documents[topic] = _put(self._documents.get(topic), steps, value)

    def whole(self) -> tuple[tuple[str, bytes], ...]:
        """Return what was written, each topic once; the value's last, so that states are known when it comes."""
        if self._points.payload == SPARKPLUG:
            return lifetime(self._topic, self._documents[self._topic])
        value = filled(self._points.value_topic, self._values) if self._points.value_topic else self._topic
        topics = sorted(self._documents, key=lambda topic: topic == value)
        return tuple((topic, _payload(self._documents[topic], self._kinds[topic])) for topic in topics)

    def _carry(self, basis: Basis, wanted: Wanted) -> None:
        carrier = self._points.carrier
        if carrier is None:
            return
        image = registers(carrier.points, basis, wanted)
        last = max(image.cells[carrier.function])
        data = image.words([Stretch(carrier.function, carrier.first, last - carrier.first + 1)])
        match carrier.form:
            case "list":
                carried: object = list(struct.unpack(f">{len(data) // 2}H", data))
            case "base64":
                carried = base64.b64encode(data).decode()
            case _:
                carried = data.hex()
        self.say(FieldPoint(carrier.pointer), carried)

    def _states(self, word: str) -> bool:
        said = word == "measuring"
        for state in self._points.states:
            raw = None if said else raw_saying(state.meaning, word)
            said = said or raw is not None
            if raw is None:
                raw = raw_saying(state.meaning, "measuring") or raw_saying(state.meaning, "doubtful")
            if raw is not None:
                self.say(state.field, _typed(raw) if isinstance(raw, str) else raw)
        return said

    def _value(self, basis: Basis, wanted: Wanted, *, said: bool) -> object:
        points = self._points
        sentinel = next((low for low, _, word in points.sentinels if word == wanted.word), None)
        if sentinel is not None and not said:
            return sentinel
        if points.says_yes_or_no:
            if not said:
                raise UnsayableError(f"this profile has no way of saying {wanted.word!r}")
            return wanted.lel_pct > 0
        unit = preferred(points.unit_words)[1] if points.unit_field is not None else points.unit_of_value
        measure = Measure(0.0, points.top, points.zero_drift, points.trip, dict(points.trips), points.head)
        found = conversion(measure, unit, 1.0, basis, None)
        number = (wanted.lel_pct - found.offset) / found.scale
        if not said:
            number = self._unsaid(found, wanted.word)
        raw = round((number - points.offset) / points.scale, 6)
        return f"{raw:g}" if points.text_numbers else raw

    def _unsaid(self, found: Conversion, word: str) -> float:
        """The number that itself says the word: a current outside the head's range, or full scale."""
        head = self._points.head
        for low, high, said in head.bands if head is not None else ():
            if said == word:
                return inside(low, high)
        if word == "over_range" and found.span.full_scale < math.inf:
            return (found.span.full_scale - found.offset) / found.scale
        raise UnsayableError(f"this profile has no way of saying {word!r}")


def _typed(text: str) -> object:
    """A word as JSON would have it: true, 3, or a text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, bool | int | float) else text


def _put(document: object, steps: Sequence[str | tuple[str, str]], value: object) -> object:
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if isinstance(step, tuple):
        items = list(document) if isinstance(document, list) else []
        mine = next((item for item in items if item.get(step[0]) == _typed(step[1])), None)
        if mine is None:
            mine = {step[0]: _typed(step[1])}
            items.append(mine)
        mine.update(_mapping(_put(mine, rest, value)))
        return items
    if step.isdigit() and not isinstance(document, dict):
        items = list(document) if isinstance(document, list) else []
        items += [None] * (int(step) + 1 - len(items))
        items[int(step)] = _put(items[int(step)], rest, value)
        return items
    found = dict(_mapping(document))
    found[step] = _put(found.get(step), rest, value)
    return found


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _payload(document: object, kind: str) -> bytes:
    match kind:
        case "text":
            text = document if isinstance(document, str) else json.dumps(document)
            return text.encode()
        case "list":
            return json.dumps([document]).encode()
        case _:
            return json.dumps(document).encode()
