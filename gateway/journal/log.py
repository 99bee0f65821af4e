"""The journal as the gateway holds it: opened and checked, read back once, then written by its one thread."""

import fcntl
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import apsw

from gateway.engine.events import Record, Restored, StateRow
from gateway.journal import canonical, restoring, schema
from gateway.journal.batches import fetch_node, prepare, read_head
from gateway.journal.errors import DamagedError, NotOursError, StoreError
from gateway.journal.health import JournalHealth
from gateway.journal.jobs import Erasure, Seal, Sealed
from gateway.journal.threads import Threads
from gateway.journal.tree import EMPTY_ROOT, Frontier, frontier, leaf_hash, position, stored
from gateway.journal.writer import Writer
from sensors.sentences import Sentence

BUSY_MS = 100
"""How long SQLite itself waits for a lock before the writer's own retries begin."""

WAL_KEPT_BYTES = 16 * 1024 * 1024
"""The write-ahead log is cut to this after it was moved into the file."""

MEMORY_MAX_BYTES = 32 * 1024 * 1024
"""What a journal in memory may hold."""

DAMAGED = "keep the file, run `vigia verify` on it, start with a new one"


class Journal:
    """One depot's journal, with its one writer.

    Attributes:
        restored: what it knew when it was opened.
    """

    def __init__(
        self, writer: Writer, restored: Restored, lock: int | None, *, standing: str = "", keeps: bool = True
    ) -> None:
        self._writer = writer
        self._lock = lock
        self._standing = standing
        self._keeps = keeps
        self.restored = restored

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        depot: str,
        vfs: str | None = None,
        seal: Seal | None = None,
        carried: Restored | None = None,
        standing: str = "",
        threads: Threads | None = None,
    ) -> "Journal":
        """Open the journal of this depot, creating it or bringing it to the present version.

        Checks the stored head against the tree's peaks and its last entry, not the whole log. `vfs` names the SQLite
        file layer to go through; None is the operating system. `seal` signs (size, root); None: no checkpoints.
        `carried` is what a new journal takes over from an older one; its numbers begin at 1 all the same, and so does
        what it knows of the time. `standing` is a trouble to tell for as long as it is open. `threads` is where the
        writer's thread and time come from; None is this machine.

        Raises:
            NotOursError: it is another depot's, or another program writes it.
            DamagedError: the file is no journal, of a newer version, or damaged.
            StoreError: it cannot be written.
        """
        lock = take_lock(path)
        try:
            db = _connect(path, vfs)
            try:
                tree = _prepare(path, db, depot)
                restored = _restore(path, db)
                if carried is not None:
                    _carry(db, carried.states)
                    restored = Restored(restored.last_seq, carried.states, carried.owed)
                journal = cls(Writer(path, db, tree, seal, threads), restored, lock, standing=standing)
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

    @classmethod
    def in_memory(
        cls, path: Path, *, depot: str, carried: Restored | None, standing: str, threads: Threads | None = None
    ) -> "Journal":
        """Begin a journal that ends with the process. It commits nothing: no ticket of it is ever answered.

        `path` is where it should stand, for its messages. What it may hold is bounded by `MEMORY_MAX_BYTES`; beyond it
        records are dropped and counted, as on a full disk.

        Raises:
            NotOursError: another program writes the journal at `path`.
        """
        db = apsw.Connection(":memory:")
        db.execute(f"PRAGMA max_page_count = {MEMORY_MAX_BYTES // schema.number(db, 'page_size')}").fetchall()
        schema.migrate(db, depot, EMPTY_ROOT)
        restored = carried or Restored(0, (), ())
        try:
            lock = take_lock(path)
        except NotOursError:
            raise
        except StoreError:
            lock = None
        return cls(Writer(path, db, _tree(path, db), threads=threads), restored, lock, standing=standing, keeps=False)

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
            trouble: (True, code) when the worst trouble begins or changes, (False, "") when all is well again. The
                trouble that stands as long as the journal is open is told at once, and again after each other one.
            sealed: takes each checkpoint that is on the disk.
        """
        if not self._standing:
            self._writer.start(committed, trouble, sealed)
            return
        standing, told = self._standing, [self._standing]

        def tell(unwell: bool, reason: str) -> None:
            now = reason if unwell else standing
            if now != told[0]:
                told[0] = now
                trouble(False, "")  # the two are told apart: a trouble that stands would hide the other
                trouble(True, now)

        trouble(True, standing)
        if self._keeps:
            self._writer.start(committed, tell, sealed)
        else:
            self._writer.start(lambda _ticket: None, lambda _unwell, _reason: None)

    def submit(self, *records: Record) -> bool:
        """Queue records; never waits for the disk. False when the queue is full: the last are dropped and counted.

        Raises:
            TypeError, ValueError: what a record holds cannot be journalled (see `batches.prepare`); none is queued.
        """
        return self._writer.put(*map(prepare, records))

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
        health = self._writer.health()
        return health if health.trouble or not self._standing else replace(health, trouble=self._standing)

    def stands_s(self) -> float:
        """For how long nothing of what waits has been written, in seconds: a disk that hangs tells nobody itself."""
        return self._writer.stands_s()

    def close(self, timeout_s: float) -> bool:
        """Write what is queued, then stop. False when something was left unwritten after `timeout_s`."""
        done = self._writer.close(timeout_s)
        if self._lock is not None and not self._writer.health().writing:
            os.close(self._lock)
            self._lock = None
        return done


def take_lock(path: Path) -> int:
    """Take the lock that says who writes this journal; it goes with the process, however that ends."""
    file = path.with_name(path.name + ".lock")
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        _refuse_another(path, file)
        raise StoreError(
            path,
            Sentence("cannot be written ({reason})", reason=error.strerror),
            "its folder must exist and belong to the user Vigia runs as",
        ) from error
    _take(path, descriptor)
    return descriptor


def _refuse_another(path: Path, file: Path) -> None:
    """Ask for a lock that cannot be written, as on a disk turned read-only: another gateway may hold it."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return
    _take(path, descriptor)
    os.close(descriptor)


