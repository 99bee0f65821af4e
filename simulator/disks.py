"""A disk that misbehaves: an SQLite file layer whose syncs are slow, whose space ends, or whose writes fail."""

import threading
import time

import apsw


class FaultyDisk(apsw.VFS):
    """The operating system's files, with faults that may be switched at any time from any thread.

    Use it by its `name`, as the `vfs` of an SQLite connection, and `unregister` it when the last file is closed. The
    shared-memory index is left alone: SQLite maps it past this layer.

    Attributes:
        sync_s: how long each sync takes, in seconds; a sync already waiting ends at once when this is set to 0.
        free_bytes: how much files may still grow; None for no end. Overwriting needs no space.
        failing: every write and sync fails with an I/O error.
        syncs: syncs finished.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.free_bytes: int | None = None
        self.failing = False
        self.syncs = 0
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
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        """Sync, in the time the disk takes."""
        if self._disk.failing:
            raise apsw.IOError("simulated: sync error")
        self._disk.wait_for_sync()
        super().xSync(flags)
        self._disk.syncs += 1
