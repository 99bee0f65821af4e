"""What the watch sends in short, said in full by whoever shows it: alarms, and heads that are well. No clock."""

import msgspec

from alerts.alarms import AlarmKey, Kind, Level, Phase
from alerts.messages.catalogue import LANGUAGES
from alerts.messages.guidance import guidance
from alerts.messages.place import Place
from alerts.messages.standing import StandingAlarm
from alerts.messages.told import told_in
from alerts.messages.words import standing
from dashboards.ports import AlarmView, Change, DetectorView, GuidanceView, Snapshot, Unsaid, Well
from sensors.stamps import MILLISECOND, UtcNanos, rfc3339


class Speaker:
    """Says one picture and its changes; an alarm that is sent again as it was is not said again."""

    def __init__(self) -> None:
        self._language = LANGUAGES[0]
        self._said: dict[str, tuple[AlarmView, AlarmView]] = {}
        self._heads: dict[str, DetectorView] = {}

    def snapshot(self, snapshot: Snapshot) -> Snapshot:
        """Return the picture with its alarms said, `text` in the depot's language."""
        self._language = snapshot.depot.language
        self._said = {}
        self._heads = {view.id: view for view in snapshot.detectors}
        return msgspec.structs.replace(snapshot, alarms=self._alarms(snapshot.alarms))

    def change(self, change: Change) -> Change:
        """Return a change of the last picture with its alarms said, and with a view of each head."""
        if change.well is not msgspec.UNSET:
            known = ((self._heads.get(well.id), well) for well in change.well)
            views = tuple(_view(view, well) for view, well in known if view is not None)
            change = msgspec.structs.replace(change, detectors=change.detectors + views, well=msgspec.UNSET)
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
        stands = _standing(alarm, alarm.unsaid)
        place = Place(**msgspec.structs.asdict(alarm.unsaid.place))
        texts = {language: standing(stands, place, language) for language in LANGUAGES}
        guides = {language: guidance(stands, language) for language in LANGUAGES}
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


def _view(view: DetectorView, well: Well) -> DetectorView:
    """The view of a head that is plainly well; `view` is any of it."""
    return msgspec.structs.replace(
        view,
        lel_pct=well.lel_pct,
        at_least=None,
        quality="good",
        status="measuring",
        reason="",
        taken=rfc3339(UtcNanos(well.taken_ms * MILLISECOND)),
        age_s=well.age_s,
        watching=True,
        window=None,
    )


def _standing(alarm: AlarmView, unsaid: Unsaid) -> StandingAlarm:
    return StandingAlarm(
        key=AlarmKey(alarm.subject, Kind(alarm.kind)),
        phase=Phase(alarm.state),
        level=None if alarm.level is None else Level[alarm.level],
        present=alarm.present,
        age_s=unsaid.age_s,
        lel_pct=alarm.lel_pct,
        peak=alarm.peak,
        quality=alarm.quality,
        by=alarm.acknowledged_by,
        reason=alarm.reason,
        detail=alarm.detail,
        drill=unsaid.drill,
        over_range=unsaid.over_range,
    )
