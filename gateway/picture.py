"""The engine's state as the screens see it. Reads the engine, changes nothing, decides nothing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Literal

from msgspec import structs

from alerts.alarms import AlarmKey, AlarmState, Phase, Suppressed, Suppression
from alerts.messages.place import Place
from alerts.messages.words import YOUNG_S
from alerts.states import HORN
from dashboards.ports import (
    AlarmView,
    Change,
    ContactView,
    DepotView,
    DetectorView,
    OutputView,
    PlaceView,
    Snapshot,
    SuppressionView,
    Unsaid,
    Well,
    WindowView,
)
from gateway.depot import Depot
from gateway.engine.engine import Engine
from gateway.engine.events import WindowKind
from gateway.engine.outputs import OutputState
from gateway.engine.watched import Head
from gateway.field.links import Links
from sensors.readings import DetectorId, Quality, Reading, Status
from sensors.stamps import MILLISECOND, SECOND, Stamp, UtcNanos, rfc3339

GOOD, MEASURING = Quality.GOOD, Status.MEASURING
"""Asked for with every head: looking a member up in its Enum costs more than comparing it."""

NO_BUDGET = (0.0, False)
WINDOW_KINDS: Mapping[WindowKind, Literal["test", "inhibit", "out-of-service"]] = {
    WindowKind.TEST: "test",
    WindowKind.INHIBIT: "inhibit",
    WindowKind.OUT_OF_SERVICE: "out-of-service",
}

SHOWN: Mapping[Suppression, Literal["shelved", "by-design", "out-of-service"]] = {
    Suppression.SHELVED: "shelved",
    Suppression.BY_DESIGN: "by-design",
    Suppression.OUT_OF_SERVICE: "out-of-service",
}


def depot_view(depot: Depot, started: Stamp, vkey: str) -> DepotView:
    """Who is watched, since when, and by which program."""
    return DepotView(
        id=depot.id,
        name=depot.name,
        address=depot.address,
        timezone=depot.timezone,
        language=depot.language,
        version=version("vigia-glp"),
        started=rfc3339(started.utc),
        vkey=vkey,
        areas={area.id: area.name for area in depot.areas if area.name},
        access=depot.access,
        contacts=tuple(ContactView(one.name, one.role, one.phone) for one in depot.recipients if one.phone),
    )


@dataclass(frozen=True, slots=True)
class _Said:
    """An alarm's view, with what it was made of beside the alarm itself: whether muted, and its age as spoken."""

    alarm: AlarmState
    sign: tuple[bool, int]
    view: AlarmView


@dataclass(frozen=True, slots=True)
class _Lasting:
    """What of a detector's view holds as long as the configuration does."""

    a1: float
    a2: float
    a3: float
    worst_case_s: float
    certified: bool
    name: str
    area_name: str


