"""Simulated Modbus lines on real sockets: requests cut, joined or garbled are answered as devices do."""

import asyncio
import struct

import pytest
from pymodbus.client import AsyncModbusTcpClient
from pymodbus.simulator import DataType, SimData, SimDevice

from simulator.lines import HOST, MAX_HELD, listen

ANSWER_S = 2.0


def unit(number: int, value: int) -> SimDevice:
    return SimDevice(number, SimData(0, values=[value, 0], datatype=DataType.REGISTERS))


@pytest.fixture
async def line():
    server = await listen([unit(1, 123), unit(2, 456)])
    yield server.port
    await server.stop()


@pytest.fixture
async def client(line):
    connected = AsyncModbusTcpClient(HOST, port=line, timeout=ANSWER_S)
    assert await connected.connect()
    yield connected
    connected.close()


async def test_requests_that_arrive_in_one_segment_are_all_answered_in_order(line):
    reader, writer = await asyncio.open_connection(HOST, line)
    ask = [struct.pack(">HHHBBHH", number, 0, 6, 1 + number % 2, 3, 0, 1) for number in range(40)]
    writer.write(b"".join(ask))
    async with asyncio.timeout(ANSWER_S):
        answer = await reader.readexactly(11 * len(ask))
    frames = [struct.unpack(">HHHBBBH", answer[at : at + 11]) for at in range(0, len(answer), 11)]
    assert [(frame[0], frame[3], frame[6]) for frame in frames] == [
        (number, 1 + number % 2, (123, 456)[number % 2]) for number in range(40)
    ]
    writer.close()
    await writer.wait_closed()


async def test_a_request_cut_in_two_is_answered_once_whole(line):
    reader, writer = await asyncio.open_connection(HOST, line)
    whole, cut = (struct.pack(">HHHBBHH", number, 0, 6, 1, 3, 0, 1) for number in (1, 2))
    writer.write(whole + cut[:7])
    async with asyncio.timeout(ANSWER_S):
        assert (await reader.readexactly(11))[:2] == b"\x00\x01"
        writer.write(cut[7:])
        assert (await reader.readexactly(11))[:2] == b"\x00\x02"
    writer.close()
    await writer.wait_closed()


async def test_garbage_is_dropped_with_its_connection_and_others_go_on(client, line):
    reader, writer = await asyncio.open_connection(HOST, line)
    writer.write(b"\xff" * (MAX_HELD + 1))
    async with asyncio.timeout(ANSWER_S):
        assert await reader.read() == b""
    writer.close()
    await writer.wait_closed()
    assert (await client.read_holding_registers(0, count=1, device_id=1)).registers == [123]


async def test_a_taken_port_is_replaced_by_a_free_one(line):
    other = await listen([unit(1, 1)], wanted=line)
    assert other.port != line
    await other.stop()
