"""One clock-work for all lines: wakes whoever asked, in coalesced ticks, with one timer of the event loop."""

import asyncio
import heapq
import math
from collections.abc import Callable
from typing import Final

TICK_S: Final = 0.01
"""Wakes within one tick share one wake-up of the process."""

GRID_S: Final = 0.2
"""Slots begin on multiples of it, so that lines, their answers and their deadlines (usually multiples too) share
wake-ups: a poll costs several times less in a process that is awake and has its code at hand than in one that has just
been woken. The first of several heads that feel one leak is asked so much later at most."""

LINES_ON_GRID: Final = 100
"""Lines beyond so many begin on a finer grid, so that fewer begin together."""

FINE_GRID_S: Final = 0.1
"""What these grids cost, and others, stands in docs/decisions/0011."""

QUICK_S: Final = 1.0
"""Lines of a shorter period than this begin on grids half as wide."""

AT_ONCE: Final = 6
"""So many are woken, then the loop has its turn: the first answer does not wait until all have been asked."""

ROUNDING: Final = 1e-5
"""Of a tick: moments that are one but for what sums of seconds lose by rounding share their tick."""

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
        self._watches: dict[Wake, int] = {}
        self._lines = 0

    def first_slot(self, period_s: float) -> float:
        """Return when the next line's first slot begins: within a period, apart from other lines', on the grid."""
        self._lines += 1
        grid_s = GRID_S if self._lines <= LINES_ON_GRID else FINE_GRID_S
        if period_s < QUICK_S:
            grid_s /= 2
        now = asyncio.get_running_loop().time()
        return math.ceil((now + self._lines * GOLDEN % 1.0 * period_s) / grid_s) * grid_s

    def beat(self, period_s: float, wake: Wake) -> None:
        """Call `wake(now)` once, a period from now or up to a grid sooner: in one wake-up with lines' slots."""
        now = asyncio.get_running_loop().time()
        self.at(math.floor((now + period_s) / GRID_S + ROUNDING) * GRID_S, wake)

    def at(self, when_s: float, wake: Wake) -> None:
        """Call `wake(now)` once, as soon as `when_s` has come. A moment already past is the next tick."""
        tick = math.ceil(when_s / self._tick_s - ROUNDING)
        if tick <= self._fired_tick:
            tick = self._fired_tick + 1
        wakes = self._wheel.get(tick)
        if wakes is not None:
            wakes.append(wake)
            return
        self._wheel[tick] = [wake]
        heapq.heappush(self._ticks, tick)
        self._arm_for(tick)

    def watch(self, when_s: float, wake: Wake) -> None:
        """Call `wake(now)` once, as soon as `when_s` has come, unless it is let go before: most are.

        So that is made cheap, and few stand at once. A wake has one watch: a second one takes the first one's place.
        """
        tick = math.ceil(when_s / self._tick_s - ROUNDING)
        if tick <= self._fired_tick:
            tick = self._fired_tick + 1
        self._watches[wake] = tick
        self._arm_for(tick)

    def let_go(self, wake: Wake) -> None:
        """Watch no more for the sake of this wake."""
        self._watches.pop(wake, None)

    def _arm_for(self, tick: int) -> None:
        if not self._firing and (self._timer is None or tick < self._timer_tick):
            self._arm()

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._due:  # else there are more than `AT_ONCE`, or one raised: they have the next step of the loop
            ticks = [self._ticks[0]] if self._ticks else []
            if self._watches:
                ticks.append(min(self._watches.values()))
            if not ticks:
                return
            self._timer_tick = min(ticks)
        self._timer = asyncio.get_running_loop().call_at(self._timer_tick * self._tick_s, self._fire)

    def _fire(self) -> None:
        self._timer = None
        now = asyncio.get_running_loop().time()
        # The loop may fire a timer early by its clock's resolution; the tick that was armed has come by definition.
        self._fired_tick = max(math.floor(now / self._tick_s), self._timer_tick)
        now = max(now, self._timer_tick * self._tick_s)
        self._firing = True
        self._due += self._overdue()
        try:
            for _ in range(AT_ONCE):
                if not self._due and not self._next():
                    return
                self._due.pop()(now)
        finally:
            self._firing = False
            self._arm()

    def _next(self) -> bool:
        """Take those of the first tick that has come; False when none has."""
        if not self._ticks or self._ticks[0] > self._fired_tick:
            return False
        self._due = self._wheel.pop(heapq.heappop(self._ticks))
        return True

    def _overdue(self) -> list[Wake]:
        """Take those whose watch has come to its end."""
        watches = self._watches
        if not watches or min(watches.values()) > self._fired_tick:
            return []
        overdue = [wake for wake, tick in watches.items() if tick <= self._fired_tick]
        for wake in overdue:
            del watches[wake]
        return overdue
