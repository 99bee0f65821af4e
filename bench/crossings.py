"""Leaks that come and go in a running depot, and what an independent subscriber hears of them.

All times are on the machine's monotonic clock, the same for every process.
"""

import asyncio
import json
import random
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Self

import aiomqtt

from bench.depots import DEPOT
from simulator.scripted import ScriptedServer

GAS_LEL_PCT = 15.0
LATE_S = 5.0
"""How long after the last crossing its alarm is still waited for."""


class Receiver:
    """Subscribes to the depot's events and notes when each gas alarm came."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._stack = AsyncExitStack()
        self.told: dict[str, list[float]] = {}
        self.messages = 0

    async def __aenter__(self) -> Self:
        client = await self._stack.enter_async_context(aiomqtt.Client("127.0.0.1", self._port))
        await client.subscribe(f"vigia/{DEPOT}/event", qos=1)
        group = await self._stack.enter_async_context(asyncio.TaskGroup())
        listener = group.create_task(self._listen(client))
        self._stack.callback(listener.cancel)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._stack.aclose()

    async def _listen(self, client: aiomqtt.Client) -> None:
        async for message in client.messages:
            at = time.monotonic()
            self.messages += 1
            body = json.loads(bytes(message.payload))
            if body["kind"] == "GAS" and body["event"] in ("raised", "risen"):
                self.told.setdefault(body["subject"], []).append(at)


@dataclass(slots=True)
class Tap:
    """Where a head's gas comes from: `turn` sets it (%LEL).

    Attributes:
        server, unit: whose request log tells when the value was first read; None for a head that speaks by itself.
    """

    head: str
    turn: Callable[[float], None]
    server: ScriptedServer | None = None
    unit: int = 1


def tap_of(head: str, server: ScriptedServer, unit: int) -> Tap:
    """The gas of a Modbus head: register 0 of its unit, in tenths of %LEL."""
    holding = server.units[unit].holding

    def turn(lel_pct: float) -> None:
        holding[0] = round(lel_pct * 10)

    return Tap(head, turn, server, unit)


@dataclass(slots=True)
class Crossing:
    """One step over the set-point, and when it was answered to the watch and told by it; None for never."""

    tap: Tap
    at: float
    read: float | None = None
    told: float | None = None

    @property
    def from_crossing_s(self) -> float:
        """Crossing to alarm; infinite for one that never came."""
        return float("inf") if self.told is None else self.told - self.at

    @property
    def from_read_s(self) -> float:
        """First answer that showed it to alarm; infinite likewise."""
        return float("inf") if self.told is None or self.read is None else self.told - self.read


@dataclass(slots=True)
class Leaks:
    """A plan of crossings, spread over a window: no two of one head closer than its gas stays and its air stays."""

    taps: Sequence[Tap]
    count: int
    hold_s: float
    done: list[Crossing] = field(default_factory=list)

    async def run(self, window_s: float, seed: int = 1) -> None:
        """Cross `count` times within the window; then turn all gas off."""
        chance = random.Random(seed)
        taps = list(self.taps)
        chance.shuffle(taps)
        loop = asyncio.get_running_loop()
        began = loop.time()
        spare = window_s - self.hold_s
        for number in range(self.count):
            due = began + spare * (number + chance.random()) / self.count
            await asyncio.sleep(max(0.0, due - loop.time()))
            tap = taps[number % len(taps)]
            tap.turn(GAS_LEL_PCT)
            self.done.append(Crossing(tap, loop.time()))
            loop.call_later(self.hold_s, tap.turn, 0.0)
        await asyncio.sleep(max(0.0, began + window_s - loop.time()))

    async def settle(self, receiver: Receiver) -> None:
        """Wait until all have been told or it is too late, and note each crossing's times."""
        deadline = time.monotonic() + LATE_S
        self._match(receiver)
        while any(crossing.told is None for crossing in self.done) and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
            self._match(receiver)

    def _match(self, receiver: Receiver) -> None:
        for crossing in self.done:
            crossing.told = next((at for at in receiver.told.get(crossing.tap.head, ()) if at >= crossing.at), None)
            server = crossing.tap.server
            if server is not None and crossing.read is None:
                crossing.read = next(
                    (each.at for each in server.log if each.at >= crossing.at and each.unit == crossing.tap.unit), None
                )
