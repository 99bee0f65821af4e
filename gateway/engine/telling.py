"""Telling people: what an alarm event owes to whom, its repeats and escalation, and what the channels answer."""

from collections.abc import Iterable
from enum import Enum
from typing import assert_never

from alerts.alarmbook import AlarmBook
from alerts.alarms import AlarmEvent, AlarmKey, AlarmState, Cause, Delivery, Kind, Phase, Verdict
from alerts.outbox import Outbox, Settled
from alerts.routing import deliveries
from alerts.states import UNACKNOWLEDGED
from gateway.engine.deadlines import Deadlines, Escalate, Repeat
from gateway.engine.events import Due
from gateway.engine.orders import Orders
from gateway.engine.records import utc_ms
from gateway.engine.turn import Turn
from gateway.engine.watched import Head
from sensors.stamps import SECOND, Instant

FAILING_AFTER = 3
"""Attempts of one delivery that fail before its channel stands as failing."""


GROUPS = Kind.SYSTEM.value
"""Who hears this kind gets the notices that tell many alarms together; everybody else gets each by itself."""


class Heard(Enum):
    """Who hears of an event."""

    ALL = "all"
    TOGETHER = "together"  # people get one notice for many; what shows states gets each
    STATES = "states"  # people get none; what shows states gets each


class Telling:
    """The outbox, and the clockwork of repeats and escalation around it."""

    def __init__(self, orders: Orders, book: AlarmBook, deadlines: Deadlines) -> None:
        self.orders = orders
        self.outbox = Outbox()
        self._book = book
        self._deadlines = deadlines
        self._repeating: set[AlarmKey] = set()

    def owe(self, event: AlarmEvent, ticket: int, turn: Turn, heard: "Heard") -> None:
        """Owe this event to everyone who hears of it. It leaves once recorded, or marked as not recorded."""
        alarm = self._book.get(event.key)
        told = frozenset(alarm.told) if alarm is not None else frozenset()
        leave = Instant(turn.now.mono + self.orders.timing.unrecorded)
        for delivery in self._deliveries(event, told, heard):
            for gone in self.outbox.owe(delivery, event, turn.now.mono, ticket=ticket, leave=leave):
                self.record(gone, turn)
            turn.owed(delivery)

    def _deliveries(self, event: AlarmEvent, told: frozenset[str], heard: "Heard") -> tuple[Delivery, ...]:
        all_, stateful = self.orders.recipients, self.orders.stateful
        match heard:
            case Heard.ALL:
                return deliveries(event, all_, told)
            case Heard.STATES:
                return deliveries(event, all_, told, stateful)
            case Heard.TOGETHER:
                others = [recipient for recipient in all_ if GROUPS not in recipient.alarms]
                grouped = [recipient for recipient in all_ if GROUPS in recipient.alarms]
                return deliveries(event, others, told) + deliveries(event, grouped, told, stateful)
            case _:
                assert_never(heard)

    def committed(self, tickets: Iterable[int], now: Instant) -> None:
        """The journal holds these batches."""
        for ticket in tickets:
            self.outbox.committed(ticket, now)

    def record(self, settled: Settled, turn: Turn) -> None:
        """Write an outcome down after the fact: every final one, and the first failure of each delivery."""
        if not settled.final and settled.delivery.attempt != 1:
            return
        verdict = settled.outcome.verdict
        turn.entry(
            "delivery",
            {
                "delivery": settled.delivery.id,
                "event": settled.event.id,
                "channel": settled.delivery.channel,
                "recipient": settled.delivery.recipient,
                "attempt": settled.delivery.attempt,
                "outcome": verdict.value,
                "reason": settled.outcome.reason[:200],
                "at_ms": utc_ms(turn.now),
            },
        )
        if settled.final:
            turn.settled(settled, Due.ACCEPTED if verdict is Verdict.ACCEPTED else Due.REFUSED)

    def channel_health(self, settled: Settled) -> tuple[bool, str] | None:
        """Return what an answer says of its channel: (unwell, reason code); None when it says nothing yet."""
        match settled.outcome.verdict:
            case Verdict.ACCEPTED:
                return False, ""
            case Verdict.REFUSED:
                return True, "refused"
            case Verdict.RETRY:
                return (True, "failing") if settled.delivery.attempt >= FAILING_AFTER else None

    def schedule(self, alarm: AlarmState, repeat_from: Instant | None = None) -> None:
        """Arm the repeats and escalation of an alarm that was raised, has risen, or was put back after a restart.

        After a restart repeats count from then (`repeat_from`): a gateway that restarts often must not nag each time.
        Escalation does not: the person who was to be called in is still owed the call.
        """
        if alarm.until is not None:
            return  # a window ends by itself, and who opened it knows of it
        mark = alarm.annunciated.mono
        first = mark if repeat_from is None else repeat_from
        if alarm.key not in self._repeating:  # else the one that is waited for sees that it was annunciated anew
            self._repeat_at(Instant(first + self._repeat_after(alarm.key.kind)), Repeat(alarm.key, mark))
        if alarm.key.kind is not Kind.GAS or alarm.drill:
            return
        for rung in self.orders.escalation:
            if not set(rung.recipients) <= set(alarm.told):
                due = Instant(mark + round(rung.after_s * SECOND))
                self._deadlines.at(due, Escalate(alarm.key, mark, rung.recipients))

    def due(self, task: Repeat | Escalate, head: Head | None, turn: Turn) -> None:
        """The time of a repeat or of an escalation has come. `head`: the one that the alarm is about, if any."""
        if isinstance(task, Repeat):
            self.repeat(task, head, turn)
        else:
            self.escalate(task, turn)

    def repeat(self, task: Repeat, head: Head | None, turn: Turn) -> None:
        """Say it again while nobody has taken it; a head whose cable's notice speaks for it stays quiet."""
        self._repeating.discard(task.key)
        alarm = self._unanswered(task.key)
        if alarm is None:
            return
        after, mark = self._repeat_after(task.key.kind), alarm.annunciated.mono
        if mark != task.annunciated:
            self._repeat_at(Instant(mark + after), Repeat(task.key, mark))
            return
        if not (task.key.kind is Kind.BLIND and head is not None and head.grouped):
            turn.note(self._book.still(task.key, turn.now))
        self._repeat_at(Instant(turn.now.mono + after), task)

    def _repeat_at(self, when: Instant, task: Repeat) -> None:
        self._repeating.add(task.key)
        self._deadlines.at(when, task)

    def escalate(self, task: Escalate, turn: Turn) -> None:
        """Call further recipients in when nobody has taken the alarm."""
        alarm = self._unanswered(task.key)
        if alarm is not None and alarm.annunciated.mono == task.annunciated:
            turn.note(self._book.still(task.key, turn.now, reason="escalation", told=task.recipients))

    def _unanswered(self, key: AlarmKey) -> AlarmState | None:
        alarm = self._book.get(key)
        if alarm is None or alarm.phase not in UNACKNOWLEDGED:
            return None
        if alarm.suppressed is not None:
            return None  # its end tells it anew
        return alarm

    def _repeat_after(self, kind: Kind) -> int:
        timing = self.orders.timing
        return timing.repeat if kind is Kind.GAS else timing.repeat_other


def annunciates(event: AlarmEvent) -> bool:
    """Tell whether an event starts the horn, the repeats and the three seconds anew."""
    return event.cause in (Cause.RAISED, Cause.RISEN) or (
        event.cause in (Cause.UNSHELVED, Cause.UNSUPPRESSED) and event.after is Phase.UNACKNOWLEDGED
    )
