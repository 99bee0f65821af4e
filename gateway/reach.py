"""Which hosts a depot talks to, and whether each can be reached. Opens connections; says nothing on them."""

import socket
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from urllib.parse import urlsplit

from gateway.depot import Depot, WebhookChannel

TIMEOUT_S = 3.0
AT_ONCE = 16
"""Connections tried at the same time."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A host that something of the depot needs. `what` names it: ``bus detectores``."""

    what: str
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Reached:
    """How one try ended; `reason` is empty when the host answered."""

    endpoint: Endpoint
    reason: str


def endpoints(depot: Depot) -> tuple[Endpoint, ...]:
    """Return every host the configuration names, in its order."""
    found = [Endpoint(f"bus {bus.settings.id}", bus.settings.host, bus.settings.port) for bus in depot.buses]
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
    try:
        with socket.create_connection((endpoint.host, endpoint.port), timeout_s):
            return ""
    except (OSError, UnicodeError) as error:  # UnicodeError: a host name that no resolver takes
        return getattr(error, "strerror", None) or str(error) or type(error).__name__
