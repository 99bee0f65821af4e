"""Whether the civil clock can be believed: held against the monotonic one and against the journal. Reads no clock."""

from dataclasses import dataclass

from sensors.stamps import MILLISECOND, SECOND, Stamp

JUMP = 2 * SECOND
"""The civil clock moved by more than this against the monotonic one: it was set, or the machine slept."""

STANDS = 60 * SECOND
"""How long a jump stays a condition; its alarm stays until a person has taken it."""

EARLIEST_MS = 1_767_225_600_000
"""2026-01-01: this program is younger, so an earlier clock is wrong."""

SUBJECT = "clock"


@dataclass(frozen=True, slots=True)
class Jump:
    """The civil clock moved by `by` ns. `regained`: with it the clock has come past what it was known to be behind."""

    by: int
    regained: bool


class Timekeeper:
    """Judges each moment the engine is given.

    Attributes:
        trusted: False while the civil clock shows a time that lies before one the journal already knows. Records of
            such a time are marked; a jump past that time, or the kernel's word that the clock is set, ends it.
    """

    def __init__(self, now: Stamp, known_ms: int | None) -> None:
        self._floor = max(EARLIEST_MS, known_ms or 0) * MILLISECOND
        self._offset = now.utc - now.mono
        self.trusted = now.utc + JUMP >= self._floor

    def look(self, now: Stamp) -> Jump | None:
        """Return the jump since the last look, if there was one. Slow drift is followed, not told."""
        offset = now.utc - now.mono
        moved = offset - self._offset
        self._offset = offset
        if -JUMP <= moved <= JUMP:
            return None
        regained = not self.trusted and now.utc + JUMP >= self._floor
        self.trusted = self.trusted or regained
        return Jump(moved, regained)

    def confirm(self) -> bool:
        """The kernel says that the clock is set. True when that ends a time that was not trusted."""
        regained, self.trusted = not self.trusted, True
        return regained
