"""A clock moved by hand, readings and scans to record, and a sender in a test's own hands."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any

from gateway.store.sender import Sender
from gateway.store.settings import Pace, Target
from gateway.store.spool import Bounds, Spool
from sensors.readings import DetectorId, Quality, Reading, Scan, Status
from sensors.stamps import MILLISECOND, SECOND, Clock, Instant, Stamp, UtcNanos

BEGIN_S = 1_796_040_000
"""2026-11-30T12:00:00Z, a full hour."""


@dataclass
class HandClock:
    """A clock that stands until it is moved."""

    utc_ns: int = BEGIN_S * SECOND
    mono_ns: int = 0

    def now(self) -> Stamp:
        return Stamp(Instant(self.mono_ns), UtcNanos(self.utc_ns))

    def forward(self, seconds: float) -> None:
        self.utc_ns += round(seconds * SECOND)
        self.mono_ns += round(seconds * SECOND)


def reading(detector: str, lel_pct: float | None, at_s: float, **different: Any) -> Reading:
    values: dict[str, Any] = {
        "detector": DetectorId(detector),
        "lel_pct": lel_pct,
        "at_least": None,
        "quality": Quality.GOOD if lel_pct is not None else Quality.BAD,
        "status": Status.MEASURING if lel_pct is not None else Status.NO_CONTACT,
        "raw": None,
        "taken": Stamp(Instant(round((at_s - BEGIN_S) * SECOND)), UtcNanos(round(at_s * 1000) * MILLISECOND)),
    }
    return Reading(**(values | different))


def scan(*readings: Reading) -> Scan:
    return Scan("detectores", readings, readings[0].taken)


HURRIED = Pace(
    first_retry=0.02, longest_retry=0.05, refused_retry=0.1, unwell_after=0.3, prove=3600.0, catch_up=1_000_000.0
)
"""As the real pace, for tests that wait."""

ROOMY = Bounds(64 * 2**20, 30 * 86_400_000)


class Troubles:
    """What a sender told, latest last."""

    def __init__(self) -> None:
        self.told: list[tuple[bool, str, str]] = []

    def __call__(self, present: bool, reason: str, detail: str) -> None:
        self.told.append((present, reason, detail))

    @property
    def reasons(self) -> list[str]:
        return [reason for _, reason, _ in self.told]


@contextlib.asynccontextmanager
async def sending(
    spool: Spool, url: str, clock: Clock, pace: Pace = HURRIED, **target: Any
) -> AsyncIterator[tuple[Sender, Troubles]]:
    """A sender at work on this spool."""
    troubles = Troubles()
    aim = replace(Target(url, "vigia", timeout_s=2.0), **target)
    sender = Sender(spool, aim, pace, depot="centro", clock=clock, trouble=troubles)
    task = asyncio.create_task(sender.run())
    try:
        yield sender, troubles
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
