"""What is the matter with journal or store, from all who know of it, and with a disk that tells nobody. Pure."""

from sensors.stamps import SECOND, Instant

STANDS = 60 * SECOND
"""A loss is told for so long after it, and until the journal has kept something since (ns): a person has to see it."""

HANGS_S = 5.0
"""A disk that has taken nothing for so long hangs: a write or sync of it does not return, so no error comes of it."""

SLOW, HANGS = "slow", "hangs"


class Losses:
    """The condition of one who writes."""

    def __init__(self) -> None:
        self._writer = ""
        self._hangs = False
        self._slow_until: Instant | None = None
        self._lost = ""
        self._until = Instant(0)
        self._kept = False

    @property
    def reason(self) -> str:
        """The reason code of what stands, the writer's first; empty while all is well."""
        if self._hangs and self._writer in ("", SLOW):
            return HANGS
        return self._writer or self._lost or ("" if self._slow_until is None else SLOW)

    def writer(self, reason: str, now: Instant) -> None:
        """The writer is in trouble for this reason; empty: it is well. A quick write makes no slow disk a quick one."""
        if self._writer == SLOW and not reason:
            self._slow_until = Instant(now + STANDS)
        self._writer = reason

    def lost(self, reason: str, now: Instant) -> None:
        """A record never came to be written."""
        self._lost, self._until, self._kept = reason, Instant(now + STANDS), False

    def kept(self) -> None:
        """The journal has kept a record."""
        self._kept = True

    def look(self, now: Instant, stands_s: float) -> None:
        """Once a second; the writer has been at one write for so long.

        A loss is over when the journal works again, slowness when nothing was slow for a while.
        """
        self._hangs = stands_s > HANGS_S
        if self._slow_until is not None and now >= self._slow_until:
            self._slow_until = None
        if self._lost and self._kept and now >= self._until:
            self._lost = ""
