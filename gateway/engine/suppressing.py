"""What keeps alarms quiet: shelves that people lay, rules of the configuration, and when either ends. Pure."""

from collections.abc import Mapping, Sequence

from alerts.alarmbook import AlarmBook
from alerts.alarms import AlarmEvent, AlarmKey, AlarmState, Cause, Kind, Phase, Suppression
from alerts.policy import Timing
from alerts.states import QUIET, Trigger, suppress
from gateway.engine.deadlines import Deadlines, SuppressionEnds
from gateway.engine.events import Command
from gateway.engine.orders import ByDesign
from gateway.engine.turn import Turn
from sensors.stamps import Instant, Stamp, UtcNanos

NEVER_QUIET = ("area:", "flood")
"""SYSTEM and BLIND subjects that say what the silence of others leaves open: these are never silenced themselves."""


class Suppressing:
    """Shelves and by-design rules over the alarms of one book. Out of service is a window over a head (`windows`)."""

    def __init__(self, rules: Sequence[ByDesign], timing: Timing, book: AlarmBook, deadlines: Deadlines) -> None:
        self._book = book
        self._deadlines = deadlines
        self._ruled = False  # whether any rule has been there in this life, or was at the end of the last
        self.take_orders(rules, timing)

    def take_orders(self, rules: Sequence[ByDesign], timing: Timing) -> None:
        """Follow these rules from now on."""
        self._timing = timing
        self._ruled = self._ruled or bool(rules)
        self._rules: Mapping[AlarmKey, ByDesign] = {key: rule for rule in rules for key in rule.alarms}

    def shelve(self, command: Command, turn: Turn) -> None:
        """A person sets an alarm aside. Refused (nothing happens) without a reason, or beyond the longest time."""
        alarm = self._book.get(command.key)
        if alarm is None or not self.can_shelve(alarm):
            return
        if not command.note.strip() or not 0 < command.length <= self._timing.longest_shelf:
            return
        until = Stamp(Instant(turn.now.mono + command.length), UtcNanos(turn.now.utc + command.length))
        event = self._book.shelve(command.key, turn.now, until, command.by, command.note)
        if event is not None:
            turn.note(event)
            self._deadlines.at(until.mono, SuppressionEnds(command.key, turn.now.mono))

    def can_shelve(self, alarm: AlarmState) -> bool:
        """Tell whether a person may set this alarm aside: no gas, no window, and nothing that tells of a silence."""
        kind, over = alarm.key.kind, alarm.suppression
        move = suppress(kind, alarm.phase, over, Trigger.SHELVE, present=alarm.present)
        return move is not None and alarm.until is None and not alarm.key.subject.startswith(NEVER_QUIET)

    def unshelve(self, command: Command, turn: Turn) -> None:
        """A person takes the shelf away: what still holds counts as taken by them."""
        self._lift(command.key, Trigger.UNSHELVE, turn, by=command.by, note=command.note)

    def put_back(self, alarm: AlarmState, now: Instant) -> None:
        """After a restart, end it when it was to end, a shelf at the latest after the longest one."""
        over = alarm.suppressed
        if over is None or over.what is Suppression.OUT_OF_SERVICE:
            return
        until = over.until.mono
        self._ruled = self._ruled or over.what is Suppression.BY_DESIGN
        if over.what is Suppression.SHELVED:
            until = min(until, Instant(now + self._timing.longest_shelf))
        self._deadlines.at(until, SuppressionEnds(alarm.key, over.since.mono))

    def ends(self, task: SuppressionEnds, turn: Turn) -> None:
        """Its time is up, unless it was taken away, or another laid, since. Out of service ends with its window."""
        alarm = self._book.get(task.key)
        over = None if alarm is None else alarm.suppressed
        if over is not None and over.what in QUIET and over.since.mono == task.since:
            self._lift(task.key, Trigger.EXPIRE, turn)

    def worsened(self, key: AlarmKey, turn: Turn) -> None:
        """Gas at A1 or above, or a higher level, where this alarm is about: it is quiet no longer."""
        self._lift(key, Trigger.WORSEN, turn)

    def follow_rules(self, turn: Turn) -> None:
        """Lay what the rules say over what stands now, and take off what no rule holds any more."""
        if not self._ruled:
            return
        for alarm in list(self._book):
            rule = self._rule_of(alarm, turn.now)
            if rule is not None and alarm.present and alarm.suppression is not Suppression.BY_DESIGN:
                until = Instant(turn.now.mono + rule.until - turn.now.utc)
                event = self._book.suppress_by_design(
                    alarm.key, turn.now, rule.by, rule.why, Stamp(until, UtcNanos(rule.until))
                )
                if event is not None:
                    turn.note(event)
                    self._deadlines.at(until, SuppressionEnds(alarm.key, turn.now.mono))
            elif alarm.suppression is Suppression.BY_DESIGN and (rule is None or not alarm.present):
                self._lift(alarm.key, Trigger.UNSUPPRESS, turn)

    def hushes(self, event: AlarmEvent) -> bool:
        """Tell whether people are not to hear of this event. What shows states is told all the same."""
        match event.cause:
            case Cause.SHELVED | Cause.UNSHELVED:
                return False
            case Cause.UNSUPPRESSED:
                return event.after is Phase.NORMAL
            case _:
                alarm = self._book.get(event.key)
                over = {None if event.suppressed is None else event.suppressed.what}
                over.add(None if alarm is None else alarm.suppression)
                return not QUIET.isdisjoint(over)

    def _rule_of(self, alarm: AlarmState, now: Stamp) -> ByDesign | None:
        """Return the rule that holds for this alarm now: none over a window, and none where gas is."""
        rule = self._rules.get(alarm.key)
        if rule is None or alarm.until is not None or now.utc >= rule.until:
            return None
        if self._book.get(AlarmKey(alarm.key.subject, Kind.GAS)) is not None:
            return None
        return rule if rule.during is None or self._book.present(rule.during) else None

    def _lift(self, key: AlarmKey, trigger: Trigger, turn: Turn, *, by: str | None = None, note: str = "") -> None:
        event = self._book.lift(key, trigger, turn.now, by=by, note=note)
        if event is not None:
            turn.note(event)
