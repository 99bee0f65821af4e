"""Commands to outputs: written, read back, tried twice, never left without an answer; and glances. Knows no socket.

A glance is a question that nobody's safety hangs on: asked once, alone, and only in the idle gap of its line.
"""

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

MAX_GLANCES: Final = 16
GLANCE_S: Final = 10.0
"""A glance for which the line had no gap so long fails: its polls leave no room for it."""

Done = Callable[[bool | None, str], None]
"""Called once with the state as read back (None: not known) and a reason, empty when all went well."""


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
        glance: it is only asked once, when the line has nothing else to do.
        trusted, heard: as of a `Poll`: it is held, not failed, while the line is in doubt; a glance is not.
    """

    __slots__ = ("ask", "attempt", "back", "cascade", "done", "expires", "fault", "glance", "point", "sent", "unit")

    heard: Final = NEVER

    def __init__(
        self, unit: int, point: Readable, on: bool | None, done: Done, now: float, *, glance: bool = False
    ) -> None:
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
        self.expires = now + (GLANCE_S if glance else COMMAND_S)
        self.glance = glance
        self.sent = NEVER
        self.attempt = 1
        self.fault = ""
        self.cascade = False

    @property
    def trusted(self) -> bool:
        """Whether its silence would be a surprise."""
        return not self.glance


class Commands:
    """Those that wait, oldest first; glances in a queue of their own."""

    __slots__ = (
        "_counters",
        "glances",
        "queue",
    )

    def __init__(self, counters: Counters) -> None:
        self.queue: deque[Command] = deque()
        self.glances: deque[Command] = deque()
        self._counters = counters

    def add(self, command: Command, *, first: bool = False) -> None:
        """Queue one; at the bound it fails at once. A glance waits for the gap, unless it is to go `first`."""
        self._counters.commands += 1
        queue, most = (self.glances, MAX_GLANCES) if command.glance and not first else (self.queue, MAX_COMMANDS)
        if len(queue) >= most:
            self.failed(command, "queue-full")
        else:
            queue.append(command)

    def give_up_glances(self, now: float) -> None:
        """Fail the glances for which the line had no gap for too long."""
        while self.glances and self.glances[0].expires <= now:
            self.failed(self.glances.popleft(), "no-gap")

    def wait_on(self, command: Command) -> None:
        """It was taken and cannot be sent yet: first in its queue again."""
        (self.glances if command.glance else self.queue).appendleft(command)

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
        if command.attempt == 1 and not command.glance:
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
        self.look_away(reason)

    def look_away(self, reason: str) -> None:
        """There is no connection: no glance is waited for."""
        waiting, self.glances = self.glances, deque()
        for glance in waiting:
            self.failed(glance, reason)

    def stop(self) -> None:
        """Fail all that wait."""
        waiting, self.queue = self.queue, deque()
        for command in waiting:
            self.failed(command, "stopped")
        self.look_away("stopped")
