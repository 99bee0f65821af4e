"""The stores on their own: what a reading costs on the alarm loop and off it, an outage of the base, and trends."""

import asyncio
import gc
import os
import random
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from bench.databases import Influx
from bench.figures import Aim, Figure, percentile
from bench.machine import resident_mib
from gateway.store.base import Base
from gateway.store.feed import Feed
from gateway.store.history import ReadingsHistory
from gateway.store.lines import GasLines
from gateway.store.recorder import Recorder
from gateway.store.reporting import Reporting
from gateway.store.sender import Sender
from gateway.store.settings import Keeping, Pace, Target
from gateway.store.spool import Bounds, Spool
from sensors.readings import DetectorId, Quality, Reading, Scan, Status
from sensors.stamps import SECOND, Instant, Stamp, UtcNanos

BEGIN_S = 1_796_040_000
POINT_US = 9.1
"""CPU of influxdb-client's Point objects in batches of 1,000: the lowest of what was measured on a machine of this
class (9.1 to 10.9 us a point). The library is no dependency of ours, so we compare with that figure, not with a run.
"""

ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Load:
    """How many heads, and for how many simulated seconds they are read once a second."""

    heads: int
    seconds: int


class SimulatedClock:
    """Time of the simulated depot, moved by hand."""

    def __init__(self) -> None:
        self.second = BEGIN_S

    def now(self) -> Stamp:
        """Return the present moment."""
        return Stamp(Instant((self.second - BEGIN_S) * SECOND), UtcNanos(self.second * SECOND))


class Depot:
    """Heads whose gas wanders, read once a second."""

    def __init__(self, heads: int) -> None:
        self.names = [DetectorId(f"GD-{number:04}") for number in range(heads)]
        self._values = [100] * heads
        self._chance = random.Random(7)

    def scan(self, clock: SimulatedClock) -> Scan:
        """What all of them say now; every fourth has moved a little."""
        for number in range(self._chance.randrange(4), len(self._values), 4):
            moved = self._values[number] + self._chance.randint(-3, 3)
            self._values[number] = min(max(moved, 0), 400)
        now = clock.now()
        return Scan(
            "linha",
            tuple(
                Reading(name, value / 100, None, Quality.GOOD, Status.MEASURING, value, now)
                for name, value in zip(self.names, self._values, strict=True)
            ),
            now,
        )


def _recorder(folder: Path, clock: SimulatedClock, depot: Depot, spool: Spool | None) -> Recorder:
    recorder = Recorder(folder / "readings.db", Keeping(), clock, lambda _present, _reason: None)
    if spool is not None:
        recorder.feed = Feed(
            spool,
            Reporting(None, 10.0),
            depot="banco",
            areas=dict.fromkeys(depot.names, "patio"),
            most_points=5_000,
            put=lambda: None,
        )
    return recorder


async def store(case: str, load: Load, folder: Path) -> list[Figure]:
    """Seconds into the depot's own file, and trends out of it."""
    clock, depot = SimulatedClock(), Depot(load.heads)
    recorder = _recorder(folder, clock, depot, None)
    took: list[float] = []
    loop_s = thread_s = 0.0
    for _ in range(load.seconds):
        scan = depot.scan(clock)
        loop_s += _cpu_of(lambda scan=scan: recorder.take(scan))  # type: ignore[misc]
        clock.second += 1
        began = time.perf_counter()
        thread_s += _cpu_of(recorder.turn)
        took.append((time.perf_counter() - began) * 1000)
    recorder.close(5.0)
    samples = load.heads * load.seconds
    size = _size(folder)
    return [
        Figure(case, "alarm loop: CPU a reading", loop_s / samples * 1e6, "us", Aim.AT_MOST, 2.0),
        Figure(case, "recorder's thread: CPU a reading", thread_s / samples * 1e6, "us"),
        Figure(case, "a second written, p99", percentile(took, 99), "ms"),
        Figure(case, "file, a sample", size / samples, "B", Aim.AT_MOST, 3.0),
        *_trends(case, load, folder),
    ]


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.glob("readings.db*"))


