"""A Modbus bus: who hangs on it, and the one coroutine that keeps its connection. Whose turn it is, `line` knows."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

from sensors.drivers.commands import Done
from sensors.drivers.exchanges import Counters
from sensors.drivers.line import Line
from sensors.drivers.pacer import Pacer
from sensors.profiles import Profile
from sensors.readings import DetectorId, LinkChange, Scan
from sensors.stamps import MILLISECOND, SECOND, Clock
from sensors.wire.modbus import BrokenStreamError, Inbox
from sensors.wire.points import Basis, ModbusPoints
from sensors.wire.registers import InstalledHead, plan

CONNECT_S: Final = 1.0
"""How long a connection may take to come about. On one line of cable it takes milliseconds."""

RECONNECT_FIRST_S: Final = 0.1
RECONNECT_LAST_S: Final = 2.0
MAX_IN_FLIGHT: Final = 16

LATE_GUARD: Final = "late-guard"
"""Why a line that ignores ids is opened anew after a timeout; planned, so no change of the link."""


@dataclass(frozen=True, slots=True)
class BusSettings:
    """One Modbus TCP line; times in nanoseconds.

    Attributes:
        period_ns: every block is read once in each slot of this length.
        timeout_ns: how long an answer may take.
        strict_ids: False for gateways that invent transaction ids; then one request is in flight and ids mean nothing.
        in_flight: requests on the line at the same time, 1 to 16.
    """

    id: str
    host: str
    port: int
    period_ns: int = 500 * MILLISECOND
    timeout_ns: int = 200 * MILLISECOND
    strict_ids: bool = True
    in_flight: int = 1


@dataclass(frozen=True, slots=True)
class ModbusHead:
    """One head on the line. `profile` is already installed (its settings applied)."""

    detector: DetectorId
    unit: int
    profile: Profile
    basis: Basis


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

    def __init__(
        self,
        settings: BusSettings,
        heads: Sequence[ModbusHead],
        *,
        clock: Clock,
        pacer: Pacer,
        on_scan: Callable[[Scan], None],
        on_link: Callable[[LinkChange], None],
    ) -> None:
        if not 1 <= settings.in_flight <= MAX_IN_FLIGHT:
            raise ValueError(f"in_flight is 1 to {MAX_IN_FLIGHT}, got {settings.in_flight}")
        self.settings = settings
        self.up = False
        self._clock = clock
        self._pacer = pacer
        self._on_link = on_link
        units: dict[int, list[InstalledHead]] = {}
        for head in heads:
            units.setdefault(head.unit, []).append(installed_head(head))
        self._period_s = settings.period_ns / SECOND
        self._line = Line(
            settings.id,
            [block for unit, members in units.items() for block in plan(unit, members)],
            timeout_s=settings.timeout_ns / SECOND,
            period_s=self._period_s,
            window=settings.in_flight,
            strict_ids=settings.strict_ids,
            first_id=settings.port * 7919 & 0xFFFF,
            clock=clock,
            on_scan=on_scan,
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._next_slot = inf
        self._watching: int | None = None
        self._wire: _Wire | None = None
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
        self._watching = None
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
            if self._wire is not None:
                self._wire.abort()
                self._wire = None
            self._line.stopped()
            self.up = False

    async def _one_connection(self, *, anew: bool) -> str:
        """Connect and stay until the connection ends; return why it did (or did not come about)."""
        loop = asyncio.get_running_loop()
        wire = _Wire(self, loop)
        self._ended = loop.create_future()
        self.counters.connects += 1
        reason = "closed"
        try:
            async with asyncio.timeout(CONNECT_S):
                transport, _ = await loop.create_connection(lambda: wire, self.settings.host, self.settings.port)
        except ConnectionRefusedError:
            transport, reason = None, "refused"
        except (TimeoutError, OSError):
            transport, reason = None, "unreachable"
        if transport is None or transport.is_closing():
            self.counters.refusals += 1
            self._line.answered = False
            self._line.closed(reason, loop.time())
            self._set_up(up=False, reason=reason)
            return reason
        self._wire = wire
        if not self._needs_answer:
            self._set_up(up=True, reason="")
        self._line.opened(transport.write, loop.time(), anew=anew)
        self._watch()
        return await self._ended

    # --- called from the event loop

    def slot(self, now: float) -> None:
        """The pacer's call: a slot begins."""
        if self._loop is None:
            return
        try:
            missed = int((now - self._next_slot) / self._period_s)
            self.counters.overruns += missed
            self._next_slot += (missed + 1) * self._period_s
            self._pacer.at(self._next_slot, self.slot)
            self._sweep(now)
            self._line.slot(now)
            self._line.pump(now)
            self._watch()
        except BaseException as error:
            self.crashed(error)
            raise

    def overdue(self, now: float) -> None:
        """The pacer's call: an answer may be overdue."""
        self._watching = None
        if self._loop is None or not self._line.waits:
            return
        try:
            self._sweep(now)
            self._line.pump(now)
            self._watch()
        except BaseException as error:
            self.crashed(error)
            raise

    def received(self, inbox: Inbox, now: float) -> None:
        """Bytes came in: take the whole frames out of them."""
        line = self._line
        trouble = ""
        try:
            while not trouble and (head := inbox.frame()) is not None:
                trouble = line.answer(head, inbox.buffer, inbox.start, now)
                inbox.drop(head)
        except BrokenStreamError:
            self.counters.garbled += 1
            trouble = "garbled"
        if trouble:
            self.lost(trouble, now)
            return
        if self._needs_answer and line.answered:
            self._needs_answer = False
            self._set_up(up=True, reason="")
        line.receiving(now, partial=inbox.partial)
        if line.wants_to_send:
            line.pump(now)
            self._watch()
        elif self._watching is not None and not line.waits:
            self._pacer.forget(self._watching, self.overdue)
            self._watching = None

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

    def is_current(self, wire: "_Wire") -> bool:
        """Tell whether this is the connection in use; an abandoned one may still have a word to say."""
        return wire is self._wire

    # --- commands

    def write_coil(self, unit: int, coil: int, on: bool, done: Done) -> None:
        """Set a coil and read it back; ahead of all polls, one retry.

        `done(state, "")` tells the state read back; `done(None, reason)` that it could not be set or read.
        """
        self._command(unit, coil, on, done)

    def read_coil(self, unit: int, coil: int, done: Done) -> None:
        """Read a coil; ahead of all polls, one retry. `done` as for `write_coil`."""
        self._command(unit, coil, None, done)

    def _command(self, unit: int, coil: int, on: bool | None, done: Done) -> None:
        if self._loop is None:
            done(None, "stopped")
            return
        self._line.command(unit, coil, on, done, self._loop.time())
        self._watch()

    # --- details

    def _sweep(self, now: float) -> None:
        trouble = self._line.sweep(now)
        if trouble:
            self.lost(trouble, now)

    def _watch(self) -> None:
        """Be woken when the oldest request runs out of time. A wake too early costs less than one for each request."""
        if self._watching is None and self._line.waits:
            self._watching = self._pacer.at(self._line.due(), self.overdue)

    def _set_up(self, *, up: bool, reason: str) -> None:
        self.up = up
        if up is not self._told:
            self._told = up
            self._on_link(LinkChange(self.settings.id, up, reason, self._clock.now()))


class _Wire(asyncio.BufferedProtocol):
    """One connection: hands its bytes and its end to the bus."""

    def __init__(self, bus: ModbusBus, loop: asyncio.AbstractEventLoop) -> None:
        self._bus = bus
        self._time = loop.time
        self._inbox = Inbox()
        self._transport: asyncio.BaseTransport | None = None

    def abort(self) -> None:
        """Drop the connection without waiting for what was not sent: the next one must not wait for the dead."""
        if isinstance(self._transport, asyncio.WriteTransport):
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - the room is ours, whatever the hint
        return self._inbox.room()

    def buffer_updated(self, nbytes: int) -> None:
        if not self._bus.is_current(self):
            self._inbox.clear()
            return
        self._inbox.filled(nbytes)
        try:
            self._bus.received(self._inbox, self._time())
        except BaseException as error:
            self._bus.crashed(error)
            raise

    def connection_lost(self, exc: Exception | None) -> None:
        if self._bus.is_current(self):
            self._bus.lost("closed" if exc is None else "reset", self._time())
