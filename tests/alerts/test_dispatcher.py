"""Deliveries side by side: gas goes first, a hung channel holds up no other, and each is answered once."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from alerts.alarms import AlarmEvent, Cause, Delivery, EventId, Kind, Notice, Outcome, Verdict
from alerts.dispatcher import WAITING_MAX, Dispatcher

Make = Callable[..., Any]
Play = Callable[..., None]


@dataclass
class Door:
    """A channel whose answers the test scripts: an outcome, a delay before it, or an exception."""

    id: str = "hook"
    counts: bool = True
    attempt_timeout_s: float = 3.0
    parallel: int = 1
    takes_s: float = 0.0
    script: list[Outcome | Exception] = field(default_factory=list)
    seen: list[tuple[float, Notice]] = field(default_factory=list)
    running: int = 0

    async def run(self) -> None:
        self.running += 1
        try:
            await asyncio.Event().wait()
        finally:
            self.running -= 1

    async def deliver(self, notice: Notice) -> Outcome:
        self.seen.append((asyncio.get_running_loop().time(), notice))
        await asyncio.sleep(self.takes_s)
        answer = self.script.pop(0) if self.script else Outcome(Verdict.ACCEPTED)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def order(self) -> list[str]:
        return [notice.delivery.id for _, notice in self.seen]


class Desk:
    """The engine's side: composes, and writes down outcomes with the moment they came."""

    def __init__(self) -> None:
        self.outcomes: list[tuple[float, Delivery, Outcome]] = []
        self.compose_fails = 0
        self._changed = asyncio.Event()

    def compose(self, event: AlarmEvent, delivery: Delivery, recorded: bool) -> Notice:
        if self.compose_fails:
            self.compose_fails -= 1
            raise LookupError("words without a key")
        return Notice(delivery, event, "d", "patio", recorded, "texto")

    def outcome(self, delivery: Delivery, outcome: Outcome) -> None:
        self.outcomes.append((asyncio.get_running_loop().time(), delivery, outcome))
        self._changed.set()

    async def has(self, count: int) -> None:
        while len(self.outcomes) < count:
            self._changed.clear()
            await self._changed.wait()

    def told(self) -> list[tuple[str, str, str]]:
        return [(delivery.id, outcome.verdict.value, outcome.reason) for _, delivery, outcome in self.outcomes]


@asynccontextmanager
async def at_work(dispatcher: Dispatcher, restart_s: float = 0.1) -> Any:
    """Run every worker as the runtime does: restarted after a fault, cancelled at the end."""
    faults: list[str] = []

    async def supervised(name: str, coroutine: Callable[[], Any]) -> None:
        while True:
            try:
                await coroutine()
            except (LookupError, ZeroDivisionError) as fault:
                faults.append(f"{name}: {fault!r}")
                await asyncio.sleep(restart_s)

    async with AsyncExitStack() as stack:
        for name, coroutine in dispatcher.workers():
            task = asyncio.create_task(supervised(name, coroutine))

            async def end(task: asyncio.Task[None] = task) -> None:
                task.cancel()
                await asyncio.wait([task])

            stack.push_async_callback(end)
        yield faults


@pytest.fixture
def make_owed(make_event: Make) -> Callable[..., tuple[Delivery, AlarmEvent]]:
    def make(
        name: str, channel: str = "hook", kind: Kind = Kind.GAS, attempt: int = 1, **changes: Any
    ) -> tuple[Delivery, AlarmEvent]:
        event = make_event(kind=kind, id=EventId(name), **changes)
        return Delivery(name, event.id, "dona", channel, attempt), event

    return make


def test_an_accepted_delivery_is_reported_once_with_its_notice(play: Play, make_owed: Make) -> None:
    async def story() -> None:
        door, desk = Door(), Desk()
        dispatcher = Dispatcher([door], compose=desk.compose, outcome=desk.outcome)
        async with at_work(dispatcher):
            delivery, event = make_owed("e1")
            dispatcher.submit(delivery, event, False)
            await desk.has(1)
        assert desk.told() == [("e1", "accepted", "")]
        assert (door.seen[0][1].delivery, door.seen[0][1].recorded) == (delivery, False)

    play(story())


