"""A Modbus bus: who hangs on it, and the one coroutine that keeps its connection. Whose turn it is, `line` knows."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

from sensors.drivers.commands import Done, Readable
from sensors.drivers.connections import AnyInbox, NoConnectionError, Wire, connect
from sensors.drivers.exchanges import Counters
from sensors.drivers.line import Line
from sensors.drivers.names import Names
from sensors.drivers.pacer import Pacer
from sensors.drivers.quiet import Quiet
from sensors.drivers.settings import BusSettings
from sensors.profiles import Profile
from sensors.quality import Movement
from sensors.readings import DetectorId, LinkChange, Scan
from sensors.stamps import SECOND, Clock
from sensors.wire.modbus import BrokenStreamError
from sensors.wire.outputs import OutputPoint
from sensors.wire.points import ModbusPoints
from sensors.wire.registers import InstalledHead, plan
from sensors.wire.rtu import RtuInbox
from sensors.wire.units import Basis

RECONNECT_FIRST_S: Final = 0.1
RECONNECT_LAST_S: Final = 2.0
MAX_IN_FLIGHT: Final = 16

CHUNKS_S: Final = 0.02
"""A frame whose next byte takes longer than this, and the silence between two frames, has ended: USB adapters hand on
what they receive every 16 ms."""

SEGMENTS_S: Final = 0.05
"""The same behind a network."""

LATE_GUARD: Final = "late-guard"
"""Why a line that ignores ids is opened anew after a timeout; planned, so no change of the link."""


@dataclass(frozen=True, slots=True)
class ModbusHead:
    """One head on the line. `profile` is already installed (its settings applied).

    Attributes:
        turnaround_ns: rest that its unit needs on the line before and after each exchange.
    """

    detector: DetectorId
    unit: int
    profile: Profile
    basis: Basis
    turnaround_ns: int = 0


def installed_head(head: ModbusHead) -> InstalledHead:
    """Return what the wire needs of a head.

    Raises:
        TypeError: if its profile is not installed, or not one of Modbus.
    """
    if not isinstance(head.profile.points, ModbusPoints):
        raise TypeError(f"{head.detector}: profile {head.profile.id} says nothing of registers")
    return InstalledHead(head.detector, head.profile.points, head.basis)


class ModbusBus:
    """One line: polled in absolute slots, commanded in between, reconnected whenever it is lost.

    `on_scan` and `on_link` are called in the same step in which an answer arrives. `up` is False until somebody has
    answered (a line of outputs only: until connected), and again after each lost connection. Times of the callbacks
    come from `clock`; the schedule follows the event loop's clock.
    """

    __slots__ = (
        "_clock",
        "_crash",
        "_ended",
        "_has_heads",
        "_heard_at",
        "_line",
        "_loop",
        "_may_move",
        "_names",
        "_needs_answer",
        "_next_slot",
        "_on_link",
        "_overdue",
        "_pacer",
        "_period_s",
        "_rests",
        "_resume",
        "_rtu",
        "_silence",
        "_silence_s",
        "_told",
        "_watching",
        "_wire",
        "settings",
        "up",
    )

    def __init__(
        self,
        settings: BusSettings,
        heads: Sequence[ModbusHead],
        *,
        clock: Clock,
        pacer: Pacer,
        on_scan: Callable[[Scan], None],
        on_link: Callable[[LinkChange], None],
        names: Names | None = None,
    ) -> None:
        if not 1 <= settings.in_flight <= MAX_IN_FLIGHT or (settings.rtu and settings.in_flight > 1):
            raise ValueError(f"in_flight is 1 to {MAX_IN_FLIGHT}, and 1 on RTU; got {settings.in_flight}")
        self.settings = settings
        self.up = False
        self._clock = clock
        self._pacer = pacer
        self._on_link = on_link
        self._names = names or Names()
        units: dict[int, list[InstalledHead]] = {}
        for head in heads:
            units.setdefault(head.unit, []).append(installed_head(head))
        self._period_s = settings.period_ns / SECOND
        movement = Movement()
        quiet = _quiet(settings, heads)
        self._rests = quiet is not None
        self._line = Line(
            settings.id,
            [block for unit, members in units.items() for block in plan(unit, members, movement)],
            timeout_s=settings.timeout_ns / SECOND,
            period_s=self._period_s,
            window=settings.in_flight,
            strict_ids=settings.strict_ids and not settings.rtu,
            first_id=settings.port * 7919 & 0xFFFF,
            clock=clock,
            on_scan=on_scan,
            quiet=quiet,
            rtu=settings.rtu,
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._next_slot = inf
        self._watching = False
        self._overdue = self.overdue
        self._may_move = settings.serial is not None
        self._rtu = settings.rtu
        self._wire: Wire | None = None
        self._silence_s = settings.gap_s + (CHUNKS_S if settings.serial is not None else SEGMENTS_S)
        self._heard_at = 0.0
        self._silence: asyncio.TimerHandle | None = None
        self._resume: asyncio.TimerHandle | None = None
        self._ended: asyncio.Future[str] | None = None
        self._told: bool | None = None
        self._has_heads = self._needs_answer = bool(heads)
        self._crash: BaseException | None = None

    @property
    def counters(self) -> Counters:
        """What happened on this line since the start."""
        return self._line.counters

    # --- the coroutine

    async def run(self) -> None:
        """Keep the line until cancelled.

        Raises:
            BaseException: a fault in a callback or in the line itself, for the supervisor to see.
        """
        self._loop = asyncio.get_running_loop()
        self._crash = None
        self._next_slot = self._pacer.first_slot(self._period_s)
        self._watching = False
        self._pacer.at(self._next_slot, self.slot)
        delay, guard = 0.0, False
        try:
            while True:
                if delay:
                    await asyncio.sleep(delay)
                if self._crash is not None:
                    raise self._crash
                reason = await self._one_connection(anew=not guard)
                guard = reason == LATE_GUARD
                fruitless = not guard and not self._line.answered
                delay = min(max(delay * 2, RECONNECT_FIRST_S), RECONNECT_LAST_S) if fruitless else 0.0
        finally:
            self._loop = None
            for timer in (self._silence, self._resume):
                if timer is not None:
                    timer.cancel()
            self._silence = self._resume = None
            if self._wire is not None:
                self._wire.abort()
                self._wire = None
            self._line.stopped()
            self.up = False

    async def _one_connection(self, *, anew: bool) -> str:
        """Connect and stay until the connection ends; return why it did (or did not come about)."""
        loop = asyncio.get_running_loop()
        self._ended = loop.create_future()
        self.counters.connects += 1
        try:
            wire = await connect(self.settings, self, self._names)
        except NoConnectionError as error:
            reason = str(error)
            self.counters.refusals += 1
            self._line.answered = False
            self._line.closed(reason, loop.time())
            self._set_up(up=False, reason=reason)
            return reason
        self._wire = wire
        if not self._needs_answer:
            self._set_up(up=True, reason="")
        self._line.opened(wire.send, loop.time(), anew=anew)
        self._watch()
        return await self._ended

    # --- called from the event loop

    def slot(self, now: float) -> None:
        """The pacer's call: a slot begins."""
        if self._loop is None:
            return
        try:
            missed = int((now - self._next_slot) / self._period_s)
            if missed:
                self.counters.overruns += missed
            self._next_slot += (missed + 1) * self._period_s
            self._pacer.at(self._next_slot, self.slot)
            if self._may_move and self._wire is not None and not self._wire.stands():
                self.lost("unplugged", now)
            if self._watching or self._rests or self._wire is None or self._line.trickles:
                self._sweep(now)  # else there is nothing that it could look at
            self._line.slot(now)
            self._line.pump(now)
            self._watch()
        except BaseException as error:
            self.crashed(error)
            raise

    def overdue(self, now: float) -> None:
        """The pacer's call: an answer may be overdue."""
        self._watching = False
        if self._loop is None or not self._line.waits:
            return
        try:
            self._sweep(now)
            self._line.pump(now)
            self._watch()
        except BaseException as error:
            self.crashed(error)
            raise

    def received(self, wire: Wire, now: float) -> None:
        """Bytes came in: take the whole frames out of them."""
        if wire is not self._wire:
            wire.inbox.clear()
            return
        if self._rests:
            self._line.heard(now)
        self._take(wire.inbox, now)
        if self._rtu and wire.inbox.partial and self._wire is wire:
            self._heard_at = now
            self._await_silence()

    def _take(self, inbox: AnyInbox, now: float) -> None:
        line = self._line
        trouble, more = "", True
        try:
            while more and not trouble and (head := inbox.frame()) is not None:
                trouble = line.answer(head, inbox.buffer, inbox.start, now)
                more = inbox.drop(head)
        except BrokenStreamError:
            self.counters.garbled += 1
            trouble = "garbled"
        partial = more and inbox.partial
        if isinstance(inbox, RtuInbox):
            partial = inbox.awaited
            if inbox.skipped:
                trouble = line.noise(inbox.skipped) or trouble
                inbox.skipped = 0
        if trouble:
            self.lost(trouble, now)
            return
        if self._needs_answer and line.answered:
            self._needs_answer = False
            self._set_up(up=True, reason="")
        if partial or line.trickles:
            line.receiving(now, partial=partial)
        if not line.at_rest:
            line.pump(now)
            self._watch()
        elif self._watching:
            self._pacer.let_go(self._overdue)
            self._watching = False

    def _await_silence(self) -> None:
        if self._silence is None and self._loop is not None:
            self._silence = self._loop.call_at(self._heard_at + self._silence_s, self._silent)

    def _silent(self) -> None:
        """The line may have been silent for so long that a frame which has begun was none."""
        self._silence = None
        wire = self._wire
        if wire is None or self._loop is None or not isinstance(wire.inbox, RtuInbox):
            return
        now = self._loop.time()
        if now < self._heard_at + self._silence_s:
            self._await_silence()
            return
        try:
            while self._wire is wire and wire.inbox.give_up():
                self._take(wire.inbox, now)
        except BaseException as error:
            self.crashed(error)
            raise

    def lost(self, reason: str, now: float) -> None:
        """The connection is over: by the peer's doing, or given up for this reason."""
        wire, self._wire = self._wire, None
        if wire is None:
            return
        wire.abort()
        self.counters.reconnects += 1
        self._line.closed(reason, now, on_purpose=reason == LATE_GUARD)
        if reason != LATE_GUARD:
            self._needs_answer = self._has_heads
            self._set_up(up=False, reason=reason)
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(reason)

    def crashed(self, error: BaseException) -> None:
        """A fault of ours, not of the wire: `run` raises it, since a line that goes on half-alive would be blind."""
        self._crash = error
        if self._ended is not None and not self._ended.done():
            self._ended.set_exception(error)

    def is_current(self, wire: Wire) -> bool:
        """Tell whether this is the connection in use; an abandoned one may still have a word to say."""
        return wire is self._wire

    # --- commands

    def write(self, unit: int, point: OutputPoint, on: bool, done: Done) -> None:
        """Set an output and read it back; ahead of all polls, one retry.

        `done(state, "")` tells the state read back; `done(None, reason)` that it could not be set or read.

        Raises:
            ForbiddenOutputError: if the output must not be told that.
        """
        self._command(unit, point, on, done)

    def read(self, unit: int, point: Readable, done: Done) -> None:
        """Read an output, or a place that shows something; ahead of all polls, one retry. `done` as for `write`."""
        self._command(unit, point, None, done)

    def glance(self, unit: int, point: Readable, done: Done, *, first: bool = False) -> None:
        """Read a place once, in a gap that the polls leave, so that no head waits for it. `done` as for `write`.

        `first`: ahead of the polls, for a unit that lately answered.
        """
        if self._loop is None:
            done(None, "stopped")
            return
        self._line.glance(unit, point, done, self._loop.time(), first=first)
        self._watch()

    def _command(self, unit: int, point: Readable, on: bool | None, done: Done) -> None:
        if self._loop is None:
            done(None, "stopped")
            return
        self._line.command(unit, point, on, done, self._loop.time())
        self._watch()

    # --- details

    def _sweep(self, now: float) -> None:
        if trouble := self._line.sweep(now):
            self.lost(trouble, now)

    def _watch(self) -> None:
        """Be woken when the oldest request runs out of time. A wake too early costs less than one for each request."""
        if not self._watching and (due := self._line.due()) != inf:
            self._watching = True
            self._pacer.watch(due, self._overdue)
        if not self._rests:
            return
        resume = self._line.resume_at
        if resume != inf and self._loop is not None and (self._resume is None or resume < self._resume.when()):
            # Of its own, since the silence between two frames is shorter than the pacer's tick.
            if self._resume is not None:
                self._resume.cancel()
            self._resume = self._loop.call_at(resume, self._resumed)

    def _resumed(self) -> None:
        self._resume = None
        if self._loop is None:
            return
        now = self._loop.time()
        try:
            self._sweep(now)
            self._line.pump(now)
            self._watch()
        except BaseException as error:
            self.crashed(error)
            raise

    def _set_up(self, *, up: bool, reason: str) -> None:
        self.up = up
        if up is not self._told:
            self._told = up
            self._on_link(LinkChange(self.settings.id, up, reason, self._clock.now()))


def _quiet(settings: BusSettings, heads: Sequence[ModbusHead]) -> Quiet | None:
    """Return the silences of this line; None for a network line whose devices need none."""
    rests: dict[int, float] = {}
    for head in heads:
        rests[head.unit] = max(rests.get(head.unit, 0.0), head.turnaround_ns / SECOND, settings.turnaround_ns / SECOND)
    if not settings.rtu and not settings.turnaround_ns and not any(rests.values()):
        return None
    late_s = settings.late_ns / SECOND if settings.rtu else None
    return Quiet(settings.gap_s, rests, settings.turnaround_ns / SECOND, late_s)
