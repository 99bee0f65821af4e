"""The law on a large depot: 3,840 containers in groups, 40 extinguishers, 30 heads, every pack there is."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import product
from pathlib import Path
from statistics import median

from bench.figures import Figure
from compliance import catalogue, statutes
from compliance.evaluate import evaluate
from compliance.situation import Situation
from compliance.vocabulary import DEPOT, Fact, Subject, Value

ON = date(2026, 6, 1)
SIZES = (2.0, 5.0, 8.0, 13.0, 20.0, 45.0)
STATES = ("full", "part-used", "empty", "new")
YEARS = range(2008, 2024)
CONTAINERS = 3_840
EXTINGUISHERS = 40
HEADS = 30
AREAS = ("patio", "fundos")
TARGET_MS = 50.0


@dataclass(frozen=True, slots=True)
class Load:
    """How often the depot is judged."""

    times: int


async def judge(case: str, load: Load, _folder: Path) -> list[Figure]:
    """Every fact of the depot gathered, then every rule of every pack, with the day each verdict holds until."""
    listed = catalogue.load()
    packs = statutes.load_all(catalogue=listed)
    facts = list(depot())

    def once() -> int:
        told = Situation.of(facts, listed, ON)
        return sum(len(evaluate(pack, told, ON)) for pack in packs)

    name = f"{len(facts):,} facts, {len(packs)} packs, {once():,} findings"
    return [Figure(case, name, _milliseconds(once, load.times), "ms", target=TARGET_MS)]


def depot() -> Iterator[Fact]:
    """All that is told of the depot."""
    for kind in ("containers", "extinguishers", "detectors", "outputs", "lots"):
        yield from _told(DEPOT, {f"{kind}_listed": True})
    for area in AREAS:
        yield from _told(Subject("area", area), {"licensed_kg": 49_920.0, "use": "resale", "boundary_walled": True})
    yield from _told(Subject("between", "1"), {"one": AREAS[0], "other": AREAS[1], "distance_m": 30.0})
    groups = list(product(SIZES, STATES, YEARS))
    for number, (size, state, year) in enumerate(groups):
        told = {"area": AREAS[number % 2], "size_kg": size, "state": state, "made_on": date(year, 1, 1)}
        told |= {"count": CONTAINERS // len(groups), "place": "area", "brand": "A", "lot": f"L{number % 20}"}
        yield from _told(Subject("container", f"g{number}"), told)
    for number in range(20):
        yield from _told(Subject("lot", f"L{number}"), {"area": AREAS[number % 2]})
    for number in range(EXTINGUISHERS):
        until, inspected = ON + timedelta(days=30 + 7 * number), ON - timedelta(days=5 * number)
        told = {"area": AREAS[number % 2], "agent": "powder-bc", "charge_kg": 12.0, "sealed": True, "present": True}
        told |= {"charge_until": until, "hydrostatic_until": until + timedelta(days=700), "inspected_on": inspected}
        yield from _told(Subject("extinguisher", f"E{number}"), told)
    for number in range(HEADS):
        told = {"area": AREAS[number % 2], "watching": True, "set_point_lel_pct": 10.0, "reference_vol_pct": 1.4}
        told |= {"certified_s": 2.5, "measured_s": 1.9, "calibrated_on": ON - timedelta(days=3 * number)}
        yield from _told(Subject("detector", f"GD-{number}"), told)


def _told(subject: Subject, facts: dict[str, Value]) -> Iterator[Fact]:
    return (Fact(subject, name, value, ON) for name, value in facts.items())


def _milliseconds(once: Callable[[], object], times: int) -> float:
    """Median time of one call, in milliseconds of CPU time."""
    taken = []
    for _ in range(times):
        began = time.process_time()
        once()
        taken.append((time.process_time() - began) * 1000)
    return median(taken)
