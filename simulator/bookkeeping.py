"""The promises of the record, held against each life of the gateway: numbers, ids, states and messages. Pure.

It writes down itself what was committed, and asks for it back after every crash.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from alerts.alarms import AlarmEvent, AlarmKey, Kind
from gateway.engine.events import Due, Json, OutboxRow, Record, Restored, StateRow
from simulator.promises import Book, Broken

ENDS = (Due.ACCEPTED, Due.REFUSED)
"""How a message may end: as its channel answered, which is recorded with it."""

IDS_KEPT = 2_000
"""Events whose ids are remembered; an older one has long been settled."""


@dataclass(slots=True)
class _Versions:
    """What a row of the journal may hold: what was committed last, and everything newer that may have landed."""

    committed: object = None
    newer: list[tuple[int, object]] = field(default_factory=list)

    def possible(self) -> list[object]:
        return [self.committed, *(value for _, value in self.newer)]


class Bookkeeping:
    """All that is promised of the journal and the messages.

    Attributes:
        broken: what was not kept, oldest first.
        settled: deliveries that came to an end, by how.
    """

    def __init__(self) -> None:
        self.broken: list[Broken] = []
        self.settled: dict[str, int] = {}
        self._states: dict[AlarmKey, _Versions] = {}
        self._rows: dict[str, _Versions] = {}
        self._ids: dict[str, tuple[object, ...]] = {}
        self._open: dict[int, Record] = {}
        self._last_seq = 0
        self._committed_seq = 0
        self._seqs: dict[int, int] = {}
        self._unwritten: dict[str, int] = {}

    # --- one life --------------------------------------------------------------------------------

    def recorded(self, now: float, record: Record) -> None:
        """The engine wants this written."""
        self._open[record.ticket] = record
        for entry in record.entries:
            if entry.kind == "alarm":
                self._number(now, record.ticket, entry.body)
        for state in record.states:
            body = None if state.body is None else dict(state.body)
            self._states.setdefault(state.key, _Versions()).newer.append((record.ticket, body))
        answers = {
            entry.body["delivery"]: entry.body["outcome"] for entry in record.entries if entry.kind == "delivery"
        }
        for row in record.outbox:
            if row.state in ENDS and answers.get(row.delivery.id) != row.state.value:
                answer = answers.get(row.delivery.id)
                self._break(now, "dropped", f"{row.delivery.id} ends as {row.state.value} on the answer {answer}")
            self._rows.setdefault(row.delivery.id, _Versions()).newer.append((record.ticket, row.state))
            if row.state is not Due.OWED:
                self.settled[row.state.value] = self.settled.get(row.state.value, 0) + 1

    def committed(self, now: float, ticket: int) -> None:
        """The journal says that it holds this."""
        record = self._open.pop(ticket, None)
        if record is None:
            self._break(now, "commits", f"ticket {ticket} was committed twice, or never asked for")
            return
        self._committed_seq = max(self._committed_seq, self._seqs.pop(ticket, 0))
        for entry in record.entries:
            if entry.kind == "alarm":
                self._unwritten.pop(str(entry.body["id"]), None)
        for key in (state.key for state in record.states):
            if _land(self._states.get(key), ticket, gone=None):
                del self._states[key]
        for delivery in (row.delivery.id for row in record.outbox):
            versions = self._rows.get(delivery)
            if _land(versions, ticket, gone=Due.ACCEPTED) or _land(versions, ticket, gone=Due.REFUSED):
                del self._rows[delivery]

    def leaves(self, now: float, event: AlarmEvent, *, recorded: bool) -> None:
        """A notice of this event leaves the house: its id stands for this event and no other, for ever."""
        said = (event.seq, event.key, event.cause, event.level, event.drill)
        known = self._ids.setdefault(event.id, said)
        if known != said:
            self._break(now, "ids", f"{event.id} is {said}, and was {known}")
        if len(self._ids) > IDS_KEPT:
            del self._ids[next(iter(self._ids))]
        if recorded and event.id in self._unwritten:
            self._break(now, "recorded", f"{event.id} leaves as recorded, and was not committed")

    def restored(self, now: float, found: Restored) -> None:
        """The next life has opened the journal: what was committed is there, and nothing that never was."""
        if found.last_seq < self._committed_seq:
            self._break(now, "seq", f"the journal knows seq {found.last_seq}, and {self._committed_seq} was committed")
        self._compare(now, found.states)
        self._compare_owed(now, (row for row, _ in found.owed))
        self._open.clear()
        self._seqs.clear()
        self._unwritten.clear()
        self._last_seq = self._committed_seq = found.last_seq

    def uncommitted(self) -> set[AlarmKey]:
        """Alarms of which something newer was asked to be written than is known to be on the disk."""
        return {key for key, versions in self._states.items() if versions.newer}

    def put_back(self, now: float, found: Restored, book: Book, owed: Iterable[str]) -> None:
        """The next life has begun: every alarm and message that the journal kept stands again."""
        for row in found.states:
            if row.body is not None and row.key.kind in (Kind.GAS, Kind.BLIND) and book.get(row.key) is None:
                self._break(now, "restart", f"{row.key.subject} {row.key.kind.value} stood, and does not any more")
        there = set(owed)
        for owing, _ in found.owed:
            if owing.delivery.id not in there:
                self._break(now, "restart", f"{owing.delivery.id} was owed, and is not any more")

    def bounded(self, now: float, figures: Mapping[str, tuple[int, int]]) -> None:
        """Every queue, with its bound."""
        for name, (value, bound) in figures.items():
            if value > bound:
                self._break(now, "bounds", f"{name}: {value} > {bound}")

    def standing(self, now: float, name: str, count: int, detail: str) -> None:
        """At the end of all faults nothing of this kind may be left."""
        if count:
            self._break(now, "settles", f"{count} {name} left: {detail}")

    # --- details ---------------------------------------------------------------------------------

    def _number(self, now: float, ticket: int, body: Mapping[str, Json]) -> None:
        seq = body["seq"]
        assert isinstance(seq, int)
        if seq != self._last_seq + 1:
            self._break(now, "seq", f"{seq} follows {self._last_seq}")
        self._last_seq = seq
        self._seqs[ticket] = seq
        self._unwritten[str(body["id"])] = ticket

    def _compare(self, now: float, rows: Iterable[StateRow]) -> None:
        found = {row.key: None if row.body is None else dict(row.body) for row in rows}
        for key, versions in self._states.items():
            value = found.pop(key, None)
            if value not in versions.possible():
                came = f"{key.subject} {key.kind.value} came back as {value}"
                self._break(now, "crash", f"{came}, not {versions.committed}")
            versions.committed, versions.newer = value, []
        for key in found:
            self._break(now, "crash", f"{key.subject} {key.kind.value} came back, and was never recorded")
        self._states = {key: versions for key, versions in self._states.items() if versions.committed is not None}

    def _compare_owed(self, now: float, rows: Iterable[OutboxRow]) -> None:
        owed = {row.delivery.id for row in rows}
        for delivery, versions in self._rows.items():
            possible = versions.possible()
            if delivery in owed and Due.OWED not in possible:
                self._break(now, "crash", f"{delivery} came back as owed, and was settled")
            if delivery not in owed and possible == [Due.OWED]:
                self._break(now, "crash", f"{delivery} was owed, and did not come back")
            versions.committed, versions.newer = Due.OWED if delivery in owed else None, []
        self._rows = {name: versions for name, versions in self._rows.items() if versions.committed is Due.OWED}

    def _break(self, now: float, promise: str, detail: str) -> None:
        self.broken.append(Broken(now, promise, detail))


def _land(versions: _Versions | None, ticket: int, *, gone: object) -> bool:
    """Everything of this row up to this ticket is on the disk: batches keep their order. True when it has ended."""
    if versions is None:
        return False
    while versions.newer and versions.newer[0][0] <= ticket:
        versions.committed = versions.newer.pop(0)[1]
    return not versions.newer and versions.committed == gone
