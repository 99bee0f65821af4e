"""How far one core carries: the largest depot that holds 1 Hz, a thousand heads at 10 Hz, and what stops either."""

import asyncio
import gc
import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.crossings import Leaks, Receiver, tap_of
from bench.depots import PROFILE, Bus, depot_file, detector_on
from bench.figures import Aim, Figure, percentile
from bench.processes import Broker, Watch, free_port, until
from simulator.scripted import ScriptedServer, ScriptedUnit

HEADS_ON_LINE: Final = 32
REGISTERS: Final = 10
HALF_A_CORE: Final = 50.0
"""% of a core: the other half belongs to what else the machine does."""
LATE_PCT: Final = 5.0
"""A depot holds its rate while its heads are read at most so much more seldom than they should be."""
ASKED: Final = 5
"""A head asked so often has been watched for some periods."""
WATCHED_S: Final = 180.0
GAS_HELD: Final = 3
"""Periods that gas stays, and that air stays after it."""
LEAKING: Final = 40


@dataclass(frozen=True, slots=True)
class Load:
    """Sizes to try, the rate, and how long to look (s); crossings for the time from gas to alarm, 0 for none.

    After `settle_s` the office, which opens 3 s after the watch, has had its first judgement of every head written. It
    is no whole number of periods: a short window must not begin just as the heads of a line are asked.
    """

    heads: tuple[int, ...]
    period_ms: int
    window_s: float
    crossings: int = 0
    settle_s: float = 12.2


@dataclass(frozen=True, slots=True)
class Cost:
    """What a depot of this size costs the watch, and whether it keeps its rate."""

    heads: int
    core_pct: float
    kernel_pct: float
    resident_mib: float
    late_pct: float
    field_pct: float

    @property
    def holds(self) -> bool:
        """Whether it keeps its rate on half a core."""
        return self.core_pct <= HALF_A_CORE and self.late_pct <= LATE_PCT


async def largest(case: str, load: Load, folder: Path) -> list[Figure]:
    """Grow a depot until it no longer holds its rate on half a core, or is as large as a depot may be."""
    costs: list[Cost] = []
    for heads in load.heads:
        place = folder / str(heads)
        place.mkdir()
        async with depot(place, heads, load) as (watch, servers, _):
            costs.append(await _cost(watch, servers, load, heads))
        if not costs[-1].holds:
            break
    held = [cost.heads for cost in costs if cost.holds]
    most = costs[-1]
    figures = [Figure(case, "largest depot that holds its rate on half a core", max(held, default=0), "heads",
                      Aim.AT_LEAST, 8000.0)]  # fmt: skip
    for cost in costs:
        target = (Aim.AT_MOST, HALF_A_CORE) if cost.heads == 8000 else (Aim.AT_MOST, None)
        figures += [
            Figure(case, f"processor, {cost.heads} heads", cost.core_pct, "% of a core", *target),
            Figure(case, f"mean period over, {cost.heads} heads", cost.late_pct, "%"),
            Figure(case, f"resident memory, {cost.heads} heads", cost.resident_mib, "MiB", Aim.AT_MOST,
                   80.0 if cost.heads == 1000 else None),
        ]  # fmt: skip
    polls = most.heads * 1000 / load.period_ms * (100 / (100 + most.late_pct))
    return [
        *figures,
        Figure(case, "what stops it: a poll in all", most.core_pct / 100 / polls * 1e6, "us of CPU"),
        Figure(case, "what stops it: of it in the kernel (sockets)", most.kernel_pct / 100 / polls * 1e6, "us of CPU"),
        Figure(case, "simulated devices meanwhile", most.field_pct, "% of a core"),
    ]


