"""The hot path's parts on their own, in this process: decoding a block, the engine's turn, a journal's commit."""

import queue
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from bench.depots import DEPOT, Bus, depot_file, detector_on
from bench.figures import Aim, Figure, percentile
from gateway.configuration.loading import load
from gateway.depot import Depot
from gateway.engine.engine import Engine
from gateway.engine.events import Record
from gateway.field.wiring import Ears, build, orders
from gateway.journal import Journal
from gateway.machine.clock import SystemClock
from gateway.sealing.sealing import Sealing
from sensors.drivers.modbus import installed_head
from sensors.drivers.pacer import Pacer
from sensors.readings import DetectorId, Quality, Reading, Scan, Status
from sensors.stamps import Instant, Stamp, UtcNanos
from sensors.wire.registers import plan

ROUNDS = 5
HEADS = 100
COMMIT_S = 10.0
READING_US = 10.0


@dataclass(frozen=True, slots=True)
class Load:
    """How often each thing is done in a round."""

    times: int


async def decode(case: str, load_: Load, folder: Path) -> list[Figure]:
    """A block of ten registers, value first and status last, to its judged reading."""
    head = _depot(folder, 1).buses[0].heads[0]
    (block,) = plan(head.unit, [installed_head(head)])
    words = bytearray(20)
    words[1] = 42
    stamp = SystemClock().now()

    def once() -> None:
        block.readings(words, 0, stamp)

    return [Figure(case, "10 registers to a judged reading", _microseconds(once, load_.times), "us")]


async def engine(case: str, load_: Load, folder: Path) -> list[Figure]:
    """A reading through the engine: in clean air, in standing gas, and one that raises or clears an alarm."""
    standing = _engine_us(folder, load_.times // 10, (15.0,))
    return [
        Figure(case, "clean reading", _engine_us(folder, load_.times, (1.0,)), "us", Aim.AT_MOST, READING_US),
        Figure(case, "reading in standing gas", standing, "us", Aim.AT_MOST, READING_US),
        Figure(case, "reading that raises or clears", _engine_us(folder, load_.times // 100, (15.0, 1.0)), "us"),
    ]


async def journal(case: str, load_: Load, folder: Path) -> list[Figure]:
    """An alarm's record with its signed checkpoint, from its submission to the disk's word, one at a time."""
    watched = _engine(folder)
    sealing = Sealing(replace(_depot(folder, HEADS), data=folder, id=DEPOT))
    book = Journal.open(folder / "bench.db", depot=DEPOT, seal=sealing.seal)
    committed: queue.Queue[int] = queue.Queue()
    book.start(committed=committed.put, trouble=lambda _unwell, _reason: None)
    times: list[float] = []
    clock = SystemClock()
    for record in watched.start(clock.now()):
        if isinstance(record, Record):
            book.submit(record)
            committed.get(timeout=COMMIT_S)
    for number in range(max(20, load_.times // 100)):
        gas = 15.0 if number % 2 == 0 else 1.0
        now = clock.now()
        for record in watched.receive(_scan(0, gas, now), now):
            if isinstance(record, Record):
                began = time.perf_counter()
                book.submit(record)
                committed.get(timeout=COMMIT_S)
                times.append((time.perf_counter() - began) * 1000)
    book.close(COMMIT_S)
    return [
        Figure(case, "commit p50", percentile(times, 50), "ms"),
        Figure(case, "commit p99", percentile(times, 99), "ms"),
    ]


def _depot(folder: Path, heads: int) -> Depot:
    file = folder / f"parts-{heads}.toml"
    buses = [Bus("linha", 1502, tuple(range(1, heads + 1)), 1000, 200)]
    file.write_text(depot_file(web=8080, mqtt=1883, buses=buses), encoding="utf-8")
    return load(file, {}).depot


def _engine(folder: Path) -> Engine:
    depot = _depot(folder, HEADS)
    ears = Ears(
        scan=lambda _: None,
        link=lambda _: None,
        output=lambda _output, _on, _reason: None,
        outcome=lambda _delivery, _outcome: None,
        alarm=lambda _: None,
        condition=lambda _: None,
        keep=lambda _: None,
    )
    wiring = build(depot, SystemClock(), Pacer(), ears)
    return Engine(orders(depot, wiring), "bench", None, SystemClock().now())


def _engine_us(folder: Path, times: int, gases: tuple[float, ...]) -> float:
    """Microseconds of `receive` for a head that shows these values in turn."""
    watched = _engine(folder)
    clock = SystemClock()
    watched.start(clock.now())
    now = clock.now()
    scans = [_scan(0, gas, now) for gas in gases]
    moment = now

    def once() -> None:
        nonlocal moment
        moment = Stamp(Instant(moment.mono + 1_000_000), UtcNanos(moment.utc + 1_000_000))
        for scan in scans:
            watched.receive(scan, moment)

    return _microseconds(once, max(10, times)) / len(gases)


def _scan(number: int, lel_pct: float, now: Stamp) -> Scan:
    bus = Bus("linha", 1502, (), 1000, 200)
    detector = DetectorId(detector_on(bus, number + 1))
    reading = Reading(detector, lel_pct, None, Quality.GOOD, Status.MEASURING, round(lel_pct * 10), now)
    return Scan("linha", (reading,), now)


def _microseconds(once: Callable[[], None], times: int) -> float:
    """Median over the rounds of the mean time of one call, in microseconds of CPU time."""
    rounds = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(times):
            once()
        rounds.append((time.process_time() - began) / times * 1e6)
    return median(rounds)