def test_what_is_submitted_before_the_workers_start_is_delivered(play: Play, make_owed: Make) -> None:
    async def story() -> None:
        door, desk = Door(), Desk()
        dispatcher = Dispatcher([door], compose=desk.compose, outcome=desk.outcome)
        dispatcher.submit(*make_owed("e1"), True)
        assert door.running == 0
        async with at_work(dispatcher):
            await desk.has(1)
            assert door.running == 1
        assert door.running == 0

    play(story())


def test_a_hung_channel_leaves_the_others_latency_alone(play: Play, make_owed: Make) -> None:
    async def story() -> None:
        hung, quick, desk = Door("hung", parallel=2, takes_s=1e6), Door("quick"), Desk()
        dispatcher = Dispatcher([hung, quick], compose=desk.compose, outcome=desk.outcome)
        async with at_work(dispatcher):
            for n in range(20):
                dispatcher.submit(*make_owed(f"h{n}", "hung"), True)
            for n in range(20):
                dispatcher.submit(*make_owed(f"q{n}", "quick"), True)
                await desk.has(n + 1)
            assert [(when, delivery.channel) for when, delivery, _ in desk.outcomes] == [(0.0, "quick")] * 20
            await desk.has(40)
        late = [(when, outcome) for when, delivery, outcome in desk.outcomes if delivery.channel == "hung"]
        # Two at once, each given up after its 3 s.
        assert [when for when, _ in late] == [3.0 * (n // 2 + 1) for n in range(20)]
        assert {outcome for _, outcome in late} == {Outcome(Verdict.RETRY, "timeout")}
        assert dispatcher.counts()["hung"].timeouts == 20

    play(story())


def test_gas_overtakes_everything_that_waits(play: Play, make_owed: Make) -> None:
    async def story() -> None:
        door, desk = Door(takes_s=1.0), Desk()
        dispatcher = Dispatcher([door], compose=desk.compose, outcome=desk.outcome)
        async with at_work(dispatcher):
            dispatcher.submit(*make_owed("in-hand", kind=Kind.SYSTEM), True)
            await asyncio.sleep(0.5)
            for name, kind in (("b1", Kind.BLIND), ("s1", Kind.SYSTEM), ("g1", Kind.GAS), ("g2", Kind.GAS)):
                dispatcher.submit(*make_owed(name, kind=kind), True)
            await desk.has(5)
        assert door.order() == ["in-hand", "g1", "g2", "b1", "s1"]

    play(story())


def test_a_full_lane_answers_at_once_and_counts(play: Play, make_owed: Make) -> None:
    async def story() -> None:
        door, desk = Door(), Desk()
        dispatcher = Dispatcher([door], compose=desk.compose, outcome=desk.outcome)
        for n in range(WAITING_MAX):
            dispatcher.submit(*make_owed(f"b{n}", kind=Kind.BLIND), True)
        dispatcher.submit(*make_owed("b-over", kind=Kind.BLIND), True)
        assert desk.outcomes == [], "the engine must not be entered from inside submit"
        await desk.has(1)
        assert desk.told() == [("b-over", "retry", "queue-full")]
        # Gas finds room: the newest of the others goes for it.
        dispatcher.submit(*make_owed("gas"), True)
        await desk.has(2)
        assert desk.told()[1] == (f"b{WAITING_MAX - 1}", "retry", "queue-full")
        count = dispatcher.counts()["hook"]
        assert (count.waiting, count.crowded_out) == (WAITING_MAX, 2)
        async with at_work(dispatcher):
            await desk.has(WAITING_MAX + 2)
        assert door.order()[0] == "gas"
        assert len(door.seen) == WAITING_MAX

    play(story())


def test_a_lane_full_of_gas_refuses_the_newest(play: Play, make_owed: Make) -> None:
    async def story() -> None:
        desk = Desk()
        dispatcher = Dispatcher([Door()], compose=desk.compose, outcome=desk.outcome)
        for n in range(WAITING_MAX + 1):
            dispatcher.submit(*make_owed(f"g{n}"), True)
        await desk.has(1)
        assert desk.told() == [(f"g{WAITING_MAX}", "retry", "queue-full")]

    play(story())


def test_a_repeat_takes_the_place_of_the_attempt_that_still_waits(play: Play, make_owed: Make) -> None:
    async def story() -> None:
        door, desk = Door(), Desk()
        dispatcher = Dispatcher([door], compose=desk.compose, outcome=desk.outcome)
        for name, attempt in (("e1", 1), ("e2", 1), ("e1", 2), ("e1", 3)):
            dispatcher.submit(*make_owed(name, attempt=attempt), True)
        async with at_work(dispatcher):
            await desk.has(2)
            await asyncio.sleep(1)
        assert [(notice.delivery.id, notice.delivery.attempt) for _, notice in door.seen] == [("e1", 3), ("e2", 1)]
        assert len(desk.outcomes) == 2

    play(story())


@pytest.mark.parametrize("where", ["deliver", "compose"])
def test_a_worker_that_dies_in_a_delivery_answers_for_it_when_restarted(
    where: str, play: Play, make_owed: Make
) -> None:
    async def story() -> None:
        door, desk = Door(), Desk()
        if where == "deliver":
            door.script = [ZeroDivisionError("bug")]
        else:
            desk.compose_fails = 1
        dispatcher = Dispatcher([door], compose=desk.compose, outcome=desk.outcome)
        async with at_work(dispatcher, restart_s=0.1) as faults:
            dispatcher.submit(*make_owed("e1"), True)
            dispatcher.submit(*make_owed("e2"), True)
            await desk.has(2)
        assert desk.told() == [("e1", "retry", "worker-ended"), ("e2", "accepted", "")]
        assert [when for when, _, _ in desk.outcomes] == [0.1, 0.1]
        assert len(faults) == 1
        assert faults[0].startswith("delivery:hook:1: ")
        assert dispatcher.counts()["hook"].in_hand == 0

    play(story())


def test_a_dead_worker_leaves_its_neighbours_deliveries_alone(play: Play, make_owed: Make) -> None:
    async def story() -> None:
        door, desk = Door(parallel=2, takes_s=1.0, script=[ZeroDivisionError("bug")]), Desk()
        dispatcher = Dispatcher([door], compose=desk.compose, outcome=desk.outcome)
        async with at_work(dispatcher, restart_s=60.0):
            for n in range(4):
                dispatcher.submit(*make_owed(f"e{n}"), True)
            await desk.has(4)
        accepted = [
            (when, name)
            for when, (name, verdict, _) in zip(_times(desk), desk.told(), strict=True)
            if verdict == "accepted"
        ]
        assert accepted == [(1.0, "e1"), (2.0, "e2"), (3.0, "e3")]
        assert desk.told()[-1] == ("e0", "retry", "worker-ended")

    play(story())


def _times(desk: Desk) -> list[float]:
    return [when for when, _, _ in desk.outcomes]


def test_a_delivery_for_a_channel_that_is_no_more_is_refused(play: Play, make_owed: Make) -> None:
    async def story() -> None:
        desk = Desk()
        dispatcher = Dispatcher([Door("hook")], compose=desk.compose, outcome=desk.outcome)
        dispatcher.submit(*make_owed("old", "fax"), True)
        await desk.has(1)
        assert desk.told() == [("old", "refused", "unknown-channel")]

    play(story())


def test_workers_are_named_after_channel_and_slot() -> None:
    desk = Desk()
    dispatcher = Dispatcher([Door("a", parallel=2), Door("b")], compose=desk.compose, outcome=desk.outcome)
    assert [name for name, _ in dispatcher.workers()] == [
        "channel:a",
        "delivery:a:1",
        "delivery:a:2",
        "channel:b",
        "delivery:b:1",
    ]


def test_one_delivery_of_many_channels_reaches_each_once(play: Play, make_owed: Make) -> None:
    async def story() -> None:
        doors = [Door(f"c{n}", parallel=1 + n % 3, takes_s=0.01 * n) for n in range(6)]
        desk = Desk()
        dispatcher = Dispatcher(doors, compose=desk.compose, outcome=desk.outcome)
        async with at_work(dispatcher):
            for n in range(50):
                for door in doors:
                    dispatcher.submit(*make_owed(f"e{n}:{door.id}", door.id, cause=Cause.RISEN), True)
            await desk.has(300)
        assert sorted(name for name, _, _ in desk.told()) == sorted(f"e{n}:{d.id}" for n in range(50) for d in doors)
        assert all(len(set(door.order())) == 50 == len(door.seen) for door in doors)

    play(story())
