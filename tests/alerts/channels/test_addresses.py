"""Names of hosts: looked up, remembered for when the name server fails, and never waited for long."""

import asyncio
import socket
import threading
from typing import Any

import pytest

from alerts.channels.addresses import RememberedAddresses

FOUND = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.7", 80))]


class NameServer:
    """Answers by script; counts the questions."""

    def __init__(self) -> None:
        self.asked = 0
        self.fails = False
        self.hangs = False
        self.release = threading.Event()

    def look_up(self, _host: str, _port: int, **_options: Any) -> list[tuple[Any, ...]]:
        self.asked += 1
        if self.hangs:
            self.release.wait(10)
        if self.fails:
            raise socket.gaierror(socket.EAI_AGAIN, "try again")
        return FOUND


async def test_the_machine_knows_localhost() -> None:
    found = await RememberedAddresses().resolve("localhost", 80)
    assert [address["host"] for address in found] == ["127.0.0.1"]
    assert found[0]["port"] == 80


async def test_a_name_server_that_fails_is_stood_in_for_by_its_last_answer() -> None:
    server = NameServer()
    addresses = RememberedAddresses(server.look_up)
    first = await addresses.resolve("hook.example", 80)
    server.fails = True
    assert await addresses.resolve("hook.example", 80) == first
    assert server.asked == 2
    with pytest.raises(OSError, match="try again"):
        await addresses.resolve("other.example", 80)


@pytest.mark.measured
async def test_a_hung_name_server_is_waited_for_a_second_and_asked_once() -> None:
    server = NameServer()
    addresses = RememberedAddresses(server.look_up)
    first = await addresses.resolve("hook.example", 80)
    server.hangs = True
    began = asyncio.get_running_loop().time()
    answers = await asyncio.gather(*(addresses.resolve("hook.example", 80) for _ in range(20)))
    assert asyncio.get_running_loop().time() - began < 2.0
    assert answers == [first] * 20
    assert server.asked == 2
    server.hangs = False
    server.release.set()
    assert await addresses.resolve("hook.example", 80) == first


@pytest.mark.measured
async def test_a_hung_name_server_that_never_answered_is_an_error_in_time() -> None:
    server = NameServer()
    server.hangs = True
    addresses = RememberedAddresses(server.look_up)
    began = asyncio.get_running_loop().time()
    with pytest.raises(TimeoutError):
        await addresses.resolve("hook.example", 80)
    assert asyncio.get_running_loop().time() - began < 2.0
    server.release.set()


async def test_a_name_that_is_none_is_an_error() -> None:
    with pytest.raises(OSError, match=r"."):
        await RememberedAddresses().resolve("a" * 70 + ".example", 80)
