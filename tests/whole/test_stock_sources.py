"""Counters, tag readers and a scale on real servers, and the whole gateway: nothing twice, nothing lost."""

import asyncio
import json
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiomqtt
import pytest
from patience import until
from pymodbus.client import AsyncModbusTcpClient
from pymodbus.server import ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice
from whole_depot import Whole
from whole_office import asked, done, opened

from dashboards.office import Enter, LineAsk, Look
from gateway.engine.weighing import WEIGHED
from gateway.journal.reader import JournalReader

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


async def doubts(depot: Whole) -> list[dict[str, str]]:
    return list((await asked(depot, Look(1, "stock"))).data["doubts"])


async def alarms(depot: Whole, wanted: int) -> list[Any]:
    """Wait until so many alarms of a stock in doubt stand."""
    for _ in range(200):
        found = [
            alarm
            for alarm in (await depot.get("/api/v1/alarms"))["alarms"]
            if alarm["subject"].startswith("stock-doubt/") and alarm["state"] in ("acknowledged", "unacknowledged")
        ]
        if len(found) == wanted:
            return found
        await asyncio.sleep(0.05)
    raise AssertionError((wanted, found))


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
    assert [doubt["reason"] for doubt in await doubts(depot)] == ["not-that-many"]
    (told,) = await alarms(depot, 1)
    assert "Estoque a conferir: Área patio, origem portao-saida" in told["text"]
    counted = LineAsk("stock", "patio", "count", {"size_kg": "13", "state": "full", "units": 25})
    assert (await asked(depot, Enter(1, "Ana", (counted,)))).ok
    assert await doubts(depot) == []
    await alarms(depot, 0)
    assert await depot.stop() == 0
    depot.sound()


SCALE = """
[[bus]]
id = "balcao"
transport = "tcp"
host = "127.0.0.1"
port = {port}
period_ms = 100
timeout_ms = 80

[[stock_source]]
id = "balanca"
kind = "scale"
bus = "balcao"
unit = 1
profile = "tuna-id551pn"
channel = 1
area = "patio"
size = "P-13"
act = "out"
check_s = 0.2
"""


@asynccontextmanager
async def scale_server() -> AsyncIterator[tuple[int, Callable[..., Awaitable[None]]]]:
    """A server of pymodbus that is an indicator of four scales; yields its port, and what sets the first scale."""
    words = [SimData(0, values=[0] * 64, datatype=DataType.REGISTERS)]
    bits = [SimData(0, values=[False] * 16, datatype=DataType.BITS)]
    server = ModbusTcpServer(context=SimDevice(1, (bits, bits, words, words)), address=("127.0.0.1", 0))
    await server.serve_forever(background=True)
    port = server.transport.sockets[0].getsockname()[1]
    client = AsyncModbusTcpClient("127.0.0.1", port=port)
    await client.connect()

    async def show(kg: float, *, moving: bool = False) -> None:
        status = 0x8000 | (0x1000 if moving else 0)
        answer = await client.write_registers(0, [*struct.unpack(">HH", struct.pack(">f", kg)), 0, 0, status])
        assert not answer.isError()

    try:
        yield port, show
    finally:
        client.close()
        await server.shutdown()


async def empty(show: Callable[..., Awaitable[None]]) -> None:
    """Nothing on the platform, for a little longer than three readings take."""
    await show(0.0)
    await asyncio.sleep(1.0)


def weighings(depot: Whole) -> int:
    with JournalReader(depot.journal) as journal:
        return len(list(journal.filed(WEIGHED)))


async def test_a_scale_makes_one_ticket_of_each_container_that_stood_still_on_it(depot: Whole) -> None:
    async with scale_server() as (port, show):
        depot.extra = SCALE.format(port=port)
        await show(28.0)  # it stands there when nobody knows since when: no ticket
        await depot.start()
        await opened(depot)
        nine = LineAsk("stock", "patio", "in", {"size_kg": "13", "state": "full", "units": 9})
        assert (await asked(depot, Enter(1, "Ana", (nine,)))).ok
        await empty(show)
        await show(28.35, moving=True)
        await asyncio.sleep(0.5)
        await show(28.35)
        await become(depot, 8)
        await show(28.35, moving=True)
        await show(28.35)
        await empty(show)
        await show(27.9)
        await until(lambda: weighings(depot) == 2, what="the watch has kept it")
        await depot.kill()  # the office may not have it yet
        await depot.start()
        await opened(depot)
        await become(depot, 7)
    tickets = {held["subject"]: held for held in (await asked(depot, Look(1, "register", "weighing"))).data}
    assert sorted(held["values"]["full_weighed_kg"] for held in tickets.values()) == ["27.9", "28.35"]
    (entry,) = (await asked(depot, Look(1, "history", "weighing", min(tickets)))).data
    assert (entry["by"], entry["source"], entry["act"]) == ("balanca", "scale", "record")
    assert entry["effective"] <= entry["recorded"]
    assert await depot.stop() == 0
    depot.sound()
