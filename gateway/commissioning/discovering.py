"""Listens to the depot's broker for heads that announce themselves. Asks only if told to, and never for gas."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from aiomqtt import Message, MqttError

from sensors import profiles
from sensors.announcements.ear import Ear, topics
from sensors.announcements.found import Announced, Models
from sensors.drivers.broker import reason_of
from sensors.drivers.brokerconnection import connected
from sensors.drivers.mqtt import MqttSettings

MAX_PACKET = 8 * 1024 * 1024
"""A bridge's list of devices comes in one message: a few kilobytes for each of perhaps two hundred."""

SHELLY_CALL = ("shellies/command", b"announce")
"""Makes every Shelly of the first generation announce itself again."""


@dataclass(frozen=True, slots=True)
class Discovery:
    """What was heard.

    Attributes:
        messages: how many came in at all.
        refused: topics that the broker does not let us hear.
        trouble: why the broker could not be listened to; empty when it could.
    """

    heads: tuple[Announced, ...]
    messages: int
    dropped: int
    refused: tuple[str, ...]
    trouble: str


def discover(settings: MqttSettings, seconds: float, *, prefix: str, ask: bool) -> Discovery:
    """Listen for so long; what the broker keeps comes at once. `ask` calls Shellies to announce themselves."""
    return asyncio.run(_Discovery(settings, seconds, prefix).run(ask=ask))


class _Discovery:
    def __init__(self, settings: MqttSettings, seconds: float, prefix: str) -> None:
        own = f"{settings.client_id}-discover-{os.getpid()}"
        self._settings = replace(settings, client_id=own, max_packet=MAX_PACKET)
        self._seconds = seconds
        self._topics = topics(prefix)
        self._ear = Ear(Models(map(profiles.load, profiles.names())))
        self._messages = 0
        self._refused: tuple[str, ...] = ()

    async def run(self, *, ask: bool) -> Discovery:
        trouble = ""
        try:
            async with connected(self._settings, self._hear) as connection:
                granted = await connection.ask_for(self._topics)
                self._refused = tuple(topic for topic, good in zip(self._topics, granted, strict=True) if not good)
                if ask:
                    connection.hand_over_unconfirmed(*SHELLY_CALL, retain=False)
                await self._wait(connection.lost)
        except MqttError as error:
            trouble = reason_of(error)
        return Discovery(self._ear.heads(), self._messages, self._ear.dropped, self._refused, trouble)

    async def _wait(self, lost: Callable[[], Awaitable[object]]) -> None:
        try:
            async with asyncio.timeout(self._seconds):
                await lost()
        except TimeoutError:
            return

    def _hear(self, message: Message) -> None:
        self._messages += 1
        payload = message.payload
        if isinstance(payload, bytes | bytearray):
            self._ear.hear(str(message.topic), bytes(payload))
