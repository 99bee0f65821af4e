"""When screens are told that an alarm moved: soon, and of a burst now and then. Knows no picture and no screen."""

import asyncio
from collections.abc import Callable

SHOW_AFTER_S = 0.05
"""Screens are told of an alarm so much later: the notices go first, and one picture shows what follows at once."""

SHOW_EVERY_S = 0.5
"""While alarms keep moving, screens are told no more often than this; each picture shows all of them."""


class Showing:
    """The one timer before the next picture. `show` makes it and sends it out."""

    def __init__(self, show: Callable[[], None]) -> None:
        self._show = show
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._shown_at = float("-inf")

    def soon(self) -> None:
        """Something moved."""
        if self._timer is None:
            now = self._loop.time()
            self._timer = self._loop.call_at(max(now + SHOW_AFTER_S, self._shown_at + SHOW_EVERY_S), self._fire)

    def shown(self) -> None:
        """The heartbeat has just shown everything: what was to be shown soon need not be any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fire(self) -> None:
        self._timer, self._shown_at = None, self._loop.time()
        self._show()
