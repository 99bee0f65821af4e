"""New orders are read as often as somebody asked for them after they were changed."""

import asyncio

from gateway.reloading import Reloads


async def test_who_asks_while_the_file_is_being_read_has_it_read_once_more() -> None:
    reloads, read, go_on = Reloads(), [], asyncio.Event()

    async def reload() -> None:
        read.append("began")
        await go_on.wait()

    assert reloads.ask()
    working = asyncio.ensure_future(reloads.work(reload))
    await asyncio.sleep(0)
    assert not reloads.ask() and not reloads.ask(), "whoever is at it does it"
    go_on.set()
    await working
    assert read == ["began", "began"]
    assert reloads.ask(), "the next one begins anew"
    await reloads.work(reload)
    assert len(read) == 3
