"""Which readings a database gets: all, or only changes, and then everything around an alarm. Knows no clock."""

from collections import deque

from gateway.store.samples import MISSING, SCALE, code_of, value_of
from gateway.store.settings import Changes
from sensors.readings import DetectorId, Reading
from sensors.stamps import SECOND

BEFORE_S = 60
"""Seconds before an alarm that are sent in full, afterwards."""

MOST_HELD = 200_000
"""Lines held back for an alarm that may come; the oldest go first."""

AFTER_S = 600
"""Seconds after the last sign of an alarm that are sent in full."""


class Reporting:
    """Chooses among the lines of readings, and gives held ones back when an alarm makes them wanted.

    Args:
        changes: None sends everything.
        a1_lel_pct: gas at or above this is an alarm here too, whatever the engine says.
    """

    def __init__(self, changes: Changes | None, a1_lel_pct: float) -> None:
        self._changes = changes
        self._a1 = round(a1_lel_pct * SCALE)
        self._sent: dict[DetectorId, tuple[int, int, int]] = {}
        self._held: deque[tuple[int, str]] = deque(maxlen=MOST_HELD)
        self._full_until = 0

    def alarm(self, at: int) -> list[str]:
        """An alarm came, changed or went (UTC ns): return what was held back before it; from now on all is news."""
        self._full_until = max(self._full_until, at + AFTER_S * SECOND)
        held = [line for then, line in self._held if then >= at - BEFORE_S * SECOND]
        self._held.clear()
        return held

    def choose(self, reading: Reading, line: str) -> list[str]:
        """Return the lines to send now: this one, none, or with it those held back before an alarm."""
        if self._changes is None:
            return [line]
        value, code, at = value_of(reading), code_of(reading), reading.taken.utc
        held = self.alarm(at) if value != MISSING and value >= self._a1 else []
        if held or at < self._full_until or self._is_news(reading.detector, value, code, at):
            self._sent[reading.detector] = value, code, at
            return [*held, line]
        self._held.append((at, line))
        while self._held[0][0] < at - BEFORE_S * SECOND:
            self._held.popleft()
        return []

    def _is_news(self, detector: DetectorId, value: int, code: int, at: int) -> bool:
        assert self._changes is not None
        last = self._sent.get(detector)
        if last is None:
            return True
        moved = abs(value - last[0]) >= self._changes.lel_pct * SCALE
        return moved or code != last[1] or not 0 <= at - last[2] < self._changes.quiet_s * SECOND
