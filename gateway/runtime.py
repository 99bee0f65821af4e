"""Keeps the parts of the watch running: the only module that spawns tasks, restarts them, and ends them in order."""

import asyncio
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import structlog

FIRST_RESTART_S = 0.05
LONGEST_RESTART_S = 2.0
WELL_AFTER_S = 60.0
"""A part that has run this long since its last start is well again. One that dies every few seconds is one notice."""

AGAIN_FIRST_S, AGAIN_LAST_S = 60.0, 3600.0
"""After so long the log says again how often a part has failed; then after twice as long, and so on."""

MOST_REASONS = 20
"""Reasons of one part that are told with their trace before it has run well again."""

END_WITHIN_S = 1.0
"""How long cancelled parts may take to put their things away."""

Part = Callable[[], Awaitable[None]]
Trouble = Callable[[str, bool, str], None]
"""Called with (part, unwell, reason) when a part has ended on its own, and when it has run well again for a while."""


@dataclass(slots=True)
class _Running:
    name: str
    group: str
    task: "asyncio.Task[None]"


@dataclass(slots=True)
class _Failing:
    """What a part has failed of since it last ran well, and what the log was told of it."""

    reasons: set[str] = field(default_factory=set)
    times: int = 0
    say_at: float = 0.0
    every_s: float = AGAIN_FIRST_S

    def is_new(self, reason: str, now: float) -> bool:
        """Count one more failure; tell whether its reason is to be told with its trace."""
        self.times += 1
        if reason in self.reasons or len(self.reasons) >= MOST_REASONS:
            return False
        self.reasons.add(reason)
        self.say_at = now + self.every_s
        return True

    def is_due(self, now: float) -> bool:
        """Tell whether it is time to say how often it has failed by now."""
        if now < self.say_at:
            return False
        self.every_s = min(2 * self.every_s, AGAIN_LAST_S)
        self.say_at = now + self.every_s
        return True


class Runtime:
    """Supervised parts in named groups. A part that ends, however it ends, is told and started again."""

    def __init__(self, trouble: Trouble) -> None:
        self._trouble = trouble
        self._running: list[_Running] = []
        self._log = structlog.get_logger("runtime")
        self.restarts = 0

    def start(self, name: str, part: Part, group: str, *, longest_pause_s: float = LONGEST_RESTART_S) -> None:
        """Run a part until its group is ended. A start that costs much may ask for a longer pause between tries."""
        task = asyncio.create_task(self.supervise(name, part, longest_pause_s), name=name)
        self._running.append(_Running(name, group, task))

    def once(self, name: str, part: Part) -> None:
        """Run something once, such as taking new orders; what it raises is told like the loss of a part."""
        self._running.append(_Running(name, "once", asyncio.create_task(self._guarded(name, part), name=name)))

    async def _guarded(self, name: str, part: Part) -> None:
        running = asyncio.current_task()
        try:
            reason = await self._outcome(name, part, _Failing())
            self._trouble(name, bool(reason), reason)
        finally:
            self._running = [other for other in self._running if other.task is not running]

    async def end(self, group: str) -> None:
        """Cancel every part of a group and wait, at most `END_WITHIN_S`, until they have put their things away."""
        members = [running.task for running in self._running if running.group == group]
        self._running = [running for running in self._running if running.group != group]
        for task in members:
            task.cancel()
        if members:
            _, late = await asyncio.wait(members, timeout=END_WITHIN_S)
            for task in late:
                self._log.warning("part did not end in time", part=task.get_name())

    async def supervise(self, name: str, part: Part, longest_pause_s: float = LONGEST_RESTART_S) -> None:
        """Run one part for ever: restarted at once, then with a backoff that is capped; each loss is told."""
        loop = asyncio.get_running_loop()
        pause, failing = 0.0, _Failing()
        while True:
            began = loop.time()
            well = loop.call_later(WELL_AFTER_S, self._trouble, name, False, "")
            try:
                reason = await self._outcome(name, part, failing) or "ended"
            finally:
                well.cancel()
            self.restarts += 1
            self._trouble(name, True, reason)
            if loop.time() - began > WELL_AFTER_S:
                pause, failing = 0.0, _Failing()
            await asyncio.sleep(pause)
            pause = min(max(pause * 2, FIRST_RESTART_S), longest_pause_s)

    async def _outcome(self, name: str, part: Part, failing: _Failing) -> str:
        """Run a part to its end; return what it died of, empty when it simply ended.

        Of what was told already, the log hears now and then how often it was.
        """
        try:
            await part()
        except Exception as fault:  # noqa: BLE001 - the one place: whatever a part dies of, the others go on
            reason = f"{type(fault).__name__}: {fault}"[:200]
            now = asyncio.get_running_loop().time()
            if failing.is_new(reason, now):
                self._log.error("part failed", part=name, error=str(fault), trace=traceback.format_exc(limit=-6))
            elif failing.is_due(now):
                self._log.error("part fails again and again", part=name, error=str(fault), times=failing.times)
            return reason
        return ""
