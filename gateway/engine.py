"""Events in, effects out: owns every live state of the watch. Knows no clock, no wire, no disk, and never waits."""

from dataclasses import replace
from typing import assert_never

from alerts.alarmbook import AlarmBook
from alerts.alarms import AlarmEvent, AlarmKey, AlarmState, Kind, Verdict
from alerts.policy import level_of, shows_clear_air
from alerts.states import HORN
from gateway.bumps import Bump
from gateway.deadlines import CableBack, Confirm, Deadlines, Escalate, Repeat, Stale, Task, Unmute, WindowEnds
from gateway.events import (
    Action,
    CloseWindow,
    Command,
    Committed,
    Delivered,
    Effect,
    Event,
    OpenWindow,
    OutputReported,
    Restored,
    SystemCondition,
    WindowKind,
)
from gateway.orders import Orders
from gateway.outputs import Outputs
from gateway.records import event_from, state_from, utc_ms
from gateway.sight import Sight
from gateway.telling import Telling, annunciates
from gateway.turn import Turn
from gateway.watched import Head
from sensors.readings import DetectorId, LinkChange, Quality, Reading, Scan, Status
from sensors.stamps import MILLISECOND, Instant, Stamp, UtcNanos

NOTHING: list[Effect] = []


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
        self.outputs = Outputs(orders.outputs)
        self.worst_ns: int | None = None
        self.unknown_readings = 0
        self._boot = boot
        self._ticket = 0
        self._restored = restored
        self._bumps: dict[DetectorId, Bump] = {}
        self.sight.take_orders(orders, now.mono)

    # --- life ------------------------------------------------------------------------------------

    def start(self, now: Stamp) -> list[Effect]:
        """Begin: note the boot, put standing alarms and owed messages back, bring outputs to what they should be."""
        turn = Turn(now)
        turn.entry("boot", {"boot": self._boot, "at_ms": utc_ms(now), "detectors": len(self.sight.heads)})
        if self._restored is not None:
            self._put_back(self._restored, turn)
            self._restored = None
        self._set_outputs(turn, force=True)
        return self._close(turn)

    def stop(self, now: Stamp, reason: str) -> list[Effect]:
        """End: note it, so that a gap without this line is known for a crash. Outputs are left as they are."""
        turn = Turn(now)
        turn.entry("stop", {"boot": self._boot, "at_ms": utc_ms(now), "reason": reason})
        return self._close(turn)

    def reorder(self, orders: Orders, now: Stamp) -> list[Effect]:
        """Follow new orders: standing alarms stay, new heads get their first grace, gone heads stop counting.

        The channels are new ones too, so what the old ones had in hand is tried again.
        """
        turn = Turn(now)
        self.orders = self.telling.orders = orders
        self.sight.timing = orders.timing
        self.outputs.reorder(orders.outputs)
        self.telling.outbox.recall(now.mono)
        self.sight.take_orders(orders, now.mono)
        turn.entry("reload", {"at_ms": utc_ms(now), "detectors": len(self.sight.heads)})
        self.sight.drop_strangers(turn)
        self._set_outputs(turn, force=True)
        return self._close(turn)

    def receive(self, event: Event, now: Stamp) -> list[Effect]:
        """Take one event and return what follows from it, in the order in which it is to be carried out."""
        if isinstance(event, Scan):
            return self._scan(event, now)
        turn = Turn(now)
        match event:
            case LinkChange():
                self.sight.link(event, turn)
            case Command():
                self._command(event, turn)
            case OpenWindow():
                self._open_window(event, turn)
            case CloseWindow():
                head = self.sight.heads.get(DetectorId(event.detector))
                if head is not None and self.sight.window(head) is not None:
                    self._close_window(head, turn, event.by)
            case Committed():
                self.telling.outbox.committed(event.ticket, now.mono)
            case Delivered():
                self._delivered(event, turn)
            case OutputReported():
                self._output_reported(event, turn)
            case SystemCondition():
                self._condition(event.subject, turn, present=event.present, reason=event.reason, detail=event.detail)
            case _:
                assert_never(event)
        return self._close(turn)

    def slept(self, length_ns: int, now: Stamp) -> list[Effect]:
        """The whole watch stood still for so long (suspended, starved): say so once, and let the heads be heard."""
        turn = Turn(now)
        turn.entry("slept", {"at_ms": utc_ms(now), "length_ms": length_ns // MILLISECOND})
        self.sight.excuse(now.mono)
        seconds = f"{length_ns / 1e9:.1f} s"
        self._condition("watch", turn, present=True, reason="slept", detail=seconds)
        return self._close(turn)

    def next_deadline(self) -> Instant | None:
        """Return when `advance` must next be called; None while nothing is pending."""
        mine, owed = self.deadlines.next(), self.telling.outbox.next_due()
        if mine is None or owed is None:
            return mine if owed is None else owed
        return min(mine, owed)

    def advance(self, now: Stamp) -> list[Effect]:
        """Carry out every deadline that has come."""
        turn = Turn(now)
        while (task := self.deadlines.pop_due(now.mono)) is not None:
            self._do(task, turn)
        return self._close(turn)

    def _do(self, task: Task, turn: Turn) -> None:
        match task:
            case Stale():
                self.sight.stale(task.head, turn)
            case CableBack():
                self.sight.cable_back(task.source, turn)
            case Confirm():
                if not self.outputs.agrees(task.output):
                    reason, detail = self.outputs.fault(task.output)
                    self._condition(f"output:{task.output}", turn, present=True, reason=reason, detail=detail)
            case Repeat():
                self.telling.repeat(task, self.sight.heads.get(DetectorId(task.key.subject)), turn)
            case Escalate():
                self.telling.escalate(task, turn)
            case Unmute():
                self._set_outputs(turn)
            case WindowEnds():
                self._window_ends(task, turn)
            case _:
                assert_never(task)

    # --- readings --------------------------------------------------------------------------------

    def _scan(self, scan: Scan, now: Stamp) -> list[Effect]:
        turn: Turn | None = None
        a1 = self.orders.levels.a1
        heads = self.sight.heads
        for reading in scan.readings:
            head = heads.get(reading.detector)
            if head is None:
                self.unknown_readings += 1
                continue
            gas = reading.lel_pct
            if (  # the plain case, nearly all of them: a trusted clean number from a head without an alarm
                not head.troubled
                and reading.quality is Quality.GOOD
                and reading.status is Status.MEASURING
                and gas is not None
                and gas < a1
                and reading.at_least is None
            ):
                head.last = reading
                head.watched_at = reading.taken.mono
                continue
            if turn is None:
                turn = Turn(now)
            self._judge(head, reading, turn)
        return NOTHING if turn is None else self._close(turn)

    def _judge(self, head: Head, reading: Reading, turn: Turn) -> None:
        head.last = reading
        try:
            self._judge_gas(head, reading, turn)
            self.sight.judge(head, reading, turn)
        except AssertionError as fault:
            self._quarantine(head, str(fault)[:200], turn)
        self.sight.refresh(head)

    def _judge_gas(self, head: Head, reading: Reading, turn: Turn) -> None:
        level = level_of(reading, self.orders.levels)
        window = self.sight.window(head)
        bump = self._bumps.get(head.watch.detector)
        if bump is not None:
            bump.saw(reading.gas())
        if window is WindowKind.INHIBIT and level is not None:
            self._close_window(head, turn)  # it gets worse: no inhibit covers gas
        alarm = self.book.get(head.gas)
        if alarm is None or not alarm.present:
            if level is not None:
                drill = window is WindowKind.TEST
                turn.note(self.book.raise_(head.gas, turn.now, level=level, reading=reading, drill=drill))
                if bump is not None and bump.sampled is None:
                    bump.sampled, bump.decided = reading.taken, turn.now
            elif alarm is not None:
                self._follow(alarm, reading, turn)
        elif level is not None and alarm.level is not None and level > alarm.level:
            turn.note(self.book.rise(head.gas, turn.now, level, reading))
        elif level is None and shows_clear_air(reading, self.orders.levels):
            turn.note(self.book.clear(head.gas, turn.now, reading))
        else:
            self._follow(alarm, reading, turn)

    def _follow(self, alarm: AlarmState, reading: Reading, turn: Turn) -> None:
        """Keep a standing alarm's figures in step with its head; a new peak is kept for the restart too."""
        gas = reading.gas()
        if gas is None:
            self.book.amend(replace(alarm, quality=reading.quality.value))
            return
        peak = gas if alarm.peak is None else max(alarm.peak, gas)
        self.book.amend(replace(alarm, lel_pct=gas, peak=peak, quality=reading.quality.value))
        if alarm.peak is None or int(peak) > int(alarm.peak):
            turn.touched[alarm.key] = None

    def _quarantine(self, head: Head, fault: str, turn: Turn) -> None:
        """Our own rule broke on this head's reading: it is not watched, and we say that the fault is ours."""
        if not self.book.present(head.blind):
            self.sight.go_blind(head, "quarantined", turn, fault)
        self._condition(f"detector:{head.watch.detector}", turn, present=True, reason="assertion", detail=fault)

    # --- people, channels, outputs, parts --------------------------------------------------------

    def _command(self, command: Command, turn: Turn) -> None:
        now, key = turn.now, command.key
        match command.action:
            case Action.ACKNOWLEDGE:
                event = self.book.acknowledge(key, now, command.by, command.note)
            case Action.RESET if not self._clear_now(key):
                event = None
            case Action.RESET:
                event = self.book.reset(key, now, command.by, command.note)
            case Action.SILENCE:
                length = self.orders.timing.silence
                until = Stamp(Instant(now.mono + length), UtcNanos(now.utc + length))
                event = self.book.silence(key, now, until, command.by, command.note)
                self.deadlines.at(until.mono, Unmute())
            case _:
                assert_never(command.action)
        if event is not None:
            turn.note(event)
            head = self.sight.heads.get(DetectorId(key.subject))
            if head is not None:
                self.sight.refresh(head)

    def _clear_now(self, key: AlarmKey) -> bool:
        """Tell whether nothing speaks against a reset: the head watches and reads clear air, or is no longer ours."""
        head = self.sight.heads.get(DetectorId(key.subject))
        if head is None:
            return True
        last = head.last
        return self.sight.watching(head) and last is not None and shows_clear_air(last, self.orders.levels)

    def _open_window(self, order: OpenWindow, turn: Turn) -> None:
        """A window over one head. Refused (nothing happens) where a gas alarm stands: that is no drill."""
        head = self.sight.heads.get(DetectorId(order.detector))
        if head is None or self.book.get(head.gas) is not None or self.sight.window(head) is not None:
            return
        timing = self.orders.timing
        longest = timing.longest_test if order.kind is WindowKind.TEST else timing.longest_inhibit
        if not 0 < order.length <= longest:
            return
        self.sight.open_window(head, order, order.length, turn)
        if order.kind is WindowKind.TEST:
            self._bumps[head.watch.detector] = Bump(order.by, order.note, turn.now)

    def _close_window(self, head: Head, turn: Turn, by: str | None = None) -> None:
        """The window ends: what was played goes, and a head that still reads gas now has the real alarm."""
        bump = self._bumps.pop(head.watch.detector, None)
        if bump is not None:
            turn.entry("bump", bump.body(head.watch.detector, turn.now), bump.by)
        alarm = self.book.get(head.gas)
        if alarm is not None and alarm.drill:
            turn.note(self.book.end_drill(head.gas, turn.now))
        self.sight.end_window(head, turn, by)
        last = head.last
        if last is not None and alarm is not None and alarm.drill and alarm.present:
            self._judge_gas(head, last, turn)
        self.sight.refresh(head)

    def _window_ends(self, task: WindowEnds, turn: Turn) -> None:
        head = self.sight.heads.get(task.detector)
        alarm = None if head is None else self.book.get(head.blind)
        if head is not None and alarm is not None and alarm.annunciated.mono == task.opened and self.sight.window(head):
            self._close_window(head, turn)

    def _delivered(self, answer: Delivered, turn: Turn) -> None:
        settled = self.telling.outbox.settle(answer.delivery, answer.outcome, turn.now.mono)
        if settled is None:
            return
        if answer.outcome.verdict is Verdict.ACCEPTED:
            self._accepted(settled.event, answer, turn)
        self.telling.record(settled, turn)
        health = self.telling.channel_health(settled)
        if health is not None:
            subject, detail = f"channel:{settled.delivery.channel}", settled.outcome.reason[:200]
            self._condition(subject, turn, present=health[0], reason=health[1], detail=detail)

    def _accepted(self, event: AlarmEvent, answer: Delivered, turn: Turn) -> None:
        """A channel has taken a notice; the first counting one to take a raise or a rise ends the three seconds."""
        bump = self._bumps.get(DetectorId(event.key.subject))
        if bump is not None and event.drill:
            bump.told.setdefault(answer.delivery.recipient, answer.at)
        if answer.delivery.channel not in self.orders.counting:
            return
        alarm = self.book.get(event.key)
        if alarm is not None and annunciates(event) and alarm.decided == event.at and alarm.first_output is None:
            self._took(alarm, answer.at, turn)

    def _took(self, alarm: AlarmState, at: Stamp, turn: Turn) -> None:
        self.book.amend(replace(alarm, first_output=at))
        turn.touched[alarm.key] = None
        turn.show = True
        bump = self._bumps.get(DetectorId(alarm.key.subject))
        if alarm.key.kind is not Kind.GAS:
            return  # the three seconds, and a bump's times, are those of gas
        if bump is not None and bump.first_output is None:
            bump.first_output = at
        elapsed = at.mono - alarm.sampled.mono
        self.worst_ns = elapsed if self.worst_ns is None else max(self.worst_ns, elapsed)

    def _output_reported(self, report: OutputReported, turn: Turn) -> None:
        if self.outputs.report(report):
            turn.entry(
                "output",
                {"output": report.output, "on": report.on, "reason": report.reason[:200], "at_ms": utc_ms(report.at)},
            )
        if report.on and self.outputs.wanted(report.output):
            for alarm in list(self.book):
                if alarm.key.kind is Kind.GAS and alarm.phase in HORN and alarm.first_output is None:
                    self._took(alarm, report.at, turn)
            for bump in self._bumps.values():
                if bump.sampled is not None and bump.siren is None and self.outputs.is_siren(report.output):
                    bump.siren = report.at
        if self.outputs.agrees(report.output):
            self._condition(f"output:{report.output}", turn, present=False, reason="", detail="")
        else:
            self._confirm_later(report.output, turn)

    def _condition(self, subject: str, turn: Turn, *, present: bool, reason: str, detail: str) -> None:
        key = AlarmKey(subject, Kind.SYSTEM)
        if present and not self.book.present(key):
            turn.note(self.book.raise_(key, turn.now, reason=reason, detail=detail))
        elif not present and self.book.present(key):
            turn.note(self.book.clear(key, turn.now))

    # --- closing a turn --------------------------------------------------------------------------

    def _close(self, turn: Turn) -> list[Effect]:
        """Work out what the turn's alarm events owe and to whom, then put all effects in order."""
        ticket = self._ticket + 1
        for event, send in turn.events:
            alarm = self.book.get(event.key)
            if annunciates(event) and alarm is not None and alarm.annunciated == event.at:
                self.telling.schedule(alarm)
                if alarm.key.kind is Kind.GAS and self.outputs.sounding(turn.now.mono):
                    self._took(alarm, turn.now, turn)  # it needs no siren started: one was just read to sound
            if send:
                self.telling.owe(event, ticket, turn)
        if turn.events:
            self._set_outputs(turn)
        if turn.records:
            self._ticket = ticket
        turn.leaving = self.telling.outbox.take_due(turn.now.mono)
        return turn.effects(self.book, ticket)

    def _set_outputs(self, turn: Turn, *, force: bool = False) -> None:
        horn, beacon = self.book.horn(turn.now.mono), self.book.beacon()
        for output, on in self.outputs.want(horn=horn, beacon=beacon, force=force):
            turn.outputs[output] = on
            self._confirm_later(output, turn)

    def _confirm_later(self, output: str, turn: Turn) -> None:
        self.deadlines.at(Instant(turn.now.mono + self.orders.timing.output_confirm), Confirm(output))

    # --- restart ---------------------------------------------------------------------------------

    def _put_back(self, restored: Restored, turn: Turn) -> None:
        now = turn.now
        for state in restored.states:
            if state.body is None:
                continue
            alarm = self._mute_bounded(state_from(state.key, state.body, now), now)
            self.book.put_back(alarm)
            head = self.sight.heads.get(DetectorId(state.key.subject))
            if alarm.until is not None and head is not None:
                longest = Instant(now.mono + self.orders.timing.longest_inhibit)
                self.sight.arm_window(head, alarm.annunciated.mono, min(alarm.until.mono, longest))
            self.telling.schedule(alarm, repeat_from=now.mono)
            if state.key.kind is Kind.SYSTEM and alarm.present:  # whoever has cause to will raise it again
                turn.note(self.book.clear(state.key, now, reason="restart"), send=False)
        self.sight.put_back()
        self.sight.drop_strangers(turn)
        for row, body in restored.owed:
            self.telling.outbox.owe(row.delivery, event_from(body, now), now.mono, ticket=None, leave=now.mono)

    def _mute_bounded(self, alarm: AlarmState, now: Stamp) -> AlarmState:
        """A mute that a clock set back would stretch ends after its usual length at the latest."""
        if alarm.muted_until is None:
            return alarm
        longest = Instant(now.mono + self.orders.timing.silence)
        until = Stamp(min(alarm.muted_until.mono, longest), alarm.muted_until.utc)
        self.deadlines.at(until.mono, Unmute())
        return replace(alarm, muted_until=until)
