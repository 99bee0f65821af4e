"""One turn of the engine: gathers what a single event or deadline brings about and puts the effects in their order."""

from alerts.alarmbook import AlarmBook
from alerts.alarms import AlarmEvent, AlarmKey, Delivery
from alerts.outbox import Owed, Settled
from gateway.engine.events import Deliver, Due, Effect, Entry, Json, OutboxRow, Record, SetOutput, Show, StateRow
from gateway.engine.records import event_body, state_body
from sensors.stamps import Stamp


class Turn:
    """Effects under construction. Order at the end: outputs, journal, messages, screens (design: section 4).

    `votes` says that a head has read gas, so that a costly action may have got its votes without any alarm event.
    """

    def __init__(self, now: Stamp) -> None:
        self.now = now
        self.outputs: dict[str, bool] = {}
        self.entries: list[Entry] = []
        self.rows: list[OutboxRow] = []
        self.touched: dict[AlarmKey, None] = {}
        self.events: list[tuple[AlarmEvent, bool]] = []
        self.leaving: list[Owed] = []
        self.show = False
        self.votes = False

    def note(self, event: AlarmEvent, *, send: bool = True) -> None:
        """An alarm event has happened: it is recorded, its alarm's restart row renewed, and people told if `send`.

        What shows where alarms stand gets it in any case.
        """
        self.events.append((event, send))
        self.entries.append(Entry("alarm", event_body(event), event.by))
        self.touched[event.key] = None

    def entry(self, kind: str, body: dict[str, Json], person: str | None = None) -> None:
        """Record something that is no alarm event."""
        self.entries.append(Entry(kind, body, person))

    def owed(self, delivery: Delivery) -> None:
        """Record that a delivery is owed."""
        self.rows.append(OutboxRow(delivery, Due.OWED, self.now.utc))

    def settled(self, settled: Settled, state: Due) -> None:
        """Record how an owed delivery ended."""
        self.rows.append(OutboxRow(settled.delivery, state, self.now.utc))

    def effects(self, book: AlarmBook, ticket: int) -> list[Effect]:
        """Return everything in its order. `ticket` numbers the journal batch, if there is one."""
        effects: list[Effect] = [SetOutput(output, on) for output, on in self.outputs.items()]
        if self.records:
            effects.append(Record(ticket, tuple(self.entries), tuple(self.rows), self._states(book)))
        effects.extend(Deliver(owed.delivery, owed.event, owed.recorded) for owed in self.leaving)
        if self.events or self.show:
            effects.append(Show())
        return effects

    @property
    def records(self) -> bool:
        """Tell whether this turn has anything for the journal."""
        return bool(self.entries or self.rows or self.touched)

    def _states(self, book: AlarmBook) -> tuple[StateRow, ...]:
        rows = []
        for key in self.touched:
            alarm = book.get(key)
            rows.append(StateRow(key, None if alarm is None else state_body(alarm)))
        return tuple(rows)
