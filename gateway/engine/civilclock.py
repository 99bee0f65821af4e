"""What the watch tells of the civil clock: its jumps go into the journal, a wrong clock is a condition. Pure."""

from dataclasses import replace

from gateway.engine.conditions import Conditions
from gateway.engine.deadlines import ClockSettled, Deadlines
from gateway.engine.events import Entry, Json
from gateway.engine.records import utc_ms
from gateway.engine.timekeeping import STANDS, SUBJECT, Timekeeper
from gateway.engine.turn import Turn
from sensors.stamps import MILLISECOND, SECOND, Instant, Stamp


class CivilClock:
    """The civil clock of one life of the watch.

    Attributes:
        known_ms: the latest civil time at which an earlier life is known to have run; None without one.
    """

    def __init__(self, now: Stamp, known_ms: int | None, deadlines: Deadlines, conditions: Conditions) -> None:
        self.known_ms = known_ms
        self._keeper = Timekeeper(now, known_ms)
        self._deadlines = deadlines
        self._conditions = conditions
        self._jumped_at: Instant | None = None

    @property
    def trusted(self) -> bool:
        """False while the clock shows a time before one that is known to be over."""
        return self._keeper.trusted

    def begin(self, turn: Turn) -> None:
        """Tell of a clock that was behind from the start."""
        if not self.trusted:
            self._conditions.set(SUBJECT, turn, present=True, reason="behind")

    def look(self, now: Stamp) -> Turn | None:
        """Record a jump of the civil clock, and tell of it unless it only brought the clock to where it should be."""
        jump = self._keeper.look(now)
        if jump is None:
            return None
        turn = Turn(now)
        self._note(turn, jump.by)
        if jump.regained:
            self._conditions.set(SUBJECT, turn, present=False)
        elif self.trusted:
            self._jumped_at = now.mono
            self._deadlines.at(Instant(now.mono + STANDS), ClockSettled())
            self._conditions.set(SUBJECT, turn, present=True, reason="jumped", detail=f"{jump.by / SECOND:+.1f} s")
        return turn

    def confirm(self, turn: Turn) -> None:
        """The kernel says that something keeps the clock right."""
        if self._keeper.confirm():
            self._note(turn, 0)
            self._conditions.set(SUBJECT, turn, present=False)

    def settle(self, turn: Turn) -> None:
        """A jump's time as a condition is over, unless there was another one since."""
        if self.trusted and self._jumped_at is not None and turn.now.mono >= self._jumped_at + STANDS:
            self._conditions.set(SUBJECT, turn, present=False)

    def marked(self, entries: list[Entry]) -> list[Entry]:
        """Mark what is written while the time is not known."""
        if self.trusted:
            return entries
        return [replace(entry, body={**entry.body, "time_trusted": False}, encoded=None) for entry in entries]

    def _note(self, turn: Turn, step_ns: int) -> None:
        """Say how far the clock went, so that what was written before can be put in its place."""
        body: dict[str, Json] = {"at_ms": utc_ms(turn.now), "step_ms": step_ns // MILLISECOND}
        turn.entry("clock", body | {"trusted": self.trusted})
