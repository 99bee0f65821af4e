"""A journal whatever state the disk is in: the file itself, a new one in place of a damaged one, or one in memory.

Only what is somebody else's is refused. A depot that cannot be written down must still be watched.
"""

import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import apsw

from gateway.engine.events import Restored
from gateway.engine.outputtests import last_of
from gateway.engine.records import event_from, state_from
from gateway.journal.errors import DamagedError, NotOursError, StoreError
from gateway.journal.jobs import Seal
from gateway.journal.log import Journal, salvaged
from gateway.journal.threads import Threads
from sensors.stamps import Stamp

SET_ASIDE = "set-aside"
"""Why the journal begins anew: the file was damaged, and stands beside it under another name."""

IN_MEMORY = "in-memory"
"""Why nothing is kept: the file cannot be written."""

MOST_ASIDE = 20
"""Damaged files kept beside the journal. A disk that spoils more of them is not fit to be written."""

SALVAGE_MAX_BYTES = 64 * 1024 * 1024
"""A larger damaged file is not copied to be read: the memory is for the watch."""

SIDE_FILES = ("-wal", "-shm")

FAULTS = (StoreError, OSError, ArithmeticError, AssertionError, LookupError, TypeError, ValueError)
"""What opening a file of arbitrary bytes may raise. The ones that are no StoreError say that it is damaged."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A journal, and what is wrong with it.

    Attributes:
        reason: empty, `SET_ASIDE` or `IN_MEMORY`.
        detail: what was found, for the log; empty when all is well.
    """

    journal: Journal
    reason: str = ""
    detail: str = ""


def open_anyhow(
    path: Path,
    *,
    depot: str,
    now: Stamp,
    vfs: str | None = None,
    seal: Seal | None = None,
    threads: Threads | None = None,
) -> Opened:
    """Open this depot's journal as well as it can be. `seal` signs (size, root); one in memory is not signed.
    `threads` as for `Journal.open`.

    A damaged file is renamed, never deleted; alarm states and owed messages that can still be read in it are taken
    over. Where nothing can be written, the journal is kept in memory and ends with the process.

    Raises:
        NotOursError: another program writes it, or it is another depot's.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _refuse_a_lost_log(path)
        journal = Journal.open(path, depot=depot, vfs=vfs, seal=seal, threads=threads)
        if _readable(journal.restored, now) == journal.restored:
            return Opened(journal)
        journal.close(0)
        raise DamagedError(path, "is damaged: an alarm in it cannot be read back", "set aside, and a new one begun")
    except NotOursError:
        raise
    except FAULTS as error:
        fault = error
    restored = _salvage(path, depot, now)
    if isinstance(fault, DamagedError) or not isinstance(fault, StoreError | OSError):
        try:
            aside = _set_aside(path, now)
            journal = Journal.open(
                path, depot=depot, vfs=vfs, seal=seal, carried=restored, standing=SET_ASIDE, threads=threads
            )
        except NotOursError:
            raise
        except FAULTS as error:
            fault = error
        else:
            return Opened(journal, SET_ASIDE, f"{fault}; kept as {aside.name}")
    journal = Journal.in_memory(path, depot=depot, carried=restored, standing=IN_MEMORY, threads=threads)
    return Opened(journal, IN_MEMORY, str(fault))


def _refuse_a_lost_log(path: Path) -> None:
    """Find a write-ahead log without its file: SQLite would take the empty file for new and delete the log."""
    log = path.with_name(path.name + "-wal")
    if _size(log) and not _size(path) and not path.is_dir():
        raise DamagedError(path, "is damaged: it is empty, but its log is not", "set aside, and a new one begun")


def _set_aside(path: Path, now: Stamp) -> Path:
    """Rename the file, its log first so that the two are never apart with the file in place.

    Raises:
        OSError: that cannot be done.
    """
    if len(list(path.parent.glob(f"{path.name}.damaged-*"))) >= MOST_ASIDE * (1 + len(SIDE_FILES)):
        raise OSError(f"{MOST_ASIDE} damaged journals stand beside {path} already")
    at = datetime.fromtimestamp(now.utc // 1_000_000_000, UTC)
    name = f"{path.name}.damaged-{at:%Y%m%dT%H%M%SZ}"
    aside = path.with_name(name)
    count = 1
    while any(os.path.lexists(f"{aside}{end}") for end in ("", *SIDE_FILES)):
        count += 1
        aside = path.with_name(f"{name}-{count}")
    for end in (*SIDE_FILES, ""):
        file = path.with_name(path.name + end)
        if os.path.lexists(file):
            file.rename(f"{aside}{end}")
    return aside


def _salvage(path: Path, depot: str, now: Stamp) -> Restored | None:
    """Read what a file still says, from a copy of it and its log: it stays as it was found."""
    files = [path, path.with_name(path.name + "-wal")]
    if not 0 < sum(map(_size, files)) <= SALVAGE_MAX_BYTES:
        return None
    try:
        with tempfile.TemporaryDirectory(prefix="vigia-", dir=_memory_folder()) as folder:
            for file in files:
                if file.is_file():
                    shutil.copyfile(file, Path(folder) / file.name)
            found = salvaged(Path(folder) / path.name, depot)
            return None if found is None else _readable(found, now)
    except (*FAULTS, apsw.Error):
        return None


def _readable(restored: Restored, now: Stamp) -> Restored:
    """Leave out what the engine could not put back: it must start whatever the file says."""
    return Restored(
        restored.last_seq,
        tuple(row for row in restored.states if row.body is None or _makes_sense(state_from, row.key, row.body, now)),
        tuple(owed for owed in restored.owed if _makes_sense(event_from, owed[1], now)),
        restored.last_alive_ms,
        tuple(body for body in restored.tests if _makes_sense(last_of, (body,))),
    )


def _makes_sense(read: Callable[..., object], *given: object) -> bool:
    try:
        read(*given)
    except FAULTS:
        return False
    return True


def _memory_folder() -> str | None:
    """Where a copy needs no disk; None for the system's own folder of temporary files."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - a folder with a random name is made in it


def _size(file: Path) -> int:
    try:
        return file.stat().st_size if file.is_file() else 0
    except OSError:
        return 0
