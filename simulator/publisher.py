"""Speaks MQTT for the heads of a yard, as well or as badly as they are told to. Knows no scenario."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Final

import aiomqtt

from simulator.faults import UNREADABLE
from simulator.happenings import What
from simulator.yard_file import PUBLISH_S

RECONNECT_S: Final = 0.5
ANSWER_S: Final = 1.5
"""The broker must answer within this."""
MAX_HELD: Final = 1000
"""Messages of one head that may wait to be sent late; the oldest go first."""

Messages = tuple[tuple[str, bytes], ...]


@dataclass(slots=True)
class Mouth:
    """One head that speaks.

    Attributes:
        next: returns its next sample as messages.
        befalls: returns what goes wrong with it now, each with its figure.
    """

    next: Callable[[], Messages]
    befalls: Callable[[], dict[What, float]]
    _held: deque[tuple[float, Messages]] = field(default_factory=lambda: deque(maxlen=MAX_HELD))

    def due(self, now_s: float) -> Messages:
        """Return what goes out at this turn: nothing, one sample, or several."""
        befalls = self.befalls()
        if What.SILENT in befalls:
            self._held.clear()
            return ()
        sample = self.next()
        if What.GARBAGE in befalls:
            sample = tuple((topic, UNREADABLE) for topic, _ in sample)
        if What.OUT_OF_ORDER in befalls:
            if not self._held:
                self._held.append((now_s, sample))
                return ()
            return sample + self._held.popleft()[1]
        self._held.append((now_s + befalls.get(What.SLOW, 0.0), sample))
        out: Messages = ()
        while self._held and self._held[0][0] <= now_s:
            out += self._held.popleft()[1]
        return out * 2 if What.DUPLICATE in befalls else out


async def publish(mouths: Sequence[Mouth], host: str, port: int, stop: asyncio.Event) -> None:
    """Let them speak one after the other, each every `PUBLISH_S`, until `stop`; come back whenever the broker does."""
    while not stop.is_set():
        try:
            async with aiomqtt.Client(
                host, port, identifier="plant", protocol=aiomqtt.ProtocolVersion.V311, timeout=ANSWER_S
            ) as client:
                await _speak(mouths, client, stop)
        except aiomqtt.MqttError as error:
            logging.getLogger(__name__).warning("broker: %s", error)
            await until(stop, RECONNECT_S)


async def _speak(mouths: Sequence[Mouth], client: aiomqtt.Client, stop: asyncio.Event) -> None:
    clock = asyncio.get_running_loop().time
    due = clock()
    for mouth in cycle(mouths):
        if await until(stop, due - clock()):
            return
        due = max(due + PUBLISH_S / len(mouths), clock())
        for topic, payload in mouth.due(clock()):
            await client.publish(topic, payload)
    await stop.wait()  # a yard without MQTT heads


async def until(stop: asyncio.Event, seconds: float) -> bool:
    """Wait so long, or until `stop`; tell whether it is set."""
    try:
        async with asyncio.timeout(max(seconds, 0.0)):
            await stop.wait()
    except TimeoutError:
        return False
    return True
