"""A siren, valve or relay: brought to a state, read back, put right again. Knows no alarm and no wire."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Protocol, TypeAlias

from sensors.stamps import SECOND, Clock, Stamp

CHECK_S = 2.0
"""How often the real state is read back, so that what was powered off or switched by others is noticed."""

RETRY_S = (0.2, 1.0)
"""Pauses after a failed write or a wrong read-back; the last one repeats for as long as it stays wrong."""

CLOSE_S = 0.5
CLOSE_LOOKS = 240
"""How often one that did not stay as it was told is read back, and for how many times: a contact that lets go by itself
is held by being told again."""

FRESH_S = 3.0
"""A read-back older than this proves nothing about now: asked again, the output is told again."""

ANSWER_MAX_S = 1.0
"""A line that has not called back by then, write and read-back together, is taken to have lost the request."""

State: TypeAlias = bool | None
"""On, off, or not known."""

Done = Callable[[State, str], None]
"""Called once with the state as read back (None: not known) and a reason, empty when all went well."""

Report = Callable[[str, State, str], None]
"""Takes output id, the state read back and a reason, empty when the state is the wanted one."""


class OutputWire(Protocol):
    """What an output hangs on. Writes overtake polls; requests of one output keep their order."""

    def allows(self, on: bool) -> bool:
        """Whether it may be told this at all: some valves only close, and a person opens them again."""
        ...

    def write(self, on: bool, done: Done) -> None:
        """Write and read back, then call `done`, perhaps at once."""
        ...

    def read(self, done: Done) -> bool:
        """Read it, then call `done`, perhaps at once. False: it cannot be asked, only told again."""
        ...


class LocalOutput:
    """One output. It is as it was last read, never as it was told: only a read-back confirms.

    Until the engine has said what is wanted (`set`), it is read and reported but never written, so that a restart does
    not silence a siren that sounds.

    Attributes:
        wanted: what the engine asked for; None until it did.
        on: the state last read back; None when unknown.
        seen: when `on` was last read back; None before the first time.
    """

    def __init__(
        self,
        id: str,  # noqa: A002 - the noun
        wire: OutputWire,
        report: Report,
        clock: Clock,
        check_s: float = CHECK_S,
    ) -> None:
        """`report` is called after every read-back and every failure."""
        self.id = id
        self.wanted: State = None
        self.on: State = None
        self.seen: Stamp | None = None
        self._wire = wire
        self._report = report
        self._clock = clock
        self._check_s = check_s
        self._round = 0  # a later request voids the answers to earlier ones
        self._failures = 0
        self._close_looks = 0
        self._given_up = False
        self._left = False
        self._timer: asyncio.TimerHandle | None = None  # the end of a wait for the wire, or of a pause; None at rest

    def set(self, on: bool) -> None:
        """Bring the output to this state now. Asking again for what is under way or was just confirmed does nothing."""
        if self._given_up or self._left:
            return
        if on == self.wanted and (self._timer is not None or (self.on == on and self._fresh())):
            return
        self.wanted = on
        self._failures = 0
        self._write()

    def leave(self) -> None:
        """Bring it to rest before it is forgotten: from now on nobody tells it anything else, and it tells nobody."""
        self._report = lambda _id, _state, _reason: None
        self.set(False)
        self._left = True

    def beat(self) -> None:
        """Tell it once more: whatever holds it lets go when this stays out."""
        if self._timer is None and not self._given_up:
            self._write()

    def heard(self, state: State) -> None:
        """It said its state: after a command, however late, or unasked, when it was switched by others or started anew.

        What is not as wanted is put right.
        """
        if not self._given_up and self._settle(state, "") and self.wanted is not None and state != self.wanted:
            self._again()

    def look(self) -> None:
        """Read it now rather than at the next round: its wire is back."""
        if self._timer is None and not self._given_up and not self._wire.read(self._in_turn(self._checked)):
            self._write()

    def give_up(self) -> None:
        """Another is in its place, under its name: it says and does nothing any more, whoever still calls it.

        What was set before its run began, or after it ended, would otherwise be tried again and again for good.
        """
        self._given_up = True
        self._round += 1
        self._stop_timer()

    async def run(self) -> None:
        """Read the output back every so often and put it right, until cancelled. Leaves the output as it is."""
        try:
            while True:
                self.look()
                await asyncio.sleep(self._pause())
        finally:
            self._round += 1
            self._stop_timer()

    def _pause(self) -> float:
        if not self._close_looks:
            return self._check_s
        self._close_looks -= 1
        return min(CLOSE_S, self._check_s)

    def _checked(self, state: State, reason: str) -> None:
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
            self._stop_timer()
        elif self._wire.allows(self.wanted):
            self._wire.write(self.wanted, self._in_turn(self._confirmed))
        elif not self._wire.read(self._in_turn(self._by_hand)):
            self._stop_timer()

    def _by_hand(self, state: State, reason: str) -> None:
        """It must not be told what is wanted: it is looked at, and whether it agrees is left to people."""
        if state is None:
            self._failed(reason)
        else:
            self._settle(state, "" if state == self.wanted else "by-hand")

    def _confirmed(self, state: State, reason: str) -> None:
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

        def done(state: State, reason: str) -> None:
            if turn == self._round:
                then(state, reason)

        return done

    def _fresh(self) -> bool:
        return self.seen is not None and self._clock.now().mono - self.seen.mono <= FRESH_S * SECOND

    def _settle(self, state: State, reason: str) -> bool:
        """Take over what was read, and tell. False when the engine, being told, has asked for something else."""
        self._stop_timer()
        turn = self._round
        if self.wanted is not None and self.on is self.wanted and state is (not self.wanted):
            self._close_looks = CLOSE_LOOKS
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
