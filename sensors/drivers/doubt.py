"""Whether a line lives, as far as its silence tells: whose clock runs, how long it may be doubted. Knows no frame."""

from typing import Final

from sensors.drivers.exchanges import NEVER
from sensors.drivers.strays import Exchange

MUTE_S: Final = 1.2
"""A connection on which nobody has answered for so long, though asked, is dead or half open."""

FRESH_S: Final = 4.0
"""How long a new connection of many units may give no answer: it is not half open, but its first may be mute."""

LATE_S: Final = 0.1
"""Whoever looks for overdue answers later than this stood still itself: they may wait to be read."""

READS_S: Final = 0.03
"""What a loop that stood still gets to read what came meanwhile."""

OF_THE_LINE: Final = frozenset({"mute", "unplugged"})
"""Ends of a connection that are no unit's doing."""


class Doubt:
    """The doubt of one line (loop seconds).

    Attributes:
        until: when it is over at the latest; `NEVER` while the line is in none.
        since: when the present one, or else the last one, began.
        opened_at: when the connection came about, if it follows a failure.
        head_clock: since when the oldest request's clock runs, at the earliest.
    """

    __slots__ = (
        "_excused",
        "_fresh_s",
        "_rtu",
        "_timeout_s",
        "head_clock",
        "opened_at",
        "since",
        "until",
    )

    def __init__(self, timeout_s: float, blocks: int, *, rtu: bool) -> None:
        self.until = NEVER
        self.head_clock = NEVER
        self._timeout_s = timeout_s
        self._rtu = rtu
        self._fresh_s = min(MUTE_S * blocks, FRESH_S)
        self.opened_at = self.since = NEVER
        self._excused: tuple[Exchange, float] | None = None

    def opened(self, now: float, *, doubted: bool) -> None:
        """A connection that follows a failure begins without doubt, unless the line was doubted to the end of that."""
        self.opened_at = self.since = now
        self.until = now + MUTE_S if doubted else NEVER

    def due_of(self, oldest: Exchange) -> float:
        """When the oldest request is out of time."""
        due = max(self.head_clock, oldest.sent) + self._timeout_s
        # On RTU nobody's answer waits behind another's: silence there is the unit's own.
        if self.until != NEVER and not self._rtu and (oldest.trusted or oldest.heard == NEVER):
            return max(due, self.until)
        return due

    def excuses(self, oldest: Exchange, due: float, now: float) -> bool:
        """Tell whether the look came so late that our own loop stood still: what came meanwhile is read first.

        Once for each request, so that a line which is dead on top of it is found out all the same.
        """
        if now - due <= LATE_S or self._excused == (oldest, oldest.sent):
            return False
        self._excused = oldest, oldest.sent
        self.head_clock = now + READS_S - self._timeout_s
        if self.until != NEVER:
            self.until = max(self.until, now + READS_S)
        return True

    def expired(self, exchange: Exchange, now: float) -> None:
        """A request ran out of time: the line is in doubt from now on, or was so already for another's sake."""
        exchange.cascade = self.until != NEVER
        if not exchange.cascade:
            self.until = max(self.head_clock, exchange.sent) + MUTE_S
            self.since = now
        self.head_clock = now

    def proven(self, now: float, *, answered: bool) -> bool:
        """Tell whether the connection is dead by now. One on which nobody `answered` yet may take longer."""
        if now < self.until:
            return False
        if answered or now - self.opened_at >= self._fresh_s:
            return True
        self.until = now + MUTE_S
        return False
