"""Threads that live by virtual time: real ones that pass a baton, one at a time, in an order without chance."""

import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

from simulator.virtual import VirtualLoop


class KilledError(BaseException):
    """The end of a virtual thread whose process was killed: raised where it waits."""


class VirtualThreads:
    """Threads that run one at a time, each only while the loop stands still: real threads that pass a baton.

    So the writer of the journal is the very code that runs in a process, SQLite's calls into a slow disk may wait in
    the midst of a commit while the loop goes on, and yet the order of everything is always the same.
    """

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop
        self._all: list[VirtualThread] = []

    def monotonic(self) -> float:
        """Virtual seconds."""
        return self._loop.time()

    def condition(self) -> "VirtualCondition":
        """Make a condition of virtual threads."""
        return VirtualCondition()

    def start(self, run: Callable[[], None], name: str) -> "VirtualThread":
        """Start a thread; its first step comes in this moment, after what is ready already."""
        thread = VirtualThread(self._loop, run, name)
        self._all.append(thread)
        self._loop.call_soon(thread.resume)
        return thread

    def kill(self) -> None:
        """End all of them where they wait, as the end of their process does."""
        for thread in self._all:
            thread.kill()
        self._all.clear()


class VirtualThread:
    """One thread with its baton."""

    def __init__(self, loop: VirtualLoop, run: Callable[[], None], name: str) -> None:
        self.loop = loop
        self._mine, self._loops = threading.Lock(), threading.Lock()
        self._mine.acquire()
        self._loops.acquire()
        self._run = run
        self._begun = self._ended = self._killed = False
        self._fault: BaseException | None = None
        self._ends: list[Callable[[], None]] = []
        self._thread = threading.Thread(target=self._body, name=f"virtual-{name}", daemon=True)
        self._thread.virtual = self  # type: ignore[attr-defined]

    def resume(self) -> None:
        """Let it run until it waits or ends. Called by the loop.

        Raises:
            BaseException: what it died of.
        """
        if self._ended:
            return
        if not self._begun:
            self._begun = True
            self._thread.start()
        else:
            self._mine.release()
        self._loops.acquire()
        if not self.is_alive():
            self._thread.join()
            for end in self._ends:
                self.loop.call_soon(end)
        if self._fault is not None:
            fault, self._fault = self._fault, None
            raise fault

    def kill(self) -> None:
        """Raise `KilledError` where it waits, until it has ended."""
        self._killed = True
        if not self._begun:
            self._ended = True
        while not self._ended:
            self.resume()

    def pause(self) -> None:
        """Give the baton back until `resume`. Called by the thread itself."""
        self._loops.release()
        self._mine.acquire()
        if self._killed:
            raise KilledError

    def sleep(self, seconds: float) -> None:
        """Wait in virtual time. Called by the thread itself."""
        self.loop.call_later(seconds, self.resume)
        self.pause()

    def join(self, timeout: float | None = None) -> None:
        """Wait for its end; from another virtual thread, or with no time to wait."""
        if self._ended or timeout == 0:
            return
        waiting = current()
        assert waiting is not None, "the loop itself may not wait for a thread"
        woken = [False]

        def wake() -> None:
            if not woken[0]:
                woken[0] = True
                waiting.resume()

        self._ends.append(wake)
        if timeout is not None:
            self.loop.call_later(timeout, wake)
        waiting.pause()

    def when_ended(self, tell: Callable[[], None]) -> None:
        """Have the loop call this after its end."""
        self._ends.append(tell)

    def is_alive(self) -> bool:
        """Whether it has not ended."""
        return not self._ended

    def _body(self) -> None:
        try:
            with suppress(KilledError):
                self._run()
        finally:
            self._fault = sys.exception()  # the loop raises it, in its own thread
            self._ended = True
            self._loops.release()


class VirtualCondition:
    """Where virtual threads wait for each other and for the loop. Its lock needs no holding: only one ever runs."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[VirtualThread, list[bool]]] = deque()

    def __enter__(self) -> bool:
        return True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        pass

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until notified, or for so many virtual seconds."""
        thread = current()
        assert thread is not None, "the loop itself may not wait for a thread"
        state = [False, False]  # woken, and by a notice
        entry = (thread, state)
        self._waiting.append(entry)
        timer = None if timeout is None else thread.loop.call_later(timeout, self._late, entry)
        thread.pause()
        if timer is not None:
            timer.cancel()
        return state[1]

    def notify(self, n: int = 1) -> None:
        """Wake so many, in the order in which they came."""
        for _ in range(n):
            if not self._waiting:
                return
            thread, state = self._waiting.popleft()
            state[:] = [True, True]
            thread.loop.call_soon(thread.resume)

    def notify_all(self) -> None:
        """Wake all."""
        self.notify(len(self._waiting))

    def _late(self, entry: tuple[VirtualThread, list[bool]]) -> None:
        if not entry[1][0]:
            entry[1][0] = True
            self._waiting.remove(entry)
            entry[0].resume()


def current() -> VirtualThread | None:
    """Return the virtual thread that asks; None for the loop's own."""
    found: VirtualThread | None = getattr(threading.current_thread(), "virtual", None)
    return found
