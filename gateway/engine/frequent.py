"""Alarms that come too often: says so by conditions of their own and groups their notices. Never gas. Pure."""

from dataclasses import replace

from alerts.alarmbook import AlarmBook
from alerts.alarms import AlarmEvent, AlarmKey, Cause, Kind
from alerts.frequency import Frequencies, Recent
from gateway.engine.conditions import Conditions
from gateway.engine.deadlines import Deadlines, LookAtFrequency
from gateway.engine.sight import WINDOWS
from gateway.engine.turn import Turn
from sensors.stamps import Instant

CHATTER = "chatter:"
FLOOD = AlarmKey("flood", Kind.SYSTEM)
MOST_KEYS = 2000
"""Alarms whose frequency is followed; the one that was raised longest ago is let go first."""

MOST_KEPT = 200
"""Raises of one alarm, and of all, that are kept for counting."""

MOST_NAMES = 200
"""Alarms that one notice for many names; the others stand on the page, and it says how many there were."""

OWN = (CHATTER, FLOOD.subject, "area:")
"""Subjects that tell of frequency or of uncovered areas: never counted, never grouped."""

GROUPED = frozenset({Cause.RAISED, Cause.CLEARED, Cause.STILL})
"""What is told together where alarms come too often; what people do is told as ever."""


class Frequent:
    """Chatter and flood over the alarms of one book.

    A restart begins to count anew, on purpose: whoever is told hears at most four more single notices of an alarm that
    chatters, and ten before a flood. What a restart itself raises again, as every standing fault of a part, would else
    count as coming too often, and hide what is new behind a grouped notice.
    """

    def __init__(self, bounds: Frequencies, book: AlarmBook, conditions: Conditions, deadlines: Deadlines) -> None:
        self._bounds = bounds
        self._book = book
        self._conditions = conditions
        self._deadlines = deadlines
        self._raises: dict[AlarmKey, Recent] = {}
        self._chattering: set[AlarmKey] = set()
        self._told = Recent(bounds.within, MOST_KEPT)
        self._gathered: dict[str, None] = {}
        self._tell_at: Instant | None = None
        self._look_at: Instant | None = None
        self.grouped = 0

    def count(self, event: AlarmEvent, turn: Turn) -> None:
        """Count an event that people are to hear of; say so where it is one too many."""
        if event.cause is not Cause.RAISED or not self._counts(event):
            return
        times = self._recent(event.key).add(turn.now.mono)
        if times >= self._bounds.chatter:
            self._chatters(event.key, times, turn)
        if self._told.add(turn.now.mono) > self._bounds.flood and not self._book.present(FLOOD):
            turn.note(self._book.raise_(FLOOD, turn.now, reason="many", detail=str(self._bounds.flood + 1)))
            self._look_again(self._bounds.look, turn)

    def groups(self, event: AlarmEvent, turn: Turn) -> bool:
        """Tell whether this event is told together with others; it is noted for their notice then."""
        if event.cause not in GROUPED or not self._counts(event) or event.key.kind is Kind.GAS:
            return False
        flood = self._book.present(FLOOD)
        if not flood and (event.key not in self._chattering or event.cause is Cause.STILL):
            return False
        self.grouped += 1
        if flood:
            self._gather(event, turn)
        return True

    def look(self, turn: Turn) -> None:
        """Look at everything that may be over, or is to be told, by now."""
        now = turn.now.mono
        if self._look_at is not None and self._look_at <= now:
            self._look_at = None
        for key in [key for key in self._chattering if self._raises[key].count(now) == 0]:
            self._calm(key, turn)
        self._look_for_calm()
        if not self._book.present(FLOOD):
            return
        if self._gathered and (self._tell_at is None or self._tell_at <= now):
            self._tell(turn)
        if self._told.count(now) < self._bounds.over:
            if self._gathered:
                self._tell(turn)
            turn.note(self._book.clear(FLOOD, turn.now))
        else:
            self._look_again(self._bounds.look, turn)
            if self._tell_at is not None:
                self._look_by(self._tell_at)

    # --- chatter -----------------------------------------------------------------------------------

    def _chatters(self, key: AlarmKey, times: int, turn: Turn) -> None:
        self._chattering.add(key)
        gas = AlarmKey(key.subject, Kind.GAS) in self._chattering  # what is worse is what is said
        kind = Kind.GAS if gas else key.kind
        subject = CHATTER + key.subject
        self._conditions.set(subject, turn, present=True, reason=kind.value.lower(), detail=str(times))
        self._look_again(self._bounds.within, turn)

    def _look_for_calm(self) -> None:
        """Look again when the first of what chatters can have been quiet for long enough."""
        lasts = (self._raises[key].last() for key in self._chattering)
        last = min((moment for moment in lasts if moment is not None), default=None)
        if last is not None:
            self._look_by(Instant(last + self._bounds.within))

    def _calm(self, key: AlarmKey, turn: Turn) -> None:
        """It was not raised for long enough. What holds at the end is said once more, on its own."""
        self._chattering.discard(key)
        if not any(other.subject == key.subject for other in self._chattering):
            self._conditions.set(CHATTER + key.subject, turn, present=False)
        if key.kind is not Kind.GAS and self._book.present(key):
            turn.note(self._book.still(key, turn.now))

    def _recent(self, key: AlarmKey) -> Recent:
        recent = self._raises.pop(key, None) or Recent(self._bounds.within, MOST_KEPT)
        self._raises[key] = recent  # the last one raised stands last
        if len(self._raises) > MOST_KEYS:
            oldest = next((one for one in self._raises if one not in self._chattering), None)
            if oldest is not None:
                del self._raises[oldest]
        return recent

    # --- flood -------------------------------------------------------------------------------------

    def _gather(self, event: AlarmEvent, turn: Turn) -> None:
        if len(self._gathered) < MOST_NAMES:
            self._gathered[event.key.subject] = None
        blind = event.key.kind is Kind.BLIND and event.cause is Cause.RAISED
        length = self._bounds.gather if blind else self._bounds.gather_rest
        due = Instant(turn.now.mono + length)
        if self._tell_at is None or due < self._tell_at:
            self._tell_at = due
            self._look_again(length, turn)

    def _tell(self, turn: Turn) -> None:
        names, self._gathered, self._tell_at = tuple(self._gathered), {}, None
        alarm = self._book.get(FLOOD)
        if alarm is not None:
            self._book.amend(replace(alarm, detail=str(self._told.count(turn.now.mono))))
        turn.note(self._book.still(FLOOD, turn.now, subjects=names))

    def _look_again(self, after: int, turn: Turn) -> None:
        self._look_by(Instant(turn.now.mono + after))

    def _look_by(self, when: Instant) -> None:
        """Look then, unless a look that comes before it is waited for: each looks for when the next is due."""
        if self._look_at is None or when < self._look_at:
            self._look_at = when
            self._deadlines.at(when, LookAtFrequency())

    @staticmethod
    def _counts(event: AlarmEvent) -> bool:
        """A window is a person's own doing, a drill is played: neither comes too often."""
        return not (event.drill or event.reason in WINDOWS or event.key.subject.startswith(OWN))
