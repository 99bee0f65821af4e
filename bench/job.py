"""The whole job: devices on connections of their own, ten registers a second each, alarms by MQTT, all parts on."""

import asyncio
import gc
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from statistics import median

import apsw

from bench.crossings import Leaks, Receiver, tap_of
from bench.depots import Bus, depot_file, detector_on
from bench.figures import Aim, Figure, percentile
from bench.machine import WATCH_CORE
from bench.processes import READY_S, BenchError, Broker, Watch, end, free_port, until
from bench.sounding import siren, sound
from simulator.scripted import ScriptedServer, ScriptedUnit

PERIOD_MS = 1000
REGISTERS = 10
BARE_SETTLE_S = 3.0
BARE_RUNS = 5
"""Fresh processes of the plain reference, of which the median counts: what asyncio's receive buffer of 256 KiB costs it
comes and goes with where its memory happens to lie, up to twice the CPU from one process to the next."""

HOLD_S = 1.25
"""A little more than a period: every crossing is seen, and the air is clear again for as long."""

LEAKING = 10
"""A leak is local: so many heads take part in the crossings, again and again."""


@dataclass(frozen=True, slots=True)
class Load:
    """How much of the job. Times in seconds; `bare_s` is that of each process of the plain reference.

    The office opens 3 s after the watch and has its first judgement of every head written: a cost of each start, which
    has a figure of its own, not one of each poll. So `settle_s` goes by first.
    """

    devices: int
    window_s: float
    quiet_s: float
    bare_s: float
    crossings: int
    soundings: int
    target: float
    settle_s: float = 12.0
    bare_runs: int = BARE_RUNS


@asynccontextmanager
async def devices(count: int) -> AsyncIterator[list[ScriptedServer]]:
    """So many devices, each listening on its own port."""
    async with AsyncExitStack() as stack:
        servers = [ScriptedServer({1: ScriptedUnit(holding=dict.fromkeys(range(REGISTERS), 0))}) for _ in range(count)]
        for server in servers:
            await stack.enter_async_context(server)
        yield servers


async def run(case: str, load: Load, folder: Path) -> list[Figure]:
    """Measure the watch, then the plain reference on the same devices."""
    async with AsyncExitStack() as stack:
        broker = Broker(folder)
        await broker.start()
        stack.push_async_callback(broker.stop)
        servers = await stack.enter_async_context(devices(load.devices))
        gc.freeze()
        gc.disable()  # a pause of ours, up to 50 ms with the devices' logs, is no lateness of the watch
        stack.callback(gc.enable)
        figures = await _watch(case, load, folder, broker, servers)
        bare = median([await _bare(load, servers) for _ in range(load.bare_runs)])
    mine = next(figure.value for figure in figures if figure.name == "polls per CPU second")
    return [
        *figures,
        Figure(case, "bare pymodbus loop: reads per CPU second", bare, "1/s"),
        Figure(case, "ratio to the bare loop", mine / bare, "x", Aim.AT_LEAST, 2.5),
    ]


