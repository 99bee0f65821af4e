"""A serial line that is not there: a real pseudo-terminal under a stable link name, which can vanish and come back.

The program under test opens the link as it would open an adapter's name under /dev/serial/by-id; whoever plays the
devices on the line writes and hears at the far end. Linux only.
"""

import asyncio
import errno
import fcntl
import os
import struct
import termios
import tty
from collections.abc import Callable
from pathlib import Path
from typing import Final

CHUNK: Final = 4096
LOOK_AGAIN_S: Final = 0.02
"""How often a far end looks whether somebody opened the near one: until then it cannot be listened to."""

TIOCSPTLCK: Final = 0x40045431
TIOCGPTN: Final = 0x80045430
"""Unlock the near end of a pseudo-terminal, and ask for its number (Linux, asm-generic/ioctls.h)."""


class Cable:
    """One pseudo-terminal. `on_data` hears what comes from the program under test; `write` answers it.

    Attributes:
        link: the stable name.
        device: where the link leads now; None while unplugged.
    """

    def __init__(self, link: Path, on_data: Callable[[bytes], None]) -> None:
        self.link = link
        self.device: str | None = None
        self.on_data = on_data
        self._last: str | None = None
        self._far = -1
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None

    def plug(self) -> str:
        """Make the device appear under its link, with another number than last time; return its own name."""
        far, device = _terminal()
        if device == self._last:
            taken = far
            far, device = _terminal()
            os.close(taken)
        self._far, self.device, self._last = far, device, device
        self.link.unlink(missing_ok=True)
        self.link.symlink_to(device)
        self._loop.add_reader(far, self._readable)
        return device

    def unplug(self) -> None:
        """Pull it out: the device hangs up, its name and link are gone."""
        far, self._far = self._far, -1
        if far < 0:
            return
        self.device = None
        self.link.unlink(missing_ok=True)
        self._loop.remove_reader(far)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        os.close(far)

    def write(self, data: bytes) -> None:
        """Send towards the program under test; what does not fit into the terminal's buffer is lost, as on a line."""
        if self._far < 0:
            return
        try:
            os.write(self._far, data)
        except BlockingIOError:
            pass
        except OSError as error:
            if error.errno != errno.EIO:  # nobody has the near end open
                raise

    def _readable(self) -> None:
        try:
            data = os.read(self._far, CHUNK)
        except BlockingIOError:
            return
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            # The near end was closed: until somebody opens it again the terminal reports that without end.
            self._loop.remove_reader(self._far)
            self._timer = self._loop.call_later(LOOK_AGAIN_S, self._look_again)
            return
        self.on_data(data)

    def _look_again(self) -> None:
        self._timer = None
        if self._far >= 0:
            self._loop.add_reader(self._far, self._readable)


class CableTransport(asyncio.Transport):
    """A pseudo-terminal, as a connection writes to it. It is pulled out and plugged in apart from its connection."""

    def __init__(self, cable: Cable) -> None:
        super().__init__()
        self._cable = cable

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send towards the program under test."""
        self._cable.write(bytes(data))

    def abort(self) -> None:
        """Nothing to drop: a serial line knows no connections."""

    def pause_reading(self) -> None:
        """Nothing to hold: what is not read is lost."""

    def resume_reading(self) -> None:
        """See `pause_reading`."""


def _terminal() -> tuple[int, str]:
    """Open a new pseudo-terminal, raw and non-blocking; return its far end and the near end's name."""
    far = os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    fcntl.ioctl(far, TIOCSPTLCK, struct.pack("i", 0))
    number = struct.unpack("I", fcntl.ioctl(far, TIOCGPTN, struct.pack("I", 0)))[0]
    tty.setraw(far, termios.TCSANOW)  # without it the line would echo what it is sent before anybody opened it
    return far, f"/dev/pts/{number}"
