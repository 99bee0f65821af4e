"""What ties a child to the watch that started it: it ends with the watch, and shows the watch that its loop turns.

Standard input is the tie. Where it is a socket, as from `gateway.children.children`, a byte goes back over it each
second: that all is well, or that a part of the child fails again and again.
"""

import asyncio
import contextlib
import os
import socket
import stat
import sys
from collections.abc import Callable

SIGN_EVERY_S = 1.0
WELL, UNWELL = b".", b"!"

EXIT_NO_ADDRESS = os.EX_TEMPFAIL
"""A child's last word where the address it is to listen on cannot be had."""


class Tie:
    """A child's end of the tie.

    Args:
        parted: called once the watch is gone.
        well: whether every part of the child does its work.
    """

    def __init__(self, parted: Callable[[], None], well: Callable[[], bool] = lambda: True) -> None:
        self._parted = parted
        self._well = well
        self._line: socket.socket | None = None
        self._timer: asyncio.TimerHandle | None = None

    def hold(self) -> None:
        """Begin, on the running loop. Nothing is done where standard input is neither a pipe nor a socket."""
        number = sys.stdin.fileno()
        mode = os.fstat(number).st_mode
        if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
            return
        asyncio.get_running_loop().add_reader(number, self._heard, number)
        if stat.S_ISSOCK(mode):
            self._line = socket.socket(fileno=os.dup(number))
            self._show()

    def _heard(self, number: int) -> None:
        """Read what the watch says, which is nothing: the end of it is the end of the watch, and ours."""
        try:
            if os.read(number, 4096):
                return
        except BlockingIOError:
            return
        except OSError:  # reset: as good as its end
            pass
        asyncio.get_running_loop().remove_reader(number)
        if self._timer is not None:
            self._timer.cancel()
        self._parted()

    def _show(self) -> None:
        """Show that this loop turns. A watch that does not read is asleep; `_heard` hears when it is gone."""
        assert self._line is not None
        with contextlib.suppress(OSError):
            self._line.send(WELL if self._well() else UNWELL, socket.MSG_DONTWAIT)
        self._timer = asyncio.get_running_loop().call_later(SIGN_EVERY_S, self._show)
