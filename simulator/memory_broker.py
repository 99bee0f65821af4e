"""An MQTT broker in memory, as the MQTT source sees one from its callback inward. Knows no packets.

What a publication comes to is what a broker would hand on: live messages unmarked, kept ones marked as retained at each
new subscription. Losing the broker, or only its voice, looks as it does through `sensors.drivers.broker`.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, NoReturn

from aiomqtt import Message, MqttError
from paho.mqtt.properties import Properties

from sensors.drivers.broker import KEEPALIVE_S, MqttSettings

SILENCE_NOTICED_S = 2.0 * KEEPALIVE_S + 1.0
"""When a client notices that its broker answers nothing."""

HANDSHAKE_S = 0.01
NO_ANSWER_S = 1.5


class MemoryBroker:
    """The broker, and who is connected.

    Attributes:
        gone: it refuses connections, and has dropped those that stood.
        mute: connections stand and come about no more, and nothing is handed on.
        devices: who else has subscribed, by topic.
        joined: set once somebody is connected.
    """

    def __init__(self) -> None:
        self.gone = False
        self.mute = False
        self.devices: dict[str, Callable[[bytes], None]] = {}
        self.joined = asyncio.Event()
        self._kept: dict[str, bytes] = {}
        self._sessions: list[_Session] = []

    @asynccontextmanager
    async def connect(
        self,
        settings: MqttSettings,  # noqa: ARG002 - one broker for all
        receive: Callable[[Message], None],
    ) -> AsyncIterator["_Session"]:
        """Hold a connection for the body.

        Raises:
            MqttError: it cannot be had.
        """
        await asyncio.sleep(HANDSHAKE_S)
        if self.gone:
            raise MqttError("[Errno 111] Connection refused")
        if self.mute:
            await asyncio.sleep(NO_ANSWER_S)
            raise MqttError("Operation timed out")
        session = _Session(self, receive)
        self._sessions.append(session)
        self.joined.set()
        try:
            yield session
        finally:
            if session in self._sessions:
                self._sessions.remove(session)

    def keep(self, topic: str, payload: bytes) -> None:
        """Keep a message for whoever subscribes later."""
        self._kept[topic] = payload

    def publish(self, topic: str, payload: bytes) -> None:
        """Hand a message on."""
        if self.gone or self.mute:
            return
        for session in tuple(self._sessions):
            session.take(topic, payload, retained=False)
        if topic in self.devices:
            self.devices[topic](payload)

    def kept(self) -> Sequence[tuple[str, bytes]]:
        """Every message that is kept."""
        return tuple(self._kept.items())

    def drop(self) -> None:
        """End every connection."""
        for session in tuple(self._sessions):
            session.end("Disconnected during message iteration")
        self._sessions.clear()

    def fall_mute(self) -> None:
        """Say nothing any more; who is connected notices by the silence."""
        self.mute = True
        loop = asyncio.get_running_loop()
        for session in tuple(self._sessions):
            loop.call_later(SILENCE_NOTICED_S, session.end_if_mute)


class _Session:
    """One connection of a client."""

    limits_packets = True

    def __init__(self, broker: MemoryBroker, receive: Callable[[Message], None]) -> None:
        self._broker = broker
        self._receive = receive
        self._topics: list[str] = []
        self._ended: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._count = 0

    async def ask_for(self, topics: Sequence[str]) -> list[bool]:
        """Subscribe."""
        self._topics += topics
        for topic, payload in self._broker.kept():
            if topic in topics:
                self.take(topic, payload, retained=True)
        return [True] * len(topics)

    async def lost(self) -> NoReturn:
        """Wait until it is lost."""
        await self._ended
        raise AssertionError("a session ends only by an error")

    def hand_over(self, topic: str, payload: bytes, *, retain: bool) -> "asyncio.Future[None]":
        """Publish; the broker's answer comes after a while, and from a mute one never.

        Raises:
            MqttError: the connection is lost.
        """
        if self._ended.done():
            raise MqttError("The client is not currently connected.")
        loop = asyncio.get_running_loop()
        taken: asyncio.Future[None] = loop.create_future()
        self.hand_over_unconfirmed(topic, payload, retain=retain)
        if not (self._broker.gone or self._broker.mute):
            loop.call_later(HANDSHAKE_S, _end, taken)
        return taken

    def hand_over_unconfirmed(self, topic: str, payload: bytes, *, retain: bool) -> bool:
        """Publish."""
        if retain:
            self._broker.keep(topic, payload)
        self._broker.publish(topic, payload)
        return True

    @contextmanager
    def together(self) -> Iterator[None]:
        """Nothing leaves in one go here."""
        yield

    def take(self, topic: str, payload: bytes, *, retained: bool) -> None:
        """Receive a message, if it was subscribed to."""
        if self._ended.done() or topic not in self._topics:
            return
        self._count += 1
        message = Message(topic, payload, 1, retained, self._count, _NONE)
        self._receive(message)

    def end(self, reason: str) -> None:
        """It is lost."""
        if not self._ended.done():
            self._ended.set_exception(MqttError(reason))

    def end_if_mute(self) -> None:
        """The silence has been noticed."""
        if self._broker.mute:
            self.end("Disconnected during message iteration")


def _end(taken: "asyncio.Future[None]") -> None:
    if not taken.done():
        taken.set_result(None)


_NONE = Properties(3)  # type: ignore[no-untyped-call]  # paho left it untyped
