"""The hub: everybody gets everything in order, whoever falls behind is let go, and an end is an end."""

import asyncio

import msgspec
import pytest

from dashboards.ports import Change, DepotView, Snapshot, ToBrowser
from dashboards.web.hub import MAX_BROWSERS, QUEUE_MESSAGES, Browser, Hub, HubFullError

pytestmark = pytest.mark.measured

NOW = "2026-11-30T11:10:59.123Z"
PICTURE = Snapshot(4, NOW, DepotView("d", "D", "", "UTC", "pt-BR", "0", NOW), (), (), (), (), None, 1.0, True, 120.0)


def hub(*, heard: bool = True) -> Hub:
    return Hub(picture=lambda: PICTURE if heard else None, age=lambda: 0.1 if heard else 7.0, civil=lambda: 1.8e9)


async def heard(browser: Browser) -> ToBrowser:
    async with asyncio.timeout(2):
        text = await browser.next()
    assert text is not None
    return msgspec.json.decode(text, type=ToBrowser)


async def test_the_first_message_is_the_picture_and_changes_follow() -> None:
    live = hub()
    browser = live.join()
    for seq in range(5, 9):
        live.changed(Change(seq, NOW))
    messages = [await heard(browser) for _ in range(5)]
    assert [type(message).__name__ for message in messages] == ["Snapshot"] + ["Change"] * 4
    assert [message.seq for message in messages if isinstance(message, Snapshot | Change)] == [4, 5, 6, 7, 8]


async def test_who_joins_while_the_gateway_is_lost_is_told_so_and_gets_no_old_picture() -> None:
    first = await heard(hub(heard=False).join())
    assert type(first).__name__ == "Lost"
    assert getattr(first, "age_s", None) == 7.0


async def test_a_browser_that_falls_behind_is_dropped_and_counted_and_the_others_are_not() -> None:
    live = hub()
    slow, quick = live.join(), live.join()
    for seq in range(5, 5 + QUEUE_MESSAGES + 5):
        live.changed(Change(seq, NOW))
        while len(quick._queue) > 0:
            await heard(quick)
    assert slow.dropped
    assert await slow.next() is None
    assert (live.dropped, len(live), quick.dropped) == (1, 1, False)


async def test_a_full_hub_takes_nobody_more_until_one_leaves() -> None:
    live = hub()
    browsers = [live.join() for _ in range(MAX_BROWSERS)]
    with pytest.raises(HubFullError):
        live.join()
    live.leave(browsers[0])
    live.join()


async def test_closing_wakes_every_waiting_stream() -> None:
    live = hub()
    browsers = [live.join() for _ in range(10)]
    for browser in browsers:
        await browser.next()
    waiting = [asyncio.create_task(browser.next()) for browser in browsers]
    await asyncio.sleep(0)
    live.close()
    async with asyncio.timeout(2):
        assert await asyncio.gather(*waiting) == [None] * 10
    with pytest.raises(HubFullError):
        live.join()
