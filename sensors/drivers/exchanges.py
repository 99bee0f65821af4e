"""What can be in flight on a Modbus line: a poll of one block, or a command to one coil. Mere state."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sensors.readings import Status
from sensors.wire.modbus import Ask, ask_coil, ask_write_coil
from sensors.wire.registers import Block

NEVER: Final = float("-inf")

Done = Callable[[bool | None, str], None]
"""Told once: the coil's state as read back, or None and a short reason."""


@dataclass(slots=True)
class Counters:
    """What happened on one line since the start."""

    polls: int = 0
    answers: int = 0
    timeouts: int = 0
    retries: int = 0
    late: int = 0
    foreign: int = 0
    garbled: int = 0
    exceptions: int = 0
    connects: int = 0
    reconnects: int = 0
    refusals: int = 0
    overruns: int = 0
    probes: int = 0
    stalls: int = 0
    splits: int = 0
    commands: int = 0
    commands_failed: int = 0


class Poll:
    """One block's turn on the line.

    Attributes:
        ask: the request that is next or in flight; `part` counts the answered ones of this turn.
        words: what the earlier requests of this turn brought.
        idle: neither queued nor in flight.
        attempt: 1, or 2 for the retry.
        heard: when it last answered (loop seconds).
        failures: turns without an answer in a row.
        silent: failed often enough to be only probed.
        cascade: it expired while the line was stuck for another's sake.
        status, reason: what is published while it is silent.
    """

    __slots__ = (
        "ask",
        "attempt",
        "backoff",
        "block",
        "cascade",
        "failures",
        "garbled",
        "heard",
        "idle",
        "part",
        "probe_at",
        "reason",
        "sent",
        "silent",
        "status",
        "words",
    )

    def __init__(self, block: Block) -> None:
        self.block = block
        self.ask: Ask = block.asks[0]
        self.part = 0
        self.words = bytearray()
        self.sent = NEVER
        self.idle = True
        self.attempt = 1
        self.garbled = False
        self.cascade = False
        self.heard = NEVER
        self.failures = 0
        self.silent = False
        self.backoff = 0.0
        self.probe_at = NEVER
        self.status = Status.NO_CONTACT
        self.reason = ""

    @property
    def trusted(self) -> bool:
        """Whether its silence would be a surprise: it answered last time and has not been asked twice since."""
        return self.failures == 0 and self.attempt == 1 and self.heard != NEVER

    def begin(self) -> None:
        """Take the first request of a new turn."""
        self.idle = False
        self.rewind()

    def rewind(self) -> None:
        """Start the turn's requests again: words of two attempts are never joined."""
        self.ask = self.block.asks[0]
        self.part = 0
        self.words.clear()
        self.garbled = False

    def end(self) -> None:
        """Leave the line until the next slot."""
        self.idle = True
        self.attempt = 1
        self.garbled = False


class Command:
    """One coil to be written and read back, or only read.

    Attributes:
        expires: when it is given up if it could not even be sent (loop seconds).
    """

    __slots__ = ("ask", "attempt", "cascade", "coil", "done", "expires", "garbled", "sent", "unit")

    def __init__(self, unit: int, coil: int, on: bool | None, done: Done, expires: float) -> None:
        self.unit = unit
        self.coil = coil
        self.ask = ask_coil(unit, coil) if on is None else ask_write_coil(unit, coil, on=on)
        self.done = done
        self.expires = expires
        self.sent = NEVER
        self.attempt = 1
        self.garbled = False
        self.cascade = False

    trusted = True
    heard = NEVER

    def read_back(self) -> None:
        """The write was echoed: ask what the coil really does."""
        self.ask = ask_coil(self.unit, self.coil)
        self.attempt = 1
        self.garbled = False


Exchange = Poll | Command
