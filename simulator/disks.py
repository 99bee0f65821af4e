"""A disk that misbehaves: an SQLite file layer whose syncs are slow, whose space ends, or whose writes fail.

A `LossyDisk` also loses its power: of what was written and not synced yet, any part may be there afterwards, or torn.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import apsw

SECTOR = 512
"""What a disk writes whole or not at all, in bytes."""


class FaultyDisk(apsw.VFS):
    """The operating system's files, with faults that may be switched at any time from any thread.

    Use it by its `name`, as the `vfs` of an SQLite connection, and `unregister` it when the last file is closed. The
    shared-memory index is left alone: SQLite maps it past this layer.

    Attributes:
        sync_s: how long each sync takes, in seconds; a sync already waiting ends at once when this is set to 0.
        free_bytes: how much files may still grow; None for no end. Overwriting needs no space.
        failing: every write and sync fails with an I/O error.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.free_bytes: int | None = None
        self.failing = False
        self._sync_s = 0.0
        self._changed = threading.Condition()
        super().__init__(name, "")

    @property
    def sync_s(self) -> float:
        """Seconds that each sync takes."""
        return self._sync_s

    @sync_s.setter
    def sync_s(self, seconds: float) -> None:
        with self._changed:
            self._sync_s = seconds
            self._changed.notify_all()

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> "FaultyFile":  # noqa: N802 - SQLite's
        """Open one of SQLite's files through this disk."""
        return FaultyFile(self, name, flags)

    def wait_for_sync(self) -> None:
        """Take as long as a sync takes now."""
        with self._changed:
            until = time.monotonic() + self._sync_s
            while self._sync_s and (left := until - time.monotonic()) > 0:
                self._changed.wait(left)

    def grow(self, count: int) -> None:
        """Use up space.

        Raises:
            apsw.FullError: if there is none left.
        """
        with self._changed:
            if self.free_bytes is None or count <= 0:
                return
            if count > self.free_bytes:
                raise apsw.FullError("simulated: no space left on the disk")
            self.free_bytes -= count


class FaultyFile(apsw.VFSFile):
    """One open file of a `FaultyDisk`."""

    def __init__(self, disk: FaultyDisk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__("", name, flags)
        self._disk = disk

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's name
        """Write, where space and health allow it."""
        if self._disk.failing:
            raise apsw.IOError("simulated: write error")
        if self._disk.free_bytes is not None:
            self._disk.grow(offset + len(data) - self.xFileSize())
        self.before_change(offset, data)
        super().xWrite(data, offset)

    def before_change(self, offset: int, data: bytes | None) -> None:
        """The file is about to change: `data` comes to stand at this offset, or (None) it ends there."""

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        """Sync, in the time the disk takes."""
        if self._disk.failing:
            raise apsw.IOError("simulated: sync error")
        self._disk.wait_for_sync()
        super().xSync(flags)
        self.synced()

    def synced(self) -> None:
        """What was written stays."""


# --- power cuts ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a file since its last sync, and what stood there before. `data` None cut the file at `offset`."""

    offset: int
    data: bytes | None
    before: bytes
    size: int


class LossyDisk(FaultyDisk):
    """A disk that can lose its power, in virtual time: a slow sync waits by `wait`, while others go on.

    Attributes:
        off: it has no power, so that every write, sync and deletion fails; reading goes on, for whoever cleans up.
    """

    def __init__(self, name: str, wait: Callable[[float], None]) -> None:
        super().__init__(name)
        self.off = False
        self._wait = wait
        self._changes: dict[str, list[Change]] = {}

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> "LossyFile":  # noqa: N802 - SQLite's
        """Open one of SQLite's files."""
        return LossyFile(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802 - SQLite's
        """Delete a file, which cannot be undone here."""
        if self.off:
            raise apsw.IOError("simulated: no power")
        self._changes.pop(filename, None)
        super().xDelete(filename, syncdir)

    def wait_for_sync(self) -> None:
        """Take as long as a sync takes now, in virtual time."""
        if self.sync_s:
            self._wait(self.sync_s)

    def changes(self, filename: str) -> list[Change]:
        """What of this file was not synced yet."""
        return self._changes.setdefault(filename, [])

    def cut(self) -> None:
        """The power goes."""
        self.off = True

    def back(self, survives: Callable[[], float] | None) -> None:
        """The power is back, every file closed. Of each unsynced change `survives` says how much is there: 0 to 1.

        None: all of it, as when only the process was killed. A change that is there in part ends at a sector.
        """
        for filename, changes in self._changes.items():
            if survives is not None and Path(filename).exists():
                _settle(Path(filename), changes, survives)
            changes.clear()
        self.off = False


class LossyFile(FaultyFile):
    """One open file of a `LossyDisk`."""

    def __init__(self, disk: LossyDisk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__(disk, name, flags)
        self._lossy = disk
        self._log = disk.changes(name.filename() if isinstance(name, apsw.URIFilename) else str(name))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802 - SQLite's
        """Cut the file."""
        self.before_change(newsize, None)
        super().xTruncate(newsize)

    def before_change(self, offset: int, data: bytes | None) -> None:
        """Remember what stands there now."""
        if self._lossy.off:
            raise apsw.IOError("simulated: no power")
        size = self.xFileSize()
        length = size - offset if data is None else min(len(data), size - offset)
        self._log.append(Change(offset, data, self.xRead(length, offset) if length > 0 else b"", size))

    def synced(self) -> None:
        """What was written stays."""
        if self._lossy.off:
            raise apsw.IOError("simulated: no power")
        self._log.clear()


def _settle(file: Path, changes: list[Change], survives: Callable[[], float]) -> None:
    with file.open("r+b") as handle:
        for change in reversed(changes):
            handle.seek(change.offset)
            handle.write(change.before)
            handle.truncate(change.size)
        for change in changes:
            share = survives()
            if change.data is None:
                if share >= 1.0:
                    handle.truncate(change.offset)
                continue
            length = len(change.data) if share >= 1.0 else int(len(change.data) * share) // SECTOR * SECTOR
            if length:
                handle.seek(change.offset)
                handle.write(change.data[:length])