async def _watch(
    case: str, load: Load, folder: Path, broker: Broker, servers: Sequence[ScriptedServer]
) -> list[Figure]:
    buses = [Bus(f"b{number:04}", server.port, (1,), PERIOD_MS, 500) for number, server in enumerate(servers)]
    async with AsyncExitStack() as stack:
        horn = await stack.enter_async_context(siren())
        watch = Watch(folder, depot_file(web=free_port(), mqtt=broker.port, buses=buses, siren=horn.port))
        await watch.start()
        stack.push_async_callback(watch.stop)
        receiver = await stack.enter_async_context(Receiver(broker.port))
        await until(lambda: watch.watching() == load.devices, READY_S, "all devices watched")
        await asyncio.sleep(load.settle_s)
        starting = watch.cpu_seconds()
        quiet = await _polls_per_cpu_second(watch, servers, asyncio.sleep(load.quiet_s))
        taps = [
            tap_of(detector_on(bus, 1), server, 1)
            for bus, server in list(zip(buses, servers, strict=True))[:: max(1, load.devices // LEAKING)]
        ]
        leaks = Leaks(taps, load.crossings, HOLD_S)
        busy = await _polls_per_cpu_second(watch, servers, leaks.run(load.window_s))
        await leaks.settle(receiver)
        resident = watch.resident_mib()
        worst_own = watch.snapshot().worst_ms or float("inf")
        sounded = await sound(watch, horn, taps, load.soundings)
    own = _own_times_ms(folder / "var" / "journal.db")
    from_read = [crossing.from_read_s * 1000 for crossing in leaks.done]
    ordered, proved = ([1000 * s for s in each] for each in zip(*map(astuple, sounded), strict=True))
    from_crossing = [crossing.from_crossing_s * 1000 for crossing in leaks.done]
    return [
        Figure(case, "polls per CPU second", busy, "1/s", Aim.AT_LEAST, load.target),
        Figure(case, "polls per CPU second, no alarms", quiet, "1/s"),
        Figure(case, "processor time of the start, first judgement of the law included", starting, "s"),
        Figure(case, "resident memory", resident, "MiB"),
        Figure(case, "crossings", len(from_read), ""),
        Figure(case, "read to siren ordered p50", percentile(ordered, 50), "ms"),
        Figure(case, "read to first output (siren read back) p50", percentile(proved, 50), "ms", Aim.AT_MOST, 1.0),
        Figure(case, "read to first output (siren read back) p99", percentile(proved, 99), "ms", Aim.AT_MOST, 5.0),
        Figure(case, "read to subscriber p50", percentile(from_read, 50), "ms", Aim.AT_MOST, 1.0),
        Figure(case, "read to subscriber p99", percentile(from_read, 99), "ms", Aim.AT_MOST, 5.0),
        Figure(case, "read to subscriber max", max(from_read), "ms"),
        Figure(case, "sampled to accepted, own record, p50", percentile(own, 50), "ms"),
        Figure(case, "sampled to accepted, own record, p99", percentile(own, 99), "ms"),
        Figure(case, "sampled to first output, own record, max", worst_own, "ms"),
        Figure(case, "crossing to subscriber p99", percentile(from_crossing, 99), "ms"),
    ]


async def _polls_per_cpu_second(watch: Watch, servers: Sequence[ScriptedServer], doing: Awaitable[None]) -> float:
    for server in servers:
        server.log.clear()
    before = watch.cpu_seconds()
    await doing
    used = watch.cpu_seconds() - before
    return sum(len(server.log) for server in servers) / used


def _own_times_ms(journal: Path) -> list[float]:
    """Sampled to accepted of every gas alarm, as the journal has it: whole milliseconds of the civil clock."""
    sampled: dict[str, int] = {}
    times: list[float] = []
    db = apsw.Connection(str(journal), flags=apsw.SQLITE_OPEN_READONLY)
    for (text,) in db.execute("SELECT bytes FROM entry ORDER BY idx"):
        entry = json.loads(text)
        body = entry["body"]
        if entry["kind"] == "alarm" and body["kind"] == "GAS" and body["event"] == "raised":
            sampled[body["id"]] = body["sampled_ms"]
        elif entry["kind"] == "delivery" and body["outcome"] == "accepted" and body["event"] in sampled:
            times.append(body["at_ms"] - sampled[body["event"]])
    db.close()
    return times


async def _bare(load: Load, servers: Sequence[ScriptedServer]) -> float:
    """Reads per CPU second of one process of the plain reference."""
    core = WATCH_CORE % (os.cpu_count() or 1)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bench.bare",
        str(PERIOD_MS / 1000),
        *(str(server.port) for server in servers),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
    )
    try:
        assert process.stdout is not None
        reports: list[dict[str, float]] = []
        async with asyncio.timeout(READY_S + load.bare_s):
            while not reports or reports[-1]["reads"] < load.devices:
                reports = [json.loads(await process.stdout.readline())]
            for _ in range(round(BARE_SETTLE_S)):
                reports = [json.loads(await process.stdout.readline())]
            for _ in range(round(load.bare_s)):
                reports.append(json.loads(await process.stdout.readline()))
    except (TimeoutError, json.JSONDecodeError) as error:
        raise BenchError(f"the plain reference did not read: {error!r}") from error
    finally:
        await end(process)
    return (reports[-1]["reads"] - reports[0]["reads"]) / (reports[-1]["cpu_s"] - reports[0]["cpu_s"])
