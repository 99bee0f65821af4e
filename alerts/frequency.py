"""How often is too often: alarms that come and go (chatter), and too many for one person (flood). Pure counting."""

from collections import deque
from dataclasses import dataclass

from sensors.stamps import SECOND, Instant


@dataclass(frozen=True, slots=True)
class Frequencies:
    """The bounds, times in nanoseconds. Flood as in ISA-18.2: more than 10 alarms in 10 minutes for one operator.

    Attributes:
        chatter: an alarm that was raised so often `within` chatters, until it was not raised for `within`.
        flood, over: more alarms than `flood` within `within` are a flood; fewer than `over` are none any more.
        gather: how long a notice that is told with others may wait when it says that a detector does not watch.
        gather_rest: the same for the rest.
        look: how often it is looked whether a flood is over.
    """

    chatter: int = 5
    flood: int = 10
    over: int = 5
    within: int = 600 * SECOND
    gather: int = 2 * SECOND
    gather_rest: int = 60 * SECOND
    look: int = 30 * SECOND


class Recent:
    """Moments within a sliding time, the oldest dropped; at most `most` are kept, which is all that any bound asks."""

    def __init__(self, within: int, most: int) -> None:
        self._within = within
        self._moments: deque[Instant] = deque(maxlen=most)

    def add(self, now: Instant) -> int:
        """Note one more; return how many there are now."""
        self._moments.append(now)
        return self.count(now)

    def count(self, now: Instant) -> int:
        """Return how many there were within the time up to now, as far as they are kept."""
        while self._moments and now - self._moments[0] >= self._within:
            self._moments.popleft()
        return len(self._moments)

    def last(self) -> Instant | None:
        """Return the last one that is still kept."""
        return self._moments[-1] if self._moments else None
