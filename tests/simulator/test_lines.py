import asyncio
import struct

import pytest
from pymodbus.client import AsyncModbusTcpClient

from simulator.lines import HOST, MAX_HELD, coil_unit, head_unit, listen

ANSWER_S = 2.0


@pytest.fixture
async def line():
    told: list[bool] = []
    server = await listen(
        [head_unit(1, lambda: (123, 2)), head_unit(2, lambda: (456, 0)), coil_unit(9, 3, told.append)]
    )
    yield server.port, told
    await server.stop()


@pytest.fixture
async def client(line):
    connected = AsyncModbusTcpClient(HOST, port=line[0], timeout=ANSWER_S)
    assert await connected.connect()
    yield connected
    connected.close()


async def test_a_head_answers_with_value_and_status_in_both_register_spaces(client):
    assert (await client.read_holding_registers(0, count=2, device_id=1)).registers == [123, 2]
    assert (await client.read_input_registers(0, count=1, device_id=2)).registers == [456]


async def test_a_head_refuses_what_it_does_not_have(client):
    assert (await client.read_holding_registers(5, count=1, device_id=1)).isError()
    assert (await client.write_register(0, 7, device_id=1)).isError()
    assert (await client.read_holding_registers(0, count=1, device_id=77)).isError()
    assert (await client.read_holding_registers(0, count=2, device_id=1)).registers == [123, 2]


async def test_a_coil_is_set_heard_and_read_back(client, line):
    assert not (await client.write_coil(3, True, device_id=9)).isError()
    assert (await client.read_coils(3, count=1, device_id=9)).bits[0] is True
    assert (await client.read_coils(2, count=1, device_id=9)).bits[0] is False
    await client.write_coil(2, True, device_id=9)
    await client.write_coils(0, [False] * 8, device_id=9)
    assert line[1] == [True, False]


async def test_requests_that_arrive_in_one_segment_are_all_answered_in_order(line):
    reader, writer = await asyncio.open_connection(HOST, line[0])
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
    reader, writer = await asyncio.open_connection(HOST, line[0])
    whole, cut = (struct.pack(">HHHBBHH", number, 0, 6, 1, 3, 0, 1) for number in (1, 2))
    writer.write(whole + cut[:7])
    async with asyncio.timeout(ANSWER_S):
        assert (await reader.readexactly(11))[:2] == b"\x00\x01"
        writer.write(cut[7:])
        assert (await reader.readexactly(11))[:2] == b"\x00\x02"
    writer.close()
    await writer.wait_closed()


async def test_garbage_is_dropped_with_its_connection_and_others_go_on(client, line):
    reader, writer = await asyncio.open_connection(HOST, line[0])
    writer.write(b"\xff" * (MAX_HELD + 1))
    async with asyncio.timeout(ANSWER_S):
        assert await reader.read() == b""
    writer.close()
    await writer.wait_closed()
    assert (await client.read_holding_registers(0, count=1, device_id=1)).registers == [123]


async def test_a_taken_port_is_replaced_by_a_free_one(line):
    other = await listen([head_unit(1, lambda: (1, 0))], wanted=line[0])
    assert other.port != line[0]
    await other.stop()
