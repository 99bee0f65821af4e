"""A Record made ready for the disk, and written into an open transaction. Knows no thread and no retry."""

from dataclasses import dataclass, replace
from functools import lru_cache

import apsw
import msgspec

from alerts.alarms import Kind
from gateway.engine.events import Entry, OutboxRow, Record, StateRow
from gateway.journal import canonical, persons
from gateway.journal.schema import FILED
from gateway.journal.tree import Frontier, leaf_hash, stored

ALARM = "alarm"
"""The kind of entry whose body carries the alarm's `seq` and event `id`."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One entry with its body encoded. `seq` and `event` are set for alarms only."""

    kind: str
    body: bytes
    seq: int | None
    event: str | None
    person: str | None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A Record whose every part is known to be writable. Outbox rows are columns; a state without bytes is removed.

    `seal` asks for a checkpoint at once: it holds a gas alarm event.
    """

    ticket: int
    leaves: tuple[Leaf, ...]
    seal: bool
    outbox: tuple[tuple[str, str, str, str, int, str, int], ...]
    states: tuple[tuple[str, str, bytes | None], ...]


def prepare(record: Record) -> Prepared:
    """Encode a record's bodies, so that what cannot be written is refused where it was made.

    Raises:
        TypeError, ValueError: as `canonical.encode`; for an alarm entry without a whole `seq` > 0 and a text `id`;
            for a body that brings its own ``by``.
    """
    return Prepared(
        ticket=record.ticket,
        leaves=tuple(_leaf(entry) for entry in record.entries),
        seal=any(entry.kind == ALARM and entry.body.get("kind") == Kind.GAS.value for entry in record.entries),
        outbox=tuple(_row(row) for row in record.outbox),
        states=tuple(_state(row) for row in record.states),
    )


def ready(entry: Entry) -> Entry:
    """Return the entry with its body encoded, so that `prepare` need not do it.

    Raises:
        TypeError, ValueError: as `prepare`.
    """
    return replace(entry, encoded=_leaf(entry).body)


def entry_bytes(idx: int, kind: str, body: bytes) -> bytes:
    """The canonical bytes of the entry at leaf `idx`: ``{"body":...,"idx":...,"kind":...}``."""
    return b'{"body":%b,"idx":%d,"kind":%b}' % (body, idx, _named(kind))


def read_head(db: apsw.Connection) -> tuple[str, int, bytes]:
    """The stored depot id, size and root.

    Raises:
        apsw.CorruptError: if the row is not there.
    """
    for depot, size, root in db.execute("SELECT depot, size, root FROM head"):
        return str(depot), int(size), bytes(root)
    raise apsw.CorruptError("the journal has no head row")


def fetch_node(db: apsw.Connection, pos: int) -> bytes:
    """The stored node at this position.

    Raises:
        apsw.CorruptError: if it is not there.
    """
    for (found,) in db.execute("SELECT hash FROM node WHERE pos = ?", (pos,)):
        return bytes(found)
    raise apsw.CorruptError(f"the tree has no node at position {pos}")


class Pen:
    """Writes records one after the other into the open transaction of the writer's connection.

    Attributes:
        frontier: the tree as this transaction will leave it.
        orphans: outbox rows left out because the event they belong to is not in the journal.
    """

    def __init__(self, db: apsw.Connection, frontier: Frontier) -> None:
        self._db = db
        self.frontier = frontier
        self.orphans = 0

    def write(self, record: Prepared) -> bool:
        """Write one record whole, as nearly every one can be.

        Raises:
            apsw.ConstraintError: a constraint refuses it (a repeated alarm seq or id); the transaction is spoilt.
        """
        self._write(record)
        return True

    def write_apart(self, record: Prepared) -> bool:
        """Write one record whole, or not at all.

        Returns:
            False when a constraint refuses it; what was written before it stays.
        """
        before = self.frontier, self.orphans
        self._db.execute("SAVEPOINT record")
        try:
            self._write(record)
        except apsw.ConstraintError:
            self.frontier, self.orphans = before
            self._db.execute("ROLLBACK TO record")
            self._db.execute("RELEASE record")
            return False
        self._db.execute("RELEASE record")
        return True

    def seal(self) -> bytes:
        """Store the head that belongs to what was written, and return its root."""
        root = self.frontier.root()
        self._db.execute("UPDATE head SET size = ?, root = ?", (self.frontier.size, root))
        return root

    def _write(self, record: Prepared) -> None:
        for leaf in record.leaves:
            self._append(leaf)
        for row in record.outbox:
            self._owe(row)
        for subject, kind, body in record.states:
            if body is None:
                self._db.execute("DELETE FROM alarm_state WHERE subject = ? AND kind = ?", (subject, kind))
            else:
                self._db.execute(
                    "INSERT INTO alarm_state (subject, kind, body) VALUES (?, ?, ?)"
                    " ON CONFLICT DO UPDATE SET body = excluded.body",
                    (subject, kind, body),
                )

    def _append(self, leaf: Leaf) -> None:
        idx = self.frontier.size
        body = leaf.body
        if leaf.person is not None:
            told = msgspec.json.decode(body, type=dict[str, object])
            body = canonical.encode(told | {"by": persons.ref_of(self._db, leaf.person)})
        data = entry_bytes(idx, leaf.kind, body)
        self._db.execute("INSERT INTO entry (idx, bytes) VALUES (?, ?)", (idx, data))
        if leaf.seq is not None:
            self._db.execute("INSERT INTO alarm (seq, event, idx) VALUES (?, ?, ?)", (leaf.seq, leaf.event, idx))
        if leaf.kind in FILED:
            self._db.execute("INSERT INTO filed (idx, kind) VALUES (?, ?)", (idx, leaf.kind))
        first = stored(idx)
        self.frontier, born = self.frontier.append(leaf_hash(data))
        for pos, node in enumerate(born, first):
            self._db.execute("INSERT INTO node (pos, hash) VALUES (?, ?)", (pos, node))

    def _owe(self, row: tuple[str, str, str, str, int, str, int]) -> None:
        self._db.execute(
            "INSERT INTO outbox (id, event, recipient, channel, attempt, state, changed)"
            " SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE EXISTS (SELECT 1 FROM alarm WHERE event = ?2)"
            " ON CONFLICT (id) DO UPDATE SET"
            " attempt = excluded.attempt, state = excluded.state, changed = excluded.changed",
            row,
        )
        if not self._db.changes():
            self.orphans += 1


@lru_cache(maxsize=64)
def _named(kind: str) -> bytes:
    """The canonical bytes of a kind, of which there are few."""
    return canonical.encode(kind)


def _row(row: OutboxRow) -> tuple[str, str, str, str, int, str, int]:
    """The columns of an outbox row, in the order of the table."""
    delivery = row.delivery
    attempt, changed = canonical.whole(delivery.attempt), canonical.whole(row.changed)
    texts = (delivery.id, delivery.event, delivery.recipient, delivery.channel)
    identity, event, recipient, channel = (canonical.mend(text) for text in texts)
    return identity, event, recipient, channel, attempt, row.state.value, changed


def _state(row: StateRow) -> tuple[str, str, bytes | None]:
    body = None if row.body is None else canonical.encode(row.body)
    return canonical.mend(row.key.subject), row.key.kind.value, body


def _leaf(entry: Entry) -> Leaf:
    if not entry.kind:
        raise ValueError("an entry needs a kind")
    _named(entry.kind)
    body = canonical.encode(dict(entry.body)) if entry.encoded is None else entry.encoded
    if entry.person is not None and entry.body.get("by") is not None:
        raise ValueError('the body brings its own "by"; the person goes beside it')
    if entry.kind != ALARM:
        return Leaf(entry.kind, body, None, None, entry.person)
    seq, event = entry.body.get("seq"), entry.body.get("id")
    if not isinstance(seq, int) or isinstance(seq, bool) or not isinstance(event, str):
        raise TypeError('an alarm entry carries a whole "seq" and a text "id"')
    if seq < 1:
        raise ValueError(f"alarm seq {seq}: the first is 1")
    return Leaf(ALARM, body, seq, canonical.mend(event), entry.person)
