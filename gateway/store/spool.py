"""Lines that wait on disk for a database: oldest first out, oldest first dropped, each loss on record.

Used by the thread that records and by the one that sends; every call is one short transaction under a lock.
"""

import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from gateway.journal.errors import StoreError
from sensors.sentences import Sentence

NAME = "influx.db"
APPLICATION_ID = 0x5647_4C51
"""``VGLQ``: marks an SQLite file as a spool of ours."""

MOST_REFUSED_KEPT = 1_000
"""Refused lines kept to be looked at, newest."""

FILLING = 0.8
"""A spool filled this far is told of before anything is lost."""

LEVEL = 1
"""Of compression: 0.2 us a line, a tenth of the size."""

WAL_KEPT_BYTES = 2 * 1024 * 1024
BUSY_MS = 1_000
VACUUM_PAGES = 256

_LOSSES = "SELECT first_ms, last_ms, points, reason FROM lost ORDER BY id"

TABLES = (
    """CREATE TABLE batch (
        id       INTEGER PRIMARY KEY AUTOINCREMENT,
        first_ms INTEGER NOT NULL,
        last_ms  INTEGER NOT NULL,
        points   INTEGER NOT NULL,
        body     BLOB NOT NULL
    ) STRICT""",
    """CREATE TABLE lost (
        id       INTEGER PRIMARY KEY,
        first_ms INTEGER NOT NULL,
        last_ms  INTEGER NOT NULL,
        points   INTEGER NOT NULL,
        reason   TEXT NOT NULL,
        before   INTEGER NOT NULL
    ) STRICT""",
    "CREATE TABLE refused (id INTEGER PRIMARY KEY AUTOINCREMENT, line TEXT NOT NULL, reason TEXT NOT NULL) STRICT",
    "CREATE TABLE count (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID",
)


@dataclass(frozen=True, slots=True)
class Parcel:
    """Batches to be sent in one go, oldest first. `since_ms` is the newest time in the oldest of them."""

    ids: tuple[int, ...]
    points: int
    text: bytes
    since_ms: int


@dataclass(frozen=True, slots=True)
class Loss:
    """A stretch that will not reach the database by itself: times in UTC milliseconds, points exact."""

    first_ms: int
    last_ms: int
    points: int
    reason: str


@dataclass(frozen=True, slots=True)
class SpoolHealth:
    """What waits and what was lost. `fill`: how far the nearer bound is reached, 1.0 is full."""

    points: int
    bytes: int
    fill: float
    lost: int
    refused: int


@dataclass(slots=True)
class Bounds:
    """How much may wait, in bytes of the file and milliseconds of age."""

    bytes: int
    age_ms: int


@dataclass(slots=True)
class _State:
    points: int = 0
    lost: int = 0
    refused: int = 0


