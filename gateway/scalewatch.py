"""Reads the scales in the gaps of their lines, and hands each weighing on until the office has it. Judges nothing."""

import asyncio
from collections import deque
from collections.abc import Callable
from pathlib import Path

import msgspec
import structlog

from dashboards.office import Reply, Weighed
from gateway.control import ControlError
from gateway.events import SystemCondition
from gateway.office.door import ask_watch
from gateway.weighing import Platform, Scale, Weighing
from sensors.drivers.modbus import ModbusBus
from sensors.stamps import MILLISECOND, SECOND, Clock
from sensors.wire.scales import RegisterScale

MOST_WAITING = 200
"""Weighings that may wait for the office; more are dropped and said."""

ANSWER_WITHIN_S = 20.0
AGAIN_FIRST_S, AGAIN_LAST_S = 1.0, 10.0

FINAL = frozenset({"refused", "failed", "bad-request"})
"""Answers after which the same weighing is not sent again; the others come of a journal that is slow or not there."""

PAUSES = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds until a scale that does not answer is asked again, each failure longer: behind a slow converter its silence
holds the line."""


class ScaleWatch:
    """Asks one scale again and again. `run` it; it ends only when cancelled.

    Args:
        weighed: is told each weighing.
        tell: is told when it cannot be read for long, and when it can again.
    """

    def __init__(
        self,
        scale: Scale,
        bus: ModbusBus,
        clock: Clock,
        weighed: Callable[[Scale, Weighing], None],
        tell: Callable[[SystemCondition], None],
    ) -> None:
        self._scale = scale
        self._registers = RegisterScale(scale.unit, scale.points, scale.kg_per_unit)
        self._bus = bus
        self._clock = clock
        self._weighed = weighed
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
                self._weighed(self._scale, weighing)
        unseen = now.mono - self._seen > self._scale.unseen_s * SECOND
        if unseen is not self._told:
            self._told = unseen
            self._tell(SystemCondition(f"scale:{self._scale.id}", unseen, reason, "", now))


class Weighings:
    """Those that the office has not taken yet, oldest first. `run` it; it ends only when cancelled.

    A weighing is sent again until the office says that it has it, or that it never will; it counts once.
    """

    def __init__(self, office: Path) -> None:
        self._office = office
        self._waiting: deque[Weighed] = deque()
        self._more = asyncio.Event()
        self._log = structlog.get_logger("scale")

    def add(self, scale: Scale, weighing: Weighing) -> None:
        """One more."""
        if len(self._waiting) >= MOST_WAITING:
            self._log.error("weighing dropped", source=scale.id, kg=str(weighing.kg), waiting=MOST_WAITING)
            return
        self._waiting.append(Weighed(1, scale.id, str(weighing.kg), weighing.at.utc // MILLISECOND))
        self._more.set()

    async def run(self) -> None:
        """Hand them over, one after another."""
        pause = AGAIN_FIRST_S
        while True:
            if not self._waiting:
                self._more.clear()
                await self._more.wait()
            if await self._handed(self._waiting[0]):
                self._waiting.popleft()
                pause = AGAIN_FIRST_S
            else:
                await asyncio.sleep(pause)
                pause = min(2 * pause, AGAIN_LAST_S)

    async def _handed(self, weighed: Weighed) -> bool:
        """Tell whether it need not be sent again."""
        try:
            raw = await ask_watch(self._office, weighed, ANSWER_WITHIN_S)
            reply = msgspec.json.decode(raw, type=Reply)
        except (ControlError, msgspec.DecodeError):
            return False
        final = reply.error in FINAL
        if final:
            problems = [fault.problem for fault in reply.faults] or [str(reply.data)]
            self._log.error("weighing refused", source=weighed.source, kg=weighed.kg, problems=problems)
        return reply.ok or final
