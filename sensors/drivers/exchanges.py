"""One block's turn on a Modbus line, and what is counted there. Mere state."""

from dataclasses import dataclass
from typing import Final

from sensors.quality import silence, unusable
from sensors.readings import Reading, Status
from sensors.stamps import Stamp
from sensors.wire.modbus import Ask
from sensors.wire.registers import Block

NEVER: Final = float("-inf")

BREAKS_TO_WAIT: Final = 2
"""Whose turn ended so many connections in a row has none at once on the next: the others would lose theirs."""


@dataclass(slots=True)
class Counters:
    """What happened on one line since the start. `noise` counts bytes in which no frame was found, on RTU."""

    polls: int = 0
    answers: int = 0
    timeouts: int = 0
    retries: int = 0
    late: int = 0
    foreign: int = 0
    false_ids: int = 0
    garbled: int = 0
    noise: int = 0
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
        owed: its next slot began before its turn had ended.
        attempt: 1, or 2 for the retry.
        heard: when it last answered (loop seconds).
        failures: turns without an answer in a row.
        fault: what was wrong with what came in its place, a short reason; empty where nothing came.
        silent: failed often enough to be only probed.
        broke: connections in a row that ended while it was in flight: it is asked alone then, and not again at once.
        cascade: it expired while the line was stuck for another's sake.
        status, reason: what is published while it is silent.
    """

    __slots__ = (
        "ask",
        "attempt",
        "backoff",
        "block",
        "broke",
        "cascade",
        "failures",
        "fault",
        "heard",
        "idle",
        "owed",
        "part",
        "probe_at",
        "reason",
        "sent",
        "silent",
        "status",
        "unit",
        "words",
    )

    def __init__(self, block: Block) -> None:
        self.block = block
        self.unit = block.unit
        self.ask: Ask = block.asks[0]
        self.part = 0
        self.words = bytearray()
        self.sent = NEVER
        self.idle = True
        self.owed = False
        self.attempt = 1
        self.fault = ""
        self.broke = 0
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

    @property
    def suspect(self) -> bool:
        """Whether its silence would be none: where several may be in flight it is asked alone."""
        return self.broke > 0 or self.attempt == 2 or (self.failures > 0 and self.heard != NEVER)

    def begin(self) -> None:
        """Take the first request of a new turn."""
        self.idle = False
        self.fault = ""
        if self.part:
            self.rewind()

    def rewind(self) -> None:
        """Start the turn's requests again: words of two attempts are never joined."""
        self.ask = self.block.asks[0]
        self.part = 0
        self.words.clear()
        self.fault = ""

    def end(self) -> None:
        """Leave the line until the next slot."""
        self.idle = True
        self.attempt = 1
        self.fault = ""

    def collect(self, buffer: bytearray, base: int) -> bool:
        """Keep the registers of one request of several; True if another is to be asked in this turn."""
        self.words += buffer[base : base + self.ask.third]
        self.part += 1
        more = self.part < len(self.block.asks)
        if more:
            self.ask = self.block.asks[self.part]
        return more

    def without_value(self, status: Status, reason: str, taken: Stamp) -> tuple[Reading, ...]:
        """Return one reading for each head of the block, all saying that there is none."""
        heads = self.block.heads
        if status is Status.NO_CONTACT:
            return tuple(silence(head.detector, reason, taken) for head in heads)
        return tuple(unusable(head.detector, status, reason, None, taken) for head in heads)
