"""The tables of the journal file and the steps that lead to them. docs/journal-format.md explains every column."""

import apsw

APPLICATION_ID = 0x5647_4C50
"""``VGLP``: marks an SQLite file as a journal of ours."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE head (
            one   INTEGER PRIMARY KEY CHECK (one = 1),
            depot TEXT NOT NULL,
            size  INTEGER NOT NULL,
            root  BLOB NOT NULL CHECK (length(root) = 32)
        ) STRICT""",
        """CREATE TABLE entry (
            idx   INTEGER PRIMARY KEY CHECK (idx >= 0),
            bytes BLOB NOT NULL
        ) STRICT""",
        """CREATE TABLE node (
            pos  INTEGER PRIMARY KEY CHECK (pos >= 0),
            hash BLOB NOT NULL CHECK (length(hash) = 32)
        ) STRICT""",
        """CREATE TABLE alarm (
            seq   INTEGER PRIMARY KEY CHECK (seq > 0),
            event TEXT NOT NULL UNIQUE,
            idx   INTEGER NOT NULL REFERENCES entry (idx)
        ) STRICT""",
        """CREATE TABLE person (
            ref  TEXT PRIMARY KEY,
            salt BLOB NOT NULL,
            name TEXT NOT NULL UNIQUE
        ) STRICT, WITHOUT ROWID""",
        """CREATE TABLE outbox (
            id        TEXT PRIMARY KEY,
            event     TEXT NOT NULL REFERENCES alarm (event),
            recipient TEXT NOT NULL,
            channel   TEXT NOT NULL,
            attempt   INTEGER NOT NULL,
            state     TEXT NOT NULL CHECK (state IN ('owed', 'accepted', 'refused', 'dropped')),
            changed   INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID""",
        "CREATE INDEX outbox_owed ON outbox (event) WHERE state = 'owed'",
        """CREATE TABLE alarm_state (
            subject TEXT NOT NULL,
            kind    TEXT NOT NULL,
            body    BLOB NOT NULL,
            PRIMARY KEY (subject, kind)
        ) STRICT, WITHOUT ROWID""",
    ),
    (
        "CREATE TABLE checkpoint (size INTEGER PRIMARY KEY CHECK (size > 0), note TEXT NOT NULL) STRICT",
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    ),
    (
        "CREATE TABLE filed (idx INTEGER PRIMARY KEY REFERENCES entry (idx), kind TEXT NOT NULL) STRICT",
        "CREATE INDEX filed_kind ON filed (kind, idx)",
    ),
)
"""Each step leads from the version before it to the next. Steps are added at the end and never changed."""

VERSION = len(MIGRATIONS)

CHECKPOINTS_SINCE = 2
"""The version that brought the tables `checkpoint` and `meta`."""

FILED_SINCE = 3
"""The version that brought the table `filed`."""

FILED = frozenset({"register", "finding", "output-test", "weighing"})
"""Kinds of entries that are few among many and asked for by their kind; older journals hold none."""

LAST_ALIVE = "last_alive_ms"
"""The row of `meta` that says when the watch was last known to run (ms since 1970 UTC)."""


def number(db: apsw.Connection, pragma: str) -> int:
    """Read a PRAGMA that answers one whole number."""
    for (value,) in db.execute(f"PRAGMA {pragma}"):
        return int(value)
    raise apsw.CorruptError(f"PRAGMA {pragma} gave no answer")


def is_blank(db: apsw.Connection) -> bool:
    """Tell whether the file holds nothing yet: no tables, no version, nobody's mark."""
    tables = db.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    return tables == [(0,)] and number(db, "user_version") == 0 and number(db, "application_id") == 0


def migrate(db: apsw.Connection, depot: str, empty_root: bytes) -> None:
    """Bring a blank or older file to `VERSION`, in one transaction; a newer one is for the caller to refuse."""
    version = number(db, "user_version")
    if version >= VERSION:
        return
    with db:
        for step in MIGRATIONS[version:]:
            for statement in step:
                db.execute(statement)
        if version == 0:
            db.execute("INSERT INTO head (one, depot, size, root) VALUES (1, ?, 0, ?)", (depot, empty_root))
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {VERSION}")
