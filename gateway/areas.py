"""Areas that nobody watches: told at once where a person's doing, or a rule, had a part in it. Pure."""

from alerts.alarmbook import AlarmBook
from alerts.alarms import AlarmKey, Kind
from gateway.sight import Sight
from gateway.turn import Turn
from gateway.watched import Head

PREFIX = "area:"


def area_key(area: str) -> AlarmKey:
    """The alarm that says that nobody watches an area."""
    return AlarmKey(PREFIX + area, Kind.BLIND)


class Areas:
    """Which areas are covered. A cut cable is told by its own notice; what people set aside is told here."""

    def __init__(self, book: AlarmBook, sight: Sight) -> None:
        self._book = book
        self._sight = sight

    def look(self, turn: Turn) -> None:
        """Raise or end the alarm of each area, by how its heads stand now."""
        if not any(event.key.kind is Kind.BLIND for event, _ in turn.events):
            return
        heads: dict[str, list[Head]] = {}
        for head in self._sight.heads.values():
            heads.setdefault(head.watch.area, []).append(head)
        for area, there in heads.items():
            key = area_key(area)
            blind = all(self._book.present(head.blind) for head in there)
            if blind and not self._book.present(key) and any(map(self._quiet, there)):
                names = tuple(head.watch.detector for head in there)
                turn.note(self._book.raise_(key, turn.now, reason="uncovered", subjects=names))
            elif not blind and self._book.present(key):
                turn.note(self._book.clear(key, turn.now))

    def _quiet(self, head: Head) -> bool:
        """Tell whether a person or a rule keeps this head's silence from being told, or made it."""
        alarm = self._book.get(head.blind)
        return alarm is not None and (alarm.suppressed is not None or alarm.until is not None)
