"""The journal as the gateway holds it: opened and checked, read back once, then written by its one thread."""

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import apsw

from alerts.alarms import AlarmKey, Delivery, EventId, Kind
from gateway.events import Due, OutboxRow, Record, Restored, StateRow
from gateway.journal import schema
from gateway.journal.batches import fetch_node, prepare, read_head
from gateway.journal.errors import StoreError
from gateway.journal.health import JournalHealth
from gateway.journal.tree import EMPTY_ROOT, Frontier, frontier, leaf_hash, position, stored
from gateway.journal.writer import Erasure, Seal, Sealed, Writer
from sensors.stamps import UtcNanos

BUSY_MS = 100
"""How long SQLite itself waits for a lock before the writer's own retries begin."""

WAL_KEPT_BYTES = 16 * 1024 * 1024
"""The write-ahead log is cut to this after it was moved into the file."""

DAMAGED = "keep the file, run `vigia verify` on it, start with a new one"


class Journal:
    """One depot's journal, with its one writer.

    Attributes:
        restored: what it knew when it was opened.
    """

    def __init__(self, writer: Writer, restored: Restored, lock: int) -> None:
        self._writer = writer
        self._lock: int | None = lock
        self.restored = restored

    @classmethod
    def open(cls, path: Path, *, depot: str, vfs: str | None = None, seal: Seal | None = None) -> "Journal":
        """Open the journal of this depot, creating it or bringing it to the present version.

        Checks the stored head against the tree's peaks and its last entry, not the whole log. `vfs` names the SQLite
        file layer to go through; None is the operating system. `seal` signs (size, root); None: no checkpoints.

        Raises:
            StoreError: the file is no journal, another depot's, of a newer version, damaged, or in use.
        """
        lock = take_lock(path)
        try:
            db = _connect(path, vfs)
            try:
                tree = _prepare(path, db, depot)
                restored = _restore(path, db)
                journal = cls(Writer(path, db, tree, seal), restored, lock)
            except BaseException:
                db.close(force=True)
                raise
        except apsw.Error as error:
            os.close(lock)
            raise _explained(path, error) from error
        except BaseException:
            os.close(lock)
            raise
        return journal

    def start(
        self,
        *,
        committed: Callable[[int], None],
        trouble: Callable[[bool, str], None],
        sealed: Callable[[Sealed], None] | None = None,
    ) -> None:
        """Start the writer thread. The callbacks are called on it, in the order things happen.

        Args:
            committed: takes the ticket of each record that is on the disk.
            trouble: (True, code) when the worst trouble begins or changes, (False, "") when all is well again.
            sealed: takes each checkpoint that is on the disk.
        """
        self._writer.start(committed, trouble, sealed)

    def submit(self, record: Record) -> bool:
        """Queue a record; never waits for the disk. False when the queue is full: then it is dropped and counted.

        Raises:
            TypeError, ValueError: what the record holds cannot be journalled (see `batches.prepare`).
        """
        return self._writer.put(prepare(record))

    def alive(self, utc_ms: int) -> None:
        """Tell that the watch runs at this civil time (ms); kept at most once a minute, for after a crash."""
        self._writer.alive(utc_ms)

    def erase(self, ref: str) -> "Future[bool]":
        """Forget the name behind a reference; every leaf and proof stays as it is.

        Returns:
            Resolved by the writer thread: False when nothing was kept under it. Cancelled when it was not done.
        """
        done: Future[bool] = Future()
        if not self._writer.put(Erasure(ref, done)):
            done.cancel()
        return done

    def health(self) -> JournalHealth:
        """Return the journal's figures of this moment."""
        return self._writer.health()

    def close(self, timeout_s: float) -> bool:
        """Write what is queued, then stop. False when something was left unwritten after `timeout_s`."""
        done = self._writer.close(timeout_s)
        if self._lock is not None and not self._writer.health().writing:
            os.close(self._lock)
            self._lock = None
        return done


def take_lock(path: Path) -> int:
    """Take the lock that says who writes this journal; it goes with the process, however that ends."""
    try:
        descriptor = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreError(
            path, f"cannot be written ({error.strerror})", "its folder must exist and belong to the user Vigia runs as"
        ) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise StoreError(path, "another program is writing it", "stop the other `vigia run` first") from error
    return descriptor


def _connect(path: Path, vfs: str | None) -> apsw.Connection:
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise StoreError(
            path, f"cannot be written ({error.strerror})", "a file that the user Vigia runs as may write"
        ) from error
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, vfs=vfs)
    db.set_busy_timeout(BUSY_MS)
    return db


