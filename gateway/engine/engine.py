"""Events in, effects out: owns every live state of the watch. Knows no clock, no wire, no disk, and never waits."""

from collections.abc import Sequence
from typing import assert_never

from alerts.alarmbook import AlarmBook
from alerts.alarms import AlarmEvent, Cause, Verdict
from alerts.routing import EXERCISE
from gateway.engine.areas import Areas
from gateway.engine.calling import Calling
from gateway.engine.civilclock import CivilClock
from gateway.engine.conditions import Conditions
from gateway.engine.deadlines import (
    CableBack,
    ClockSettled,
    Confirm,
    Deadlines,
    Escalate,
    JudgeOn,
    LookAtFrequency,
    OutputTestDue,
    OutputTestStep,
    Repeat,
    Stale,
    SuppressionEnds,
    Task,
    Unmute,
    WindowEnds,
)
from gateway.engine.events import (
    Action,
    ClockSet,
    CloseWindow,
    Command,
    Committed,
    Delivered,
    Drill,
    Effect,
    Event,
    Filed,
    Json,
    Judged,
    Left,
    OpenWindow,
    OutputReported,
    Restored,
    SystemCondition,
)
from gateway.engine.firsts import Firsts
from gateway.engine.frequent import Frequent
from gateway.engine.gas import GasWatch
from gateway.engine.orders import Orders
from gateway.engine.outputs import Outputs, is_of_left
from gateway.engine.outputtests import OutputTests, last_of
from gateway.engine.records import utc_ms
from gateway.engine.restart import put_back
from gateway.engine.sight import Sight
from gateway.engine.suppressing import Suppressing
from gateway.engine.telling import Heard, Telling, annunciates
from gateway.engine.turn import Turn
from gateway.engine.watched import Head
from gateway.engine.windows import Windows
from sensors.readings import DetectorId, LinkChange, Quality, Reading, Scan, Status
from sensors.stamps import MILLISECOND, Instant, Stamp, UtcNanos

NOTHING: list[Effect] = []
GOOD, MEASURING = Quality.GOOD, Status.MEASURING
"""Asked for with every reading: looking a member up in its Enum costs more than comparing it."""


