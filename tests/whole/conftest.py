"""Gives each test of the whole a depot of its own."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from aiohttp import web
from whole_depot import Whole

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whole gateways live in real time, several processes each."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.measured)


@pytest.fixture
async def depot(tmp_path: Path) -> AsyncIterator[Whole]:
    whole = Whole(tmp_path, heads=3)
    app = web.Application()
    app.router.add_post("/vigia", whole.hook.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(whole.line)
        await stack.enter_async_context(whole.siren)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        stack.callback(whole.hook.over.set)
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        whole.hook.port = runner.addresses[0][1]
        yield whole
        if whole.process is not None and whole.process.returncode is None:
            await whole.kill()
