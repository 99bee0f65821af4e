"""A compressed soak: everything misbehaves at once, again and again, and nothing grows.

24 s here, with polls, flaps and bounces so much closer together; VIGIA_SOAK makes it 24 minutes.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path
from statistics import median

import aiohttp
import pytest
from patience import until
from whole_depot import Whole

from simulator.bases import ScriptedBase
from simulator.scripted import ScriptedServer, ScriptedUnit

HOUR_S = 60.0 if os.environ.get("VIGIA_SOAK") else 1.0
"""What stands for an hour of the trial."""

EXTRA = """
[mqtt]
host = "127.0.0.1"
port = {mqtt}

[influx]
url = "{influx}"
database = "vigia"

[[bus]]
id = "instavel"
host = "127.0.0.1"
port = {flapping}
period_ms = 50
timeout_ms = 20

[[detector]]
id = "GD-F"
area = "patio"
bus = "instavel"
unit = 1
profile = "generic-modbus"
register = 0
type = "uint16"
scale = 0.1
unit_of_value = "lel_pct"
lel_vol_pct = 1.4
"""


class Figures:
    """What a process holds, sampled."""

    def __init__(self, pid: int) -> None:
        self._proc = Path(f"/proc/{pid}")
        self.files: list[int] = []
        self.threads: list[int] = []
        self.kib: list[int] = []

    def take(self) -> None:
        status = dict(
            line.split(":\t", 1) for line in (self._proc / "status").read_text().splitlines() if ":\t" in line
        )
        self.files.append(len(list((self._proc / "fd").iterdir())))
        self.threads.append(int(status["Threads"]))
        self.kib.append(int(status["VmRSS"].split()[0]))

    async def hours(self, hours: float) -> tuple[float, float, float]:
        """Medians over a stretch of the trial."""
        first = len(self.kib)
        until_s = time.monotonic() + hours * HOUR_S
        while time.monotonic() < until_s:
            self.take()
            await asyncio.sleep(0.05)  # a sample
        return median(self.files[first:]), median(self.threads[first:]), median(self.kib[first:])


async def _flapping(server: ScriptedServer) -> None:
    while True:
        await asyncio.sleep(0.2)
        await server.stop()
        await asyncio.sleep(0.2)
        await server.start()


async def _bouncing(broker, base: ScriptedBase) -> None:
    while True:
        await asyncio.sleep(0.7)
        base.mood = (503, {"message": "away"})
        await asyncio.to_thread(broker.kill)
        await asyncio.sleep(0.3)
        await asyncio.to_thread(broker.start)
        base.mood = None


@contextlib.asynccontextmanager
async def running(*coroutines) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(each) for each in coroutines]
    try:
        yield
        assert not [task.exception() for task in tasks if task.done()]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.servers
@pytest.mark.trial("B40")
async def test_b40_a_day_of_slow_heads_flapping_lines_and_bouncing_servers_grows_nothing(depot: Whole, mosquitto):
    flapping = ScriptedServer({1: ScriptedUnit(holding={0: 0})})
    depot.changes["period_ms = 250\ntimeout_ms = 100"] = "period_ms = 20\ntimeout_ms = 10"
    for unit in depot.line.units.values():
        unit.delay_s = 0.5  # 25 polls late
    async with ScriptedBase() as base, flapping, contextlib.AsyncExitStack() as stack:
        depot.extra = EXTRA.format(mqtt=mosquitto.port, influx=base.url, flapping=flapping.port)
        await depot.start()
        await depot.web_up()
        session = await stack.enter_async_context(aiohttp.ClientSession())
        url = f"http://127.0.0.1:{depot.web_port}/api/v1/live"
        sockets = [await stack.enter_async_context(session.ws_connect(url)) for _ in range(5)]
        heard = [0] * 4

        async def read(number: int) -> None:
            async for _ in sockets[number]:
                heard[number] += 1

        assert depot.process is not None
        figures = Figures(depot.process.pid)
        browsers = [read(number) for number in range(4)]  # the fifth never reads
        async with running(_flapping(flapping), _bouncing(mosquitto, base), *browsers):
            await figures.hours(4)
            early = await figures.hours(5)
            await figures.hours(10)
            before = list(heard)
            late = await figures.hours(5)
            assert all(now > then for now, then in zip(heard, before, strict=True)), "the others stay live"
        text = await depot.get("/metrics")
        skipped = [line for line in text.splitlines() if line.startswith("vigia_bus_overruns") and "linha" in line]
        assert skipped and float(skipped[0].split()[-1]) > 0, "polls that would overlap are skipped and counted"
        await until(lambda: base.points)
    # A leak only grows. Open files and threads also come and go by one or two with each bounce, and a link that waits
    # for its next try has none: fewer at the end is no leak.
    assert late[0] - early[0] <= max(2, 0.05 * early[0]), (early, late)
    assert late[1] - early[1] <= max(1, 0.05 * early[1]), (early, late)
    assert late[2] <= 1.05 * early[2], (early, late)
    assert await depot.stop() == 0
