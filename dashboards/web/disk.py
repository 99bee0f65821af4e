"""Reads of the disk for the screens: away from the loop, each in a bounded time, all by a bounded number of threads.

A disk that hangs keeps a thread for as long as it hangs, and nobody can call that thread back. Whoever waits for it is
told that it does not answer; the live part of the pages needs no disk.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, TypeVar

Answer = TypeVar("Answer")

READ_WITHIN_S: Final = 10.0
"""So long an answer out of the journal or the readings may take: a busy card needs a second or two."""

LEDGER_WITHIN_S: Final = 60.0
"""The ledger is folded from the whole journal; years of it take a small machine that long."""

MOST_THREADS: Final = 8
MOST_READS: Final = 64
"""Reads that are under way or wait for a thread; who comes on top is told at once."""

AGAIN_S: Final = 10
"""When it is worth asking again."""


class SilentDiskError(RuntimeError):
    """The disk did not answer in time."""


class Disk:
    """The threads that read, and what they are at."""

    def __init__(self, within_s: float = READ_WITHIN_S) -> None:
        self._within_s = within_s
        self._threads = ThreadPoolExecutor(MOST_THREADS, "disk")
        self._reads: set[Future[Any]] = set()

    async def read(self, work: Callable[[], Answer], within_s: float | None = None) -> Answer:
        """Return what `work` reads; its errors are raised as they come.

        Raises:
            SilentDiskError: it took too long, or too many reads hang already.
        """
        self._reads = {read for read in self._reads if not read.done()}
        if len(self._reads) >= MOST_READS:
            raise SilentDiskError("too many reads hang")
        read = self._threads.submit(work)
        self._reads.add(read)
        try:
            async with asyncio.timeout(self._within_s if within_s is None else within_s):
                return await asyncio.wrap_future(read)
        except TimeoutError:
            raise SilentDiskError("no answer in time") from None

    def close(self) -> None:
        """Let the threads end with what they are at."""
        self._threads.shutdown(wait=False, cancel_futures=True)
