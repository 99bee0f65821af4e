"""One clock-work for all lines: wakes whoever asked, in coalesced ticks, with one timer of the event loop."""

import asyncio
import heapq
import math
from collections.abc import Callable
from typing import Final

TICK_S: Final = 0.01
"""Wakes within one tick share one wake-up of the process: at a thousand lines that is most of the cost of pacing."""

GRID_S: Final = 0.1
"""Slots begin on multiples of it, so that lines, their answers and their deadlines (usually multiples too) share
wake-ups. Measured at 100 lines of 1 Hz: 64 us of CPU a poll, against 99 with 0.05 and 106 with 0.02."""

LINES_ON_GRID: Final = 100
"""Lines beyond so many begin on any tick: a hundred at once share no cheaper a wake-up than ten, and the first answer
would wait until all have been asked (read to alarm at 1,000 lines: 5.4 ms, against 2.2)."""

GOLDEN: Final = 0.618_033_988_749_895
"""Multiples of it, taken modulo one, are spread evenly however many there are."""

Wake = Callable[[float], None]


class Pacer:
    """Calls back at or just after a moment (seconds of the loop's clock), never before it, at most a tick late.

    A callback that raises loses its own turn only: the loop's exception handler hears of it, the others are woken.
    """

    def __init__(self, tick_s: float = TICK_S) -> None:
        self._tick_s = tick_s
        self._wheel: dict[int, list[Wake]] = {}
        self._ticks: list[int] = []
        self._due: list[Wake] = []
        self._firing = False
        self._timer: asyncio.TimerHandle | None = None
        self._timer_tick = 0
        self._fired_tick = 0
        self._lines = 0

    def first_slot(self, period_s: float) -> float:
        """Return when the next line's first slot begins: within a period, apart from other lines', on the grid."""
        self._lines += 1
        grid_s = GRID_S if self._lines <= LINES_ON_GRID else self._tick_s
        now = asyncio.get_running_loop().time()
        return math.ceil((now + self._lines * GOLDEN % 1.0 * period_s) / grid_s) * grid_s

    def at(self, when_s: float, wake: Wake) -> int:
        """Call `wake(now)` once, as soon as `when_s` has come. A moment already past is the next tick.

        Returns the tick, by which the wake can be forgotten.
        """
        tick = max(math.ceil(when_s / self._tick_s), self._fired_tick + 1)
        wakes = self._wheel.get(tick)
        if wakes is not None:
            wakes.append(wake)
            return tick
        self._wheel[tick] = [wake]
        heapq.heappush(self._ticks, tick)
        if not self._firing and (self._timer is None or tick < self._timer_tick):
            self._arm()
        return tick

    def forget(self, tick: int, wake: Wake) -> None:
        """Do not call this wake at this tick. A tick that nobody wants any more is passed over."""
        wakes = self._wheel.get(tick)
        if wakes is not None and wake in wakes:
            wakes.remove(wake)

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._ticks and not self._wheel[self._ticks[0]]:
            del self._wheel[heapq.heappop(self._ticks)]
        if self._due:  # one of them raised: the others have their turn in the next step of the loop
            self._timer = asyncio.get_running_loop().call_at(self._timer_tick * self._tick_s, self._fire)
        elif self._ticks:
            self._timer_tick = self._ticks[0]
            self._timer = asyncio.get_running_loop().call_at(self._timer_tick * self._tick_s, self._fire)

    def _fire(self) -> None:
        self._timer = None
        now = asyncio.get_running_loop().time()
        # The loop may fire a timer early by its clock's resolution; the tick that was armed has come by definition.
        self._fired_tick = max(math.floor(now / self._tick_s), self._timer_tick)
        now = max(now, self._timer_tick * self._tick_s)
        self._firing = True
        try:
            while True:
                while self._due:
                    self._due.pop()(now)
                if not self._ticks or self._ticks[0] > self._fired_tick:
                    return
                self._due = self._wheel.pop(heapq.heappop(self._ticks))
        finally:
            self._firing = False
            self._arm()
