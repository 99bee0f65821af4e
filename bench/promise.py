"""The three seconds: a hundred Modbus heads on four lines and a hundred MQTT heads, on good days and on the worst."""

import asyncio
import contextlib
import gc
import json
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiomqtt

from bench.crossings import Leaks, Receiver, Tap, tap_of
from bench.depots import Bus, depot_file, detector_on, topic_of
from bench.figures import Aim, Figure, percentile
from bench.processes import READY_S, Broker, Watch, free_port, until
from simulator.scripted import ScriptedServer, ScriptedUnit

PERIOD_MS = 500
TIMEOUT_MS = 200
LINES = 4
SETTLE_S = 8.0
"""Units that are mute need some turns until they are known to be."""

HOLD_S = 4.0
"""Longer than the promise: what is not told by then is late."""

STRETCH_PCT = 10.0
"""What the mean period of a live unit may grow by behind a gateway that waits a second for each mute one: 7 to 8 % is
the price of looking for the mute ones every 8 s (docs/decisions/0005)."""

SERVICE_S = 0.01
MUTE_WAIT_S = 1.0
"""A serial gateway serves a unit in so long, and waits so long for a mute one."""


@dataclass(frozen=True, slots=True)
class Load:
    """How much of it. `mute` units of `units` on each line say nothing; `hard` adds hook, web and disk."""

    units: int
    mute: int
    mqtt_heads: int
    window_s: float
    crossings: int
    hard: bool


class Publisher:
    """MQTT heads that speak every period, each at its own moment."""

    def __init__(self, port: int, count: int) -> None:
        self._port = port
        self.ended = False
        self.values = {f"m{number:03}": 0.0 for number in range(count)}

    def tap(self, head: str) -> Tap:
        """The gas of one of them."""

        def turn(lel_pct: float) -> None:
            self.values[head] = lel_pct

        return Tap(head, turn)

    async def run(self) -> None:
        """Speak until told to end: aiomqtt, on Python 3.11, forgets a cancellation that comes with an answer."""
        loop = asyncio.get_running_loop()
        async with aiomqtt.Client("127.0.0.1", self._port) as client:
            began, number = loop.time(), 0
            while not self.ended:
                for head in self.values:
                    await asyncio.sleep(began + number * PERIOD_MS / 1000 / len(self.values) - loop.time())
                    text = json.dumps({"lel": self.values[head], "seq": number})
                    await client.publish(topic_of(head), text, qos=0)
                    number += 1


async def run(case: str, load: Load, folder: Path) -> list[Figure]:
    """Measure crossings of every live head."""
    async with AsyncExitStack() as stack:
        broker = Broker(folder)
        await broker.start()
        stack.push_async_callback(broker.stop)
        servers = [_line(load, serial=load.hard and number % 2 == 1) for number in range(LINES)]
        for server in servers:
            await stack.enter_async_context(server)
        publisher = Publisher(broker.port, load.mqtt_heads)
        group = await stack.enter_async_context(asyncio.TaskGroup())
        group.create_task(publisher.run())
        stack.callback(setattr, publisher, "ended", True)
        hook = await stack.enter_async_context(_hung_hook()) if load.hard else None
        buses = [
            Bus(f"linha-{number}", server.port, tuple(server.units), PERIOD_MS, TIMEOUT_MS)
            for number, server in enumerate(servers)
        ]
        depot = depot_file(web=free_port(), mqtt=broker.port, buses=buses, mqtt_heads=publisher.values, webhook=hook)
        watch = Watch(folder, depot, program=("bench.slow_disk",) if load.hard else ("gateway.cli", "run"))
        await watch.start()
        stack.push_async_callback(watch.stop)
        if load.hard:
            stack.callback(group.create_task(_keep_web_stopped(watch)).cancel)
        receiver = await stack.enter_async_context(Receiver(broker.port))
        live = [(bus, server, unit) for bus, server in zip(buses, servers, strict=True) for unit in _live(server)]
        await until(lambda: watch.watching() == len(live) + load.mqtt_heads, READY_S, "all live heads watched")
        await asyncio.sleep(SETTLE_S)
        gc.freeze()
        taps = [tap_of(detector_on(bus, unit), server, unit) for bus, server, unit in live]
        leaks = Leaks([*taps, *map(publisher.tap, publisher.values)], load.crossings, HOLD_S)
        for server in servers:
            server.log.clear()
        await leaks.run(load.window_s)
        periods = [_mean_period_s(server, unit) for _, server, unit in live]
        await leaks.settle(receiver)
        return _figures(case, load, leaks, periods)


async def _keep_web_stopped(watch: Watch) -> None:
    """Stop the web child, and each that the watch starts in its place once it has waited in vain for a sign of life."""
    while True:
        with contextlib.suppress(KeyError, ProcessLookupError):
            os.kill(watch.web, signal.SIGSTOP)
        await asyncio.sleep(0.5)


def _figures(case: str, load: Load, leaks: Leaks, periods: Sequence[float]) -> list[Figure]:
    times = [crossing.from_crossing_s * 1000 for crossing in leaks.done]
    stretch = max(periods) * 1000 / PERIOD_MS * 100 - 100
    common = [
        Figure(case, "crossings", len(times), ""),
        Figure(case, "crossing to first output p50", percentile(times, 50), "ms"),
    ]
    if load.hard:
        return [
            *common,
            Figure(case, "crossing to first output p99", percentile(times, 99), "ms"),
            Figure(case, "crossing to first output max", max(times), "ms", Aim.AT_MOST, 3000.0),
            Figure(case, "mean period of the slowest live unit: over", stretch, "%", Aim.AT_MOST, STRETCH_PCT),
        ]
    return [
        *common,
        Figure(case, "crossing to first output p99", percentile(times, 99), "ms", Aim.AT_MOST, PERIOD_MS + 50.0),
        Figure(case, "crossing to first output max", max(times), "ms"),
        Figure(case, "mean period of the slowest live unit: over", stretch, "%"),
    ]


def _line(load: Load, *, serial: bool) -> ScriptedServer:
    units = {
        unit: ScriptedUnit(holding=dict.fromkeys(range(10), 0), silent=unit % 10 == 7 and unit // 10 < load.mute)
        for unit in range(1, load.units + 1)
    }
    return ScriptedServer(units, serial=serial, service_s=SERVICE_S, mute_wait_s=MUTE_WAIT_S)


def _live(server: ScriptedServer) -> list[int]:
    return [number for number, unit in server.units.items() if not unit.silent]


def _mean_period_s(server: ScriptedServer, unit: int) -> float:
    """Mean time between two requests to a unit; infinite if there were none."""
    times = [request.at for request in server.requests(unit)]
    return (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else float("inf")


@asynccontextmanager
async def _hung_hook() -> AsyncIterator[int]:
    """A web server that takes every request and never answers."""
    server = await asyncio.get_running_loop().create_server(asyncio.Protocol, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
