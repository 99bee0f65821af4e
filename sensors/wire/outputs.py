"""Relays, sirens and valves as a profile describes them: what to write, and what was read back. Knows no socket."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final

from sensors.wire.documents import GarbledPayloadError, documents, found_at
from sensors.wire.meanings import as_text
from sensors.wire.modbus import Ask, ask_write_coil, ask_write_register
from sensors.wire.payload_points import FieldPoint, pointer_tokens
from sensors.wire.places import Function, Place, Raw, Type
from sensors.wire.registers import ask_for
from sensors.wire.topics import filled
from sensors.wire.words import Stretch, raw_reader

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

    def inverted(self) -> "Habits":
        """Return the habits of an output whose "on" is this one's "off"."""
        turned = {True: False, False: True, None: None}
        return replace(self, only=turned[self.only], safe=turned[self.safe])

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

    def ask_write(self, unit: int, *, on: bool) -> Ask:
        """Return the request that brings it to this state.

        Raises:
            ForbiddenOutputError: if it must not be told that.
        """
        _, register, value = self.write(on=on)
        if self.place.function is Function.COIL:
            return ask_write_coil(unit, register, on=bool(value))
        return ask_write_register(unit, register, value)

    def ask_back(self, unit: int) -> Ask | None:
        """Return the request that reads its state back; None where it cannot be."""
        return None if self.read_back is None else ask_for(unit, Stretch(*self.read_back.span))

    def answered(self, buffer: bytes | bytearray, base: int) -> bool | None:
        """Return the state in the data of an answer to `ask_back`; None for a value that means neither."""
        if self.read_back is None:
            return None
        return self.state(raw_reader(self.read_back, (Stretch(*self.read_back.span),))(buffer, base))

    def inverted(self) -> "OutputPoint":
        """Return the output whose "on" is this one's "off": a relay that is released to alarm."""
        return replace(
            self,
            on=self.off,
            off=self.on,
            reads_on=self.reads_off,
            reads_off=self.reads_on,
            habits=self.habits.inverted(),
        )

    def state(self, raw: Raw) -> bool | None:
        """Return what a raw value read back means; None for one that means neither."""
        return _state(raw, self.reads_on, self.reads_off)


def coil(number: int) -> OutputPoint:
    """Return the plainest output there is: a coil that is read back where it was written."""
    place = Place(Function.COIL, number, Type.BOOL)
    return OutputPoint(place, 1, 0, place, (1,), (0,), Habits())


@dataclass(frozen=True, slots=True)
class MqttOutput:
    """One output of a device that speaks MQTT; topics are templates.

    Attributes:
        ask: (topic, payload) of what makes it tell its state; None where only a command does.
    """

    topic: str
    on: str
    off: str
    confirm: FieldPoint | None
    says_on: tuple[str, ...]
    says_off: tuple[str, ...]
    habits: Habits
    ask: tuple[str, str] | None = None

    def inverted(self) -> "MqttOutput":
        """Return the output whose "on" is this one's "off"."""
        return replace(
            self, on=self.off, off=self.on, says_on=self.says_off, says_off=self.says_on, habits=self.habits.inverted()
        )

    def message(self, values: Mapping[str, str], *, on: bool) -> tuple[str, bytes]:
        """Return (topic, payload).

        Raises:
            ForbiddenOutputError: if it must not be told that.
            TopicError: if a name of the topic has no value.
        """
        self.habits.allow(on=on)
        return self.commanded_on(values), (self.on if on else self.off).encode()

    def commanded_on(self, values: Mapping[str, str]) -> str:
        """Return the topic on which it is told."""
        return filled(self.topic, values)

    def question(self, values: Mapping[str, str]) -> tuple[str, bytes] | None:
        """Return (topic, payload) of what makes it tell its state; None where only a command does."""
        return None if self.ask is None else (filled(self.ask[0], values), self.ask[1].encode())

    def confirmed_on(self, values: Mapping[str, str]) -> str | None:
        """Return the topic on which it tells its state; None where it tells none."""
        return None if self.confirm is None else filled(self.confirm.topic, values)

    def state(self, payload: bytes) -> bool | None:
        """Return what a confirmation means; None for one that means neither."""
        if self.confirm is None:
            return None
        try:
            said = documents(payload, self.confirm.payload or "json")
            text = as_text(found_at(said[0], pointer_tokens(self.confirm.pointer))) if said else ""
        except GarbledPayloadError:
            return None
        return _state(text, self.says_on, self.says_off)


def _state(said: object, on: Collection[object], off: Collection[object]) -> bool | None:
    if said in on:
        return True
    return False if said in off else None
