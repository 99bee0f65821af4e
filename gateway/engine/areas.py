"""Areas that nobody watches: told at once where a person's doing, or a rule, had a part in it. Pure."""

from collections.abc import Iterable

from alerts.alarmbook import AlarmBook
from alerts.alarms import AlarmKey, Kind
from gateway.engine.sight import Sight
from gateway.engine.turn import Turn
from gateway.engine.watched import Head

PREFIX = "area:"


def area_key(area: str) -> AlarmKey:
    """The alarm that says that nobody watches an area."""
    return AlarmKey(PREFIX + area, Kind.BLIND)


class Areas:
    """Which areas are covered. A cut cable is told by its own notice; what people set aside is told here."""

    def __init__(self, book: AlarmBook, sight: Sight) -> None:
        self._book = book
        self._sight = sight
        self._of: dict[str, str] = {}
        self._heads: dict[str, list[Head]] = {}
        self._seen: dict[str, Head] = {}  # a head of each area that watched when last looked for

    def take_orders(self, turn: Turn | None = None) -> None:
        """Learn anew which heads stand in which area, and look at all of them."""
        self._of, self._heads, self._seen = {}, {}, {}
        for head in self._sight.heads.values():
            self._of[head.watch.detector] = head.watch.area
            self._heads.setdefault(head.watch.area, []).append(head)
        if turn is not None:
            for area in self._heads:
                self._look(area, turn)

    def look(self, turn: Turn) -> None:
        """Raise or end the alarm of every area one of whose heads is in the turn, by how its heads stand now."""
        subjects = (event.key.subject for event, _ in turn.events if event.key.kind is Kind.BLIND)
        for area in dict.fromkeys(area for subject in subjects for area in self._areas_of(subject)):
            self._look(area, turn)

    def _look(self, area: str, turn: Turn) -> None:
        key, blind = area_key(area), self._blind(area)
        if blind and not self._book.present(key) and any(map(self._quiet, self._heads[area])):
            names = tuple(head.watch.detector for head in self._heads[area])
            turn.note(self._book.raise_(key, turn.now, reason="uncovered", subjects=names))
        elif not blind and self._book.present(key):
            turn.note(self._book.clear(key, turn.now))

    def _blind(self, area: str) -> bool:
        """Tell whether no head of the area watches; the one that did last is asked first."""
        seen = self._seen.get(area)
        if seen is not None and not self._book.present(seen.blind):
            return False
        found = next((head for head in self._heads[area] if not self._book.present(head.blind)), None)
        if found is not None:
            self._seen[area] = found
        return found is None

    def _areas_of(self, subject: str) -> Iterable[str]:
        """Return the areas of which a head, or a cable, has to do with the sight."""
        if subject in self._of:
            return (self._of[subject],)
        return (head.watch.area for head in self._sight.sources.heads(subject))

    def _quiet(self, head: Head) -> bool:
        """Tell whether a person or a rule keeps this head's silence, or its cable's, from being told, or made it."""
        alarm, cable = self._book.get(head.blind), self._book.get(AlarmKey(head.watch.source, Kind.BLIND))
        if head.grouped and cable is not None and cable.suppressed is not None:
            return True
        return alarm is not None and (alarm.suppressed is not None or alarm.until is not None)