class Spool:
    """One file of waiting lines."""

    def __init__(self, path: Path, bounds: Bounds, vfs: str | None = None) -> None:
        """Open the file, creating it where it is not there.

        Raises:
            StoreError: it cannot be used.
        """
        self.path = path
        self.bounds = bounds
        self._lock = threading.Lock()
        self._state = _State()
        try:
            self._db = _opened(path, vfs)
            self._page = self._number("PRAGMA page_size")
            self._count()
        except apsw.Error as error:
            raise StoreError(
                path,
                Sentence("cannot be used: {reason}", reason=error),
                "move the file away; what waited in it is lost",
            ) from error

    def close(self) -> None:
        """Let go of the file."""
        with self._lock, suppress(apsw.Error):
            self._db.close(force=True)

    # --- in ---------------------------------------------------------------------------------------

    def put(self, lines: Sequence[str], first_ms: int, last_ms: int) -> None:
        """Add a batch, newest of all; what no longer fits goes, oldest first.

        Raises:
            apsw.Error: nothing was added.
        """
        body = zlib.compress("\n".join(lines).encode(), LEVEL)
        with self._transaction():
            self._db.execute(
                "INSERT INTO batch (first_ms, last_ms, points, body) VALUES (?, ?, ?, ?)",
                (first_ms, last_ms, len(lines), body),
            )
            self._state.points += len(lines)
            self._drop_what_does_not_fit(last_ms)

    def lose(self, first_ms: int, last_ms: int, points: int, reason: str) -> None:
        """Put a loss on record that happened before anything could be written."""
        with self._transaction():
            self._lose(Loss(first_ms, last_ms, points, reason), self._next_id())

    def _drop_what_does_not_fit(self, now_ms: int) -> None:
        while True:
            oldest: list[Any] = self._db.execute(
                "SELECT id, first_ms, last_ms, points FROM batch WHERE id NOT IN (SELECT value FROM temp.held)"
                " ORDER BY id LIMIT 1"
            ).fetchall()
            if not oldest:
                return
            batch, first, last, points = oldest[0]
            too_old = now_ms - last > self.bounds.age_ms
            if not too_old and self._used() <= self.bounds.bytes:
                return
            self._db.execute("DELETE FROM batch WHERE id = ?", (batch,))
            self._state.points -= points
            self._lose(Loss(first, last, points, "age" if too_old else "size"), batch)

    def _lose(self, loss: Loss, batch: int) -> None:
        """Add to the last loss on record where nothing lies between them, so that a long one is one row."""
        self._state.lost += loss.points
        joined = self._db.execute(
            "UPDATE lost SET first_ms = min(first_ms, ?), last_ms = max(last_ms, ?), points = points + ?, before = ?"
            " WHERE id = (SELECT max(id) FROM lost) AND before + 1 >= ? AND reason = ? RETURNING id",
            (loss.first_ms, loss.last_ms, loss.points, batch, batch, loss.reason),
        ).fetchall()
        if not joined:
            self._db.execute(
                "INSERT INTO lost (first_ms, last_ms, points, reason, before) VALUES (?, ?, ?, ?, ?)",
                (loss.first_ms, loss.last_ms, loss.points, loss.reason, batch),
            )

    # --- out --------------------------------------------------------------------------------------

    def newest(self) -> int:
        """Number of the newest batch ever put."""
        with self._lock:
            return self._next_id() - 1

    def next(self, most_points: int, *, first: int = 0, last: int = 2**62) -> Parcel | None:
        """Take the oldest batches numbered `first` to `last`, together at most `most_points` (but one at least).

        They stay in the file, safe from being dropped, until `done` or `back`.

        Raises:
            apsw.Error, zlib.error: they cannot be read.
        """
        with self._lock:
            ids: list[int] = []
            texts: list[bytes] = []
            points = since = 0
            for batch, last_ms, count, body in self._db.execute(
                "SELECT id, last_ms, points, body FROM batch WHERE id BETWEEN ? AND ? ORDER BY id",
                (first, last),
            ):
                if ids and points + count > most_points:
                    break
                since = since or last_ms
                ids.append(batch)
                points += count
                texts.append(zlib.decompress(body))
            if not ids:
                return None
            self._db.executemany("INSERT OR IGNORE INTO temp.held VALUES (?)", ((each,) for each in ids))
            return Parcel(tuple(ids), points, b"\n".join(texts), since)

    def done(self, parcel: Parcel, refused: Sequence[tuple[str, str]] = (), too_old: int = 0) -> None:
        """Strike a parcel off; lines that the base refused stay to be looked at, with its reason.

        `too_old` points of it were dropped by the base itself, which says how many but not which.
        """
        with self._transaction():
            self._db.executemany("DELETE FROM batch WHERE id = ?", ((each,) for each in parcel.ids))
            self._db.execute("DELETE FROM temp.held")
            self._state.points -= parcel.points
            count = len(refused) + too_old
            if count:
                self._state.refused += count
                self._db.execute("INSERT OR REPLACE INTO count VALUES ('refused', ?)", (self._state.refused,))
                self._db.executemany("INSERT INTO refused (line, reason) VALUES (?, ?)", refused[-MOST_REFUSED_KEPT:])
                self._db.execute(
                    "DELETE FROM refused WHERE id <= (SELECT max(id) FROM refused) - ?", (MOST_REFUSED_KEPT,)
                )
        if not self._state.points:
            with self._lock:
                self._db.execute(f"PRAGMA incremental_vacuum({VACUUM_PAGES})").fetchall()

    def back(self) -> None:
        """Nothing came of the parcels taken: they wait as before, and may be dropped again."""
        with self._lock:
            self._db.execute("DELETE FROM temp.held")

    # --- what there is ----------------------------------------------------------------------------

    def health(self, now_ms: int) -> SpoolHealth:
        """Return the figures of this moment."""
        with self._lock:
            oldest: list[Any] = self._db.execute("SELECT first_ms FROM batch ORDER BY id LIMIT 1").fetchall()
            used = self._used()
            first = oldest[0][0] if oldest else None
            age = 0 if first is None else now_ms - first
            fill = max(used / self.bounds.bytes, age / self.bounds.age_ms) if oldest else 0.0
            return SpoolHealth(self._state.points, used, fill, self._state.lost, self._state.refused)

    def losses(self) -> list[Loss]:
        """Every stretch that was dropped, oldest first."""
        with self._lock:
            return [Loss(*row) for row in self._db.execute(_LOSSES)]

    def refusals(self) -> list[tuple[str, str]]:
        """The newest refused lines with the base's reason."""
        with self._lock:
            return list(self._db.execute("SELECT line, reason FROM refused ORDER BY id"))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing, in the file and in the figures kept of it."""
        with self._lock:
            try:
                with self._db:
                    yield
            except apsw.Error:
                self._count()
                raise

    def _count(self) -> None:
        self._state = _State(
            points=self._number("SELECT coalesce(sum(points), 0) FROM batch"),
            lost=self._number("SELECT coalesce(sum(points), 0) FROM lost"),
            refused=self._number("SELECT coalesce(sum(value), 0) FROM count WHERE name = 'refused'"),
        )

    def _used(self) -> int:
        return (self._number("PRAGMA page_count") - self._number("PRAGMA freelist_count")) * self._page

    def _next_id(self) -> int:
        return self._number("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'batch'), 0)") + 1

    def _number(self, question: str) -> int:
        rows: list[Any] = self._db.execute(question).fetchall()
        return int(rows[0][0])


def losses_on_record(path: Path) -> list[Loss]:
    """What a spool lost, read beside a running watch; nothing where there is none.

    Raises:
        StoreError: the file cannot be read.
    """
    if not path.is_file():
        return []
    try:
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        db.set_busy_timeout(BUSY_MS)
        try:
            return [Loss(*row) for row in db.execute(_LOSSES)]
        finally:
            db.close()
    except apsw.Error as error:
        raise StoreError(path, Sentence("cannot be read: {reason}", reason=error), "try again") from error


def _opened(path: Path, vfs: str | None) -> apsw.Connection:
    path.touch(mode=0o600)
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, vfs=vfs)
    try:
        db.set_busy_timeout(BUSY_MS)
        ((mark,),) = db.execute("PRAGMA application_id").fetchall()
        ((tables,),) = db.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        if tables and mark != APPLICATION_ID:
            raise apsw.NotADBError("is no spool of Vigia")  # noqa: TRY301 - the file is closed below, whatever it is
        if not tables:
            db.execute("PRAGMA auto_vacuum = INCREMENTAL").fetchall()
        for pragma in (
            "mmap_size = 0",
            "journal_mode = WAL",
            "synchronous = NORMAL",
            f"journal_size_limit = {WAL_KEPT_BYTES}",
        ):
            db.execute(f"PRAGMA {pragma}").fetchall()
        if not tables:
            with db:
                for statement in TABLES:
                    db.execute(statement)
                db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute("CREATE TEMP TABLE held (value INTEGER PRIMARY KEY)")
    except BaseException:
        db.close(force=True)
        raise
    return db