def _prepare(path: Path, db: apsw.Connection, depot: str) -> Frontier:
    """Judge the file before touching it, bring it to the present version, and return its tree."""
    blank = schema.is_blank(db)
    if not blank and schema.number(db, "application_id") != schema.APPLICATION_ID:
        raise StoreError(path, "is an SQLite file, but not a journal of Vigia", "give `data` a folder of its own")
    version = schema.number(db, "user_version")
    if version > schema.VERSION:
        raise StoreError(
            path,
            f"has format {version}; this Vigia knows formats up to {schema.VERSION}",
            "run the newer Vigia that wrote it",
        )
    if not blank:
        owner = read_head(db)[0]
        if owner != depot:
            raise StoreError(
                path, f"belongs to the depot {owner!r}, not {depot!r}", "each depot has its own journal: check `data`"
            )
    for pragma in (
        "mmap_size = 0",
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
        "secure_delete = ON",
        f"journal_size_limit = {WAL_KEPT_BYTES}",
    ):
        db.execute(f"PRAGMA {pragma}").fetchall()
    db.wal_autocheckpoint(0)
    schema.migrate(db, depot, EMPTY_ROOT)
    if blank:
        _sync_folder(path.parent)
    return _tree(path, db)


def _tree(path: Path, db: apsw.Connection) -> Frontier:
    """Read the tree's peaks and hold them against the head and the last entry: O(log n)."""
    _, size, root = read_head(db)
    for what in _faults(db, size, root):
        raise StoreError(path, f"is damaged: {what}", DAMAGED)
    return _stored_tree(db, size)


def _faults(db: apsw.Connection, size: int, root: bytes) -> Iterator[str]:
    last = _highest(db, "SELECT max(idx) FROM entry")
    if last != size - 1:
        yield f"the head counts {size} entries, the last one kept has index {last}"
    if _highest(db, "SELECT max(pos) FROM node") != stored(size) - 1:
        yield "tree nodes are missing or left over"
    if _stored_tree(db, size).root() != root:
        yield "the tree does not lead to the stored root"
    for (data,) in db.execute("SELECT bytes FROM entry WHERE idx = ?", (size - 1,)):
        if fetch_node(db, position(0, size - 1)) != leaf_hash(data):
            yield "the last entry does not match its leaf"


def _stored_tree(db: apsw.Connection, size: int) -> Frontier:
    return frontier(size, lambda level, index: fetch_node(db, position(level, index)))


def _highest(db: apsw.Connection, question: str) -> int:
    """The answer of a SELECT max(...), -1 for an empty table."""
    ((value,),) = db.execute(question).fetchall()
    return -1 if value is None else int(value)


def _restore(path: Path, db: apsw.Connection) -> Restored:
    try:
        return _restored(db)
    except (ValueError, KeyError) as error:
        raise StoreError(path, f"is damaged: a row cannot be read back ({error})", DAMAGED) from error


def _restored(db: apsw.Connection) -> Restored:
    ((last_seq,),) = db.execute("SELECT max(seq) FROM alarm").fetchall()
    states = tuple(
        StateRow(AlarmKey(subject, Kind(kind)), json.loads(body))
        for subject, kind, body in db.execute("SELECT subject, kind, body FROM alarm_state ORDER BY subject, kind")
    )
    owed = tuple(
        (
            OutboxRow(Delivery(identity, EventId(event), recipient, channel, attempt), Due.OWED, UtcNanos(changed)),
            _body(data),
        )
        for identity, event, recipient, channel, attempt, changed, data in db.execute(
            "SELECT o.id, o.event, o.recipient, o.channel, o.attempt, o.changed, e.bytes"
            " FROM outbox o JOIN alarm a ON a.event = o.event JOIN entry e ON e.idx = a.idx"
            " WHERE o.state = 'owed' ORDER BY a.seq, o.id"
        )
    )
    return Restored(int(last_seq or 0), states, owed, _last_alive(db))


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


def _sync_folder(folder: Path) -> None:
    """Make the new file's name durable, as SQLite does for its own side files."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _explained(path: Path, error: apsw.Error) -> StoreError:
    if isinstance(error, apsw.NotADBError):
        return StoreError(path, "is not a journal (no SQLite file)", "give `data` a folder of its own")
    if isinstance(error, apsw.CorruptError):
        return StoreError(path, f"is damaged: {error}", DAMAGED)
    return StoreError(path, f"cannot be opened: {error}", "check the disk and who else has the file open")
