"""From what a head should show to the registers or payloads that say so, through its profile: `sensors.wire` backwards.

So the simulator can play any model that has a profile. What a profile cannot say (a state without a word for it) is
refused, never made up.
"""

import base64
import json
import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sensors.wire.conversion import Conversion, Measure, conversion
from sensors.wire.image import Image
from sensors.wire.meanings import Meaning
from sensors.wire.payload_points import SPARKPLUG, FieldPoint, PayloadPoints, pointer_tokens
from sensors.wire.places import Place, Type
from sensors.wire.points import IdentityPoint, ModbusPoints, ScalePoint, UnitPoint
from sensors.wire.reader import Converter
from sensors.wire.topics import captures, filled
from sensors.wire.units import Basis, UnitOfValue
from sensors.wire.words import Stretch
from simulator.edge_node import lifetime
from simulator.sayings import UnsayableError, Wanted, raw_saying, sayable

__all__ = [
    "UnsayableError",
    "Wanted",
    "availability",
    "now",
    "payloads",
    "raw_saying",
    "registers",
    "resolution",
    "sayable",
]

PLAIN_DECIMALS: Final = 1
"""Decimals shown where a register tells them."""
PLAIN_DIVISOR: Final = 10


# --- registers


def registers(points: ModbusPoints, basis: Basis, wanted: Wanted, unit: int = 1, image: Image | None = None) -> Image:
    """Return the registers by which this head shows what is wanted; into `image` where one unit has several heads.

    Raises:
        UnsayableError: if the profile has no way of saying it.
    """
    image = image or Image()
    for place in points.places():
        if place.type is not Type.ASCII:
            image.put(place, 0, care=0)
    _beside(image, points, unit, wanted)
    said = _states(image, points, wanted.word)
    found = now(image, points, basis)
    raw = None if said else _raw_for(points, wanted.word)
    if raw is None:
        raw = _inverse(points, found, _shown(points, found, wanted, said=said))
    if points.sign is not None:
        image.put(points.sign.place, points.sign.negative[0] if raw < 0 else 0)
        raw = abs(raw)
    image.put(points.place, raw)
    return image


def now(image: Image, points: ModbusPoints, basis: Basis) -> Conversion:
    """Return the conversion that the registers tell now.

    Raises:
        UnsayableError: if they tell none.
    """
    reads = image.reads()
    converter = Converter(points, reads, basis)
    found = converter.now(image.words(reads), 0) if converter.asks else converter.fixed
    if isinstance(found, str):
        raise UnsayableError(f"the registers tell no conversion: {found}")
    return found


def resolution(points: ModbusPoints, found: Conversion) -> float:
    """%LEL for one step of the raw value; for a float what its digits allow at full scale."""
    if points.type in (Type.FLOAT32, Type.FLOAT64):
        return 1e-4
    return abs(found.scale * found.inner_scale)


def _beside(image: Image, points: ModbusPoints, unit: int, wanted: Wanted) -> None:
    """Write identity, unit, scale and whatever else stands beside the value."""
    if points.identity is not None:
        _identity(image, points.identity)
    if points.echoes_unit is not None:
        image.put(points.echoes_unit, unit)
    if isinstance(points.unit_of_value, UnitPoint):
        _unit(image, points.unit_of_value)
    if isinstance(points.scale, ScalePoint):
        image.put(points.scale.place, points.scale.codes[0][0])
    if isinstance(points.decimals, Place):
        image.put(points.decimals, PLAIN_DECIMALS)
    if points.divisor is not None:
        image.put(points.divisor, PLAIN_DIVISOR)
    if points.heartbeat is not None:
        width = points.heartbeat.place.part.width if points.heartbeat.place.part else points.heartbeat.place.type.bits
        image.put(points.heartbeat.place, wanted.beat % (1 << max(1, width)))


def _identity(image: Image, identity: IdentityPoint) -> None:
    if identity.texts:
        image.put_text(identity.place, identity.texts[0])
    else:
        image.put(identity.place, identity.equals[0], care=identity.mask)


def _unit(image: Image, unit: UnitPoint) -> None:
    if unit.words:
        image.put_text(unit.place, _preferred(unit.words)[0])
    else:
        image.put(unit.place, _preferred([(low, known) for low, _, known in unit.codes])[0])


def _preferred(pairs: Sequence[tuple[Any, UnitOfValue]]) -> tuple[Any, UnitOfValue]:
    return next((pair for pair in pairs if pair[1] is UnitOfValue.LEL_PCT), pairs[0])


def _states(image: Image, points: ModbusPoints, word: str) -> bool:
    """Write every state source: the first that can says the word, the others that all is well. True if one did."""
    said = word == "measuring"
    for state in points.states:
        raw = None if said else raw_saying(state.meaning, word, texts=state.place.type is Type.ASCII)
        said = said or raw is not None
        if raw is None:
            raw = raw_saying(state.meaning, "measuring", texts=state.place.type is Type.ASCII)
        if isinstance(raw, str):
            image.put_text(state.place, raw)
        elif raw is not None:
            image.put(state.place, raw, care=_care(state.meaning))
    return said


def _care(meaning: Meaning) -> int | None:
    """The bits that a source of bits looks at; None for one that looks at all of them."""
    if meaning.codes or meaning.words or meaning.otherwise:
        return None
    return sum({1 << bit for _, mask in (*meaning.bits, *meaning.clear_bits) for bit in range(64) if mask >> bit & 1})


def _raw_for(points: ModbusPoints, word: str) -> int | float | None:
    """Return the raw value that itself says the word: a sentinel; None where it is said otherwise."""
    return next((low for low, _, said in points.sentinels if said == word), None)


def _shown(points: ModbusPoints, found: Conversion, wanted: Wanted, *, said: bool) -> float:
    """Return the number (mA for an analogue head, else %LEL) that shows what is wanted."""
    if said:
        return (wanted.lel_pct - found.offset) / found.scale
    if points.head is not None:
        for low, high, word in points.head.bands:
            if word == wanted.word:
                return _inside(low, high)
    if wanted.word == "over_range":
        return (found.span.full_scale - found.offset) / found.scale
    raise UnsayableError(f"this profile has no way of saying {wanted.word!r}")


def _inside(low: float, high: float) -> float:
    """A current well inside a band."""
    if low == -math.inf:
        return max(high - 1.0, 0.0)
    return low + 0.5 if high == math.inf else (low + high) / 2


def _inverse(points: ModbusPoints, found: Conversion, number: float) -> int | float:
    raw = (number - found.inner_offset) / found.inner_scale
    if points.type in (Type.FLOAT32, Type.FLOAT64):
        return raw
    bits = points.part.width if points.part else max(1, points.type.bits)
    signed = points.type.value.startswith("int") and points.part is None
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed or points.sign else (0, (1 << bits) - 1)
    return min(max(round(raw), low), high)


# --- payloads


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
            self.say(points.unit_field, _preferred(points.unit_words)[0])
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
        unit = _preferred(points.unit_words)[1] if points.unit_field is not None else points.unit_of_value
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
                return _inside(low, high)
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
