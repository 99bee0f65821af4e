"""The phones of a virtual depot: they take notices, or hang, fail and refuse as they are told."""

import asyncio
from collections.abc import Callable

from alerts.alarms import Notice, Outcome, Verdict


class Phone:
    """One way of telling people, whichever gateway uses it. What it took is told to the checker."""

    counts = True
    parallel = 4
    attempt_timeout_s = 3.0

    def __init__(self, id: str, took: Callable[["Phone", Notice], None]) -> None:  # noqa: A002 - the noun
        self.id = id
        self.mood = "well"
        self._took = took

    async def run(self) -> None:
        """Nothing to keep."""
        await asyncio.Event().wait()

    async def deliver(self, notice: Notice) -> Outcome:
        """Take a notice, or do with it what its mood is."""
        match self.mood:
            case "hung":
                await asyncio.sleep(60.0)
            case "failing":
                await asyncio.sleep(0.02)
                return Outcome(Verdict.RETRY, "HTTP 503")
            case "refusing":
                await asyncio.sleep(0.02)
                return Outcome(Verdict.REFUSED, "HTTP 400")
        await asyncio.sleep(0.05)
        self._took(self, notice)
        if self.mood == "takes-and-hangs":
            await asyncio.sleep(60.0)
        return Outcome(Verdict.ACCEPTED)
