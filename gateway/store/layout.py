"""The tables of ``readings.db``, and opening it for the one writer or for a reader.

Times are whole seconds since 1970 (UTC), values hundredths of a %LEL, states as in `samples`.
"""

import os
from pathlib import Path
from typing import Any

import apsw

from gateway.journal.errors import DamagedError, StoreError
from sensors.sentences import Sentence

NAME = "readings.db"
APPLICATION_ID = 0x5647_4C52
"""``VGLR``: marks an SQLite file as readings of ours."""

VERSION = 1
TABLES = (
    """CREATE TABLE head (
        num     INTEGER PRIMARY KEY,
        id      TEXT NOT NULL UNIQUE,
        thinned INTEGER NOT NULL DEFAULT 0
    ) STRICT""",
    "CREATE TABLE note (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE tick (ts INTEGER PRIMARY KEY, heads BLOB NOT NULL) STRICT",
    """CREATE TABLE minute (
        head    INTEGER NOT NULL,
        t0      INTEGER NOT NULL,
        n       INTEGER NOT NULL,
        low     INTEGER,
        high    INTEGER,
        total   INTEGER NOT NULL,
        code    INTEGER NOT NULL,
        seconds BLOB,
        states  BLOB,
        PRIMARY KEY (head, t0)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE day (
        head  INTEGER NOT NULL,
        t0    INTEGER NOT NULL,
        n     INTEGER NOT NULL,
        low   INTEGER,
        high  INTEGER,
        total INTEGER NOT NULL,
        code  INTEGER NOT NULL,
        PRIMARY KEY (head, t0)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE keep (
        head  INTEGER NOT NULL,
        first INTEGER NOT NULL,
        last  INTEGER NOT NULL,
        PRIMARY KEY (head, first)
    ) STRICT, WITHOUT ROWID""",
)
EVERY_HEAD = 0
"""The `keep.head` of a stretch that is kept of all heads."""

BUSY_MS = 100
READ_BUSY_MS = 500
WAL_KEPT_BYTES = 4 * 1024 * 1024
DAMAGED = "keep the file, let Vigia begin a new one"


def open_for_writing(path: Path, vfs: str | None = None) -> apsw.Connection:
    """Open the file, creating it where it is not there.

    Raises:
        DamagedError: it is no file of ours, or damaged.
        StoreError: it cannot be written now, or is of a newer version.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, vfs=vfs)
    except (OSError, apsw.Error) as error:
        raise _unwritten(path, error) from error
    try:
        db.set_busy_timeout(BUSY_MS)
        if not _number(db, "SELECT count(*) FROM sqlite_schema"):
            _pragmas(db)
            with db:
                for statement in TABLES:
                    db.execute(statement)
                db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                db.execute(f"PRAGMA user_version = {VERSION}")
        else:
            _judge(path, db)
            _pragmas(db)
    except (apsw.CorruptError, apsw.NotADBError) as error:
        db.close(force=True)
        raise DamagedError(path, Sentence("is damaged: {reason}", reason=error), DAMAGED) from error
    except apsw.Error as error:  # a full or failing disk says nothing against the file
        db.close(force=True)
        raise _unwritten(path, error) from error
    except StoreError:
        db.close(force=True)
        raise
    return db


def open_for_reading(path: Path) -> apsw.Connection:
    """Open the file of a running or ended watch, never to write.

    Raises:
        StoreError: it is not there, no file of ours, or of a newer version.
    """
    if not path.is_file():
        raise StoreError(path, "no readings are there", "start the gateway once, or check `data`")
    try:
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        db.set_busy_timeout(READ_BUSY_MS)
        _judge(path, db)
    except apsw.Error as error:
        raise StoreError(path, Sentence("cannot be read: {reason}", reason=error), "try again") from error
    return db


def _unwritten(path: Path, reason: OSError | apsw.Error) -> StoreError:
    what = Sentence("cannot be written ({reason})", reason=reason)
    return StoreError(path, what, "a file that the user Vigia runs as may write")


def _pragmas(db: apsw.Connection) -> None:
    for pragma in (
        "mmap_size = 0",
        "journal_mode = WAL",
        "synchronous = FULL",
        f"journal_size_limit = {WAL_KEPT_BYTES}",
    ):
        db.execute(f"PRAGMA {pragma}").fetchall()


def _judge(path: Path, db: apsw.Connection) -> None:
    if _number(db, "PRAGMA application_id") != APPLICATION_ID:
        raise DamagedError(path, "is not a file of readings of Vigia", "give `data` a folder of its own")
    version = _number(db, "PRAGMA user_version")
    if version > VERSION:
        raise StoreError(
            path,
            Sentence("has format {version}; this Vigia knows formats up to {known}", version=version, known=VERSION),
            "run the newer Vigia",
        )


def _number(db: apsw.Connection, question: str) -> int:
    rows: list[Any] = db.execute(question).fetchall()
    return int(rows[0][0])
