"""Places that show a trouble by a number or a word: a contact, a voltage, a charge. Knows no socket and no clock."""

from dataclasses import dataclass
from typing import TypeAlias

from sensors.wire.documents import GarbledPayloadError, documents, found_at
from sensors.wire.meanings import as_text
from sensors.wire.modbus import Ask
from sensors.wire.payload_points import pointer_tokens
from sensors.wire.places import Place
from sensors.wire.registers import ask_for
from sensors.wire.words import Stretch, raw_reader

Shown: TypeAlias = "float | str"


@dataclass(frozen=True, slots=True)
class Sign:
    """What of all that can be shown is the trouble; exactly one of the three is set.

    Attributes:
        below, above: numbers beyond these.
        when: these numbers or words, as JSON writes them.
    """

    below: float | None = None
    above: float | None = None
    when: tuple[str, ...] = ()

    def shows(self, shown: Shown) -> bool | None:
        """Tell whether this is the trouble; None for a word where a number is needed."""
        number = _number(shown)
        if self.when:
            return as_text(shown) in self.when or (number is not None and number in map(_number, self.when))
        if number is None:
            return None
        return number < self.below if self.below is not None else self.above is not None and number > self.above


@dataclass(frozen=True, slots=True)
class RegisterGauge:
    """A place of a Modbus unit; its number is raw x scale + offset."""

    place: Place
    sign: Sign
    scale: float = 1.0
    offset: float = 0.0

    def ask_back(self, unit: int) -> Ask:
        """Return the request that reads it."""
        return ask_for(unit, Stretch(*self.place.span))

    def answered(self, buffer: bytes | bytearray, base: int) -> bool | None:
        """Return whether the data of an answer to `ask_back` shows the trouble."""
        raw = raw_reader(self.place, (Stretch(*self.place.span),))(buffer, base)
        return self.sign.shows(raw * self.scale + self.offset)


@dataclass(frozen=True, slots=True)
class PayloadGauge:
    """A value in the messages of a topic. `payload` is ``json`` or ``text``."""

    topic: str
    pointer: str
    payload: str
    sign: Sign
    scale: float = 1.0
    offset: float = 0.0

    def said(self, payload: bytes) -> bool | None:
        """Return whether a message shows the trouble; None for one that does not speak of it."""
        try:
            document = documents(payload, self.payload)
            value = found_at(document[0], pointer_tokens(self.pointer)) if document else None
        except GarbledPayloadError:
            return None
        if isinstance(value, bool):
            return self.sign.shows(as_text(value))
        if isinstance(value, int | float):
            return self.sign.shows(value * self.scale + self.offset)
        return self.sign.shows(value) if isinstance(value, str) else None


def _number(shown: Shown) -> float | None:
    try:
        return float(shown)
    except ValueError:
        return None
