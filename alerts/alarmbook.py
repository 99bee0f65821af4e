"""The standing alarms of a depot, and the events that change them. Knows no reading's rules, no message, no clock."""

from collections.abc import Iterator
from dataclasses import replace

from alerts.alarms import (
    AlarmEvent,
    AlarmKey,
    AlarmState,
    Cause,
    EventId,
    Kind,
    Level,
    Phase,
    Suppressed,
    Suppression,
)
from alerts.states import HORN, LATCHING, Trigger, step, suppress
from sensors.readings import Reading, Status
from sensors.stamps import Stamp

CAUSES = {
    Trigger.RAISE: Cause.RAISED,
    Trigger.RISE: Cause.RISEN,
    Trigger.CLEAR: Cause.CLEARED,
    Trigger.ACKNOWLEDGE: Cause.ACKNOWLEDGED,
    Trigger.RESET: Cause.RESET,
    Trigger.END: Cause.RESET,
    Trigger.SHELVE: Cause.SHELVED,
    Trigger.UNSHELVE: Cause.UNSHELVED,
    Trigger.SUPPRESS: Cause.SUPPRESSED,
    Trigger.UNSUPPRESS: Cause.UNSUPPRESSED,
}
ENDED = {Suppression.SHELVED: Cause.UNSHELVED, Suppression.BY_DESIGN: Cause.UNSUPPRESSED}
"""What the end of a suppression is called, whatever brought it."""


