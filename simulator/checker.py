"""The promises of the watch, held against what the field showed and what the gateway did. Pure; told every step.

It knows the truth, which the gateway does not: what each head showed and when, which faults stood between the two, what
people did. It trusts no figure of the gateway's but its standing alarms, and looks for every alarm outside too: at the
coil of a siren, at the phones. What it takes for harmless (a lost poll, a double answer, a mute neighbour, a slow disk)
is what the promises name; where a fault may or may not spoil a head's word, that head is in doubt and nothing is asked.
"""

import heapq
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from math import inf
from typing import Final

from alerts.alarms import AlarmEvent, AlarmKey, AlarmState, Cause, Kind, Level, Phase
from gateway.engine.events import WindowKind
from sensors.readings import Status
from simulator.promises import (
    NEVER,
    PHONE_RECOVERS_S,
    RECOVERS_S,
    UNSEEN,
    Book,
    Broken,
    HeadRule,
    Rules,
    Shown,
    Sight,
)

MARGIN: Final = 0.3
"""%LEL around a set-point in which a register's resolution decides."""

FULL_SCALE: Final = 100.0

MEMORY_S: Final = 3.5
"""A value that was shown so long ago may still be what an alarm is raised for: a poll, its retry, a slow line."""

RESTART_S: Final = 4.0
"""What a gateway may take after its start until the first poll of every head: the start's grace and a period."""

RELOADS_S: Final = 1.1
"""A silent head is announced this long after new orders at the latest, where its time was up before."""

BEGINS_ANEW_S: Final = 3.0
"""And so long after that a line on which somebody is mute may take to come to all the others."""

DEEDS: Final = {
    WindowKind.TEST.value: "test",
    WindowKind.INHIBIT.value: "inhibit",
    WindowKind.OUT_OF_SERVICE.value: "out-of-service",
}
"""The reason of a window, and what somebody did to open it."""


@dataclass(slots=True)
class _Head:
    """One head, as remembered. Times in seconds; -inf for never."""

    rule: HeadRule
    watched: bool = True
    watched_since: float = NEVER
    shown: Shown = UNSEEN
    since: float = NEVER
    plain_since: float = NEVER
    gas_at: float = NEVER
    clear_at: float = NEVER
    over_at: float = NEVER
    passed_at: float = inf
    taken_at: float = NEVER
    at_least: dict[Level, float] = field(default_factory=dict)
    perhaps: dict[Level, float] = field(default_factory=dict)
    announced: dict[Level, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, order=True)
class _Duty:
    """Something that must be so at a time. `mark` voids it when what it was asked for has changed since."""

    at: float
    head: str
    what: str
    since: float
    level: int = 0


