"""MB-SIM does what it is told: seen by a plain socket, byte by byte."""

import asyncio
import struct

import pytest

from simulator.scripted import CountFault, IdFault, ScriptedServer, ScriptedUnit

READ_TWO = bytes.fromhex("0105 0000 0006 01 03 0000 0002".replace(" ", ""))
GOOD = bytes.fromhex("0105 0000 0007 01 03 04 000a 000b".replace(" ", ""))


def two(**faults: object) -> ScriptedUnit:
    return ScriptedUnit(holding={0: 10, 1: 11}, coils={0: False}, **faults)


async def exchange(server: ScriptedServer, *requests: bytes, wait_s: float = 0.3) -> bytes:
    """Send requests on one new connection; return everything that comes until it is quiet or closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    got = b""
    try:
        for request in requests:
            writer.write(request)
        while True:
            async with asyncio.timeout(wait_s):
                piece = await reader.read(4096)
            if not piece:
                return got
            got += piece
    except TimeoutError:
        return got
    finally:
        writer.close()
        await writer.wait_closed()


@pytest.mark.parametrize(
    ("faults", "answer"),
    [
        ({}, GOOD),
        ({"exception": 4}, bytes.fromhex("010500000003018304")),
        ({"bad_registers": {1: 2}}, bytes.fromhex("010500000003018302")),
        ({"silent": True}, b""),
        ({"wrong_unit": 9}, GOOD[:6] + b"\x09" + GOOD[7:]),
        ({"length_error": 2}, GOOD[:5] + b"\x09" + GOOD[6:]),
        ({"garbage": b"xyz"}, b"xyz"),
        ({"repeat": 2}, GOOD * 2),
        ({"id_fault": IdFault.WRONG}, b"\x01\x06" + GOOD[2:]),
        ({"id_fault": IdFault.SWAPPED}, b"\x05\x01" + GOOD[2:]),
        ({"id_fault": IdFault.ZERO}, b"\x00\x00" + GOOD[2:]),
        ({"count_fault": CountFault.MORE}, bytes.fromhex("01050000000901030600 0a000bbeef".replace(" ", ""))),
        ({"count_fault": CountFault.FEWER}, bytes.fromhex("010500000005010302000a")),
        ({"count_fault": CountFault.ODD}, bytes.fromhex("010500000006010303000a00")),
        ({"count_fault": CountFault.ZERO}, bytes.fromhex("010500000003010300")),
        ({"answers_left": 0}, b""),
    ],
)
async def test_a_fault_is_what_goes_over_the_wire(faults, answer):
    async with ScriptedServer({1: two(**faults)}) as server:
        assert await exchange(server, READ_TWO) == answer


async def test_the_previous_id_is_that_of_the_request_before():
    second = b"\x01\x06" + READ_TWO[2:]
    async with ScriptedServer({1: two(id_fault=IdFault.PREVIOUS)}) as server:
        assert await exchange(server, READ_TWO, second) == b"\x00\x00" + GOOD[2:] + GOOD


async def test_every_request_is_logged_with_its_time():
    async with ScriptedServer({1: two()}) as server:
        before = asyncio.get_running_loop().time()
        await exchange(server, READ_TWO)
        (request,) = server.log
        assert (request.unit, request.function, request.address, request.count) == (1, 3, 0, 2)
        assert before <= request.at <= asyncio.get_running_loop().time()
        assert server.requests(unit=1) == server.requests(function=3) == [request]
        assert server.requests(unit=2) == []


async def test_a_cut_answer_comes_byte_by_byte():
    async with ScriptedServer({1: two(cut_s=0.01)}) as server:
        began = asyncio.get_running_loop().time()
        assert await exchange(server, READ_TWO, wait_s=0.1) == GOOD
        assert asyncio.get_running_loop().time() - began > 0.01 * (len(GOOD) - 1)


async def test_glued_answers_leave_together_and_a_lonely_one_leaves_too():
    async with ScriptedServer({1: two()}) as server:
        server.glue = 2
        assert await exchange(server, READ_TWO, READ_TWO) == GOOD * 2
        assert await exchange(server, READ_TWO) == GOOD


async def test_a_serial_line_forgets_what_was_asked_by_a_connection_that_has_ended():
    units = {1: two(silent=True), 2: two()}
    async with ScriptedServer(units, serial=True, mute_wait_s=0.1) as server:
        assert await exchange(server, *[READ_TWO] * 20, wait_s=0.05) == b""
        asked = READ_TWO[:6] + b"\x02" + READ_TWO[7:]
        assert await exchange(server, asked, wait_s=0.5), "after the one in hand, not after all twenty"


async def test_a_serial_line_serves_one_at_a_time_and_a_mute_unit_holds_it():
    units = {1: two(), 2: two(silent=True)}
    to_mute = READ_TWO[:6] + b"\x02" + READ_TWO[7:]
    async with ScriptedServer(units, serial=True, service_s=0.01, mute_wait_s=0.3, mute_exception=11) as server:
        began = asyncio.get_running_loop().time()
        got = await exchange(server, to_mute, READ_TWO, wait_s=0.5)
        assert got == bytes.fromhex("01050000000302830b") + GOOD
        assert asyncio.get_running_loop().time() - began > 0.31


async def test_coils_are_written_and_read_and_a_stuck_one_lies():
    write = struct.pack(">HHHBBHH", 1, 0, 6, 1, 5, 0, 0xFF00)
    read = struct.pack(">HHHBBHH", 2, 0, 6, 1, 1, 0, 1)
    device = two()
    async with ScriptedServer({1: device}) as server:
        assert await exchange(server, write, read) == write + bytes.fromhex("00020000000401010101")
        device.stuck_coils, device.coils[0] = {0}, False
        assert await exchange(server, write, read) == write + bytes.fromhex("00020000000401010100")


async def test_a_refused_port_is_taken_again_at_the_same_number():
    server = ScriptedServer({1: two()})
    port = await server.start()
    await server.stop()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)
    assert await server.start() == port
    assert await exchange(server, READ_TWO) == GOOD
    await server.stop()


async def test_a_reset_is_a_reset():
    async with ScriptedServer({1: two()}) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(READ_TWO)
        assert await reader.readexactly(len(GOOD)) == GOOD
        server.reset()
        with pytest.raises(ConnectionResetError):
            await reader.read(1)
        writer.close()


async def test_muted_or_frozen_it_takes_connections_and_says_nothing():
    async with ScriptedServer({1: two()}) as server:
        server.mute = True
        assert await exchange(server, READ_TWO) == b""
        server.mute, server.frozen = False, True
        assert await exchange(server, READ_TWO) == b""
        assert len(server.log) == 1
