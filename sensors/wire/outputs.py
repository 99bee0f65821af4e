"""Relays, sirens and valves as a profile describes them: what to write, and what was read back. Knows no socket."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sensors.wire.documents import GarbledPayloadError, documents, found_at
from sensors.wire.meanings import as_text
from sensors.wire.payload_points import FieldPoint, pointer_tokens
from sensors.wire.points import Function, Place, Raw
from sensors.wire.topics import filled

WRITES: Final = {Function.COIL: 5, Function.HOLDING: 6}
"""Function code that writes one cell of a table; the others cannot be written."""


class ForbiddenOutputError(ValueError):
    """The device must not be told this: a valve that only closes, a value that toggles."""


@dataclass(frozen=True, slots=True)
class Habits:
    """How an output behaves, whatever the wire.

    Attributes:
        only: the one state it can be told; None for both.
        safe: the state that is safe when in doubt; None where nobody says.
        pulse_s: it falls back by itself after this, by design; None for one that holds.
        stops_after_s: it stops by itself after this although it should hold, so it is to be told again; None never.
    """

    only: bool | None = None
    safe: bool | None = None
    pulse_s: float | None = None
    stops_after_s: float | None = None

    def allow(self, *, on: bool) -> None:
        """Raise `ForbiddenOutputError` for the state that it must not be told."""
        if self.only is not None and on is not self.only:
            raise ForbiddenOutputError(f"this output can only be switched {'on' if self.only else 'off'}")


@dataclass(frozen=True, slots=True)
class OutputPoint:
    """One output of a Modbus device.

    Attributes:
        on, off: what is written.
        read_back: where its state is read; None where it cannot be.
        reads_on, reads_off: raw values of those states there.
    """

    place: Place
    on: int
    off: int
    read_back: Place | None
    reads_on: tuple[int, ...]
    reads_off: tuple[int, ...]
    habits: Habits

    def write(self, *, on: bool) -> tuple[int, int, int]:
        """Return (function code, wire address, value).

        Raises:
            ForbiddenOutputError: if it must not be told that.
        """
        self.habits.allow(on=on)
        return WRITES[self.place.function], self.place.register, self.on if on else self.off

    def state(self, raw: Raw) -> bool | None:
        """Return what a raw value read back means; None for one that means neither."""
        return True if raw in self.reads_on else False if raw in self.reads_off else None


@dataclass(frozen=True, slots=True)
class MqttOutput:
    """One output of a device that speaks MQTT; topics are templates."""

    topic: str
    on: str
    off: str
    confirm: FieldPoint | None
    says_on: tuple[str, ...]
    says_off: tuple[str, ...]
    habits: Habits

    def message(self, values: Mapping[str, str], *, on: bool) -> tuple[str, bytes]:
        """Return (topic, payload).

        Raises:
            ForbiddenOutputError: if it must not be told that.
            TopicError: if a name of the topic has no value.
        """
        self.habits.allow(on=on)
        return filled(self.topic, values), (self.on if on else self.off).encode()

    def confirmed_on(self, values: Mapping[str, str]) -> str | None:
        """Return the topic on which it tells its state; None where it tells none."""
        return None if self.confirm is None else filled(self.confirm.topic, values)

    def state(self, payload: bytes) -> bool | None:
        """Return what a confirmation means; None for one that means neither."""
        if self.confirm is None:
            return None
        try:
            said = documents(payload, self.confirm.payload or "json")
        except GarbledPayloadError:
            return None
        text = as_text(found_at(said[0], pointer_tokens(self.confirm.pointer))) if said else ""
        return True if text in self.says_on else False if text in self.says_off else None
