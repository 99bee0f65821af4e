"""Whether the loop that watches turns as it should: how late its heartbeat is, and when it stood still. Pure."""

from sensors.stamps import SECOND, Stamp

BEAT = SECOND
"""From one heartbeat to the next (ns)."""

SLEPT = 2 * SECOND
"""A loop whose heartbeat is later than this was asleep (ns)."""


class Pulse:
    """The heartbeat of one loop.

    Attributes:
        lag_ns: by how much the last heartbeat came too late.
    """

    def __init__(self, now: Stamp) -> None:
        self.lag_ns = 0
        self._last = now.mono
        self._slept = False

    def beat(self, now: Stamp) -> None:
        """The heartbeat."""
        self.lag_ns = self._late(now)
        self._last = now.mono

    def stood_still(self, now: Stamp) -> int:
        """Return for how long (ns) the loop stood still until now; 0 where it did not, or was asked before."""
        late = self._late(now)
        if late <= SLEPT:
            return 0
        self._last = now.mono
        self._slept = True
        return late

    def well_again(self, now: Stamp) -> bool:
        """Tell once, after it stood still, that the loop turns in time."""
        if not self._slept or now.mono - self._last >= BEAT // 2:
            return False
        self._slept = False
        return True

    def _late(self, now: Stamp) -> int:
        return max(0, now.mono - self._last - BEAT)
