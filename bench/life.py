"""The watch's own life: how soon it is ready, how soon it ends, what it costs when nothing happens."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from bench.depots import Bus, depot_file
from bench.figures import Aim, Figure
from bench.machine import resident_mib
from bench.processes import READY_S, Broker, Watch, free_port, until
from simulator.scripted import ScriptedServer, ScriptedUnit

LINES, UNITS = 5, 10
PERIODS_MS = (1000, 500)
SETTLE_S = 3.0


@dataclass(frozen=True, slots=True)
class Load:
    """How long to look (s)."""

    window_s: float


async def run(case: str, load: Load, folder: Path) -> list[Figure]:
    """Measure at one and at two polls a second."""
    figures: list[Figure] = []
    for period_ms in PERIODS_MS:
        figures += await _life(case, load, folder, period_ms)
    return figures


async def _life(case: str, load: Load, folder: Path, period_ms: int) -> list[Figure]:
    async with AsyncExitStack() as stack:
        broker = Broker(folder)
        await broker.start()
        stack.push_async_callback(broker.stop)
        servers = [
            ScriptedServer({unit: ScriptedUnit(holding=dict.fromkeys(range(10), 0)) for unit in range(1, UNITS + 1)})
            for _ in range(LINES)
        ]
        for server in servers:
            await stack.enter_async_context(server)
        buses = [
            Bus(f"linha-{number}", server.port, tuple(server.units), period_ms, 200)
            for number, server in enumerate(servers)
        ]
        place = folder / str(period_ms)
        place.mkdir(exist_ok=True)
        watch = Watch(place, depot_file(web=free_port(), mqtt=broker.port, buses=buses))
        await watch.start()
        stack.push_async_callback(watch.stop)
        await until(lambda: watch.watching() == LINES * UNITS, READY_S, "all heads watched")
        await asyncio.sleep(SETTLE_S)
        before = watch.cpu_seconds()
        await asyncio.sleep(load.window_s)
        busy = (watch.cpu_seconds() - before) / load.window_s * 100
        resident, web = watch.resident_mib(), resident_mib(watch.web)
        stop_s = await watch.stop()
    at = f"{LINES * UNITS} heads every {period_ms} ms"
    return [
        Figure(case, f"start to ready, {at}", watch.start_s, "s"),
        Figure(case, f"stop, {at}", stop_s, "s", Aim.AT_MOST, 2.0),
        Figure(case, f"processor, {at}", busy, "% of a core"),
        Figure(case, f"resident memory, {at}", resident, "MiB"),
        Figure(case, f"resident memory of the web child, {at}", web, "MiB"),
    ]
