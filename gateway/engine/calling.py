"""Calls the centre in once gas is sure: two samples of a head, two heads, or a head that fails in gas. Pure.

A call to a monitoring centre costs something, and a single sample may be a garbled frame. Everybody else hears of the
first sample at once (design: section 3); where nobody else would hear, the centre does. The two need not be neighbours
(`alerts.voting.SAME_GAS`): gas may swing about a level.
"""

from dataclasses import replace

from alerts.alarmbook import AlarmBook
from alerts.alarms import AlarmState, Kind, Level
from alerts.routing import CONFIRMED, Recipient
from alerts.voting import TWO
from gateway.engine.sight import Sight
from gateway.engine.telling import annunciates
from gateway.engine.turn import Turn
from gateway.engine.watched import Head
from sensors.readings import DetectorId, Status
from sensors.stamps import Instant


class Calling:
    """The centres of a depot, and the gas alarms they have not been called for yet."""

    def __init__(self, book: AlarmBook, sight: Sight) -> None:
        self._book = book
        self._sight = sight
        self._centres: tuple[Recipient, ...] = ()

    def take_orders(self, recipients: tuple[Recipient, ...]) -> None:
        """Call these centres from now on."""
        self._centres = tuple(recipient for recipient in recipients if recipient.called)

    def awaits(self, head: Head) -> bool:
        """Tell whether a centre is to be called for this head's gas and was not yet."""
        if not self._centres:
            return False
        alarm = self._book.get(head.gas)
        return alarm is not None and bool(self._uncalled(alarm))

    def look(self, turn: Turn) -> None:
        """Call the centres for whatever gas is sure by now; where that is news to everybody, by the same notice."""
        if not self._centres:
            return
        news = {event.key for event, _ in turn.events if annunciates(event)}
        for alarm in tuple(self._book):
            names = self._due(alarm, turn.now.mono)
            if not names:
                continue
            if alarm.key in news:
                self._book.amend(replace(alarm, told=(*alarm.told, *names)))
            else:
                turn.note(self._book.still(alarm.key, turn.now, reason=CONFIRMED, told=names))

    def _due(self, alarm: AlarmState, now: Instant) -> tuple[str, ...]:
        """Return who is to be called now: of whoever was not yet, all for whose lowest level the gas is sure.

        The alarm keeps its highest level. One sample may have put it there, and many since confirm a lower one.
        """
        return tuple(one.id for one in self._uncalled(alarm) if self._is_sure(alarm, _lowest(one), now))

    def _uncalled(self, alarm: AlarmState) -> tuple[Recipient, ...]:
        level = alarm.level
        if alarm.key.kind is not Kind.GAS or level is None or not alarm.present or alarm.drill:
            return ()
        if alarm.suppressed is not None:
            return ()
        return tuple(one for one in self._centres if one.id not in alarm.told and level.name in one.alarms)

    def _is_sure(self, alarm: AlarmState, level: Level, now: Instant) -> bool:
        head = self._sight.heads.get(DetectorId(alarm.key.subject))
        if head is None or head.run.at(level) >= TWO or self._has_failed(head, now):
            return True
        return any(_reads_too(other, alarm, level) for other in self._book)

    def _has_failed(self, head: Head, now: Instant) -> bool:
        """A head over its range is blind by its first sample, and says gas all the same."""
        blind = self._book.get(head.blind)
        if blind is not None and blind.present and blind.reason != Status.OVER_RANGE.value:
            return True
        return head.watched_at + head.watch.blind_after <= now


def _lowest(centre: Recipient) -> Level:
    """The lowest level that this centre is called for; there is one, as it is called for the alarm's."""
    return min(level for level in Level if level.name in centre.alarms)


def _reads_too(other: AlarmState, alarm: AlarmState, level: Level) -> bool:
    if other.key.kind is not Kind.GAS or other.key == alarm.key or not other.present or other.drill:
        return False
    return other.level is not None and other.level >= level
