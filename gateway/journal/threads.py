"""Where the writer's thread, its lock and its time come from: this machine, or the simulator's virtual time."""

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Protocol


class Condition(Protocol):
    """What the writer uses of `threading.Condition`."""

    def __enter__(self) -> bool:
        """Take the lock."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """Give it back."""
        ...

    def wait(self, timeout: float | None = None) -> bool:
        """Give the lock back until notified, or for so many seconds."""
        ...

    def notify(self, n: int = 1) -> None:
        """Wake so many who wait."""
        ...


class Thread(Protocol):
    """A thread that was started."""

    def join(self, timeout: float | None = None) -> None:
        """Wait for its end, at most so many seconds."""
        ...

    def is_alive(self) -> bool:
        """Tell whether it still runs."""
        ...


class Threads(Protocol):
    """One kind of threads with the clock that they live by."""

    def monotonic(self) -> float:
        """Seconds of their clock."""
        ...

    def condition(self) -> Condition:
        """Make a lock to wait at."""
        ...

    def start(self, run: Callable[[], None], name: str) -> Thread:
        """Run this in a thread of its own, which does not keep the process from ending."""
        ...


class SystemThreads:
    """Those of this machine."""

    def monotonic(self) -> float:
        """Seconds of the monotonic clock."""
        return time.monotonic()

    def condition(self) -> Condition:
        """Make a lock to wait at."""
        return threading.Condition()

    def start(self, run: Callable[[], None], name: str) -> Thread:
        """Start a thread."""
        thread = threading.Thread(target=run, name=name, daemon=True)
        thread.start()
        return thread
