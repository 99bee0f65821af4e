"""The journal as another process may read it: alarm events for the screens, entries and proofs for whoever checks.

Reads only. Every question is one short transaction, so that the writer's log is never held back.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw
import msgspec

from dashboards.past import EventView
from gateway.journal import persons, schema, tree
from gateway.journal.batches import fetch_node, read_head
from gateway.journal.errors import AbsentError, StoreError
from gateway.journal.view import FileView
from sensors.sentences import Sentence
from sensors.stamps import MILLISECOND, UtcNanos, rfc3339

MOST_EVENTS = 1_000
"""Events in one answer; who wants more asks again from the last seq."""

MOST_ENTRIES = 2_000
"""Entries in one answer."""

BUSY_MS = 500


class AlarmBody(msgspec.Struct, frozen=True):
    """The part of an alarm entry's body that a screen needs. %LEL in thousandths, times in UTC milliseconds."""

    seq: int
    id: str
    subject: str
    kind: str
    event: str
    since_ms: int
    sampled_ms: int
    at_ms: int
    level: str | None = None
    lel_milli: int | None = None
    peak_milli: int | None = None
    by: str | None = None
    note: str = ""
    time_trusted: bool = True


class JournalReader(FileView):
    """A read-only view of a journal file.

    `words` makes the text of an event from its body, with ``by`` already turned into the person's name.

    Attributes:
        version: the format of the file; an older one lacks the tables of later ones.
    """

    AGAIN = "try again; then `vigia verify`"

    def __init__(self, path: Path, words: Callable[[Mapping[str, Any]], str] = lambda _body: "") -> None:
        """Open the file.

        Raises:
            StoreError: it is not there, no journal, or of a newer format.
        """
        if not path.is_file():
            raise AbsentError(path, "no journal is there", "start the gateway once, or check `data`")
        try:
            db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
            db.set_busy_timeout(BUSY_MS)
            mark, version = schema.number(db, "application_id"), schema.number(db, "user_version")
        except apsw.Error as error:
            raise StoreError(path, Sentence("cannot be read: {reason}", reason=error), "a journal of Vigia") from error
        super().__init__(path, db)
        self._words = words
        self.version = version
        if mark != schema.APPLICATION_ID:
            self.close()
            raise StoreError(path, "is not a journal of Vigia", "give the journal file of a depot's `data` folder")
        if version > schema.VERSION:
            self.close()
            raise StoreError(
                path,
                Sentence(
                    "has format {version}; this Vigia knows formats up to {known}",
                    version=version,
                    known=schema.VERSION,
                ),
                "use the newer Vigia",
            )

    def events(self, after: int, limit: int) -> Sequence[EventView]:
        """Return alarm events with seq > `after`, oldest first, at most `limit` (and at most `MOST_EVENTS`).

        Raises:
            StoreError: the file cannot be read, or an entry does not hold what an alarm must.
        """
        rows = self.ask(
            "SELECT e.idx, e.bytes FROM alarm a JOIN entry e ON e.idx = a.idx WHERE a.seq > ? ORDER BY a.seq LIMIT ?",
            (min(after, 2**63 - 1), max(0, min(limit, MOST_EVENTS))),
        )
        return [self._view(idx, data) for idx, data in rows]

    def latest(self, limit: int) -> Sequence[EventView]:
        """Return the last alarm events, oldest first, at most `limit` (and at most `MOST_EVENTS`).

        Raises:
            StoreError: as for `events`.
        """
        rows = self.ask(
            "SELECT e.idx, e.bytes FROM alarm a JOIN entry e ON e.idx = a.idx ORDER BY a.seq DESC LIMIT ?",
            (max(0, min(limit, MOST_EVENTS)),),
        )
        return [self._view(idx, data) for idx, data in reversed(list(rows))]

    def head(self) -> tuple[str, int, bytes]:
        """Return the depot's id, the number of entries and the root over them, as last committed."""
        return self._once(lambda: read_head(self._db))

    def entry(self, idx: int) -> bytes:
        """Return the bytes of one entry.

        Raises:
            StoreError: there is no such entry.
        """
        for (data,) in self.ask("SELECT bytes FROM entry WHERE idx = ?", (idx,)):
            return bytes(data)
        raise StoreError(
            self.path, Sentence("entry {idx} is not there", idx=idx), "an index below the size that `head` gives"
        )

    def entries(self, start: int, limit: int) -> list[tuple[int, bytes]]:
        """Return (index, bytes) of the entries from `start` on, at most `limit` (and at most `MOST_ENTRIES`)."""
        return self.ask(
            "SELECT idx, bytes FROM entry WHERE idx >= ? ORDER BY idx LIMIT ?", (start, min(limit, MOST_ENTRIES))
        )

    def root(self, size: int) -> bytes:
        """Return the root of the first `size` entries, from the stored nodes.

        Raises:
            StoreError: the journal is shorter.
        """
        return self._once(lambda: tree.frontier(size, self._fetch).root())

    def inclusion(self, idx: int, size: int) -> list[bytes]:
        """Return the audit path of entry `idx` in the tree of the first `size` entries.

        Raises:
            ValueError: `idx` is not below `size`.
            StoreError: the journal is shorter.
        """
        return self._once(lambda: tree.inclusion(idx, size, self._fetch))

    def consistency(self, first: int, second: int) -> list[bytes]:
        """Return the proof that the first `first` entries begin the first `second`.

        Raises:
            ValueError: unless 0 < `first` <= `second`.
            StoreError: the journal is shorter.
        """
        return self._once(lambda: tree.consistency(first, second, self._fetch))

    def filed(self, kind: str, after: int = -1) -> Iterator[tuple[int, Mapping[str, Any], str]]:
        """Yield (index, body, person's name) of the entries of one of the kinds in `schema.FILED`, in their order.

        Raises:
            StoreError: the file cannot be read, or an entry is none.
        """
        while self.version >= schema.FILED_SINCE:
            rows = self.ask(
                "SELECT e.idx, e.bytes FROM filed f JOIN entry e ON e.idx = f.idx"
                " WHERE f.kind = ? AND f.idx > ? ORDER BY f.idx LIMIT ?",
                (kind, after, MOST_ENTRIES),
            )
            for idx, data in rows:
                try:
                    body = msgspec.json.decode(data)["body"]
                    ref = body.get("by")
                except (msgspec.DecodeError, TypeError, KeyError, AttributeError) as error:
                    raise StoreError(
                        self.path,
                        Sentence("entry {idx} is none ({reason})", idx=idx, reason=error),
                        "run `vigia verify`",
                    ) from error
                yield idx, body, "" if ref is None else self.person(str(ref))
                after = idx
            if not rows:
                return

    def person(self, ref: str) -> str:
        """Return the name behind a person's reference, or what stands for an erased one."""
        return self._once(lambda: persons.name_of(self._db, ref))

    def checkpoint(self, at_most: int | None = None) -> str | None:
        """Return the signed checkpoint over the most entries (`at_most` of them); None without one."""
        if self.version < schema.CHECKPOINTS_SINCE:
            return None
        rows = self.ask(
            "SELECT note FROM checkpoint WHERE size <= ? ORDER BY size DESC LIMIT 1",
            (2**63 - 1 if at_most is None else at_most,),
        )
        return str(rows[0][0]) if rows else None

    def vkeys(self) -> list[str]:
        """Return the keys that the boot entries name, the latest first."""
        rows = self.ask(
            "SELECT DISTINCT json_extract(bytes, '$.body.vkey') FROM entry"
            " WHERE json_extract(bytes, '$.kind') IN ('boot', 'restore') ORDER BY idx DESC"
        )
        return [text for (text,) in rows if isinstance(text, str) and text]

    def first_at(self, at_ms: int) -> int:
        """Return the index of the first entry that was written at this civil time or later; the size without one."""
        rows = self.ask(
            "SELECT idx FROM entry WHERE json_extract(bytes, '$.body.at_ms') >= ? ORDER BY idx LIMIT 1", (at_ms,)
        )
        return int(rows[0][0]) if rows else self.head()[1]

    def nodes(self, wanted: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the stored hashes of these complete nodes (level, index). Raises StoreError for one that is not."""
        return self._once(lambda: [self._fetch(level, index) for level, index in wanted])

    def ask(self, question: str, values: tuple[int | str, ...] = ()) -> list[Any]:
        """Run one SELECT and return its rows; for `check` and tests. Raises StoreError as the others."""
        return self._once(lambda: self._db.execute(question, values).fetchall())

    def _fetch(self, level: int, index: int) -> bytes:
        return fetch_node(self._db, tree.position(level, index))

    def _view(self, idx: int, data: bytes) -> EventView:
        try:
            raw = msgspec.json.decode(data)["body"]
            body = msgspec.convert(raw, AlarmBody)
        except (msgspec.DecodeError, msgspec.ValidationError, TypeError, KeyError) as error:
            raise StoreError(
                self.path,
                Sentence("entry {idx} is no alarm event ({reason})", idx=idx, reason=error),
                "run `vigia verify`",
            ) from error
        by = None if body.by is None else self.person(str(body.by))
        return EventView(
            seq=body.seq,
            id=body.id,
            subject=body.subject,
            kind=body.kind,
            event=body.event,
            level=body.level,
            lel_pct=_percent(body.lel_milli),
            peak=_percent(body.peak_milli),
            since=_time(body.since_ms),
            sampled=_time(body.sampled_ms),
            at=_time(body.at_ms),
            by=by,
            note=body.note,
            text=self._words({**raw, "by": by}),
            time_trusted=body.time_trusted,
        )


def _percent(milli: int | None) -> float | None:
    return None if milli is None else milli / 1000


def _time(ms: int) -> str:
    return rfc3339(UtcNanos(ms * MILLISECOND))
