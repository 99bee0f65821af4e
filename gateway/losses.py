"""What is the matter with the journal, from both who know: its writer, and whoever could not hand it a record. Pure."""

from sensors.stamps import SECOND, Instant

STANDS = 60 * SECOND
"""A loss is told for so long after it, and until the journal has kept something since (ns): a person has to see it."""


class Losses:
    """One journal's condition."""

    def __init__(self) -> None:
        self._writer = ""
        self._lost = ""
        self._until = Instant(0)
        self._kept = False

    @property
    def reason(self) -> str:
        """The reason code of what stands, the writer's first; empty while all is well."""
        return self._writer or self._lost

    def writer(self, reason: str) -> None:
        """The writer is in trouble for this reason; empty: it is well."""
        self._writer = reason

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
