"""Performs deliveries: one lane for each channel, so that a hung one delays only itself. Decides no repeats.

What is due, and when again, is the outbox's word; the dispatcher makes the attempt it was asked for and reports exactly
one outcome for it, whatever happens on the way. A repeat that meets its own waiting attempt shares that one's outcome.
It starts no tasks: `workers` names the coroutines, the runtime supervises them.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from alerts.alarms import AlarmEvent, Delivery, Kind, Notice, Outcome, Verdict

WAITING_MAX = 1000
"""Deliveries that may wait in one lane. A full lane answers ``queue-full``; the outbox asks again later."""

Compose = Callable[[AlarmEvent, Delivery, bool], Notice]
"""Makes the notice of (event, delivery, recorded) as late as the attempt itself, so that it says what holds then."""


class Channel(Protocol):
    """One way out of the house.

    Attributes:
        counts: an accepted notice counts as a first output (promise 1). A page or a console never does.
        attempt_timeout_s: an attempt longer than this is given up and answered RETRY ``timeout``.
        parallel: attempts at once.
    """

    id: str
    counts: bool
    attempt_timeout_s: float
    parallel: int

    async def run(self) -> None:
        """Keep what must be kept (a session, a connection) until cancelled."""
        ...

    async def deliver(self, notice: Notice) -> Outcome:
        """Make one attempt. The world's faults are answers, RETRY or REFUSED; what is raised is a bug of ours."""
        ...


@dataclass(frozen=True, slots=True)
class LaneCount:
    """Figures of one lane since the start. `crowded_out` were answered ``queue-full`` without an attempt."""

    waiting: int
    in_hand: int
    attempts: int
    timeouts: int
    crowded_out: int


@dataclass(frozen=True, slots=True)
class _Job:
    delivery: Delivery
    event: AlarmEvent
    recorded: bool


class Dispatcher:
    """Takes deliveries from the engine's side, hands them to channels, reports every outcome once."""

    def __init__(
        self, channels: Sequence[Channel], *, compose: Compose, outcome: Callable[[Delivery, Outcome], None]
    ) -> None:
        """`outcome` is called on the loop, never from inside `submit`: the engine is not entered while it acts."""
        self._report = outcome
        self._lanes = {channel.id: _Lane(channel, compose, outcome) for channel in channels}

    def submit(self, delivery: Delivery, event: AlarmEvent, recorded: bool) -> None:
        """Queue one attempt. Never blocks, never calls back; must be called on the loop's thread."""
        lane = self._lanes.get(delivery.channel)
        if lane is None:
            # A delivery owed from before a change of configuration: nobody will ever take it.
            self._answer(delivery, Outcome(Verdict.REFUSED, "unknown-channel"))
            return
        crowded_out = lane.put(_Job(delivery, event, recorded))
        if crowded_out is not None:
            self._answer(crowded_out, Outcome(Verdict.RETRY, "queue-full"))

    def workers(self) -> Sequence[tuple[str, Callable[[], Awaitable[None]]]]:
        """Name what the runtime must keep running: each channel's `run`, and as many workers as it works at once."""
        named: list[tuple[str, Callable[[], Awaitable[None]]]] = []
        for lane in self._lanes.values():
            named.append((f"channel:{lane.channel.id}", lane.channel.run))
            named.extend(
                (f"delivery:{lane.channel.id}:{slot}", partial(lane.work, slot))
                for slot in range(1, max(lane.channel.parallel, 1) + 1)
            )
        return named

    def counts(self) -> Mapping[str, LaneCount]:
        """Return the figures of each lane, by channel id."""
        return {name: lane.count() for name, lane in self._lanes.items()}

    def _answer(self, delivery: Delivery, outcome: Outcome) -> None:
        asyncio.get_running_loop().call_soon(self._report, delivery, outcome)


class _Lane:
    """One channel's queue and its workers. Gas overtakes everything else that waits; among equals, first come."""

    def __init__(self, channel: Channel, compose: Compose, report: Callable[[Delivery, Outcome], None]) -> None:
        self.channel = channel
        self._compose = compose
        self._report = report
        self._gas: OrderedDict[str, _Job] = OrderedDict()
        self._others: OrderedDict[str, _Job] = OrderedDict()
        self._filled = asyncio.Semaphore(0)
        self._in_hand: dict[int, Delivery] = {}
        self._attempts = 0
        self._timeouts = 0
        self._crowded_out = 0

    def put(self, job: _Job) -> Delivery | None:
        """Queue a job; return the delivery that had to go for it, the newest of the least urgent.

        A repeat of a delivery that still waits takes its place: the outbox has given up on the earlier attempt.
        """
        crowded_out: Delivery | None = None
        queue = self._gas if job.event.key.kind is Kind.GAS else self._others
        if job.delivery.id in queue:
            queue[job.delivery.id] = job
            return None
        if len(self._gas) + len(self._others) >= WAITING_MAX:
            self._crowded_out += 1
            if queue is self._others or not self._others:
                return job.delivery
            crowded_out = self._others.popitem()[1].delivery
        queue[job.delivery.id] = job
        self._filled.release()  # wakes one worker, not all of them
        return crowded_out

    async def work(self, slot: int) -> None:
        """Make one attempt after the other until cancelled.

        A worker that ends in the middle of an attempt (a bug, which the runtime reports) leaves the delivery under its
        slot; its successor answers for it first, so that no delivery stays without an outcome.
        """
        lost = self._in_hand.pop(slot, None)
        if lost is not None:
            self._report(lost, Outcome(Verdict.RETRY, "worker-ended"))
        while True:
            job = await self._next()
            self._in_hand[slot] = job.delivery
            outcome = await self._attempt(job)
            del self._in_hand[slot]
            self._report(job.delivery, outcome)

    def count(self) -> LaneCount:
        waiting = len(self._gas) + len(self._others)
        return LaneCount(waiting, len(self._in_hand), self._attempts, self._timeouts, self._crowded_out)

    async def _next(self) -> _Job:
        await self._filled.acquire()
        while not self._gas and not self._others:
            await self._filled.acquire()  # that one was crowded out
        return (self._gas or self._others).popitem(last=False)[1]

    async def _attempt(self, job: _Job) -> Outcome:
        self._attempts += 1
        notice = self._compose(job.event, job.delivery, job.recorded)
        try:
            async with asyncio.timeout(self.channel.attempt_timeout_s):
                return await self.channel.deliver(notice)
        except TimeoutError:
            self._timeouts += 1
            return Outcome(Verdict.RETRY, "timeout")
