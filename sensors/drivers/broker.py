"""What those who speak with an MQTT broker need to know of a connection to it: where, who, why not, when again."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass, field
from typing import NoReturn, Protocol, TypeAlias

from aiomqtt import Message, MqttCodeError, MqttError
from aiomqtt.exceptions import MqttConnectError
from paho.mqtt.reasoncodes import ReasonCode

KEEPALIVE_S = 4
"""A broker that answers nothing is noticed within twice this and a second; a lost network sooner, by TCP."""
SETTLED_S = 5.0
"""A connection that stood this long was a good one: after it the next attempt is made at once."""
DELAYS_S = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0)
"""Waits before the attempts after a loss; the last one is kept."""


@dataclass(frozen=True, slots=True)
class MqttSettings:
    """Where the broker is and who we are to it. `max_packet` is in bytes, the whole MQTT packet counted."""

    host: str
    port: int = 1883
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    client_id: str = "vigia"
    max_packet: int = 65_536


class MqttConnection(Protocol):
    """What those who listen need of a connection to the broker."""

    limits_packets: bool

    async def ask_for(self, topics: Sequence[str]) -> list[bool]:
        """Subscribe; tell for each topic whether the broker grants it."""
        ...

    async def lost(self) -> NoReturn:
        """Wait until the connection is lost, which is raised as MqttError."""
        ...

    def hand_over(self, topic: str, payload: bytes, *, retain: bool) -> "asyncio.Future[None]":
        """Publish at QoS 1; the future ends with the broker's answer."""
        ...

    def hand_over_unconfirmed(self, topic: str, payload: bytes, *, retain: bool) -> bool:
        """Publish at QoS 0; False if that could not even be begun."""
        ...

    def together(self) -> AbstractContextManager[None]:
        """What is handed over meanwhile may leave in one go."""
        ...


Connect: TypeAlias = Callable[[MqttSettings, Callable[[Message], None]], AbstractAsyncContextManager[MqttConnection]]
"""Holds a connection for the body of an ``async with``; the callback takes every message."""


class HungUpError(MqttError):
    """The broker closed the connection instead of answering the CONNECT."""


class NoAnswerError(MqttError):
    """The broker took the connection and then did not answer the CONNECT."""


def reason_of(error: MqttError) -> str:
    """Return the short code for why not: refused, no-answer, not-authorised, unreachable or closed."""
    if isinstance(error, MqttConnectError):
        code = error.rc.getName() if isinstance(error.rc, ReasonCode) else ""
        return "not-authorised" if code in ("Not authorized", "Bad user name or password", "Banned") else "refused"
    if isinstance(error, HungUpError | MqttCodeError):
        return "closed"
    if isinstance(error, NoAnswerError):
        return "no-answer"
    text = str(error)
    if "refused" in text:
        return "refused"
    if "timed out" in text:
        return "no-answer"
    return "closed" if "Disconnected" in text else "unreachable"


class Backoff:
    """How long to wait before the next attempt: none after a good connection, then longer, up to two seconds."""

    def __init__(self) -> None:
        self._failed = 0

    def after(self, stood_s: float) -> float:
        """Return the wait (s) after a connection that stood this long; 0 for one that was never made."""
        if stood_s >= SETTLED_S:
            self._failed = 0
        delay = DELAYS_S[min(self._failed, len(DELAYS_S) - 1)]
        self._failed += 1
        return delay
