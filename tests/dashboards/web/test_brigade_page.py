"""The fire brigade's page over HTTP and in a browser: whole without a script, and never quietly old."""

import asyncio
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from dashboards.ports import ContactView

pytestmark = pytest.mark.asyncio

LOOKS = Path(__file__).parents[2] / "whole"
"""What a script can see of a page's labels, contrast and structure."""


async def test_the_one_link_tells_gas_place_and_number_though_office_and_journal_are_away(
    gateway: Any, child: Any, session: aiohttp.ClientSession
) -> None:
    depot = msgspec.structs.replace(gateway.picture.depot, contacts=(ContactView("Ana", "owner", "(11) 98888-7777"),))
    gateway.picture = msgspec.structs.replace(gateway.picture, depot=depot)
    gateway.server.renew()
    gateway.push(gateway.head("GD-101", 23.4), alarms=(gateway.gas(),))

    async def shown() -> str:
        async with session.get(f"{child.url}/bombeiros?lang=pt-BR") as answer:
            return await answer.text()

    async def told() -> str:
        async with asyncio.timeout(5):
            while True:
                page = await shown()
                if "tel:11988887777" in page and "1 alarme de gás" in page:
                    return page
                await asyncio.sleep(0.02)

    page = await told()
    assert "Rua das Acácias 120, portão 2" in page and "GD-101 · Área patio" in page and "Agora 23,4 % LIE" in page
    assert "O estoque não pôde ser lido agora" in page
    async with session.get(f"{child.url}/brigade") as answer:
        assert "For the fire brigade" in await answer.text()


async def test_a_watch_that_is_not_heard_leaves_what_was_known_and_says_that_it_is_old(
    gateway: Any, child: Any, session: aiohttp.ClientSession, health: Any
) -> None:
    gateway.push(gateway.head("GD-101", 23.4), alarms=(gateway.gas(),))
    gateway.fall_silent()
    await health(child, 503)
    async with session.get(f"{child.url}/bombeiros?lang=pt-BR") as answer:
        page = await answer.text()
    assert answer.status == 503
    assert "DADOS ANTIGOS" in page and "<s>" in page and 'data-tone="stale"' in page


async def test_the_script_keeps_the_last_page_and_says_loudly_that_nobody_answers(
    gateway: Any, child: Any, browser: Any
) -> None:
    gateway.push(gateway.head("GD-101", 23.4), alarms=(gateway.gas(),))
    made = await browser.new_context(locale="pt-BR", viewport={"width": 360, "height": 740})
    page = await made.new_page()
    await page.clock.install()
    await page.goto(f"{child.url}/bombeiros")
    await page.wait_for_selector(".gas")
    assert not await page.locator("#lost").is_visible()
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360
    for look in ("unlabelled", "faint", "structure"):
        assert await page.evaluate((LOOKS / f"{look}.js").read_text("utf-8")) == [], look
    await made.set_offline(True)
    await page.clock.run_for(9000)
    await page.wait_for_selector("#lost:not([hidden])", timeout=5000)
    assert "SEM RESPOSTA DO VIGIA" in await page.inner_text("#lost")
    assert "GD-101" in await page.inner_text(".gas")
    await made.set_offline(False)
    await page.clock.run_for(6000)
    await page.wait_for_selector("#content:not(.old)", timeout=5000)
