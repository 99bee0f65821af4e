"""What is the matter with the journal, from all who know of it, and with a disk that tells nobody. Pure."""

from sensors.stamps import SECOND, Instant

STANDS = 60 * SECOND
"""A loss is told for so long after it, and until the journal has kept something since (ns): a person has to see it."""

HANGS_S = 5.0
"""A disk that has taken nothing for so long hangs: a write or sync of it does not return, so no error comes of it."""


def worst(reason: str, stands_s: float) -> str:
    """Return what is the matter with one who writes: what it says itself, or that it has been at one write too long."""
    return "hangs" if stands_s > HANGS_S and reason in ("", "slow") else reason


class Losses:
    """One journal's condition."""

    def __init__(self) -> None:
        self._writer = ""
        self._stands_s = 0.0
        self._lost = ""
        self._until = Instant(0)
        self._kept = False

    @property
    def reason(self) -> str:
        """The reason code of what stands, the writer's first; empty while all is well."""
        return worst(self._writer, self._stands_s) or self._lost

    def writer(self, reason: str) -> None:
        """The writer is in trouble for this reason; empty: it is well."""
        self._writer = reason

    def stands(self, seconds: float) -> None:
        """For so long the writer has written nothing of what waits."""
        self._stands_s = seconds

    def lost(self, reason: str, now: Instant) -> None:
        """A record never came to be written."""
        self._lost, self._until, self._kept = reason, Instant(now + STANDS), False

    def kept(self) -> None:
        """The journal has kept a record."""
        self._kept = True

    def look(self, now: Instant) -> None:
        """Once a second: a loss is over when the journal works again."""
        if self._lost and self._kept and now >= self._until:
            self._lost = ""
