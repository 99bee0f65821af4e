"""Reads the scales in the gaps of their lines, and has each weighing kept in the journal at once. Judges nothing."""

import asyncio
from collections.abc import Callable

from gateway.engine.events import Entry, SystemCondition
from gateway.engine.weighing import WEIGHED, Platform, Scale, body_of
from sensors.drivers.modbus import ModbusBus
from sensors.stamps import SECOND, Clock
from sensors.wire.scales import RegisterScale

PAUSES = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds until a scale that does not answer is asked again, each failure longer: behind a slow converter its silence
holds the line."""


class ScaleWatch:
    """Asks one scale again and again. `run` it; it ends only when cancelled.

    Args:
        keep: has each weighing kept.
        tell: is told when it cannot be read for long, and when it can again.
    """

    def __init__(
        self,
        scale: Scale,
        bus: ModbusBus,
        clock: Clock,
        keep: Callable[[Entry], None],
        tell: Callable[[SystemCondition], None],
    ) -> None:
        self._scale = scale
        self._registers = RegisterScale(scale.unit, scale.points, scale.kg_per_unit)
        self._bus = bus
        self._clock = clock
        self._keep = keep
        self._tell = tell
        self._platform = Platform(scale)
        self._seen = clock.now().mono
        self._failures = 0
        self._told = False
        self._answered = asyncio.Event()

    async def run(self) -> None:
        """Ask every `check_s`, one question at a time."""
        while True:
            self._answered.clear()
            self._bus.glance(self._scale.unit, self._registers, self._heard)
            await self._answered.wait()
            pause = PAUSES[min(self._failures, len(PAUSES)) - 1] if self._failures else self._scale.check_s
            await asyncio.sleep(pause)

    def _heard(self, answered: bool | None, reason: str) -> None:
        now = self._clock.now()
        self._answered.set()
        if answered is None:
            self._failures += 1
            self._platform.lost()
        else:
            self._failures, weight = 0, self._registers.weight(now)
            reason = weight.reason
            if weight.kg is not None:
                self._seen = now.mono
            weighing = self._platform.shown(weight, now)
            if weighing is not None:
                self._keep(Entry(WEIGHED, body_of(self._scale, weighing)))
        unseen = now.mono - self._seen > self._scale.unseen_s * SECOND
        if unseen is not self._told:
            self._told = unseen
            self._tell(SystemCondition(f"scale:{self._scale.id}", unseen, reason, "", now))
