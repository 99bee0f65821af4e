"""Which hosts and ports a depot talks to, and whether each can be reached. Opens connections; says nothing on them."""

import errno
import os
import socket
import stat
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from gateway.depot import Depot, WebhookChannel

TIMEOUT_S = 3.0
AT_ONCE = 16
"""Connections tried at the same time."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A host that something of the depot needs, or a serial port. `what` names it: ``bus detectores``.

    Attributes:
        host: of a serial port its device, with port 0.
    """

    what: str
    host: str
    port: int

    @property
    def place(self) -> str:
        """Where it is, for people."""
        return f"{self.host}:{self.port}" if self.port else self.host


@dataclass(frozen=True, slots=True)
class Reached:
    """How one try ended; `reason` is empty when the host answered."""

    endpoint: Endpoint
    reason: str


def endpoints(depot: Depot) -> tuple[Endpoint, ...]:
    """Return every host the configuration names, in its order."""
    lines = [bus.settings for bus in depot.buses]
    found = [Endpoint(f"bus {line.id}", line.serial.device if line.serial else line.host, line.port) for line in lines]
    if depot.mqtt is not None:
        found.append(Endpoint("mqtt", depot.mqtt.host, depot.mqtt.port))
    for channel in depot.channels:
        if isinstance(channel, WebhookChannel):
            parts = urlsplit(channel.url)
            port = parts.port or (443 if parts.scheme == "https" else 80)
            found.append(Endpoint(f"channel {channel.id}", parts.hostname or "", port))
    return tuple(found)


def reach(wanted: Iterable[Endpoint], timeout_s: float = TIMEOUT_S) -> tuple[Reached, ...]:
    """Try all of them side by side."""
    with ThreadPoolExecutor(AT_ONCE, "reach") as pool:
        return tuple(pool.map(lambda endpoint: Reached(endpoint, _try(endpoint, timeout_s)), wanted))


def _try(endpoint: Endpoint, timeout_s: float) -> str:
    if not endpoint.port:
        return _look_at(endpoint.host)
    try:
        with socket.create_connection((endpoint.host, endpoint.port), timeout_s):
            return ""
    except (OSError, UnicodeError) as error:  # UnicodeError: a host name that no resolver takes
        return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _look_at(device: str) -> str:
    """See whether a serial port is there for us. It is not opened: a running watch has it, and it is its alone."""
    try:
        is_device = stat.S_ISCHR(Path(device).stat().st_mode)
    except OSError as error:
        return error.strerror or str(error)
    if not is_device:
        return os.strerror(errno.ENOTTY)
    return "" if os.access(device, os.R_OK | os.W_OK) else os.strerror(errno.EACCES)
