"""What is unwell in the gateway itself: a SYSTEM alarm that comes and goes with its cause. Pure."""

from alerts.alarmbook import AlarmBook
from alerts.alarms import AlarmKey, Kind
from gateway.turn import Turn


class Conditions:
    """Every SYSTEM condition, by its subject."""

    def __init__(self, book: AlarmBook) -> None:
        self._book = book

    def set(self, subject: str, turn: Turn, *, present: bool, reason: str = "", detail: str = "") -> None:
        """Raise it or clear it; what is already so is not told again."""
        key = AlarmKey(subject, Kind.SYSTEM)
        if present and not self._book.present(key):
            turn.note(self._book.raise_(key, turn.now, reason=reason, detail=detail))
        elif not present and self._book.present(key):
            turn.note(self._book.clear(key, turn.now))
