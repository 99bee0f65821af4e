"""Names of lines and brokers while the name server hangs: they are opened again, and nobody is held up."""

import asyncio
import socket
import threading
from typing import Any

import pytest
from aiomqtt import MqttError

from sensors.drivers.broker import MqttSettings
from sensors.drivers.brokerconnection import connected
from sensors.drivers.names import LOOKUP_MAX_S, Names
from sensors.drivers.settings import BusSettings
from sensors.stamps import MILLISECOND
from simulator.scripted import ScriptedServer, ScriptedUnit

NAME = "linha.exemplo"


class NameServer:
    """Knows one host, until it hangs."""

    def __init__(self) -> None:
        self.hangs = False
        self.asked = 0
        self.release = threading.Event()

    def look_up(self, host: str, port: int, **_options: Any) -> list[tuple[Any, ...]]:
        self.asked += 1
        if self.hangs:
            self.release.wait(20)
        assert host == NAME
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]


@pytest.fixture
def server():
    server = NameServer()
    yield server
    server.release.set()


async def test_a_line_known_by_name_is_opened_again_while_the_name_server_hangs(rig, server):
    names = Names(server.look_up)
    async with ScriptedServer({1: ScriptedUnit(holding={0: 1})}) as gateway:
        settings = BusSettings("linha", NAME, gateway.port, 100 * MILLISECOND, 50 * MILLISECOND)
        bus = rig.run(settings, [rig.head("D1", 1)], names)
        await rig.until(lambda: bus.up)
        server.hangs = True
        gateway.reset()
        await rig.until(lambda: not bus.up)
        await rig.until(lambda: bus.up)
    assert server.asked >= 2


async def test_lookups_that_hang_take_no_thread_that_others_share_and_hold_up_no_end(server):
    server.hangs = True
    names = [Names(server.look_up) for _ in range(40)]
    loop = asyncio.get_running_loop()
    tries = [asyncio.ensure_future(each.find(NAME, 502)) for each in names]
    began = loop.time()
    assert await asyncio.to_thread(lambda: 7) == 7
    await loop.shutdown_default_executor()
    assert loop.time() - began < LOOKUP_MAX_S
    for each in await asyncio.gather(*tries, return_exceptions=True):
        assert isinstance(each, TimeoutError)


@pytest.mark.measured
async def test_a_broker_whose_name_nobody_tells_is_an_error_of_the_broker_within_a_second_or_two(server):
    server.hangs = True
    began = asyncio.get_running_loop().time()
    with pytest.raises(MqttError, match="no address"):
        async with connected(MqttSettings(NAME), lambda _: None, names=Names(server.look_up)):
            pass
    assert asyncio.get_running_loop().time() - began < 2 * LOOKUP_MAX_S


async def test_an_address_asks_no_name_server(server):
    found = await Names(server.look_up).find("192.0.2.7", 502)
    assert [(each.host, each.port) for each in found] == [("192.0.2.7", 502)]
    assert server.asked == 0
