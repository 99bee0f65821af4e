"""Runs a command that ends when its parent does, even by kill -9: ``python -m simulator.lifeline PID COMMAND``.

The kernel sends SIGTERM to the command once the parent with this PID is gone. That lives through exec, so the command
need not know. Linux only, as Vigia is.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def tie_to_parent(parent: int) -> None:
    """Have the kernel end this process with its parent.

    Raises:
        OSError: if the kernel refuses.
        SystemExit: if `parent` has already gone.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() != parent:  # it went between our birth and the call
        sys.exit(1)


def main(arguments: list[str]) -> None:
    """Tie this process to its parent, then become the command."""
    parent, *command = arguments
    tie_to_parent(int(parent))
    os.execvp(command[0], command)  # noqa: S606 - no shell is wanted between


if __name__ == "__main__":
    main(sys.argv[1:])
