"""Counters and tag readers through a real Mosquitto and the whole gateway: nothing twice, nothing lost by a restart."""

import asyncio
import json
from typing import Any

import aiomqtt
import pytest
from whole_depot import Whole
from whole_office import asked, done, opened

from dashboards.office import Look

pytestmark = [pytest.mark.servers, pytest.mark.asyncio]

SOURCES = """
[mqtt]
host = "127.0.0.1"
port = {port}

[[stock_source]]
id = "portao-saida"
mqtt = "portao/saida"
value = "/count"
number = "/seq"
area = "patio"
size = "P-13"
act = "out"
wraps_at = 65536

[[stock_source]]
id = "leitor-entrada"
kind = "tags"
mqtt = "leitor/entrada"
area = "patio"
size = "P-13"
act = "in"
again_s = 60
"""


async def units(depot: Whole) -> int:
    return int((await asked(depot, Look(1, "stock"))).data["areas"][0]["units"])


async def become(depot: Whole, wanted: int) -> None:
    for _ in range(200):
        if await units(depot) == wanted:
            return
        await asyncio.sleep(0.05)
    assert await units(depot) == wanted


async def test_what_passes_the_gate_leaves_the_stock_once_over_repeats_wraps_and_a_kill(
    depot: Whole, mosquitto: Any
) -> None:
    depot.extra = SOURCES.format(port=mosquitto.port)
    await depot.start()
    await opened(depot)
    await opened(depot)
    await done("stock", "in", str(depot.file), "--area=patio", "--size=13", "--state=cheio", "--units=40", "--by=Ana")
    async with aiomqtt.Client("127.0.0.1", mosquitto.port) as client:

        async def gate(count: int, number: int) -> None:
            body = json.dumps({"count": count, "seq": number})
            await client.publish("portao/saida", body, qos=1, retain=True)

        async def first_heard() -> bool:
            await gate(65530, 1)
            await client.publish("leitor/entrada", "E200-0001", qos=1)
            await asyncio.sleep(0.2)
            return await units(depot) == 41

        for _ in range(50):
            if await first_heard():
                break
        assert await units(depot) == 41, "one tag came in, however often it was read; a first count moves nothing"
        for _ in range(3):
            await gate(65533, 2)
        await become(depot, 38)
        await gate(2, 3)
        await become(depot, 33)
        await depot.kill()
        await gate(9, 4)
        await depot.start()
        await opened(depot)
        await opened(depot)
        await become(depot, 26)
        await gate(300, 5)
        await gate(301, 6)
        await become(depot, 25)
    held = json.loads(await done("register", "history", str(depot.file), "stock", "patio", "--json"))
    assert {entry["by"] for entry in held} == {"Ana", "portao-saida", "leitor-entrada"}
    assert await depot.stop() == 0
    depot.sound()
    assert "somebody must count" in depot.log()
