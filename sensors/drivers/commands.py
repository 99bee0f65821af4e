"""Commands to outputs: written, read back, tried twice, never left without an answer. Knows no socket."""

from collections import deque
from collections.abc import Callable
from math import inf
from typing import Final, Protocol

from sensors.drivers.exchanges import NEVER, Counters
from sensors.wire.modbus import Ask
from sensors.wire.outputs import OutputPoint

MAX_COMMANDS: Final = 64
COMMAND_S: Final = 1.0
"""A command that could not be sent for so long (no connection) fails."""

Done = Callable[[bool | None, str], None]
"""Told once: the output's state as read back, or None and a short reason."""


class Readable(Protocol):
    """What can be read by one request: an output that is read back, or a place that only shows something."""

    def ask_back(self, unit: int) -> Ask | None:
        """Return the request; None where it cannot be read."""
        ...

    def answered(self, buffer: bytes | bytearray, base: int) -> bool | None:
        """Return what the data of an answer says; None for what means nothing."""
        ...


class Command:
    """One output to be written and read back, or (`on` None) only read.

    Attributes:
        expires: when it is given up if it could not even be sent (loop seconds).
        trusted, heard: as of a `Poll`: it is held, not failed, while the line is in doubt.
    """

    __slots__ = ("ask", "attempt", "back", "cascade", "done", "expires", "fault", "point", "sent", "unit")

    trusted: Final = True
    heard: Final = NEVER

    def __init__(self, unit: int, point: Readable, on: bool | None, done: Done, now: float) -> None:
        """Prepare it.

        Raises:
            ForbiddenOutputError: if the output must not be told that.
            ValueError: if nothing is to be written, and the output cannot be read back.
        """
        self.unit = unit
        self.point = point
        self.back = point.ask_back(unit)
        ask = point.ask_write(unit, on=on) if isinstance(point, OutputPoint) and on is not None else self.back
        if ask is None:
            raise ValueError("an output that cannot be read back")
        self.ask = ask
        self.done = done
        self.expires = now + COMMAND_S
        self.sent = NEVER
        self.attempt = 1
        self.fault = ""
        self.cascade = False


class Commands:
    """Those that wait, oldest first."""

    def __init__(self, counters: Counters) -> None:
        self.queue: deque[Command] = deque()
        self._counters = counters

    def add(self, command: Command) -> None:
        """Queue one; at the bound it fails at once."""
        self._counters.commands += 1
        if len(self.queue) >= MAX_COMMANDS:
            self.failed(command, "queue-full")
        else:
            self.queue.append(command)

    def take(self, held: Callable[[Command], bool] | None) -> Command | None:
        """Take the oldest that is not held."""
        if held is None:
            return self.queue.popleft()
        command = next((each for each in self.queue if not held(each)), None)
        if command is not None:
            self.queue.remove(command)
        return command

    def answered(self, command: Command, buffer: bytearray, base: int) -> None:
        """A write was echoed: ask next what the output really does. A read: tell it."""
        if not command.ask.echo:
            state = command.point.answered(buffer, base)
            command.done(state, "unknown-state" if state is None else "")
        elif command.back is None:
            command.done(None, "no-read-back")
        else:
            command.ask = command.back
            command.attempt = 1
            command.fault = ""
            self.queue.appendleft(command)

    def again(self, command: Command, reason: str) -> None:
        """One attempt got no answer: try once more, ahead of all others, or give up."""
        if command.attempt == 1:
            self._counters.retries += 1
            command.attempt = 2
            command.fault = ""
            self.queue.appendleft(command)
        else:
            self.failed(command, reason)

    def failed(self, command: Command, reason: str) -> None:
        """Tell that it could not be done."""
        self._counters.commands_failed += 1
        command.done(None, reason)

    def expires(self) -> float:
        """When the oldest is given up if there still is no connection (loop seconds)."""
        return self.queue[0].expires if self.queue else inf

    def expire(self, now: float, reason: str) -> None:
        """Without a connection: give up those that waited too long."""
        while self.queue and self.queue[0].expires <= now:
            self.failed(self.queue.popleft(), reason)

    def stop(self) -> None:
        """Fail all that wait."""
        waiting, self.queue = self.queue, deque()
        for command in waiting:
            self.failed(command, "stopped")
