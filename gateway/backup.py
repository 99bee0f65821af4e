"""A copy of a depot's data while it runs, and putting one back. Knows no alarm.

SQLite files are copied by SQLite itself, each as it stood at one moment; the manifest is written last, so that a copy
that was cut short is known for one.
"""

import hashlib
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import apsw
import msgspec

from gateway.depot import Depot
from gateway.engine.events import Entry, Json, Record
from gateway.journal import Journal, JournalReader, StoreError, check, notes
from gateway.journal.audit import SQLITE, read_note
from gateway.journal.log import take_lock
from gateway.machine.sockets import answers
from gateway.machine.wholefile import whole
from gateway.sealing.keys import PUBLIC
from gateway.sealing.sealing import Sealing
from gateway.sealing.signing import public_key
from sensors.sentences import Sentence
from sensors.stamps import MILLISECOND, UtcNanos, rfc3339

MANIFEST = "backup.json"
FORMAT = "vigia-backup-1"
DATA = "data"
JOURNAL = "journal.db"
SIDE_FILES = ("-wal", "-shm", "-journal", ".lock", ".sock")
"""Endings of files that belong to a running process, not to the data."""

REPLACED = "replaced-"
BUSY_MS = 5000
WRITE_WITHIN_S = 10.0


class Kept(msgspec.Struct, frozen=True):
    """One file of a backup: its length and SHA-256."""

    bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True):
    """What a backup holds. `size` and `root` are those of its journal; `checkpoint` its last one."""

    format: str
    depot: str
    at: str
    size: int
    root: str
    checkpoint: str | None
    files: dict[str, Kept]


class ShorterError(StoreError):
    """The journal of the backup ends before a checkpoint that is known of it: events would be lost."""


@dataclass(frozen=True, slots=True)
class Known:
    """A checkpoint that is known of the journal, and from where."""

    where: Path
    checkpoint: notes.Checkpoint


# --- copying -----------------------------------------------------------------------------------------


def backup(depot: Depot, target: Path) -> Manifest:
    """Copy every data file of the depot into `target`, a new or empty folder.

    Raises:
        StoreError: there is no journal, the copy's journal is not sound, or `target` is no place for it.
        OSError: a file cannot be read or written.
    """
    if target.resolve().is_relative_to(depot.data.resolve()):
        raise StoreError(target, "lies within the data itself", "give a folder on another disk")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise StoreError(target, "is not empty", "give a folder that is new or empty")
    with JournalReader(depot.data / JOURNAL):
        pass  # nothing to copy without one, and its error says so
    (target / DATA).mkdir(parents=True, exist_ok=True)
    target.chmod(0o700)  # it holds the signing key
    files = {}
    for source in _data_files(depot.data):
        name = source.relative_to(depot.data)
        copy = target / DATA / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        _copy(source, copy)
        files[str(name)] = _kept(copy)
    problems = check(target / DATA / JOURNAL)
    if problems:
        raise StoreError(
            target,
            Sentence("the copied journal is not sound: {problem}", problem=problems[0]),
            "run `vigia verify` on the journal",
        )
    shutil.copyfile(depot.file, target / "depot.toml")
    with JournalReader(target / DATA / JOURNAL) as reader:
        _, size, root = reader.head()
        at = rfc3339(UtcNanos(time.time_ns()))
        manifest = Manifest(FORMAT, depot.id, at, size, root.hex(), reader.checkpoint(), files)
    with whole(target / MANIFEST) as out:
        out.write(msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n")
    return manifest


def _data_files(folder: Path) -> list[Path]:
    """Regular files of the data, without what belongs to a running process or to an earlier restore."""
    found = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_symlink() or not path.is_file() or path.name.startswith("."):
            continue
        if not path.name.endswith(SIDE_FILES) and not parts[0].startswith(REPLACED):
            found.append(path)
    return found


def _copy(source: Path, copy: Path) -> None:
    with source.open("rb") as file:
        is_sqlite = file.read(len(SQLITE)) == SQLITE
    copy.touch(mode=0o600)
    if is_sqlite:
        _copy_sqlite(source, copy)
    else:
        shutil.copyfile(source, copy)
    _sync(copy)


def _copy_sqlite(source: Path, copy: Path) -> None:
    """One read transaction over the whole file: what is written meanwhile goes to the write-ahead log and stays out."""
    try:
        reading = apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READONLY)
        writing = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            reading.set_busy_timeout(BUSY_MS)
            with writing.backup("main", reading, "main") as work:
                while not work.done:
                    work.step(-1)
            writing.execute("PRAGMA journal_mode = DELETE").fetchall()  # one file, readable on a read-only disk
        finally:
            writing.close()
            reading.close()
    except apsw.Error as error:
        raise StoreError(
            source, Sentence("cannot be copied: {reason}", reason=error), "check the disks, then try again"
        ) from error