def _trends(case: str, load: Load, folder: Path) -> list[Figure]:
    names = [f"GD-{number:04}" for number in range(0, load.heads, max(1, load.heads // 20))]
    end = BEGIN_S + load.seconds

    def asked(seconds: int, step: int) -> float:
        times = []
        for name in names:
            began = time.perf_counter()
            with ReadingsHistory(folder / "readings.db") as history:
                trend = history.trend(name, end - seconds, end, step)
            times.append((time.perf_counter() - began) * 1000)
            assert trend is not None
            assert any(trend.n)
        return percentile(times, 50)

    return [
        Figure(case, "last hour of a head, by the second", asked(3_600, 1), "ms", Aim.AT_MOST, 5.0),
        Figure(case, "24 h of a head, in 10 s", asked(86_400, 10), "ms", Aim.AT_MOST, 30.0),
        Figure(case, "24 h of a head, in minutes", asked(86_400, 60), "ms", Aim.AT_MOST, 30.0),
    ]


async def outage(case: str, load: Load, folder: Path) -> list[Figure]:
    """A base that is away for an hour of the depot's time, then InfluxDB 1 gets everything."""
    clock, depot = SimulatedClock(), Depot(load.heads)
    spool = Spool(folder / "influx.db", Bounds(256 * 2**20, 30 * 86_400_000))
    recorder = _recorder(folder, clock, depot, spool)
    for _ in range(min(60, load.seconds)):
        recorder.take(depot.scan(clock))
        clock.second += 1
        recorder.turn()
    gc.collect()
    before = resident_mib(os.getpid())
    peak = before
    for _ in range(load.seconds):
        recorder.take(depot.scan(clock))
        clock.second += 1
        recorder.turn()
        peak = max(peak, resident_mib(os.getpid()))
    recorder.close(5.0)
    health = spool.health(clock.second * 1000)
    async with Influx(folder / "base") as base:
        rate, cpu_us = await _drain(spool, base, clock, health.points)
        peak = max(peak, resident_mib(os.getpid()))
        kept = await base.count()
    spool.close()
    return [
        Figure(case, "points that waited", health.points, ""),
        Figure(case, "points in the base afterwards, missing", health.points - kept, "", Aim.AT_MOST, 0.0),
        Figure(case, "growth of resident memory", peak - before, "MiB", Aim.AT_MOST, 30.0),
        Figure(case, "spool on disk", health.bytes / 2**20, "MiB"),
        Figure(case, "drained", rate, "1/s", Aim.AT_LEAST, 20_000.0),
        Figure(case, "draining: CPU a point", cpu_us, "us"),
    ]


async def _drain(spool: Spool, base: Influx, clock: SimulatedClock, points: int) -> tuple[float, float]:
    """Send everything as fast as may be; points a second, and CPU microseconds a point."""
    pace = Pace(catch_up=1e9, prove=1e9)
    sender = Sender(spool, Target(base.url, "vigia"), pace, depot="banco", clock=clock, trouble=lambda *_: None)
    began, cpu = time.perf_counter(), time.process_time()
    task = asyncio.create_task(sender.run())
    while sender.figures.sent < points:  # noqa: ASYNC110 - measured from outside, as a watcher would
        await asyncio.sleep(0.01)
    took, spent = time.perf_counter() - began, time.process_time() - cpu
    task.cancel()
    await asyncio.wait([task])
    return points / took, spent / points * 1e6


async def writer(case: str, load: Load, folder: Path) -> list[Figure]:
    """A reading to a base that only says yes, by lines alone and through the spool: all CPU of this process counted."""
    clock, depot = SimulatedClock(), Depot(load.heads)
    areas = dict.fromkeys(depot.names, "patio")
    lines = GasLines("banco", areas)
    readings = [reading for _ in range(10) for reading in depot.scan(clock).readings]
    spool = Spool(folder / "influx.db", Bounds(256 * 2**20, 30 * 86_400_000))
    feed = Feed(spool, Reporting(None, 10.0), depot="banco", areas=areas, most_points=1_000, put=lambda: None)
    async with _Yes() as url, Base(Target(url, "vigia")) as base:

        async def plainly() -> None:
            for first in range(0, len(readings), 1_000):
                await base.write("\n".join([lines.of(each) for each in readings[first : first + 1_000]]).encode())

        async def through_the_spool() -> None:
            feed.readings(readings)
            feed.flush()
            while (parcel := spool.next(1_000)) is not None:
                await base.write(parcel.text)
                spool.done(parcel)

        ways = [await _us_a_point(way, len(readings), load) for way in (plainly, through_the_spool)]
    spool.close()
    return [
        Figure(case, "reading to an accepted point, batches of 1,000", ways[0], "us"),
        Figure(case, "the same through the spool on disk", ways[1], "us"),
        Figure(case, "ratio to the library's Points, lines alone", POINT_US / ways[0], "x", Aim.AT_LEAST, 5.0),
        Figure(case, "ratio to the library's Points, through the spool", POINT_US / ways[1], "x"),
    ]


async def _us_a_point(way: Callable[[], Awaitable[None]], points: int, load: Load) -> float:
    """CPU microseconds a point, median over rounds."""
    rounds = []
    for _ in range(ROUNDS):
        began, sent = time.process_time(), 0
        while sent < load.heads * load.seconds:
            await way()
            sent += points
        rounds.append((time.process_time() - began) / sent * 1e6)
    return percentile(rounds, 50)


class _Yes:
    """A sink in a process of its own that answers 204 to everything."""

    _CODE = """
import asyncio
class Sink(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.left, self.head = transport, 0, b""
    def data_received(self, data):
        self.head += data
        while True:
            end = self.head.find(b"\\r\\n\\r\\n")
            if end < 0:
                return
            length = int(self.head[:end].lower().partition(b"content-length: ")[2].split(b"\\r\\n")[0] or 0)
            if len(self.head) < end + 4 + length:
                return
            self.head = self.head[end + 4 + length:]
            self.transport.write(b"HTTP/1.1 204 No Content\\r\\n\\r\\n")
async def main():
    server = await asyncio.get_running_loop().create_server(Sink, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""

    async def __aenter__(self) -> str:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", self._CODE, stdout=asyncio.subprocess.PIPE
        )
        assert self._process.stdout is not None
        port = int(await self._process.stdout.readline())
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            return f"http://127.0.0.1:{port}"

    async def __aexit__(self, *_: object) -> None:
        self._process.kill()
        await self._process.wait()


def _cpu_of(once: Callable[[], None]) -> float:
    began = time.process_time()
    once()
    return time.process_time() - began
