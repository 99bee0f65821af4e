"""Virtual time: an event loop whose clock jumps to the next timer, threads that live by it, and a net in memory.

Everything of the product runs on it as it is: the engine and its hands, dispatcher, outbox, outputs, the supervised
parts, the Modbus lines with their framing (they connect through the loop, which connects them in memory), the MQTT
source from the callback inward, and the journal with its writer thread and SQLite. A day takes minutes, and the same
beginning leads to the same end on every machine: nothing here asks the machine for time, chance or readiness.

Left out, since the machine has its hand in them: kernel sockets and serial ports, paho and the MQTT packets, aiohttp,
uvicorn and the web child, the control socket, signals, the store of readings. Those have tests on real wires.
"""

import asyncio
import heapq
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import Context
from typing import Any, TypeVar, TypeVarTuple

from sensors.stamps import SECOND, Instant, Stamp, UtcNanos

EPOCH_NS = 1_780_000_000 * SECOND
"""Civil time when the virtual clock shows 0."""

MOST_STEPS_AT_ONCE = 100_000
"""Callbacks within one moment; more means that something runs in a circle."""

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class VirtualLoop(asyncio.AbstractEventLoop):
    """An event loop without a selector. Timers of one moment run in the order in which they were set.

    Attributes:
        net: where `create_connection` and `create_server` lead.
        faults: what a callback raised, oldest first; on the machine a handler would log it.
    """

    def __init__(self, start_s: float = 1000.0) -> None:
        self._now = start_s
        self._ready: deque[asyncio.Handle | _Posted] = deque()
        self._timers: list[tuple[float, int, asyncio.TimerHandle | _Posted]] = []
        self._count = 0
        self._cancelled = 0
        self._closed = False
        self.faults: list[str] = []

    # --- time ------------------------------------------------------------------------------------

    def time(self) -> float:
        """Virtual seconds."""
        return self._now

    def run_until_complete(self, future: Awaitable[T]) -> T:  # type: ignore[override]
        """Run until this is done.

        Raises:
            RuntimeError: nothing is left that could end it.
        """
        asyncio._set_running_loop(self)  # noqa: SLF001 - how a loop says that it runs
        try:
            task = asyncio.ensure_future(future, loop=self)
            while not task.done():
                if not self._step() and not task.done():
                    raise RuntimeError("nothing is left to happen, and the end has not come")
            return task.result()
        finally:
            asyncio._set_running_loop(None)  # noqa: SLF001

    def _step(self) -> bool:
        """Run what is ready; if nothing is, let time pass until the next timer. False when there is none."""
        ready, timers = self._ready, self._timers
        for _ in range(MOST_STEPS_AT_ONCE):
            if not ready:
                break
            handle = ready.popleft()
            if not handle._cancelled:  # noqa: SLF001
                handle._run()  # noqa: SLF001 - a handle is run by its loop
        else:
            raise RuntimeError(f"{MOST_STEPS_AT_ONCE} steps, and no time has passed")
        while timers and timers[0][2]._cancelled:  # noqa: SLF001
            heapq.heappop(timers)
            self._cancelled -= 1
        if not timers:
            return False
        self._now = max(self._now, timers[0][0])
        while timers and timers[0][0] <= self._now:
            handle = heapq.heappop(timers)[2]
            if handle._cancelled:  # noqa: SLF001
                self._cancelled -= 1
            else:
                handle._scheduled = False  # type: ignore[union-attr]  # noqa: SLF001 - else a late cancel counts
                ready.append(handle)
        return True

    def call_soon(
        self,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.Handle:
        """Run it in this moment, after what is ready already."""
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_soon_threadsafe(
        self,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.Handle:
        """The same: of our threads and the loop only one ever runs."""
        return self.call_soon(callback, *args, context=context)

    def call_later(
        self,
        delay: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Run it so many virtual seconds later."""
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Run it at this virtual time."""
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        handle._scheduled = True  # type: ignore[attr-defined]  # noqa: SLF001 - so that a cancel tells the loop
        self._count += 1
        heapq.heappush(self._timers, (when, self._count, handle))
        return handle

    def post(self, delay: float, callback: Callable[[T], object], what: T) -> None:
        """Hand this over so many virtual seconds later, come what may: a timer that nobody can cancel, at less cost."""
        self._count += 1
        heapq.heappush(self._timers, (self._now + delay, self._count, _Posted(callback, what)))

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:  # noqa: ARG002 - asyncio's call
        """Forget cancelled timers once they are the most."""
        self._cancelled += 1
        if self._cancelled > 64 and self._cancelled * 2 > len(self._timers):
            self._timers[:] = [timer for timer in self._timers if not timer[2]._cancelled]  # noqa: SLF001
            heapq.heapify(self._timers)
            self._cancelled = 0

    @property
    def pending(self) -> int:
        """How many timers wait."""
        return len(self._timers) - self._cancelled

    # --- tasks -----------------------------------------------------------------------------------

    def create_future(self) -> "asyncio.Future[Any]":
        """Make a future of this loop."""
        return asyncio.Future(loop=self)

    def create_task(
        self,
        coro: Coroutine[Any, Any, T] | Generator[Any, None, T],
        **named: Any,  # noqa: ANN401
    ) -> "asyncio.Task[T]":
        """Make a task of this loop."""
        return asyncio.Task(coro, loop=self, **named)

    def get_debug(self) -> bool:
        """Never."""
        return False

    def is_running(self) -> bool:
        """As far as anybody who asks can know."""
        return not self._closed

    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    def close(self) -> None:
        """Forget everything that waits."""
        self._closed = True
        self._ready.clear()
        self._timers.clear()

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Keep what a callback or task raised and nobody took."""
        self.faults.append(f"{context.get('message')}: {context.get('exception')!r}")

    default_exception_handler = call_exception_handler


class _Posted:
    """What is handed over at its time; to the loop as good as a handle of asyncio."""

    __slots__ = ("_callback", "_scheduled", "_what")
    _cancelled = False

    def __init__(self, callback: Callable[[Any], object], what: object) -> None:
        self._callback = callback
        self._what = what

    def _run(self) -> None:
        self._callback(self._what)


class VirtualClock:
    """Both clocks of a virtual depot. `skew_ns` sets the civil one ahead of the truth; the steps of it are faults."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop
        self.skew_ns = 0

    def now(self) -> Stamp:
        """Return the present moment on both clocks."""
        mono = round(self._loop.time() * SECOND)
        return Stamp(Instant(mono), UtcNanos(EPOCH_NS + mono + self.skew_ns))
