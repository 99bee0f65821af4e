"""Tells systemd how the watch is: ready, reloading, alive, stopping. Silent where no service manager listens."""

import os
import socket
import time


class ServiceManager:
    """The notification socket of a ``Type=notify`` unit (sd_notify(3))."""

    def __init__(self, address: str | None) -> None:
        self._address = address

    @classmethod
    def from_environment(cls) -> "ServiceManager":
        """Take NOTIFY_SOCKET out of the environment, so that children do not speak in our name."""
        return cls(os.environ.pop("NOTIFY_SOCKET", None))

    def ready(self) -> None:
        """The watch is on."""
        self._send("READY=1")

    def reloading(self) -> None:
        """New orders are being taken; `ready` follows."""
        self._send(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def alive(self, status: str) -> None:
        """The alarm loop turns; `status` is one line for the operator."""
        self._send(f"WATCHDOG=1\nSTATUS={status}")

    def stopping(self) -> None:
        """The watch is ending on purpose."""
        self._send("STOPPING=1")

    def _send(self, text: str) -> None:
        if self._address is None:
            return
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as out:
            out.setblocking(False)  # the manager's buffer may be full; a lost ping is made good by the next
            try:
                out.sendto(text.encode(), address)
            except OSError:
                return
