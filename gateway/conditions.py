"""What is unwell in the gateway itself or against the law: an alarm that comes and goes with its cause. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from alerts.alarmbook import AlarmBook
from alerts.alarms import AlarmKey, Kind
from gateway.events import Breach
from gateway.turn import Turn


class Conditions:
    """Every SYSTEM and COMPLIANCE condition, by its subject."""

    def __init__(self, book: AlarmBook) -> None:
        self._book = book

    def set(self, subject: str, turn: Turn, *, present: bool, reason: str = "", detail: str = "") -> None:
        """Raise it or clear it; what is already so is not told again, but shown as it is now: slow, then full."""
        key = AlarmKey(subject, Kind.SYSTEM)
        alarm = self._book.get(key)
        if alarm is None or not alarm.present:
            if present:
                turn.note(self._book.raise_(key, turn.now, reason=reason, detail=detail))
        elif not present:
            turn.note(self._book.clear(key, turn.now))
        elif (alarm.reason, alarm.detail) != (reason, detail):
            self._book.amend(replace(alarm, reason=reason, detail=detail))
            turn.touched[key] = None

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
            stood = self._book.get(key)
            if stood is None or not stood.present:
                turn.note(self._book.raise_(key, turn.now, reason=breach.reason, detail=breach.detail))
            elif stood.detail != breach.detail:  # by how much, or in other words
                self._book.amend(replace(stood, detail=breach.detail))
                turn.touched[key] = None