# --- putting back ------------------------------------------------------------------------------------


def restore(folder: Path, depot: Depot, *, kept: Path | None, yes_shorter: bool) -> tuple[Manifest, int]:
    """Put a backup in the place of the depot's data; what is there now is moved aside, not deleted.

    Args:
        folder: what `backup` wrote.
        depot: whose data it becomes.
        kept: a checkpoint that was kept elsewhere, beside the one that the configuration names.
        yes_shorter: go on although events are known to be missing.

    Returns:
        The manifest, and how many entries are known to be lost.

    Raises:
        ShorterError: a checkpoint covers more entries than the backup's journal holds.
        StoreError: the backup is incomplete, changed, of another depot, contradicts a checkpoint, or a gateway runs.
        OSError: a file cannot be read or written.
    """
    manifest = _manifest(folder)
    if manifest.depot != depot.id:
        raise StoreError(
            folder,
            Sentence("is of the depot {depot}, not {id}", depot=repr(manifest.depot), id=repr(depot.id)),
            "give that depot's file",
        )
    depot.data.mkdir(parents=True, exist_ok=True)
    if answers(depot.socket):
        raise StoreError(depot.data, "a gateway is running there", "stop it first")
    lock = take_lock(depot.data / JOURNAL)
    try:
        longest = _hold_against(folder, depot, _known(folder, depot, kept), manifest.size, yes_shorter=yes_shorter)
        _move_aside(depot.data)
        for name in manifest.files:
            place = depot.data / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch(mode=0o600)
            shutil.copyfile(folder / DATA / name, place)
            _sync(place)
    finally:
        os.close(lock)
    lost = max(0, longest - manifest.size)
    _note(depot, {"entries": manifest.size, "lost": lost, "taken": manifest.at})
    _hand_over(depot.data)
    return manifest, lost


def _manifest(folder: Path) -> Manifest:
    """Read the manifest and hold every file against it."""
    path = folder / MANIFEST
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
    except FileNotFoundError as error:
        raise StoreError(
            folder, "holds no whole backup: there is no backup.json", "give what `vigia backup` wrote"
        ) from error
    except msgspec.DecodeError as error:
        raise StoreError(
            path, Sentence("cannot be read ({reason})", reason=error), "give what `vigia backup` wrote"
        ) from error
    if manifest.format != FORMAT:
        raise StoreError(
            path, Sentence("has the format {format}", format=repr(manifest.format)), "use the Vigia that wrote it"
        )
    if JOURNAL not in manifest.files:
        raise StoreError(folder, "holds no journal", "give another backup")
    for name, kept in manifest.files.items():
        copy = folder / DATA / name
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise StoreError(path, Sentence("names a file outside of it: {name}", name=name), "do not use it")
        if not copy.is_file() or _kept(copy) != kept:
            raise StoreError(copy, "is not the file that was saved", "use another backup")
    problems = check(folder / DATA / JOURNAL)
    if problems:
        raise StoreError(
            folder / DATA / JOURNAL, Sentence("is not sound: {problem}", problem=problems[0]), "use another backup"
        )
    return manifest


