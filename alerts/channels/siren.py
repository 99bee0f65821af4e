"""A siren or relay on a Modbus coil: brought to a state, read back, put right again. Knows no alarm and no wire."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Protocol, TypeAlias

from sensors.stamps import Clock, Stamp

CHECK_S = 2.0
"""How often the real state is read back, so that what was powered off or switched by others is noticed."""

RETRY_S = (0.2, 1.0)
"""Pauses after a failed write or a wrong read-back; the last one repeats for as long as it stays wrong."""

ANSWER_MAX_S = 1.0
"""A line that has not called back by then, write and read-back together, is taken to have lost the request."""

CoilState: TypeAlias = bool | None
"""On, off, or not known."""

Done = Callable[[CoilState, str], None]
"""Called once with the coil's state as read back (None: not known) and a reason, empty when all went well."""

Report = Callable[[str, CoilState, str], None]
"""Takes output id, the state read back and a reason, empty when the state is the wanted one."""


class CoilLine(Protocol):
    """A bus that can write and read single coils. Writes overtake polls; requests of one coil keep their order."""

    def write_coil(self, unit: int, coil: int, on: bool, done: Done) -> None:
        """Write one coil and read it back, then call `done`, perhaps at once."""
        ...

    def read_coil(self, unit: int, coil: int, done: Done) -> None:
        """Read one coil, then call `done`, perhaps at once."""
        ...


class SirenOutput:
    """One output. It is as it was last read, never as it was told: only a read-back confirms.

    Until the engine has said what is wanted (`set`), the coil is read and reported but never written, so that a restart
    does not silence a siren that sounds.

    Attributes:
        wanted: what the engine asked for; None until it did.
        on: the state last read back; None when unknown.
        seen: when `on` was last read back; None before the first time.
    """

    def __init__(
        self,
        id: str,  # noqa: A002 - the noun
        kind: str,
        unit: int,
        coil: int,
        line: CoilLine,
        report: Report,
        clock: Clock,
    ) -> None:
        """`kind` is ``siren`` or ``relay``; `report` is called after every read-back and every failure."""
        self.id = id
        self.kind = kind
        self.wanted: CoilState = None
        self.on: CoilState = None
        self.seen: Stamp | None = None
        self._unit = unit
        self._coil = coil
        self._line = line
        self._report = report
        self._clock = clock
        self._round = 0  # a later request voids the answers to earlier ones
        self._failures = 0
        self._timer: asyncio.TimerHandle | None = None  # the end of a wait for the line, or of a pause; None at rest

    def set(self, on: bool) -> None:
        """Bring the output to this state now. Asking again for what is under way or confirmed does nothing."""
        if on == self.wanted and (self._timer is not None or self.on == on):
            return
        self.wanted = on
        self._failures = 0
        self._write()

    async def run(self) -> None:
        """Read the output back every `CHECK_S` and put it right, until cancelled. Leaves the output as it is."""
        try:
            while True:
                if self._timer is None:
                    self._line.read_coil(self._unit, self._coil, self._in_turn(self._checked))
                await asyncio.sleep(CHECK_S)
        finally:
            self._round += 1
            self._stop_timer()

    def _checked(self, state: CoilState, reason: str) -> None:
        """A regular read-back. A sounding siren is also told again: some relay boards drop out unless they are."""
        if state is None:
            self._failed(reason)
            return
        if not (state and self.wanted):
            undisturbed = self._settle(state, reason)
            if not undisturbed or state == self.wanted:
                return
        self._write()

    def _write(self) -> None:
        if self.wanted is None:
            return
        self._line.write_coil(self._unit, self._coil, self.wanted, self._in_turn(self._confirmed))

    def _confirmed(self, state: CoilState, reason: str) -> None:
        """The read-back after a write."""
        if state is None:
            self._failed(reason)
        elif self._settle(state, reason) and state != self.wanted:
            self._again()

    def _in_turn(self, then: Done) -> Done:
        """Begin a request: its answer counts unless a later request has begun by then, or the line took too long."""
        self._round += 1
        turn = self._round
        self._start_timer(ANSWER_MAX_S, partial(self._failed, "no-answer"))

        def done(state: CoilState, reason: str) -> None:
            if turn == self._round:
                then(state, reason)

        return done

    def _settle(self, state: CoilState, reason: str) -> bool:
        """Take over what was read, and tell. False when the engine, being told, has asked for something else."""
        self._stop_timer()
        turn = self._round
        self.on = state
        if state is not None:
            self.seen = self._clock.now()
            if self.wanted is None or state == self.wanted:
                self._failures = 0
            elif not reason:
                reason = "wrong-state"
        self._report(self.id, state, reason)
        return turn == self._round

    def _failed(self, reason: str) -> None:
        self._round += 1
        if self._settle(None, reason or "no-answer") and self.wanted is not None:
            self._again()

    def _again(self) -> None:
        """Write once more after a pause."""
        pause = RETRY_S[min(self._failures, len(RETRY_S) - 1)]
        self._failures += 1
        self._start_timer(pause, self._write)

    def _start_timer(self, after_s: float, act: Callable[[], None]) -> None:
        self._stop_timer()
        self._timer = asyncio.get_running_loop().call_later(after_s, act)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
