"""When screens are told that an alarm moved: soon, and of a burst now and then. Knows no picture and no screen."""

import asyncio
from collections.abc import Callable

SHOW_AFTER_S = 0.05
"""Screens are told of an alarm so much later: the notices go first, and one picture shows what follows at once."""

SHOW_EVERY_S = 0.5
"""While alarms keep moving, screens are told no more often than this on the whole; each picture shows all of them."""

AT_ONCE = 4
"""So many pictures may follow each other at once, so that a gas that comes and goes in a moment is seen to do so."""


class Showing:
    """The one timer before the next picture. `show` makes it and sends it out."""

    def __init__(self, show: Callable[[], None]) -> None:
        self._show = show
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._paced_until = float("-inf")

    def soon(self) -> None:
        """Something moved."""
        if self._timer is None:
            allowed = self._paced_until - (AT_ONCE - 1) * SHOW_EVERY_S
            self._timer = self._loop.call_at(max(self._loop.time() + SHOW_AFTER_S, allowed), self._fire)

    def shown(self) -> None:
        """The heartbeat has just shown everything: what was to be shown soon need not be any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fire(self) -> None:
        self._timer = None
        self._paced_until = max(self._loop.time(), self._paced_until) + SHOW_EVERY_S
        self._show()
