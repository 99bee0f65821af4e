"""Field trials of delivery as a whole: outbox, dispatcher and webhooks against real receivers on loopback."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from alerts.alarms import AlarmEvent, Delivery, EventId, Notice, Outcome, Verdict
from alerts.channels.webhook import Webhook
from alerts.dispatcher import Dispatcher
from alerts.outbox import Outbox
from sensors.stamps import SECOND, Instant

Make = Callable[..., Any]
HANGS: dict[str, str] = {}
"""Taken, and then no answer."""


class Receiver:
    """Takes posts on a real socket; answers by script, then 200. Remembers when, which key, and what it answered."""

    def __init__(self) -> None:
        self.posts: list[tuple[float, str, int]] = []
        self.script: list[tuple[int, dict[str, str]]] = []
        self.url = ""
        self.end = asyncio.Event()

    async def handle(self, request: web.Request) -> web.Response:
        await request.read()
        status, headers = self.script.pop(0) if self.script else (200, {})
        self.posts.append((asyncio.get_running_loop().time(), request.headers["Idempotency-Key"], status))
        if headers is HANGS:
            await self.end.wait()
        return web.Response(status=status, headers=headers)

    def taken(self) -> list[str]:
        return [key for _, key, status in self.posts if status == 200]


@asynccontextmanager
async def listening() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    app = web.Application()
    app.router.add_post("/", receiver.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}/"
    try:
        yield receiver
    finally:
        receiver.end.set()
        await runner.cleanup()


class Desk:
    """The outbox with a real clock: submits what is due, books what comes back."""

    def __init__(self, *channels: Webhook) -> None:
        self.outbox = Outbox()
        self.settled: list[tuple[Delivery, Outcome]] = []
        self.dispatcher = Dispatcher(channels, compose=self._compose, outcome=self._answered)
        self._wake = asyncio.Event()

    def owe(self, event: AlarmEvent, channel: str) -> None:
        delivery = Delivery(f"{event.id}:{channel}:dona", event.id, "dona", channel)
        self.outbox.owe(delivery, event, self._now(), ticket=None, leave=self._now())
        self._wake.set()

    async def work_until_settled(self, count: int, within_s: float) -> None:
        tasks = [asyncio.ensure_future(coroutine()) for _, coroutine in self.dispatcher.workers()]
        try:
            async with asyncio.timeout(within_s):
                while len(self.settled) < count:
                    for owed in self.outbox.take_due(self._now()):
                        self.dispatcher.submit(owed.delivery, owed.event, True)
                    due = self.outbox.next_due()
                    self._wake.clear()
                    try:
                        async with asyncio.timeout(None if due is None else max(0, due - self._now()) / SECOND):
                            await self._wake.wait()
                    except TimeoutError:
                        continue
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    def _answered(self, delivery: Delivery, outcome: Outcome) -> None:
        settled = self.outbox.settle(delivery, outcome, self._now())
        if settled is not None and settled.final:
            self.settled.append((delivery, outcome))
        self._wake.set()

    @staticmethod
    def _compose(event: AlarmEvent, delivery: Delivery, recorded: bool) -> Notice:
        return Notice(delivery, event, "d", "patio", recorded, "texto")

    @staticmethod
    def _now() -> Instant:
        return Instant(int(asyncio.get_running_loop().time() * SECOND))


@pytest.mark.trial("B54")
async def test_b54_forty_alarms_survive_a_receiver_that_asks_for_quiet(make_event: Make) -> None:
    async with listening() as busy, listening() as other:
        busy.script = [(429, {"Retry-After": "1"}), (503, {})]
        desk = Desk(Webhook("busy", busy.url, None), Webhook("other", other.url, None))
        event = make_event()
        for n in range(40):
            for channel in ("busy", "other"):
                desk.owe(replace(event, seq=n, id=EventId(f"e{n}")), channel)
        await desk.work_until_settled(80, within_s=20)
        assert {outcome.verdict for _, outcome in desk.settled} == {Verdict.ACCEPTED}
        assert sorted(busy.taken()) == sorted(f"e{n}:busy:dona" for n in range(40))
        asked = busy.posts[0][0]
        # Those already on the way when the request for quiet came in are no hammering; none leaves after it.
        before = [when for when, _, _ in busy.posts if when < asked + 0.9]
        assert len(before) <= Webhook.parallel
        assert len(busy.posts) <= 40 + Webhook.parallel + 1
        # The other channel never noticed.
        assert len(other.posts) == 40
        assert other.posts[-1][0] - other.posts[0][0] < 0.9


@pytest.mark.trial("B50")
async def test_b50_a_failing_receiver_is_retried_with_one_key_and_its_neighbour_hears_once(make_event: Make) -> None:
    async with listening() as hook, listening() as mail:
        hook.script = [(500, {}), (500, {}), (200, HANGS), (200, {})]
        desk = Desk(Webhook("hook", hook.url, None, timeout_s=0.3), Webhook("mail", mail.url, None))
        event = make_event()
        desk.owe(event, "hook")
        desk.owe(event, "mail")

        await desk.work_until_settled(2, within_s=20)
        assert [key for _, key, _ in mail.posts] == [f"{event.id}:mail:dona"]
        assert [status for _, _, status in hook.posts] == [500, 500, 200, 200]
        assert {key for _, key, _ in hook.posts} == {f"{event.id}:hook:dona"}


async def test_a_receiver_that_refuses_for_good_is_not_asked_again(make_event: Make) -> None:
    async with listening() as hook:
        hook.script = [(401, {})]
        desk = Desk(Webhook("hook", hook.url, None))
        desk.owe(make_event(), "hook")
        await desk.work_until_settled(1, within_s=5)
        assert [outcome for _, outcome in desk.settled] == [Outcome(Verdict.REFUSED, "HTTP 401")]
        assert len(hook.posts) == 1
        assert len(desk.outbox) == 0
