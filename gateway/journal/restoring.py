"""What a journal knew when it was opened: read back whole, or of a broken one as far as it goes. Changes nothing."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeAlias, TypeVar

import apsw

from alerts.alarms import AlarmKey, Delivery, EventId, Kind
from gateway.engine.events import Due, OutboxRow, Restored, StateRow
from gateway.journal import schema
from gateway.journal.batches import read_head
from gateway.journal.tested import tested
from sensors.stamps import UtcNanos

Owed: TypeAlias = tuple[OutboxRow, Mapping[str, Any]]
Row = TypeVar("Row")


def restored(db: apsw.Connection) -> Restored:
    """Read everything that a restart goes on with.

    Raises:
        ValueError, KeyError: a row cannot be read back.
    """
    return Restored(_last_seq(db), tuple(_states(db)), tuple(_owed(db)), _last_alive(db), tuple(tested(db)))


def salvaged(db: apsw.Connection, depot: str) -> Restored | None:
    """Read what can still be read; None if it is another depot's.

    Of each table that breaks off, what came before the break is taken.
    """
    owner = next(_as_far_as_it_goes(map(read_head, (db,))), (depot,))[0]
    if owner != depot:
        return None
    last_seq = next(_as_far_as_it_goes(map(_last_seq, (db,))), 0)
    alive = next(_as_far_as_it_goes(map(_last_alive, (db,))), None)
    states, owed = tuple(_as_far_as_it_goes(_states(db))), tuple(_as_far_as_it_goes(_owed(db)))
    return Restored(last_seq, states, owed, alive)


def _last_seq(db: apsw.Connection) -> int:
    ((last_seq,),) = db.execute("SELECT max(seq) FROM alarm").fetchall()
    return int(last_seq or 0)


def _states(db: apsw.Connection) -> Iterator[StateRow]:
    for subject, kind, body in db.execute("SELECT subject, kind, body FROM alarm_state ORDER BY subject, kind"):
        yield StateRow(AlarmKey(subject, Kind(kind)), json.loads(body))


def _owed(db: apsw.Connection) -> Iterator[Owed]:
    for identity, event, recipient, channel, attempt, changed, data in db.execute(
        "SELECT o.id, o.event, o.recipient, o.channel, o.attempt, o.changed, e.bytes"
        " FROM outbox o JOIN alarm a ON a.event = o.event JOIN entry e ON e.idx = a.idx"
        " WHERE o.state = 'owed' ORDER BY a.seq, o.id"
    ):
        delivery = Delivery(identity, EventId(event), recipient, channel, attempt)
        yield OutboxRow(delivery, Due.OWED, UtcNanos(changed)), _body(data)


def _as_far_as_it_goes(rows: Iterator[Row]) -> Iterator[Row]:
    with suppress(apsw.Error, ValueError, KeyError, TypeError):
        yield from rows


def _last_alive(db: apsw.Connection) -> int | None:
    """The later of the last sign of life and the last entry's time, where its clock could be trusted."""
    known = [int(value) for (value,) in db.execute("SELECT value FROM meta WHERE name = ?", (schema.LAST_ALIVE,))]
    for (data,) in db.execute("SELECT bytes FROM entry ORDER BY idx DESC LIMIT 1"):
        body = _body(data)
        at = body.get("at_ms")
        if isinstance(at, int) and body.get("time_trusted", True):
            known.append(at)
    return max(known, default=None)


def _body(data: bytes) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(data)["body"]
    return body