def _known(folder: Path, depot: Depot, kept: Path | None) -> list[Known]:
    """Every checkpoint that is known of this journal: given, kept where the configuration says, or still in place.

    One that cannot be read or believed is refused, not passed over: it may be the one that shows a loss.
    """
    with JournalReader(folder / DATA / JOURNAL) as reader:
        keys = [notes.parse_vkey(text) for text in reader.vkeys()]
    if (depot.data / PUBLIC).is_file():
        keys.append(public_key(depot.data / PUBLIC, notes.origin_of(depot.id)))
    written = [] if kept is None else [(kept, read_note(kept))]
    if depot.checkpoint_copy is not None and depot.checkpoint_copy.is_file():
        written.append((depot.checkpoint_copy, read_note(depot.checkpoint_copy)))
    found = []
    for where, note in written:
        try:
            found.append(Known(where, notes.opened(note, keys)))
        except notes.NoteError as error:
            raise StoreError(
                where,
                Sentence("cannot be believed: {reason}", reason=error),
                "give a checkpoint of this depot's journal",
            ) from error
    present = depot.data / JOURNAL
    if present.is_file() and not check(present):
        with JournalReader(present) as reader:
            _, size, root = reader.head()
        found.append(Known(present, notes.Checkpoint(notes.origin_of(depot.id), size, root)))
    return found


def _hold_against(folder: Path, depot: Depot, known: list[Known], size: int, *, yes_shorter: bool) -> int:
    """Refuse a journal that is shorter than a known checkpoint, or another one; return the longest size known."""
    longest = 0
    with JournalReader(folder / DATA / JOURNAL) as reader:
        for one in known:
            checkpoint = one.checkpoint
            if checkpoint.origin != notes.origin_of(depot.id):
                raise StoreError(
                    one.where, Sentence("is of {origin}", origin=checkpoint.origin), "give this depot's checkpoint"
                )
            longest = max(longest, checkpoint.size)
            if checkpoint.size <= size:
                if checkpoint.size and reader.root(checkpoint.size) != checkpoint.root:
                    raise StoreError(
                        folder,
                        Sentence("its journal is not the one that {where} speaks of", where=one.where),
                        "use another backup",
                    )
            elif not yes_shorter:
                raise ShorterError(
                    folder,
                    Sentence(
                        "its journal ends after {size} entries, {where} covers {covered}: {lost} would be lost",
                        size=size,
                        where=one.where,
                        covered=checkpoint.size,
                        lost=checkpoint.size - size,
                    ),
                    "use a later backup, or say --yes-shorter",
                )
    return longest


def _move_aside(data: Path) -> None:
    old = [path for path in data.iterdir() if not path.name.startswith((REPLACED, JOURNAL + ".lock"))]
    if not old:
        return
    aside = data / time.strftime(f"{REPLACED}%Y%m%dT%H%M%SZ", time.gmtime())
    aside.mkdir()
    for path in old:
        path.rename(aside / path.name)


def _note(depot: Depot, body: dict[str, Json]) -> None:
    """Have the restored journal itself say that it was put back, and what it lacks."""
    sealing = Sealing(depot)
    journal = Journal.open(depot.data / JOURNAL, depot=depot.id, seal=sealing.seal)
    journal.start(committed=lambda _ticket: None, trouble=lambda _unwell, _reason: None)
    entry = Entry("restore", {"at_ms": time.time_ns() // MILLISECOND, "vkey": sealing.vkey, **body})
    taken = journal.submit(Record(1, (entry,)))
    if not journal.close(WRITE_WITHIN_S) or not taken:
        raise StoreError(depot.data / JOURNAL, "does not take the note of the restore", "check the disk")


def _hand_over(data: Path) -> None:
    """Restored by root, it must still belong to the service: to whoever owns the data folder."""
    if os.geteuid() == 0:
        owner = data.stat()
        for path in data.rglob("*"):
            os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def _kept(path: Path) -> Kept:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    return Kept(path.stat().st_size, digest.hexdigest())


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
