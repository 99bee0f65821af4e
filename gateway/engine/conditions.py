"""What is unwell in the gateway itself or against the law: an alarm that comes and goes with its cause. Pure."""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from alerts.alarmbook import AlarmBook
from alerts.alarms import AlarmKey, Kind
from gateway.engine.deadlines import Deadlines, JudgeOn
from gateway.engine.events import Breach
from gateway.engine.turn import Turn
from sensors.stamps import MILLISECOND, Instant

AT_ONCE = 5
"""Conditions of the law that come or go in one turn of the engine: a judgement brings hundreds, and gas goes first."""

BETWEEN = 10 * MILLISECOND
"""Until the next few (ns)."""


class Conditions:
    """Every SYSTEM and COMPLIANCE condition, by its subject."""

    def __init__(self, book: AlarmBook, deadlines: Deadlines) -> None:
        self._book = book
        self._deadlines = deadlines
        self._found: dict[AlarmKey, Breach] = {}
        self._unlike: deque[AlarmKey] = deque()

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
        """Bring the conditions of the law to what was found, a few in a turn: these stand and no others."""
        self._found = {AlarmKey(breach.subject, Kind.COMPLIANCE): breach for breach in breaches}
        standing = (alarm.key for alarm in self._book if alarm.key.kind is Kind.COMPLIANCE and alarm.present)
        going_on, self._unlike = bool(self._unlike), deque(filter(self._is_unlike, self._found))
        self._unlike.extend(key for key in standing if key not in self._found)
        if not going_on:
            self.judge_on(turn)

    def judge_on(self, turn: Turn) -> None:
        """Bring the next few conditions to what was found last."""
        for _ in range(min(AT_ONCE, len(self._unlike))):
            self._follow(self._unlike.popleft(), turn)
        if self._unlike:
            self._deadlines.at(Instant(turn.now.mono + BETWEEN), JudgeOn())
        else:
            self._found = {}

    def _is_unlike(self, key: AlarmKey) -> bool:
        stood, breach = self._book.get(key), self._found[key]
        return stood is None or not stood.present or (stood.reason, stood.detail) != (breach.reason, breach.detail)

    def _follow(self, key: AlarmKey, turn: Turn) -> None:
        """Bring one condition to what was found; one that got worse is new, and is not told as resolved."""
        stood, breach = self._book.get(key), self._found.get(key)
        present = stood is not None and stood.present
        if stood is not None and present and (breach is None or breach.reason != stood.reason):
            turn.note(self._book.clear(key, turn.now), send=breach is None)
            present = False
        if breach is not None and not present:
            turn.note(self._book.raise_(key, turn.now, reason=breach.reason, detail=breach.detail))
        elif breach is not None and stood is not None and stood.detail != breach.detail:  # in other words
            self._book.amend(replace(stood, detail=breach.detail))
            turn.touched[key] = None
