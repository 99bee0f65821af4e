"""What is unwell in the gateway itself or against the law: an alarm that comes and goes with its cause. Pure."""

from collections.abc import Sequence

from alerts.alarmbook import AlarmBook
from alerts.alarms import AlarmKey, Kind
from gateway.events import Breach
from gateway.turn import Turn


class Conditions:
    """Every SYSTEM and COMPLIANCE condition, by its subject."""

    def __init__(self, book: AlarmBook) -> None:
        self._book = book

    def set(self, subject: str, turn: Turn, *, present: bool, reason: str = "", detail: str = "") -> None:
        """Raise it or clear it; what is already so is not told again."""
        key = AlarmKey(subject, Kind.SYSTEM)
        if present and not self._book.present(key):
            turn.note(self._book.raise_(key, turn.now, reason=reason, detail=detail))
        elif not present and self._book.present(key):
            turn.note(self._book.clear(key, turn.now))

    def judge(self, breaches: Sequence[Breach], turn: Turn) -> None:
        """Bring the conditions of the law to what was found: these stand and no others. One that got worse is new."""
        found = {AlarmKey(breach.subject, Kind.COMPLIANCE): breach for breach in breaches}
        for alarm in list(self._book):
            key = alarm.key
            if (
                key.kind is Kind.COMPLIANCE
                and alarm.present
                and (key not in found or found[key].reason != alarm.reason)
            ):
                turn.note(self._book.clear(key, turn.now))
        for key, breach in found.items():
            if not self._book.present(key):
                turn.note(self._book.raise_(key, turn.now, reason=breach.reason, detail=breach.detail))
