"""A serial port of this machine: opened by its stable name, for us alone, without waiting. Posix only."""

import asyncio
import contextlib
import errno
import fcntl
import os
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Final

from sensors.drivers.settings import Parity, SerialSettings

MAX_UNSENT: Final = 512
"""Bytes that may wait for the port; one request is in flight, so more means that the port takes none."""

SPEEDS: Final = {
    int(name[1:]): getattr(termios, name) for name in dir(termios) if name[0] == "B" and name[1:].isdecimal()
}
"""termios' codes by bit/s."""

REASONS: Final = {
    errno.ENOENT: "unplugged",
    errno.ENXIO: "unplugged",
    errno.ENODEV: "unplugged",
    errno.EIO: "unplugged",
    errno.EBUSY: "port-busy",
    errno.EWOULDBLOCK: "port-busy",
    errno.EACCES: "port-denied",
    errno.EPERM: "port-denied",
    errno.ENOTTY: "not-serial",
    errno.EINVAL: "port-settings",
}
"""Why a port cannot be opened or used, by what the system says."""


class PortError(Exception):
    """The port cannot be had; its text is a short reason."""


class Port:
    """An open port; `on_lost` is called once, when it ends by itself, with a short reason."""

    def __init__(
        self, settings: SerialSettings, loop: asyncio.AbstractEventLoop, on_lost: Callable[[str], None]
    ) -> None:
        """Open it, set it, and throw away what came in before.

        Raises:
            PortError: if there is no such port, or another program has it.
        """
        self._loop = loop
        self._on_lost = on_lost
        self._path = Path(settings.device)
        self._unsent = b""
        self._fd = _opened(settings)
        status = os.fstat(self._fd)
        self._identity = (status.st_rdev, status.st_ino)

    @property
    def is_open(self) -> bool:
        """Whether it still is."""
        return self._fd >= 0

    def listen(self, on_readable: Callable[[], None]) -> None:
        """Call this whenever there is something to read."""
        self._loop.add_reader(self._fd, on_readable)

    def read_into(self, room: memoryview) -> int:
        """Read what there is, without waiting; 0 if nothing is, or the port just ended."""
        if self._fd < 0:
            return 0
        try:
            count = os.readv(self._fd, [room])
        except BlockingIOError:
            return 0
        except OSError as error:
            self._end(_reason(error))
            return 0
        if count == 0:  # the far end of the cable is gone: a tty that is only quiet would have blocked
            self._end("unplugged")
        return count

    def write(self, data: bytes) -> None:
        """Send this, in the background where the port does not take it at once."""
        if self._fd < 0:
            return
        if self._unsent:
            self._unsent += data
            if len(self._unsent) > MAX_UNSENT:
                self._end("mute")
            return
        self._unsent = data
        self._send()
        if self._unsent and self._fd >= 0:
            self._loop.add_writer(self._fd, self._send)

    def is_the_same(self) -> bool:
        """Whether its name still leads to the device that was opened, and not to nothing or to a new one."""
        try:
            status = self._path.stat()
        except OSError:
            return False
        return (status.st_rdev, status.st_ino) == self._identity

    def close(self) -> None:
        """Let it go at once: what was not sent is thrown away, since closing would wait for it."""
        fd, self._fd = self._fd, -1
        if fd < 0:
            return
        self._loop.remove_reader(fd)
        self._loop.remove_writer(fd)
        with contextlib.suppress(OSError, termios.error):
            termios.tcflush(fd, termios.TCIOFLUSH)
        with contextlib.suppress(OSError):
            fcntl.ioctl(fd, termios.TIOCNXCL)
        with contextlib.suppress(OSError):
            os.close(fd)

    def _send(self) -> None:
        try:
            sent = os.write(self._fd, self._unsent)
        except BlockingIOError:
            return
        except OSError as error:
            self._end(_reason(error))
            return
        self._unsent = self._unsent[sent:]
        if not self._unsent:
            self._loop.remove_writer(self._fd)

    def _end(self, reason: str) -> None:
        self.close()
        self._on_lost(reason)


def _opened(settings: SerialSettings) -> int:
    try:
        fd = os.open(settings.device, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise PortError(_reason(error)) from error
    try:
        # Both: the ioctl keeps everyone out but the superuser, the lock keeps out every program that asks for one.
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.ioctl(fd, termios.TIOCEXCL)
        _set(fd, settings)
        termios.tcflush(fd, termios.TCIOFLUSH)
    except (OSError, termios.error) as error:
        os.close(fd)
        raise PortError(_reason(error)) from error
    return fd


def _set(fd: int, settings: SerialSettings) -> None:
    """Raw, eight bits, no flow control. A byte with a false parity comes in as 0, so that the check sum finds it."""
    mode = termios.tcgetattr(fd)
    control = termios.CS8 | termios.CREAD | termios.CLOCAL
    if settings.parity is not Parity.NONE:
        control |= termios.PARENB
    if settings.parity is Parity.ODD:
        control |= termios.PARODD
    if settings.stop_bits == 2:
        control |= termios.CSTOPB
    speed = SPEEDS[settings.baud]
    characters = list(mode[6])
    characters[termios.VMIN], characters[termios.VTIME] = 1, 0  # an empty read then means the end, not silence
    checked = termios.INPCK if settings.parity is not Parity.NONE else 0
    termios.tcsetattr(fd, termios.TCSANOW, [checked, 0, control, 0, speed, speed, characters])


def _reason(error: OSError | termios.error) -> str:
    code = error.errno if isinstance(error, OSError) else error.args[0]
    return REASONS.get(code, "unreachable") if isinstance(code, int) else "unreachable"