class Picture:
    """Builds snapshots and changes.

    Args:
        depot: who is watched.
        worst_case_s: each detector's computed budget (s) and whether it is certified for the three seconds.
        places: where a detector is, and what people call it.
        silence_s: how long a silenced horn stays mute (s).
        links: the lines and channels now.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        depot: DepotView,
        worst_case_s: dict[DetectorId, tuple[float, bool]],
        places: Callable[[str], Place],
        silence_s: float,
        links: Links,
    ) -> None:
        self._engine = engine
        self._depot = depot
        self._worst_case_s = worst_case_s
        self._places = places
        self._silence_s = silence_s
        self._links = links
        self._links_shown = self._links_briefed = -1
        self._shown: dict[DetectorId, tuple[Reading | None, bool]] = {}
        self._lasting: dict[DetectorId, _Lasting] = {}
        self._said: dict[AlarmKey, _Said] = {}
        self.seq = 0

    def snapshot(self, now: Stamp) -> Snapshot:
        """Everything, as of the last change."""
        return Snapshot(
            seq=self.seq,
            at=rfc3339(now.utc),
            depot=self._depot,
            detectors=tuple(self._detector(head, now) for head in self._engine.sight.heads.values()),
            alarms=self._alarms(now),
            outputs=self._outputs(now),
            links=self._links.views(now),
            worst_ms=self._worst_ms(),
            worst_case_s=max((worst for worst, _ in self._worst_case_s.values()), default=0.0),
            alive=True,
            silence_s=self._silence_s,
        )

    def brief(self, now: Stamp) -> Change:
        """The change of each second for whoever rests: all but the heads. It is none in the row of the others."""
        moved, self._links_briefed = self._links.heard != self._links_briefed, self._links.heard
        return Change(
            seq=self.seq,
            at=rfc3339(now.utc),
            alarms=self._alarms(now),
            outputs=self._outputs(now),
            links=self._links.views(now) if moved else None,
            worst_ms=self._worst_ms(),
        )

    def heartbeat(self, now: Stamp) -> Change:
        """The change of each second: every head heard since the last one, all alarms and outputs; links that moved."""
        self.seq += 1
        moved, self._links_shown = self._links.heard != self._links_shown, self._links.heard
        detectors, well = self._news(now)
        return Change(
            seq=self.seq,
            at=rfc3339(now.utc),
            detectors=detectors,
            alarms=self._alarms(now),
            outputs=self._outputs(now),
            links=self._links.views(now) if moved else None,
            worst_ms=self._worst_ms(),
            well=well,
        )

    def alarm_change(self, now: Stamp) -> Change:
        """The change sent at once when an alarm moved: the alarms, and the heads of those that moved."""
        self.seq += 1
        heads, before = self._engine.sight.heads, self._said
        alarms = self._alarms(now)
        moved = {key for key, said in self._said.items() if said is not before.get(key)} | (before.keys() - self._said)
        subjects = dict.fromkeys(DetectorId(key.subject) for key in moved)
        return Change(
            seq=self.seq,
            at=rfc3339(now.utc),
            detectors=tuple(self._detector(heads[name], now) for name in subjects if name in heads),
            alarms=alarms,
            outputs=self._outputs(now),
            worst_ms=self._worst_ms(),
        )

    def key_of(self, alarm_id: str) -> AlarmKey | None:
        """The standing alarm with this id."""
        return next((alarm.key for alarm in self._engine.book if alarm.id == alarm_id), None)

    def _news(self, now: Stamp) -> tuple[tuple[DetectorView, ...], tuple[Well, ...]]:
        """The heads heard, or in another state, since the last heartbeat; those that are plainly well in short."""
        views: list[DetectorView] = []
        well: list[Well] = []
        shown_before = self._shown
        for name, head in self._engine.sight.heads.items():
            last, troubled = head.last, head.troubled
            shown = shown_before.get(name)
            if shown is not None and shown[0] is last and shown[1] is troubled:
                continue
            shown_before[name] = (last, troubled)
            if troubled or last is None or last.quality is not GOOD or last.status is not MEASURING or last.reason:
                views.append(self._detector(head, now))
                continue
            gas, age = last.lel_pct, now.mono - last.taken.mono
            if gas is None or last.at_least is not None or age > head.watch.blind_after:
                views.append(self._detector(head, now))
            else:
                well.append(Well(name, gas, last.taken.utc // MILLISECOND, round(age / SECOND, 2)))
        return tuple(views), tuple(well)

    def _detector(self, head: Head, now: Stamp) -> DetectorView:
        last, name = head.last, head.watch.detector
        lasting = self._lasting.get(name)
        if lasting is None:
            lasting = self._lasting[name] = self._lasts(head)
        quality, status, reason = self._worth(head, now)
        nothing = not head.ever_watched and last is not None and last.gas() is None  # an age of nothing misleads
        return DetectorView(
            name,
            head.watch.area,
            head.watch.source,
            None if last is None else last.lel_pct,
            None if last is None else last.at_least,
            quality,
            status,
            reason,
            None if last is None or nothing else rfc3339(last.taken.utc),
            None if last is None or nothing else _seconds(last.taken, now),
            lasting.a1,
            lasting.a2,
            lasting.a3,
            head.ever_watched and (not head.troubled or self._engine.sight.watching(head)),
            lasting.worst_case_s,
            lasting.certified,
            lasting.name,
            lasting.area_name,
            self._window(head) if head.troubled else None,
        )

    def _lasts(self, head: Head) -> "_Lasting":
        name, levels = head.watch.detector, self._engine.orders.levels
        worst, certified = self._worst_case_s.get(name, NO_BUDGET)
        place = self._places(name)
        return _Lasting(levels.a1, levels.a2, levels.a3, worst, certified, place.detector_name or name, place.area)

    def _worth(self, head: Head, now: Stamp) -> tuple[str, str, str]:
        """Quality, status and reason as of now: a value that has grown too old is no longer what it was."""
        last = head.last
        if not head.ever_watched and not self._engine.book.present(head.blind):
            return "bad", "no-contact" if last is None else last.status.value, "not-yet-watched"
        if last is None:
            return "bad", "no-contact", "never-heard"
        if last.status is not Status.NO_CONTACT and now.mono - last.taken.mono > head.watch.blind_after:
            down = self._engine.sight.sources.down(head.watch.source)
            return ("bad", "stale", "stale") if down is None else ("bad", "no-contact", down)
        if last.quality is GOOD and last.status is MEASURING:
            return "good", "measuring", last.reason  # nearly all; an Enum's value is dear to ask for
        return last.quality.value, last.status.value, last.reason

    def _window(self, head: Head) -> WindowView | None:
        kind, alarm = self._engine.sight.window(head), self._engine.book.get(head.blind)
        if kind is None or alarm is None or alarm.until is None:
            return None
        return WindowView(WINDOW_KINDS[kind], alarm.opened_by or "", rfc3339(alarm.until.utc), alarm.detail)

    def _alarms(self, now: Stamp) -> tuple[AlarmView, ...]:
        """All alarms; the view of one that stands as it stood is the same until its words would differ."""
        said = {alarm.key: self._say(alarm, now) for alarm in self._engine.book}
        self._said = said
        return tuple(each.view for each in said.values())

    def _say(self, alarm: AlarmState, now: Stamp) -> "_Said":
        muted = alarm.muted_until is not None and alarm.muted_until.mono > now.mono and alarm.phase in HORN
        age = ((now if alarm.ended is None else alarm.ended).mono - alarm.since.mono) // SECOND
        if alarm.phase is Phase.UNACKNOWLEDGED and age < YOUNG_S:
            age = 0  # a young alarm is said without its age
        sign = (muted, age if age < YOUNG_S else age // 60)
        before = self._said.get(alarm.key)
        if before is not None and before.sign == sign:
            if before.alarm is alarm or before.alarm == alarm:
                return before
            if replace(before.alarm, first_output=alarm.first_output) == alarm:  # of which no sentence speaks
                return _Said(alarm, sign, structs.replace(before.view, first_output=_rfc3339(alarm.first_output)))
        return _Said(alarm, sign, self._alarm(alarm, muted, age))

    def _alarm(self, alarm: AlarmState, muted: bool, age_s: int) -> AlarmView:
        head = self._engine.sight.heads.get(DetectorId(alarm.key.subject))
        place = self._places(alarm.key.subject)
        return AlarmView(
            id=alarm.id,
            seq=alarm.seq,
            subject=alarm.key.subject,
            kind=alarm.key.kind.value,
            level=None if alarm.level is None else alarm.level.name,
            state=alarm.phase.value,
            present=alarm.present,
            latched=alarm.latched,
            lel_pct=alarm.lel_pct,
            peak=alarm.peak,
            quality=alarm.quality,
            since=rfc3339(alarm.since.utc),
            sampled=rfc3339(alarm.sampled.utc),
            decided=rfc3339(alarm.decided.utc),
            first_output=_rfc3339(alarm.first_output),
            acknowledged_by=alarm.acknowledged_by,
            muted=muted,
            reason=alarm.reason,
            detail=alarm.detail,
            area=place.area if head is None else head.watch.area,
            text="",
            suppression=_suppression(alarm.suppressed),
            can_shelve=self._engine.suppressing.can_shelve(alarm),
            unsaid=Unsaid(_place(place), age_s, alarm.drill, alarm.over_range),
        )

    def _outputs(self, now: Stamp) -> tuple[OutputView, ...]:
        return tuple(self._output(output, state, now) for output, state in self._engine.outputs)

    def _output(self, output: str, state: OutputState, now: Stamp) -> OutputView:
        last = self._engine.tests.shown(output)
        return OutputView(
            id=output,
            wanted=bool(state.wanted),
            confirmed=state.confirmed,
            reason=state.reason,
            age_s=None if state.at is None else _seconds(state.at, now),
            name=self._places(f"output:{output}").detector_name or output,
            kind=state.row.kind.value,
            tested=None if last is None else rfc3339(UtcNanos(last.at_ms * MILLISECOND)),
            test_failed="" if last is None or last.ok else last.reason,
        )

    def _worst_ms(self) -> float | None:
        worst = self._engine.firsts.worst_ns
        return None if worst is None else round(worst / MILLISECOND, 1)


def _suppression(over: Suppressed | None) -> SuppressionView | None:
    if over is None:
        return None
    return SuppressionView(SHOWN[over.what], over.by or "", over.why, rfc3339(over.since.utc), rfc3339(over.until.utc))


def _place(place: Place) -> PlaceView:
    return PlaceView(place.depot, place.address, place.area, place.detector, place.detector_name)


def _rfc3339(stamp: Stamp | None) -> str | None:
    return None if stamp is None else rfc3339(stamp.utc)


def _seconds(then: Stamp, now: Stamp) -> float:
    return round((now.mono - then.mono) / SECOND, 2)