class Checker:
    """All that is promised of heads, alarms and outputs.

    Attributes:
        broken: what was not kept, oldest first.
        kept: how often each promise was put to the test and kept.
        when_due: told of each moment at which `due` must be called.
    """

    def __init__(self, rules: Rules) -> None:
        self.broken: list[Broken] = []
        self.kept: dict[str, int] = {}
        self.when_due: Callable[[float], object] = lambda _: None
        self._rules = rules
        self._heads = {name: _Head(rule) for name, rule in rules.heads.items()}
        self._duties: list[_Duty] = []
        self._outputs: dict[str, float] = dict.fromkeys((*rules.sirens, *rules.phones, *rules.boards), NEVER)
        self._ill: set[str] = set()
        self._coils: dict[str, tuple[bool, float]] = {}
        self._told: dict[tuple[str, Level], float] = {}
        self._up_since: float | None = None
        self._excused_to = NEVER
        self._asked: dict[tuple[str, str], float] = {}

    # --- the world -------------------------------------------------------------------------------

    def shown(self, now: float, name: str, shown: Shown) -> None:
        """A head shows something else from now on, or can be read better or worse."""
        head, levels = self._heads[name], self._rules.levels
        self._remember(head, now)
        before, head.shown = head.shown, shown
        if before.sight is not Sight.PLAIN and shown.sight is Sight.PLAIN:
            head.plain_since = now
        if before.sight is not shown.sight:
            head.since = now
        level = levels.of(shown.lel - MARGIN) if shown.sight is Sight.PLAIN else None
        perhaps = levels.of(shown.lel + MARGIN)
        for each in Level:
            if perhaps is None or perhaps < each:
                head.perhaps.pop(each, None)
            else:
                head.perhaps.setdefault(each, now)
            if level is None or level < each:
                head.at_least.pop(each, None)
            elif each not in head.at_least:
                head.at_least[each] = now
                self._oblige_alarm(name, head, each, now)
        if before.sight is not shown.sight and shown.sight in (Sight.SILENT, Sight.BAD):
            self._oblige_notice(name, head, now)
        self._remember(head, now)

    def way_out(self, now: float, output: str, *, well: bool) -> None:
        """A siren or a phone falls ill or is well again."""
        if well:
            self._ill.discard(output)
        else:
            self._ill.add(output)
        self._outputs[output] = now

    def asked(self, now: float, deed: str, subject: str) -> None:
        """A person is about to do this to a head or its alarm: ``reset``, ``test``, ``inhibit`` ..."""
        self._asked[deed, subject] = now

    # --- the gateway -----------------------------------------------------------------------------

    def began(self, now: float) -> None:
        """The gateway watches from now on: whatever stands is to be found within the promised times."""
        self._up_since = now
        self._duties.clear()
        for name, head in self._heads.items():
            self._begin_with(name, head, now)

    def follows(self, now: float, watched: Collection[str]) -> None:
        """It is about to follow new orders: it watches these heads, and begins anew with those it did not know."""
        self._excused_to = now + RELOADS_S
        for name, head in self._heads.items():
            known, head.watched = head.watched, name in watched
            if known is not head.watched:
                head.announced.clear()
                head.passed_at = inf
                head.watched_since = now
            if head.watched and not known and self._up_since is not None:
                self._begin_with(name, head, now)

    def _begin_with(self, name: str, head: _Head, now: float) -> None:
        for level in head.at_least:
            self._oblige_alarm(name, head, level, now)
        if head.shown.sight in (Sight.SILENT, Sight.BAD):
            self._oblige_notice(name, head, now)

    def ended(self, now: float) -> None:
        """It does not watch any more, and is owed nothing by the heads' numbers meanwhile."""
        for head in self._heads.values():
            self._remember(head, now)
            head.passed_at = inf  # what was not on the disk yet is forgotten
        self._up_since = None
        self._duties.clear()

    def coil(self, now: float, siren: str, *, on: bool) -> None:
        """A siren's coil was switched."""
        self._coils[siren] = on, now

    def told(self, now: float, event: AlarmEvent) -> None:
        """A phone that counts has taken a notice."""
        self.told_of(now, event.cause, event.key.subject, event.level)

    def told_of(self, now: float, cause: Cause, subject: str, reached: Level | None) -> None:
        """The same, of a notice of this level, whatever carried it."""
        if cause in (Cause.RAISED, Cause.RISEN, Cause.STILL) and reached is not None:
            for level in Level:
                if level <= reached:
                    self._told[subject, level] = now

    def heard(self, now: float, events: Iterable[AlarmEvent]) -> None:
        """Alarm events have just happened."""
        for event in events:
            head = self._heads.get(event.key.subject)
            if head is None or not head.watched:
                continue
            self._remember(head, now)
            if event.key.kind is Kind.GAS:
                self._judge_gas(now, event, head)
            elif event.key.kind is Kind.BLIND:
                self._judge_blind(now, event, head)

    def due(self, now: float, book: Book) -> None:
        """See whether what must be so by now is so."""
        while self._duties and self._duties[0].at <= now:
            duty = heapq.heappop(self._duties)
            head = self._heads[duty.head]
            if not head.watched:
                continue
            if duty.what == "notice" and duty.at < self._excused_to:
                self._owe(replace(duty, at=self._excused_to))
                continue
            if duty.what == "alarm":
                if head.at_least.get(Level(duty.level)) == duty.since:
                    self._expect_alarm(now, duty, head, book)
            elif head.since == duty.since and head.shown.sight in (Sight.SILENT, Sight.BAD):
                self._expect_notice(now, duty, head, book)

    # --- details: duties -------------------------------------------------------------------------

    def _oblige_alarm(self, name: str, head: _Head, level: Level, now: float) -> None:
        if self._up_since is None or not head.watched:
            return
        begun = max(self._up_since, head.watched_since)
        start = max(now, head.plain_since + RECOVERS_S if head.plain_since > begun else NEVER)
        if now == begun:
            start = now + RESTART_S
        duty = _Duty(start + head.rule.alarm_s, name, "alarm", head.at_least[level], int(level))
        self._owe(duty)

    def _oblige_notice(self, name: str, head: _Head, now: float) -> None:
        if self._up_since is None or not head.watched:
            return
        begun = max(self._up_since, head.watched_since)
        grace = RESTART_S + head.rule.blind_s if now - begun < RESTART_S else 0.0
        self._owe(_Duty(now + grace + head.rule.blind_s, name, "notice", head.since))

    def _owe(self, duty: _Duty) -> None:
        heapq.heappush(self._duties, duty)
        self.when_due(duty.at)

    def _expect_alarm(self, now: float, duty: _Duty, head: _Head, book: Book) -> None:
        """Gas has stood at this level for as long as is promised."""
        alarm = book.get(AlarmKey(duty.head, Kind.GAS))
        if alarm is None or not alarm.present or alarm.level is None or alarm.level < duty.level:
            state = "none" if alarm is None else f"{alarm.phase.value} {alarm.level} present={alarm.present}"
            self._break(
                now, "alarm-in-time", f"{duty.head}: {head.shown.lel:.1f} %LEL since {duty.since:.3f}, alarm: {state}"
            )
            return
        since = duty.at - head.rule.alarm_s
        well = [name for name in self._outputs if self._well(name, since)]
        level = Level(duty.level)
        begun = min(head.perhaps.get(level, duty.since), head.announced.get(level, duty.since))
        if well and not self._annunciated(duty, alarm, begun, well):
            self._break(now, "output-in-time", f"{duty.head}: no output took the alarm by {duty.at:.3f}; well: {well}")
            return
        self._keep("alarm-in-time")

    def _expect_notice(self, now: float, duty: _Duty, head: _Head, book: Book) -> None:
        """A head has been of no use for as long as is promised."""
        alarm = book.get(AlarmKey(duty.head, Kind.BLIND))
        if alarm is None or not alarm.present:
            self._break(
                now, "blind-in-time", f"{duty.head}: {head.shown.sight.value} since {duty.since:.3f}, and not announced"
            )
            return
        self._keep("blind-in-time")

    def _annunciated(self, duty: _Duty, alarm: AlarmState, since: float, well: list[str]) -> bool:
        for name in well:
            if (
                name in self._rules.phones | self._rules.boards
                and self._told.get((duty.head, Level(duty.level)), NEVER) >= since
            ):
                return True
            on, at = self._coils.get(name, (False, NEVER))
            if name in self._rules.sirens and (on or at >= since):
                return True
        return alarm.acknowledged_by is not None or alarm.muted_until is not None

    def _well(self, output: str, since: float) -> bool:
        """Tell whether an output was well from then until now, and for long enough before."""
        rest = PHONE_RECOVERS_S if output in self._rules.phones else RECOVERS_S
        return output not in self._ill and self._outputs[output] <= since - rest

    # --- details: events -------------------------------------------------------------------------

    def _judge_gas(self, now: float, event: AlarmEvent, head: _Head) -> None:
        name = event.key.subject
        clear = head.clear_at >= now - MEMORY_S
        match event.cause:
            case Cause.RAISED | Cause.RISEN:
                self._judge_raise(now, event, head)
            case Cause.CLEARED:
                self._expect(now, "no-false-clear", f"{name}: cleared, shown {head.shown}", clear)
                held = event.drill or event.reason == "removed" or head.passed_at == inf
                taken = event.before is Phase.ACKNOWLEDGED and head.taken_at >= head.passed_at
                self._expect(now, "over-range-held", f"{name}: cleared, and nobody took its over-range", held or taken)
            case Cause.ACKNOWLEDGED:
                head.taken_at = now
            case Cause.RESET if not event.drill:
                asked = self._asked.get(("reset", name), NEVER) == now
                self._expect(now, "latched", f"{name}: reset, and nobody asked", asked)
                self._expect(now, "no-false-clear", f"{name}: reset, shown {head.shown}", clear)
            case _:
                pass
        if event.cause in (Cause.CLEARED, Cause.RESET):
            head.announced.clear()
            head.passed_at = inf
        gone = event.after is Phase.NORMAL and event.cause is not Cause.RESET
        self._expect(now, "latched", f"{name}: gas alarm gone by {event.cause.value}", not gone)

    def _judge_raise(self, now: float, event: AlarmEvent, head: _Head) -> None:
        name = event.key.subject
        for level in Level:
            if event.level is not None and level <= event.level:
                head.announced.setdefault(level, now)
        said = f"{name}: {event.cause.value} at {event.lel_pct}, shown {head.shown}"
        self._expect(now, "no-false-alarm", said, head.gas_at >= now - MEMORY_S)
        if event.reading is not None and event.reading.status is Status.OVER_RANGE and not event.drill:
            head.passed_at = min(head.passed_at, now)
        if event.drill:
            tested = self._asked.get(("test", name), NEVER) != NEVER
            self._expect(now, "windows", f"{name}: gas as a drill, and nobody tests it", tested)

    def _judge_blind(self, now: float, event: AlarmEvent, head: _Head) -> None:
        if event.cause is not Cause.RAISED:
            return
        name = event.key.subject
        if event.reason in DEEDS:
            if self._asked.get((DEEDS[event.reason], name), NEVER) != now:
                self._break(now, "windows", f"{name}: a window that nobody opened")
            return
        if event.reason == "over-range" and head.over_at >= now - MEMORY_S:
            return  # gas of the highest level, and a head that cannot say how much
        young = self._up_since is None or now - max(self._up_since, head.watched_since) < RECOVERS_S
        # new orders forget who answers: on a slow line a neighbour that has just fallen mute is asked first, once more
        beside = (each.shown.sight for each in self._heads.values() if each.rule.source == head.rule.source)
        young = young or (now - self._excused_to < BEGINS_ANEW_S and Sight.SILENT in beside)
        if not young and head.shown.sight is Sight.PLAIN and head.plain_since < now - RECOVERS_S:
            self._break(now, "no-false-blind", f"{name}: announced as not watching ({event.reason}), and reads well")
        self._keep("no-false-blind")

    # --- details ---------------------------------------------------------------------------------

    def _remember(self, head: _Head, now: float) -> None:
        """What it shows at this moment may be taken for its word for a while."""
        levels, shown = self._rules.levels, head.shown
        if shown.lel >= levels.a1 - MARGIN:
            head.gas_at = now
        if shown.lel >= FULL_SCALE:
            head.over_at = now
        if shown.sight in (Sight.PLAIN, Sight.DOUBTFUL) and levels.clears(shown.lel - MARGIN):
            head.clear_at = now

    def _expect(self, now: float, promise: str, detail: str, holds: bool) -> None:
        if holds:
            self._keep(promise)
        else:
            self._break(now, promise, detail)

    def _break(self, now: float, promise: str, detail: str) -> None:
        self.broken.append(Broken(now, promise, detail))

    def _keep(self, promise: str) -> None:
        self.kept[promise] = self.kept.get(promise, 0) + 1