class Engine:
    """The watch itself.

    The shell calls `receive` with each event and `advance` when `next_deadline` has come, and carries out what they
    return, in that order.
    """

    def __init__(self, orders: Orders, boot: str, restored: Restored | None, now: Stamp) -> None:
        self.orders = orders
        self.book = AlarmBook(orders.depot, boot, 0 if restored is None else restored.last_seq)
        self.deadlines = Deadlines()
        self.sight = Sight(self.book, self.deadlines, orders.timing)
        self.telling = Telling(orders, self.book, self.deadlines)
        self.unknown_readings = 0
        self._boot = boot
        self._ticket = 0
        self._restored = restored
        self.windows = Windows(self.sight, self.book)
        self.suppressing = Suppressing(orders.by_design, orders.timing, self.book, self.deadlines)
        self.gas = GasWatch(orders.levels, self.book, self.sight, self.windows, self.suppressing)
        self._areas = Areas(self.book, self.sight)
        self._calling = Calling(self.book, self.sight)
        self._calling.take_orders(orders.recipients)
        self._conditions = Conditions(self.book, self.deadlines)
        self.outputs = Outputs(self.book, self.sight, self.gas, self.deadlines, self._conditions)
        self.outputs.take_orders(orders.outputs)
        self.frequent = Frequent(orders.frequencies, self.book, self._conditions, self.deadlines)
        self.firsts = Firsts(orders.counting, self.book, self.windows, self.outputs)
        self.tests = OutputTests(self.book, self.outputs, self.deadlines, self._conditions, lambda: self.time.trusted)
        known_ms = None if restored is None else restored.last_alive_ms
        self.time = CivilClock(now, known_ms, self.deadlines, self._conditions)
        self.sight.take_orders(orders, now.mono)
        self._areas.take_orders()

    # --- life ------------------------------------------------------------------------------------

    def start(self, now: Stamp, vkey: str = "") -> list[Effect]:
        """Begin: note the boot, put standing alarms and owed messages back, bring outputs to what they should be.

        `vkey` is the key that will sign the journal's checkpoints, empty without one.
        """
        turn = Turn(now)
        body: dict[str, Json] = {"boot": self._boot, "at_ms": utc_ms(now), **self._watches()}
        turn.entry("boot", body | {"last_alive_ms": self.time.known_ms, "vkey": vkey})
        if self._restored is not None:
            put_back(self._restored, turn, self.book, self.sight, self.telling, self.suppressing, self.deadlines)
            self.tests.put_back(last_of(self._restored.tests), turn)
            self._restored = None
            self._conclude(turn)  # what a rule kept quiet when it ran last may have no rule any more
        self.tests.take_orders(self.orders.tests, turn)
        self.time.begin(turn)
        self.outputs.follow(turn, force=True)
        return self._close(turn)

    def stop(self, now: Stamp, reason: str) -> list[Effect]:
        """End: note it, so that a gap without this line is known for a crash. Outputs are left as they are."""
        turn = Turn(now)
        turn.entry("stop", {"boot": self._boot, "at_ms": utc_ms(now), "reason": reason})
        return self._close(turn)

    def reorder(self, orders: Orders, now: Stamp, left: Sequence[Left] = ()) -> list[Effect]:
        """Follow new orders: standing alarms stay, new heads get their first grace, gone heads stop counting.

        The channels are new ones too, so what the old ones had in hand is tried again. `left`: outputs that are none
        any more, or have another switch.
        """
        turn = Turn(now)
        self.orders = self.telling.orders = orders
        self._calling.take_orders(orders.recipients)
        self.sight.timing = orders.timing
        self.gas.levels = orders.levels
        self.firsts.counting = orders.counting
        self.suppressing.take_orders(orders.by_design, orders.timing)
        self.outputs.take_orders(orders.outputs, left)
        self.telling.outbox.recall(now.mono)
        self.sight.take_orders(orders, now.mono)
        turn.entry("reload", {"at_ms": utc_ms(now), **self._watches()})
        self.sight.drop_strangers(turn)
        self.outputs.tell_left(left, turn)
        self.windows.drop_strangers(turn)
        self._areas.take_orders(turn)
        self._conclude(turn)
        self.tests.take_orders(orders.tests, turn)
        self.outputs.follow(turn, force=True)
        return self._close(turn)

    def receive(self, event: Event, now: Stamp) -> list[Effect]:
        """Take one event and return what follows from it, in the order in which it is to be carried out."""
        jumped = self._look_at_clock(now)
        if isinstance(event, Scan):
            return jumped + self._scan(event, now) if jumped else self._scan(event, now)
        turn = Turn(now)
        match event:
            case LinkChange():
                self.sight.link(event, turn)
            case Command():
                self._command(event, turn)
            case OpenWindow():
                self.windows.open(event, turn)
            case CloseWindow():
                head = self.sight.heads.get(DetectorId(event.detector))
                if head is not None and self.sight.window(head) is not None:
                    self.gas.close_window(head, turn, event.by)
            case Committed():
                self.telling.committed(event.tickets, now.mono)
            case Delivered():
                self._delivered(event, turn)
            case OutputReported():
                self.outputs.report(event, turn)
                self.tests.reported(event, turn)
                self.firsts.reported(event, turn)
            case Drill():
                self.tests.begin(event, turn)
            case SystemCondition() | ClockSet() | Filed() | Judged():
                self._house(event, turn)
            case _:
                assert_never(event)
        return jumped + self._close(turn)

    def _house(self, event: SystemCondition | ClockSet | Filed | Judged, turn: Turn) -> None:
        """Take what the gateway's own parts say of themselves, of its clock and of the law."""
        match event:
            case SystemCondition():
                said = {"reason": event.reason, "detail": event.detail}
                self._conditions.set(event.subject, turn, present=event.present, **said)
            case ClockSet():
                self.time.confirm(turn)
            case Filed():
                turn.entries.extend(event.entries)
            case Judged():
                self._conditions.judge(event.breaches, turn)
            case _:
                assert_never(event)

    def slept(self, length_ns: int, now: Stamp) -> list[Effect]:
        """The whole watch stood still for so long (suspended, starved): say so once, and let the heads be heard."""
        turn = Turn(now)
        turn.entry("slept", {"at_ms": utc_ms(now), "length_ms": length_ns // MILLISECOND})
        self.sight.excuse(now.mono)
        seconds = f"{length_ns / 1e9:.1f} s"
        self._conditions.set("watch", turn, present=True, reason="slept", detail=seconds)
        return self._close(turn)

    def next_deadline(self) -> Instant | None:
        """Return when `advance` must next be called; None while nothing is pending."""
        mine, owed = self.deadlines.next(), self.telling.outbox.next_due()
        if mine is None or owed is None:
            return mine if owed is None else owed
        return min(mine, owed)

    def advance(self, now: Stamp) -> list[Effect]:
        """Carry out every deadline that has come."""
        jumped = self._look_at_clock(now)
        turn = Turn(now)
        while (task := self.deadlines.pop_due(now.mono)) is not None:
            self._do(task, turn)
        return jumped + self._close(turn)

    def _do(self, task: Task, turn: Turn) -> None:
        match task:
            case Stale() | CableBack():
                self.sight.due(task, turn)
                self._calling.look(turn)
            case Confirm():
                self.outputs.confirm(task, turn)
            case Repeat() | Escalate():
                self.telling.due(task, self.sight.heads.get(DetectorId(task.key.subject)), turn)
            case Unmute():
                self.outputs.follow(turn)
            case WindowEnds():
                head = self.windows.ended(task)
                if head is not None:
                    self.gas.close_window(head, turn)
            case SuppressionEnds():
                self.suppressing.ends(task, turn)
            case LookAtFrequency():
                self.frequent.look(turn)
            case ClockSettled():
                self.time.settle(turn)
            case OutputTestDue() | OutputTestStep():
                self.tests.go_on(task, turn)
            case JudgeOn():
                self._conditions.judge_on(turn)
            case _:
                assert_never(task)

    # --- readings --------------------------------------------------------------------------------

    def passes(self, scan: Scan) -> bool:
        """Take a scan in which all is plainly well, nearly all of them. False: it must be received.

        Nothing follows from such a scan, not even that somebody must look at the clock.
        """
        heads, a1 = self.sight.heads, self.orders.levels.a1
        for reading in scan.readings:
            head = heads.get(reading.detector)
            if head is None or not _is_plain(head, reading, a1):
                return False
            head.last = reading
            head.watched_at = reading.taken.mono
        return True

    def _scan(self, scan: Scan, now: Stamp) -> list[Effect]:
        turn: Turn | None = None
        heads, a1 = self.sight.heads, self.orders.levels.a1
        for reading in scan.readings:
            head = heads.get(reading.detector)
            if head is None:
                self.unknown_readings += 1
            elif _is_plain(head, reading, a1):
                head.last = reading
                head.watched_at = reading.taken.mono
            else:
                if turn is None:
                    turn = Turn(now)
                self._judge(head, reading, turn)
        return NOTHING if turn is None else self._close(turn)

    def _judge(self, head: Head, reading: Reading, turn: Turn) -> None:
        head.last = reading
        try:
            self.gas.judge(head, reading, turn)
            self.sight.judge(head, reading, turn)
        except AssertionError as fault:
            self._quarantine(head, str(fault)[:200], turn)
        turn.votes |= self.outputs.awaits(head) or self._calling.awaits(head)
        self.sight.refresh(head)

    def _quarantine(self, head: Head, fault: str, turn: Turn) -> None:
        """Our own rule broke on this head's reading: it is not watched, and we say that the fault is ours."""
        if not self.book.present(head.blind):
            self.sight.go_blind(head, "quarantined", turn, fault)
        self._conditions.set(f"detector:{head.watch.detector}", turn, present=True, reason="assertion", detail=fault)

    # --- people, channels, outputs, parts --------------------------------------------------------

    def _command(self, command: Command, turn: Turn) -> None:
        now, key = turn.now, command.key
        event: AlarmEvent | None = None
        match command.action:
            case Action.ACKNOWLEDGE:
                event = self.book.acknowledge(key, now, command.by, command.note)
            case Action.RESET if not self.gas.gone(key, now.mono):
                pass
            case Action.RESET:
                event = self.book.reset(key, now, command.by, command.note)
            case Action.SILENCE:
                length = self.orders.timing.silence
                until = Stamp(Instant(now.mono + length), UtcNanos(now.utc + length))
                event = self.book.silence(key, now, until, command.by, command.note)
                self.deadlines.at(until.mono, Unmute())
            case Action.SHELVE:
                self.suppressing.shelve(command, turn)
            case Action.UNSHELVE:
                self.suppressing.unshelve(command, turn)
            case _:
                assert_never(command.action)
        if event is not None:
            turn.note(event)
            if command.action is Action.ACKNOWLEDGE:
                self.outputs.seen(key, turn)
            head = self.sight.heads.get(DetectorId(key.subject))
            if head is not None:
                self.sight.refresh(head)

    def _delivered(self, answer: Delivered, turn: Turn) -> None:
        settled = self.telling.outbox.settle(answer.delivery, answer.outcome, turn.now.mono)
        if settled is None:
            return
        if answer.outcome.verdict is Verdict.ACCEPTED:
            self.firsts.accepted(settled.event, answer, turn)
        self.telling.record(settled, turn)
        health = self.telling.channel_health(settled)
        if health is not None:
            subject, detail = f"channel:{settled.delivery.channel}", settled.outcome.reason[:200]
            self._conditions.set(subject, turn, present=health[0], reason=health[1], detail=detail)

    def _look_at_clock(self, now: Stamp) -> list[Effect]:
        turn = self.time.look(now)
        if turn is None:
            return NOTHING
        self._conclude(turn)  # a rule may have come to its last day, or not be there yet
        return self._close(turn)

    def _watches(self) -> dict[str, Json]:
        """Who is watched from now on, for the ledger of watched time."""
        return {"detectors": len(self.sight.heads), "watches": [str(name) for name in self.sight.heads]}

    # --- closing a turn --------------------------------------------------------------------------

    def _close(self, turn: Turn) -> list[Effect]:
        """Work out what the turn's alarm events owe and to whom, then put all effects in order."""
        ticket = self._ticket + 1
        if turn.events:
            self._conclude(turn)
        if turn.events or turn.votes:
            self._calling.look(turn)
        for event, send in turn.events:
            alarm = self.book.get(event.key)
            if annunciates(event) and alarm is not None and alarm.annunciated == event.at:
                self.telling.schedule(alarm)
                self.firsts.begun(alarm, turn)
            if send:
                self._tell(event, ticket, turn)
            else:
                self.telling.owe(event, ticket, turn, Heard.STATES)
        if turn.events or turn.votes:
            self.tests.give_way(turn)
            self.outputs.follow(turn)
        if turn.records:
            self._ticket = ticket
        turn.entries = self.time.marked(turn.entries)
        turn.leaving = self.telling.outbox.take_due(turn.now.mono)
        return turn.effects(self.book, ticket)

    def _tell(self, event: AlarmEvent, ticket: int, turn: Turn) -> None:
        """Owe an event to those who are to hear of it; what comes too often adds its own events to the turn."""
        ended = event.key == EXERCISE and event.cause is not Cause.RAISED  # people hear of an exercise once
        ended |= is_of_left(event.key) and event.cause is Cause.CLEARED  # nor that it is well, which nobody knows
        if ended or self.suppressing.hushes(event):
            return self.telling.owe(event, ticket, turn, Heard.STATES)
        self.frequent.count(event, turn)
        heard = Heard.TOGETHER if self.frequent.groups(event, turn) else Heard.ALL
        return self.telling.owe(event, ticket, turn, heard)

    def _conclude(self, turn: Turn) -> None:
        """Draw what follows from the turn's events for other alarms."""
        self.suppressing.follow_rules(turn)
        self.sight.speak_for_the_muffled(turn)
        self._areas.look(turn)


def _is_plain(head: Head, reading: Reading, a1: float) -> bool:
    """Tell whether this is a trusted clean number from a head without an alarm."""
    gas = reading.lel_pct
    return (
        not head.troubled
        and reading.quality is GOOD
        and reading.status is MEASURING
        and gas is not None
        and gas < a1
        and reading.at_least is None
    )
