"""A Unix socket that one process has for itself: claimed, looked after, removed. Knows no word that is said on it."""

import asyncio
import contextlib
import socket
import stat
from pathlib import Path
from typing import NoReturn

LOOK_S = 1.0
"""How often the socket is looked for, so that one removed by others is made anew."""

WAITING = 16
"""Connections that may wait to be accepted."""


class ControlError(OSError):
    """A socket of ours cannot be had, or nobody of ours answers there."""


def claim(path: Path) -> socket.socket:
    """Return a listening socket at `path`, mode 0600; a dead one that stands there is removed first.

    The mode is set between bind and listen, when nobody can connect yet. A folder that was removed is made anew.

    Raises:
        ControlError: another process answers there, the path is no socket, or it cannot be bound.
    """
    if path.is_symlink() or path.exists():
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise ControlError(f"{path} exists and is not a socket")
        if answers(path):
            raise ControlError(f"{path}: another gateway is running there")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        listener.settimeout(0)
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen(WAITING)
    except OSError as error:
        listener.close()
        raise ControlError(f"{path}: {error}") from error
    return listener


def answers(path: Path) -> bool:
    """Whether a live process listens at `path`. One too busy to accept counts as alive."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(0)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except BlockingIOError:
            return True
        return True


async def removed(path: Path, inode: int) -> NoReturn:
    """Wait for as long as the socket stands where everybody looks for it.

    Raises:
        ControlError: it was removed, or another file stands in its place.
    """
    while _is_own(path, inode):  # noqa: ASYNC110 - who removes the file sets no event
        await asyncio.sleep(LOOK_S)
    raise ControlError(f"{path} was removed by others")


def _is_own(path: Path, inode: int) -> bool:
    try:
        return path.stat().st_ino == inode
    except FileNotFoundError:
        return False


def remove_own(path: Path, inode: int) -> None:
    """Remove the socket file unless another process has put its own there meanwhile.

    Where the disk does not let it go it stays: whoever claims the path next finds it dead.
    """
    with contextlib.suppress(OSError):
        if path.stat().st_ino == inode:
            path.unlink()
