"""The gate: counters and tag readers on the broker, heard by the office; each message becomes entries of the stock."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

import structlog
from aiomqtt import Message, MqttError

from gateway.office.counting import StockSource
from sensors.drivers.broker import Backoff, Connect, MqttSettings, reason_of
from sensors.drivers.brokerconnection import connected
from sensors.stamps import SECOND, Clock

MOST_WAITING = 1000
"""Messages that may wait for the journal; more are dropped and counted. A counter's next one makes up for them."""

Take = Callable[[StockSource, bytes], Awaitable[None]]


class Gate:
    """Stays subscribed to every source's topic.

    Args:
        settings: of the broker; the office connects under a name of its own.
        sources: on this broker.
        take: what to do with a message, one after another.
    """

    def __init__(
        self,
        settings: MqttSettings,
        sources: Sequence[StockSource],
        take: Take,
        clock: Clock,
        connect: Connect = connected,
    ) -> None:
        self._settings = replace(settings, client_id=f"{settings.client_id}-office")
        self._topics: Mapping[str, list[StockSource]] = {
            topic: [source for source in sources if source.topic == topic] for topic in {each.topic for each in sources}
        }
        self._take = take
        self._clock = clock
        self._connect = connect
        self._waiting: asyncio.Queue[tuple[StockSource, bytes]] = asyncio.Queue(MOST_WAITING)
        self._log = structlog.get_logger("office")
        self.dropped = 0

    async def listen(self) -> None:
        """Stay connected and subscribed until cancelled."""
        backoff = Backoff()
        while True:
            began = self._clock.now()
            try:
                async with self._connect(self._settings, self._receive) as connection:
                    grants = await connection.ask_for(list(self._topics))
                    refused = [topic for topic, granted in zip(self._topics, grants, strict=True) if not granted]
                    if refused:
                        self._log.error("stock topics refused by the broker", topics=refused)
                    await connection.lost()
            except MqttError as error:
                self._log.warning("stock sources not heard", reason=reason_of(error))
                await asyncio.sleep(backoff.after((self._clock.now().mono - began.mono) / SECOND))

    async def enter(self) -> None:
        """Hand on what was heard, in its order, until cancelled."""
        while True:
            source, payload = await self._waiting.get()
            await self._take(source, payload)

    def _receive(self, message: Message) -> None:
        payload = message.payload
        for source in self._topics.get(message.topic.value, ()):
            if not payload or (message.retain and source.kind == "tags"):
                continue  # a tag that the broker kept passed long ago
            if self._waiting.full():
                self.dropped += 1
                self._log.error("stock message dropped", source=source.id, dropped=self.dropped)
            else:
                self._waiting.put_nowait((source, payload))
