"""Puts back what the journal knew when the watch last ran: standing alarms, open windows, owed messages. Pure."""

from dataclasses import replace

from alerts.alarmbook import AlarmBook
from alerts.alarms import AlarmState, Kind
from gateway.engine.deadlines import Deadlines, Unmute
from gateway.engine.events import Restored
from gateway.engine.records import event_from, state_from
from gateway.engine.sight import WINDOWS, Sight
from gateway.engine.suppressing import Suppressing
from gateway.engine.telling import Telling
from gateway.engine.turn import Turn
from gateway.engine.windows import longest
from sensors.readings import DetectorId
from sensors.stamps import MILLISECOND, Instant, Stamp

APART = 2 * MILLISECOND
"""Between the repeats of two alarms that were put back at once (ns), so that hundreds do not come in one turn."""


def put_back(
    restored: Restored,
    turn: Turn,
    book: AlarmBook,
    sight: Sight,
    telling: Telling,
    suppressing: Suppressing,
    deadlines: Deadlines,
) -> None:
    """Put everything back into a watch that has just begun; SYSTEM alarms end, and their causes raise them again.

    Those of a supply stand until it says that they are over: a loss is told once, and so is its end.
    """
    now, timing = turn.now, telling.orders.timing
    for number, state in enumerate(restored.states):
        if state.body is None:
            continue
        longest_mute = Instant(now.mono + timing.silence)
        alarm = _mute_bounded(state_from(state.key, state.body, now), longest_mute, deadlines)
        book.put_back(alarm)
        suppressing.put_back(alarm, now.mono)
        head = sight.heads.get(DetectorId(state.key.subject))
        if alarm.until is not None and head is not None and alarm.reason in WINDOWS:
            last = Instant(now.mono + longest(WINDOWS[alarm.reason], timing))
            sight.arm_window(head, alarm.annunciated.mono, min(alarm.until.mono, last))
        telling.schedule(alarm, repeat_from=Instant(now.mono + number * APART))
        if state.key.kind is Kind.SYSTEM and alarm.present and state.key.subject not in sight.lasting:
            turn.note(book.clear(state.key, now, reason="restart"), send=False)
    sight.put_back()
    sight.drop_strangers(turn)
    for row, body in restored.owed:
        telling.outbox.owe(row.delivery, event_from(body, now), now.mono, ticket=None, leave=now.mono)


def _mute_bounded(alarm: AlarmState, longest: Instant, deadlines: Deadlines) -> AlarmState:
    """A mute that a clock set back would stretch ends after its usual length at the latest."""
    if alarm.muted_until is None:
        return alarm
    until = Stamp(min(alarm.muted_until.mono, longest), alarm.muted_until.utc)
    deadlines.at(until.mono, Unmute())
    return replace(alarm, muted_until=until)