class AlarmBook:
    """All alarms that are not in the normal state, or under a suppression, by key.

    Event numbers count up from `last_seq` + 1 without a gap; ids carry the boot nonce, so that a number used again
    after a crash that lost its event still makes a new id.
    """

    def __init__(self, depot: str, boot: str, last_seq: int = 0) -> None:
        self._depot = depot
        self._boot = boot
        self.last_seq = last_seq
        self._alarms: dict[AlarmKey, AlarmState] = {}

    def __iter__(self) -> Iterator[AlarmState]:
        """Every standing alarm, in the order they were raised."""
        return iter(self._alarms.values())

    def __len__(self) -> int:
        return len(self._alarms)

    def get(self, key: AlarmKey) -> AlarmState | None:
        """Return the standing alarm of this key, if any."""
        return self._alarms.get(key)

    def present(self, key: AlarmKey) -> bool:
        """Tell whether the condition of this alarm holds now."""
        alarm = self._alarms.get(key)
        return alarm is not None and alarm.present

    def put_back(self, alarm: AlarmState) -> None:
        """Restore an alarm as the journal kept it."""
        self._alarms[alarm.key] = alarm

    def amend(self, alarm: AlarmState) -> None:
        """Replace a standing alarm by a copy with newer figures; no event comes of it."""
        self._alarms[alarm.key] = alarm

    # --- conditions ----------------------------------------------------------------------------

    def raise_(
        self,
        key: AlarmKey,
        now: Stamp,
        *,
        level: Level | None = None,
        reading: Reading | None = None,
        reason: str = "",
        detail: str = "",
        subjects: tuple[str, ...] = (),
        by: str | None = None,
        until: Stamp | None = None,
        drill: bool = False,
        suppressed: Suppressed | None = None,
    ) -> AlarmEvent:
        """The condition of `key` has begun. The alarm must not be present already.

        A suppression that lies over it stays, unless another (`suppressed`) begins with it.
        """
        old = self._alarms.get(key)
        sampled = now if reading is None else reading.taken
        gas = None if reading is None else reading.gas()
        seq, event_id = self._next()
        before = Phase.NORMAL if old is None else old.phase
        after = step(before, Trigger.RAISE, latching=key.kind in LATCHING)
        assert after is not None, f"{key} raised in {before}"
        alarm = AlarmState(
            key=key,
            id=event_id if old is None else old.id,
            phase=after,
            level=level,
            present=True,
            since=now if old is None or key.kind not in LATCHING else old.since,
            sampled=sampled,
            decided=now,
            first_output=None,
            peak=_highest(None if old is None else old.peak, gas),
            lel_pct=gas,
            quality="" if reading is None else reading.quality.value,
            muted_until=None,
            acknowledged_by=None,
            reason=reason,
            detail=detail,
            annunciated=now,
            told=() if old is None else old.told,
            seq=seq,
            until=until,
            drill=drill,
            opened_by=None if until is None else by,
            suppressed=suppressed or (None if old is None else old.suppressed),
            holds=() if old is None else old.holds,
            over_range=key.kind is Kind.GAS and _passed(old, reading, drill=drill),
        )
        self._alarms[key] = alarm
        return self._event(seq, event_id, alarm, Cause.RAISED, before, now, reading, by=by, subjects=subjects)

    def rise(self, key: AlarmKey, now: Stamp, level: Level, reading: Reading) -> AlarmEvent:
        """A present gas alarm has reached a higher level, or passed its head's range: it starts again, horn and all."""
        old = self._alarms[key]
        after = step(old.phase, Trigger.RISE, latching=True)
        assert after is not None, f"{key} risen in {old.phase}"
        seq, event_id = self._next()
        alarm = replace(
            old,
            phase=after,
            seq=seq,
            level=level,
            sampled=reading.taken,
            decided=now,
            first_output=None,
            peak=_highest(old.peak, reading.gas()),
            lel_pct=reading.gas(),
            quality=reading.quality.value,
            muted_until=None,
            acknowledged_by=None,
            annunciated=now,
            over_range=_passed(old, reading, drill=old.drill),
        )
        self._alarms[key] = alarm
        return self._event(seq, event_id, alarm, Cause.RISEN, old.phase, now, reading)

    def clear(
        self, key: AlarmKey, now: Stamp, reading: Reading | None = None, reason: str = "", by: str | None = None
    ) -> AlarmEvent:
        """The condition of a present alarm has ended. A latching alarm stands on until it is reset."""
        old = self._alarms[key]
        if old.suppression is Suppression.OUT_OF_SERVICE:  # the condition was the suppression itself
            old = replace(old, suppressed=None)
        return self._move(old, Trigger.CLEAR, now, reading=reading, reason=reason, by=by)

    def follow_cable(self, key: AlarmKey, now: Stamp, reading: Reading) -> AlarmEvent:
        """A head watches again whose cable's notice spoke for it: nobody was told of it, so nobody need take it."""
        return self._move(self._alarms[key], Trigger.END, now, reading=reading, cause=Cause.CLEARED)

    def end_drill(self, key: AlarmKey, now: Stamp) -> AlarmEvent:
        """The test window over a head has closed: its drill alarm goes, in whatever phase it is."""
        return self._move(self._alarms[key], Trigger.END, now, reason="drill-ended")

    # --- people ----------------------------------------------------------------------------------

    def acknowledge(self, key: AlarmKey, now: Stamp, by: str, note: str) -> AlarmEvent | None:
        """A person takes the alarm at its present level. None where there is nothing to take."""
        return self._act(key, Trigger.ACKNOWLEDGE, now, by, note)

    def reset(self, key: AlarmKey, now: Stamp, by: str, note: str) -> AlarmEvent | None:
        """A person ends a latched alarm. None unless it is acknowledged and its condition has gone."""
        return self._act(key, Trigger.RESET, now, by, note)

    def silence(self, key: AlarmKey, now: Stamp, until: Stamp, by: str, note: str) -> AlarmEvent | None:
        """Mute the horn for this alarm until then; everything else stays. None where no horn sounds for it."""
        old = self._alarms.get(key)
        if old is None or key.kind is not Kind.GAS or old.phase not in HORN:
            return None
        alarm = replace(old, muted_until=until)
        self._alarms[key] = alarm
        seq, event_id = self._next()
        return self._event(seq, event_id, alarm, Cause.SILENCED, old.phase, now, None, by=by, note=note)

    def shelve(self, key: AlarmKey, now: Stamp, until: Stamp, by: str, why: str) -> AlarmEvent | None:
        """A person sets the alarm aside until then. None where nothing may be set aside."""
        return self._lay(key, Trigger.SHELVE, now, Suppressed(Suppression.SHELVED, by, why, now, until))

    def suppress_by_design(self, key: AlarmKey, now: Stamp, by: str, why: str, until: Stamp) -> AlarmEvent | None:
        """A configured rule, by whom and until when it is in force, holds from now on: the alarm tells nothing."""
        return self._lay(key, Trigger.SUPPRESS, now, Suppressed(Suppression.BY_DESIGN, by, why, now, until))

    def lift(
        self, key: AlarmKey, trigger: Trigger, now: Stamp, *, by: str | None = None, note: str = ""
    ) -> AlarmEvent | None:
        """What lay over the alarm ends; it is told anew if its condition holds. None where `trigger` ends nothing."""
        old = self._alarms.get(key)
        if old is None or old.suppressed is None:
            return None
        after = suppress(key.kind, old.phase, old.suppression, trigger, present=old.present)
        if after is None:
            return None
        phase, _ = after
        anew = phase is Phase.UNACKNOWLEDGED
        seq, event_id = self._next()
        alarm = replace(
            old,
            phase=phase,
            suppressed=None,
            seq=seq,
            acknowledged_by=by if phase is Phase.ACKNOWLEDGED else None,
            annunciated=now if anew else old.annunciated,
            decided=now if anew else old.decided,
            sampled=now if anew else old.sampled,
            first_output=None if anew else old.first_output,
        )
        self._keep(alarm)
        cause = ENDED.get(old.suppressed.what, Cause.UNSHELVED)
        return self._event(seq, event_id, alarm, cause, old.phase, now, None, by=by, note=note)

    def still(
        self,
        key: AlarmKey,
        now: Stamp,
        reason: str = "",
        told: tuple[str, ...] = (),
        subjects: tuple[str, ...] = (),
    ) -> AlarmEvent:
        """The alarm stands on and nobody has taken it: say so again, to `told` as well from now on."""
        old = self._alarms[key]
        alarm = replace(old, told=old.told + tuple(name for name in told if name not in old.told))
        self._alarms[key] = alarm
        seq, event_id = self._next()
        return self._event(seq, event_id, alarm, Cause.STILL, old.phase, now, None, reason=reason, subjects=subjects)

    def _act(self, key: AlarmKey, trigger: Trigger, now: Stamp, by: str, note: str) -> AlarmEvent | None:
        old = self._alarms.get(key)
        if old is None or step(old.phase, trigger, latching=key.kind in LATCHING) is None:
            return None
        return self._move(old, trigger, now, by=by, note=note)

    def _lay(self, key: AlarmKey, trigger: Trigger, now: Stamp, suppressed: Suppressed) -> AlarmEvent | None:
        old = self._alarms.get(key)
        if old is None or suppress(key.kind, old.phase, old.suppression, trigger, present=old.present) is None:
            return None
        alarm = replace(old, suppressed=suppressed)
        self._alarms[key] = alarm
        seq, event_id = self._next()
        by, note = suppressed.by, suppressed.why
        return self._event(seq, event_id, alarm, CAUSES[trigger], old.phase, now, None, by=by, note=note)

    def _keep(self, alarm: AlarmState) -> None:
        """Hold what stands or is kept quiet; let go of the rest."""
        if alarm.phase is Phase.NORMAL and alarm.suppressed is None:
            del self._alarms[alarm.key]
        else:
            self._alarms[alarm.key] = alarm

    def _move(
        self,
        old: AlarmState,
        trigger: Trigger,
        now: Stamp,
        *,
        reading: Reading | None = None,
        by: str | None = None,
        note: str = "",
        reason: str = "",
        cause: Cause | None = None,
    ) -> AlarmEvent:
        after = step(old.phase, trigger, latching=old.key.kind in LATCHING)
        assert after is not None, f"{old.key}: {trigger} in {old.phase}"
        alarm = replace(
            old,
            phase=after,
            reason=reason or old.reason if trigger is Trigger.CLEAR else old.reason,
            ended=now if trigger is Trigger.CLEAR else old.ended,
            present=old.present and trigger not in (Trigger.CLEAR, Trigger.END),
            acknowledged_by=by if trigger is Trigger.ACKNOWLEDGE else old.acknowledged_by,
            lel_pct=old.lel_pct if reading is None else reading.gas(),
            quality=old.quality if reading is None else reading.quality.value,
        )
        self._keep(alarm)
        seq, event_id = self._next()
        return self._event(
            seq, event_id, alarm, cause or CAUSES[trigger], old.phase, now, reading, by=by, note=note, reason=reason
        )

    def _next(self) -> tuple[int, EventId]:
        self.last_seq += 1
        return self.last_seq, EventId(f"{self._depot}-{self._boot}-{self.last_seq}")

    @staticmethod
    def _event(
        seq: int,
        event_id: EventId,
        alarm: AlarmState,
        cause: Cause,
        before: Phase,
        now: Stamp,
        reading: Reading | None,
        *,
        by: str | None = None,
        note: str = "",
        reason: str = "",
        subjects: tuple[str, ...] = (),
    ) -> AlarmEvent:
        return AlarmEvent(
            seq=seq,
            id=event_id,
            key=alarm.key,
            cause=cause,
            before=before,
            after=alarm.phase,
            level=alarm.level,
            reading=reading,
            lel_pct=alarm.lel_pct,
            peak=alarm.peak,
            since=alarm.since,
            sampled=now if reading is None else reading.taken,
            at=now,
            by=by,
            note=note,
            reason=reason or alarm.reason,
            detail=alarm.detail,
            subjects=subjects,
            drill=alarm.drill,
            suppressed=alarm.suppressed,
            over_range=alarm.over_range,
        )


def _passed(old: AlarmState | None, reading: Reading | None, *, drill: bool) -> bool:
    """Tell whether the head has passed its range in this occurrence. Gas that is expected floods nobody unseen."""
    if drill or reading is None:
        return False
    return reading.status is Status.OVER_RANGE or (old is not None and old.over_range)


def _highest(one: float | None, other: float | None) -> float | None:
    numbers = [value for value in (one, other) if value is not None]
    return max(numbers) if numbers else None
