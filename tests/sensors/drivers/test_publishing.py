"""Publications through a real socket to a broker that stops reading: none mixed up, none lost, all acknowledged."""

import asyncio
import contextlib
import struct

import pytest

from sensors.drivers.broker import MqttSettings
from sensors.drivers.brokerconnection import connected

pytestmark = pytest.mark.asyncio

CONNACK = b"\x20\x03\x00\x00\x00"
FEW = b"\x20\x06\x00\x00\x03\x21\x00\x02"
"""A CONNACK that lets two publications be under way."""


class Broker(asyncio.Protocol):
    """Takes one client. Reads nothing after the CONNECT until told to, then acknowledges what it hears."""

    def __init__(self, welcome: bytes) -> None:
        self.heard: list[tuple[int, str, bytes]] = []
        self.longest_open = 0
        self.told = asyncio.Event()
        self._welcome = welcome
        self._rest = b""
        self._greeted = False

    def connection_made(self, transport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        if not self._greeted:
            self._greeted = True
            self.transport.write(self._welcome)
            self.transport.pause_reading()
            return
        self._rest += data
        opened = 0
        while (packet := self._next()) is not None:
            head, body = packet
            if head >> 4 == 3:
                opened += self._publication(head, body)
            elif head == 0xC0:
                self.transport.write(b"\xd0\x00")
        self.longest_open = max(self.longest_open, opened)
        self.told.set()

    def _next(self) -> tuple[int, bytes] | None:
        length, at = 0, 1
        while True:
            if at >= len(self._rest):
                return None
            length |= (self._rest[at] & 0x7F) << 7 * (at - 1)
            at += 1
            if self._rest[at - 1] < 0x80:
                break
        if len(self._rest) < at + length:
            return None
        head, body, self._rest = self._rest[0], self._rest[at : at + length], self._rest[at + length :]
        return head, body

    def _publication(self, head: int, body: bytes) -> int:
        (name,) = struct.unpack_from("!H", body)
        at = 2 + name
        if head & 0x06:
            self.transport.write(b"\x40\x02" + body[at : at + 2])
            at += 2
        assert body[at] == 0, "no properties"
        self.heard.append((head & 0x06, body[2 : 2 + name].decode(), body[at + 1 :]))
        return 1 if head & 0x06 else 0


@contextlib.asynccontextmanager
async def broker(welcome: bytes):
    brokers: list[Broker] = []

    def make() -> Broker:
        brokers.append(Broker(welcome))
        return brokers[-1]

    server = await asyncio.get_running_loop().create_server(make, "127.0.0.1", 0)
    try:
        settings = MqttSettings("127.0.0.1", server.sockets[0].getsockname()[1])
        async with connected(settings, lambda _: None) as connection:
            yield connection, brokers[0]
    finally:
        server.close()
        await server.wait_closed()


async def test_a_broker_that_stops_reading_gets_everything_whole_when_it_goes_on():
    payloads = [bytes([number]) * 200_000 for number in range(60)]
    async with broker(CONNACK) as (connection, far):
        answers = []
        for number, payload in enumerate(payloads):
            with connection.together():
                answers.append(connection.hand_over(f"event/{number}", payload, retain=False))
            connection.hand_over_unconfirmed("health", b"%d" % number, retain=True)
        await asyncio.sleep(0)
        assert not any(answer.done() for answer in answers)
        far.transport.resume_reading()
        async with asyncio.timeout(10):
            await asyncio.gather(*answers)
            while len(far.heard) < 2 * len(payloads):
                far.told.clear()
                await far.told.wait()
    assert [(topic, payload) for qos, topic, payload in far.heard if qos] == [
        (f"event/{number}", payload) for number, payload in enumerate(payloads)
    ]
    assert [payload for qos, _, payload in far.heard if not qos] == [b"%d" % number for number in range(60)]


async def test_no_more_are_under_way_than_the_broker_said_and_the_rest_follow():
    async with broker(FEW) as (connection, far):
        answers = [connection.hand_over("event", b"%d" % number, retain=False) for number in range(9)]
        far.transport.resume_reading()
        async with asyncio.timeout(5):
            await asyncio.gather(*answers)
    assert [payload for _, _, payload in far.heard] == [b"%d" % number for number in range(9)]
    assert far.longest_open <= 2


async def test_a_broker_that_goes_away_in_the_middle_leaves_nobody_waiting():
    async with broker(CONNACK) as (connection, far):
        answers = [connection.hand_over("event", bytes(200_000), retain=False) for _ in range(60)]
        far.transport.abort()
        async with asyncio.timeout(5):
            failed = await asyncio.gather(*answers, return_exceptions=True)
    assert {type(each).__name__ for each in failed} == {"MqttError"}
