"""Long swarms, for `make soak`: as many depot-days as are asked for, and a week in which nothing grows.

VIGIA_SOAK_DEPOT_DAYS says how many (200 without it). A depot-day takes about 20 s of one core, so a night of eight
hours on two cores gives some 2,800; the goal of 10,000 takes two cores more than a day.
"""

import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median

import pytest

from simulator import draws, swarm, timelines

pytestmark = pytest.mark.soak

DAYS = int(os.environ.get("VIGIA_SOAK_DEPOT_DAYS", "200"))
DAY_H = 24.0
FIRST = 10_000
WEEK_H = 7 * DAY_H
PAGE_KIB = 4
GROWTH = 1.05


def test_depot_days_keep_every_promise() -> None:
    seeds = range(FIRST, FIRST + DAYS)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for verdict in pool.map(swarm.judge, seeds, [DAY_H] * DAYS):
            again = f"vigia swarm --seed {verdict.seed} --seeds 1 --hours {DAY_H:g}"
            assert not verdict.broken, f"{again}: {verdict.broken[0]}"


def test_a_week_leaves_memory_as_it_was() -> None:
    kib: dict[int, list[int]] = {}

    def look(now_s: float) -> None:
        resident = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * PAGE_KIB
        kib.setdefault(int(now_s // 86_400), []).append(resident)

    drawn = draws.depot(2)
    verdict = swarm.play(2, drawn, timelines.timeline(2, drawn, WEEK_H), WEEK_H, look)
    assert not verdict.broken, verdict.broken[0]
    assert median(kib[6]) <= GROWTH * median(kib[2]), {day: median(values) for day, values in kib.items()}
