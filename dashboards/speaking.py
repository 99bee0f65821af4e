"""An alarm's sentences, said in the process that shows them: the watch sends only what they are made of. No clock."""

import msgspec

from alerts.alarms import AlarmKey, AlarmState, EventId, Kind, Level, Phase
from alerts.messages.catalogue import LANGUAGES
from alerts.messages.guidance import guidance
from alerts.messages.told import told_in
from alerts.messages.words import Place, standing
from dashboards.ports import AlarmView, Change, GuidanceView, Snapshot, Unsaid
from sensors.stamps import SECOND, Instant, Stamp, UtcNanos

RAISED = Stamp(Instant(0), UtcNanos(0))
"""When every alarm was raised, as its sentence counts its age."""


class Speaker:
    """Says the alarms of one picture and of its changes; one that is sent again as it was is not said again."""

    def __init__(self) -> None:
        self._language = LANGUAGES[0]
        self._said: dict[str, tuple[AlarmView, AlarmView]] = {}

    def snapshot(self, snapshot: Snapshot) -> Snapshot:
        """Return the picture with its alarms said, `text` in the depot's language."""
        self._language = snapshot.depot.language
        self._said = {}
        return msgspec.structs.replace(snapshot, alarms=self._alarms(snapshot.alarms))

    def change(self, change: Change) -> Change:
        """Return a change of the last picture with its alarms said."""
        if change.alarms is None:
            return change
        return msgspec.structs.replace(change, alarms=self._alarms(change.alarms))

    def _alarms(self, alarms: tuple[AlarmView, ...]) -> tuple[AlarmView, ...]:
        before, self._said = self._said, {}
        for alarm in alarms:
            known = before.get(alarm.id)
            self._said[alarm.id] = known if known is not None and known[0] == alarm else (alarm, self._say(alarm))
        return tuple(self._said[alarm.id][1] for alarm in alarms)

    def _say(self, alarm: AlarmView) -> AlarmView:
        if alarm.unsaid is msgspec.UNSET:
            return alarm
        state, now = _state(alarm, alarm.unsaid)
        place = Place(**msgspec.structs.asdict(alarm.unsaid.place))
        texts = {language: standing(state, place, language, now) for language in LANGUAGES}
        guides = {language: guidance(state, language) for language in LANGUAGES}
        own = guides[self._language]
        return msgspec.structs.replace(
            alarm,
            text=texts[self._language],
            texts=texts,
            likely_cause=own.likely_cause,
            next_action=own.next_action,
            guidance={one: GuidanceView(guide.likely_cause, guide.next_action) for one, guide in guides.items()},
            detail=told_in(alarm.detail, self._language),
            unsaid=msgspec.UNSET,
        )


def _state(alarm: AlarmView, unsaid: Unsaid) -> tuple[AlarmState, Stamp]:
    """The alarm as its sentences need it, and the present that goes with it."""
    now = Stamp(Instant(unsaid.age_s * SECOND), UtcNanos(0))
    state = AlarmState(
        key=AlarmKey(alarm.subject, Kind(alarm.kind)),
        id=EventId(alarm.id),
        phase=Phase(alarm.state),
        level=None if alarm.level is None else Level[alarm.level],
        present=alarm.present,
        since=RAISED,
        sampled=RAISED,
        decided=RAISED,
        first_output=None,
        peak=alarm.peak,
        lel_pct=alarm.lel_pct,
        quality=alarm.quality,
        muted_until=None,
        acknowledged_by=alarm.acknowledged_by,
        reason=alarm.reason,
        detail=alarm.detail,
        annunciated=RAISED,
        drill=unsaid.drill,
        over_range=unsaid.over_range,
    )
    return state, now