def _take(path: Path, descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise NotOursError(path, "another program is writing it", "stop the other `vigia run` first") from error


def _connect(path: Path, vfs: str | None) -> apsw.Connection:
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise StoreError(
            path,
            Sentence("cannot be written ({reason})", reason=error.strerror),
            "a file that the user Vigia runs as may write",
        ) from error
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, vfs=vfs)
    db.set_busy_timeout(BUSY_MS)
    return db


def _prepare(path: Path, db: apsw.Connection, depot: str) -> Frontier:
    """Judge the file before touching it, bring it to the present version, and return its tree."""
    blank = schema.is_blank(db)
    if not blank and schema.number(db, "application_id") != schema.APPLICATION_ID:
        raise DamagedError(path, "is an SQLite file, but not a journal of Vigia", "give `data` a folder of its own")
    version = schema.number(db, "user_version")
    if version > schema.VERSION:
        raise DamagedError(
            path,
            Sentence(
                "has format {version}; this Vigia knows formats up to {known}", version=version, known=schema.VERSION
            ),
            "run the newer Vigia that wrote it",
        )
    if not blank:
        owner = read_head(db)[0]
        if owner != depot:
            raise NotOursError(
                path,
                Sentence("belongs to the depot {owner}, not {depot}", owner=repr(owner), depot=repr(depot)),
                "each depot has its own journal: check `data`",
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
        raise DamagedError(path, Sentence("is damaged: {what}", what=what), DAMAGED)
    return _stored_tree(db, size)


def _faults(db: apsw.Connection, size: int, root: bytes) -> Iterator[str]:
    last = _highest(db, "SELECT max(idx) FROM entry")
    if last != size - 1:
        yield Sentence("the head counts {size} entries, the last one kept has index {last}", size=size, last=last)
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
        return restoring.restored(db)
    except (ValueError, KeyError) as error:
        raise DamagedError(
            path, Sentence("is damaged: a row cannot be read back ({reason})", reason=error), DAMAGED
        ) from error


def salvaged(path: Path, depot: str) -> Restored | None:
    """Read what can still be read of a journal that cannot be gone on with; None if it is another depot's.

    The file may be changed by it: give a copy.

    Raises:
        StoreError: not even a look at it is possible.
    """
    db = _connect(path, None)
    try:
        return restoring.salvaged(db, depot)
    finally:
        db.close(force=True)


def _carry(db: apsw.Connection, states: Iterable[StateRow]) -> None:
    """Write alarm states of an older journal into a new one, so that the next restart knows them too."""
    rows = [(row.key.subject, row.key.kind.value, canonical.encode(row.body)) for row in states if row.body is not None]
    with db:
        db.executemany("INSERT OR REPLACE INTO alarm_state (subject, kind, body) VALUES (?, ?, ?)", rows)


def _sync_folder(folder: Path) -> None:
    """Make the new file's name durable, as SQLite does for its own side files."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _explained(path: Path, error: apsw.Error) -> StoreError:
    if isinstance(error, apsw.NotADBError):
        return DamagedError(path, "is not a journal (no SQLite file)", "give `data` a folder of its own")
    if isinstance(error, apsw.CorruptError | apsw.SQLError):  # SQLError: tables are missing, or are others
        return DamagedError(path, Sentence("is damaged: {reason}", reason=error), DAMAGED)
    return StoreError(
        path, Sentence("cannot be opened: {reason}", reason=error), "check the disk and who else has the file open"
    )