async def fast(case: str, load: Load, folder: Path) -> list[Figure]:
    """A depot that is read ten times a second, with leaks."""
    (heads,) = load.heads
    async with depot(folder, heads, load) as (watch, servers, broker):
        receiver = Receiver(broker.port)
        async with receiver:
            cost = await _cost(watch, servers, load, heads)
            taps = [
                tap_of(detector_on(bus, unit), server, unit)
                for bus, server in zip(_buses(servers, load.period_ms), servers, strict=True)
                for unit in (1, HEADS_ON_LINE // 2)
                if unit in server.units
            ][:LEAKING]
            leaks = Leaks(taps, load.crossings, GAS_HELD * load.period_ms / 1000)
            await leaks.run(load.window_s)
            await leaks.settle(receiver)
    times = [crossing.from_crossing_s * 1000 for crossing in leaks.done]
    return [
        Figure(case, "processor, no alarms", cost.core_pct, "% of a core", Aim.AT_MOST, HALF_A_CORE),
        Figure(case, "mean period over", cost.late_pct, "%", Aim.AT_MOST, LATE_PCT),
        Figure(case, "resident memory", cost.resident_mib, "MiB"),
        Figure(case, "crossings", len(times), ""),
        Figure(case, "crossing to alarm p50", percentile(times, 50), "ms"),
        Figure(case, "crossing to alarm p99", percentile(times, 99), "ms", Aim.AT_MOST, 150.0),
        Figure(case, "crossing to alarm max", max(times), "ms"),
    ]


@asynccontextmanager
async def depot(folder: Path, heads: int, load: Load) -> AsyncIterator[tuple[Watch, Sequence[ScriptedServer], Broker]]:
    """A depot of so many heads, `HEADS_ON_LINE` on each line, all watched."""
    async with AsyncExitStack() as stack:
        broker = Broker(folder)
        await broker.start()
        stack.push_async_callback(broker.stop)
        servers = []
        for first in range(0, heads, HEADS_ON_LINE):
            units = range(1, min(HEADS_ON_LINE, heads - first) + 1)
            server = ScriptedServer({unit: ScriptedUnit(holding=dict.fromkeys(range(REGISTERS), 0)) for unit in units})
            servers.append(await stack.enter_async_context(server))
        gc.freeze()
        (folder / "b.toml").write_text(PROFILE, encoding="utf-8")
        text = depot_file(web=free_port(), mqtt=broker.port, buses=_buses(servers, load.period_ms), profile="b.toml")
        watch = Watch(folder, text)
        stack.push_async_callback(watch.stop)
        await watch.start()
        await _all_asked(servers)
        await asyncio.sleep(load.settle_s)
        yield watch, servers, broker


async def _all_asked(servers: Sequence[ScriptedServer]) -> None:
    """Wait until every head has been asked often enough to count as watched."""
    await until(
        lambda: all(len(server.log) >= ASKED * len(server.units) for server in servers), WATCHED_S, "all heads asked"
    )


def _buses(servers: Sequence[ScriptedServer], period_ms: int) -> list[Bus]:
    return [
        Bus(f"b{number:03}", server.port, tuple(server.units), period_ms, min(200, period_ms))
        for number, server in enumerate(servers)
    ]


async def _cost(watch: Watch, servers: Sequence[ScriptedServer], load: Load, heads: int) -> Cost:
    for server in servers:
        server.log.clear()
    began, kernel, field = watch.cpu_seconds(), _kernel_s(watch.pid), time.process_time()
    at = time.monotonic()
    await asyncio.sleep(load.window_s)
    took = time.monotonic() - at
    used, in_kernel = watch.cpu_seconds() - began, _kernel_s(watch.pid) - kernel
    polls = sum(len(server.log) for server in servers) / took
    due = heads * 1000 / load.period_ms
    return Cost(
        heads=heads,
        core_pct=used / took * 100,
        kernel_pct=in_kernel / took * 100,
        resident_mib=watch.resident_mib(),
        late_pct=max(0.0, (due / polls - 1) * 100) if polls else float("inf"),
        field_pct=(time.process_time() - field) / took * 100,
    )


def _kernel_s(process: int) -> float:
    """Seconds that a process has spent in the kernel, by the kernel's own ticks."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return int(fields[12]) / os.sysconf("SC_CLK_TCK")
