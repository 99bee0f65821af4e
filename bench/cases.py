"""Every case of the bench by name, in full and in short."""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias, TypeVar

from bench import growth, job, law, life, parts, promise, registers, store
from bench.figures import Figure

Case: TypeAlias = Callable[[str, Path], Coroutine[None, None, list[Figure]]]
"""Takes its name and an empty folder of its own."""

Load = TypeVar("Load")

JOB_100 = job.Load(devices=100, window_s=60.0, quiet_s=15.0, bare_s=8.0, crossings=200, soundings=50, target=8_000)
JOB_1000 = job.Load(devices=1000, window_s=60.0, quiet_s=15.0, bare_s=8.0, crossings=200, soundings=50, target=25_000)
PROMISE = promise.Load(units=25, mute=0, mqtt_heads=100, window_s=40.0, crossings=400, hard=False)
HARD = promise.Load(units=32, mute=3, mqtt_heads=100, window_s=60.0, crossings=432, hard=True)
LIFE = life.Load(window_s=15.0)
PARTS = parts.Load(times=20_000)
LARGEST = growth.Load(heads=(1000, 4000, 8000, 10_000), period_ms=1000, window_s=30.0)
FAST = growth.Load(heads=(1000,), period_ms=100, window_s=40.0, crossings=400)
DAY = store.Load(heads=500, seconds=86_400)
HOUR = store.Load(heads=500, seconds=3_600)
LINES = store.Load(heads=500, seconds=200)


def cases(*, quick: bool, seconds: float | None) -> Mapping[str, Case]:
    """Return all cases. `quick` only shows that they work; `seconds` replaces the length of every main window."""
    loads = (JOB_100, JOB_1000, PROMISE, HARD, LIFE, PARTS)
    job_100, job_1000, plain, hard, alive, pieces = _quick() if quick else loads
    if seconds is not None:
        job_100, job_1000 = replace(job_100, window_s=seconds), replace(job_1000, window_s=seconds)
        plain, hard = replace(plain, window_s=seconds), replace(hard, window_s=seconds)
        alive = replace(alive, window_s=seconds)
    longest, quickest = _fewer(LARGEST, (32, 64), quick=quick), _fewer(FAST, (64,), quick=quick)
    if seconds is not None:
        longest, quickest = replace(longest, window_s=seconds), replace(quickest, window_s=seconds)
    return {
        "job-100": _case(job.run, job_100),
        "job-1000": _case(job.run, job_1000),
        "promise": _case(promise.run, plain),
        "promise-hard": _case(promise.run, hard),
        "life": _case(life.run, alive),
        "decode": _case(parts.decode, pieces),
        "engine": _case(parts.engine, pieces),
        "journal": _case(parts.journal, pieces),
        "largest": _case(growth.largest, longest),
        "fast": _case(growth.fast, quickest),
        "store": _case(store.store, _shorter(DAY, quick=quick)),
        "outage": _case(store.outage, _shorter(HOUR, quick=quick)),
        "writer": _case(store.writer, _shorter(LINES, quick=quick)),
        "law": _case(law.judge, law.Load(times=2 if quick else 15)),
        "registers": _case(registers.run, registers.Load(2_000, 2_000) if quick else registers.Load(200_000, 50_000)),
    }


def _quick() -> tuple[job.Load, job.Load, promise.Load, promise.Load, life.Load, parts.Load]:
    small = replace(
        JOB_100, devices=20, window_s=3.0, quiet_s=1.0, bare_s=2.0, crossings=2, soundings=2, settle_s=2.0, bare_runs=1
    )
    return (
        small,
        replace(small, target=JOB_1000.target),
        replace(PROMISE, units=8, mqtt_heads=8, window_s=6.0, crossings=20),
        replace(HARD, units=18, mute=2, mqtt_heads=8, window_s=6.0, crossings=20),
        replace(LIFE, window_s=1.0),
        parts.Load(times=100),
    )


def _fewer(load: growth.Load, heads: tuple[int, ...], *, quick: bool) -> growth.Load:
    short = replace(load, heads=heads, window_s=3.0, crossings=min(load.crossings, 20), settle_s=3.2)
    return short if quick else load


def _shorter(load: store.Load, *, quick: bool) -> store.Load:
    return store.Load(heads=20, seconds=150) if quick else load


def _case(run: Callable[[str, Load, Path], Coroutine[None, None, list[Figure]]], load: Load) -> Case:
    return lambda name, folder: run(name, load, folder)
