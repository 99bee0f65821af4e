"""What a real watch hands to its screens and machines: names beside ids, every language, figures a scraper can read."""

import asyncio
import re
import signal
from pathlib import Path

import aiohttp
import pytest
from patience import WITHIN_S, until
from prometheus_text import parsed
from whole_depot import Whole

API = Path(__file__).parents[2] / "docs" / "api.md"
NAMED = {
    'data = "var"': 'data = "var"\npublic_url = "https://vigia.example.org/"',
    'id = "patio"\nlicensed_kg': 'id = "patio"\nname = "Pátio norte"\nlicensed_kg',
    'id = "GD-1"\n': 'id = "GD-1"\nname = "Porta 2"\n',
    '[[channel]]\nid = "hook"': '[timing]\nsilence_s = 45\n\n[[channel]]\nid = "hook"',
}


@pytest.fixture
async def named(depot: Whole) -> Whole:
    depot.changes = dict(NAMED)
    await depot.start()
    await depot.web_up()
    return depot


async def test_names_stand_beside_ids_in_notices_on_the_page_and_in_the_api(named: Whole) -> None:
    named.gas(1, 12.0)
    await until(named.hook.gas)
    body = named.hook.gas()[0].body
    assert (body["subject"], body["detector_name"]) == ("GD-1", "Porta 2")
    assert (body["area"], body["area_name"]) == ("patio", "Pátio norte")
    assert "área Pátio norte, detector GD-1 (Porta 2)" in body["text"]
    alarm = await named.shown("GD-1")
    assert alarm["text"] == alarm["texts"]["pt-BR"]
    assert "área Pátio norte, detector GD-1 (Porta 2)" in alarm["text"]
    assert "area Pátio norte, detector GD-1 (Porta 2)" in alarm["texts"]["en"]
    state = await named.get("/api/v1/state")
    told = {view["id"]: (view["name"], view["area"], view["area_name"]) for view in state["detectors"]}
    assert told["GD-1"] == ("Porta 2", "patio", "Pátio norte")
    assert told["GD-2"] == ("GD-2", "patio", "Pátio norte")
    page = await named.get("/?lang=en")
    for words in ("GD-1 (Porta 2) · Area Pátio norte", "Silence 45 s", "GAS ALARM level A1", "Move people away"):
        assert words in page
    assert "ALARME DE GÁS" not in page


async def test_every_figure_is_readable_named_once_and_documented(named: Whole) -> None:
    named.gas(1, 12.0)
    await named.shown("GD-1")
    series = parsed(await named.get("/metrics"))
    assert series["vigia_bus_answers_total", (("bus", "linha"),)] > 0
    assert ("vigia_bus_polls_total", (("bus", "saidas"),)) in series
    assert 0 < series["vigia_first_output_worst_seconds", ()] < 3
    given = {name for name, _ in series}
    documented = set(re.findall(r"`(vigia_\w+)`", API.read_text(encoding="utf-8")))
    assert given - documented == set()


async def test_a_proxy_reaches_the_page_by_its_public_name(named: Whole) -> None:
    url = f"http://127.0.0.1:{named.web_port}/"
    async with aiohttp.ClientSession() as session:
        for host, status in (("vigia.example.org", 200), ("evil.example.org", 421)):
            async with session.get(url, headers={"host": host}) as answer:
                assert answer.status == status


async def test_a_new_configuration_reaches_open_pages_without_a_word_of_lost_contact(named: Whole) -> None:
    assert named.process is not None
    live = f"ws://127.0.0.1:{named.web_port}/api/v1/live"
    async with aiohttp.ClientSession() as session, session.ws_connect(live) as page, asyncio.timeout(WITHIN_S):
        while (message := await page.receive_json())["type"] != "snapshot" or message["seq"] < 0:
            pass
        assert message["silence_s"] == 45.0
        named.changes |= {'id = "GD-2"\n': 'id = "GD-2"\nname = "Portão"\n', "silence_s = 45": "silence_s = 60"}
        named.write()
        named.process.send_signal(signal.SIGHUP)
        kinds = []
        while (message := await page.receive_json())["type"] != "snapshot":
            kinds.append(message["type"])
        assert "lost" not in kinds
        assert message["silence_s"] == 60.0
        assert message["detectors"][1]["name"] == "Portão"
        kinds += [(await page.receive_json())["type"] for _ in range(8)]
        assert "lost" not in kinds
        assert "change" in kinds
