"""`vigia scan` on lines as they are found in the field: few devices, slow gateways, one device for every number."""

import json
import struct
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from field_command import ONE_LINE, Ran, vigia

from gateway.configuration.loading import load
from sensors.wire.rtu import crc16, rtu_frame
from simulator.answers import Request, answer_to
from simulator.scripted import ScriptedServer, ScriptedUnit
from simulator.serial import Cable


def xcd(lel: float = 7.5) -> ScriptedUnit:
    """A Honeywell Sensepoint XCD as its manual has it: identity 0x25 in the high byte, value, states, unit."""
    unit = ScriptedUnit(holding=dict.fromkeys(range(12), 0))
    unit.holding |= {0: 0x2501, 6: 1, 10: 5}
    unit.set_float(2, lel)
    return unit


def depot(folder: Path, port: int, extra: str = "") -> Path:
    file = folder / "depot.toml"
    file.write_text(ONE_LINE.format(port=port) + extra, "utf-8")
    return file


async def scanned(*args: str | Path) -> tuple[Ran, Any]:
    ran = await vigia("scan", *args, "--json")
    return ran, json.loads(ran.out)


async def test_scan_finds_units_and_recognises_the_known_ones(tmp_path: Path) -> None:
    units = {1: xcd(), 3: ScriptedUnit(holding={0: 5}), 7: ScriptedUnit(inputs={0: 5})}
    async with ScriptedServer(units) as server:
        file = depot(tmp_path, server.port)
        ran, found = await scanned("linha", "--file", file, "--units", "1-8", "--timeout-ms", "50")

    assert ran.code == 0
    assert [unit["unit"] for unit in found["units"]] == [1, 3, 7]
    assert found["silent"] == [2, 4, 5, 6, 8] and not found["everybody"]
    first, second, third = found["units"]
    assert [known["profile"] for known in first["known"]] == ["honeywell-sensepoint-xcd"]
    assert first["known"][0]["raw"] == pytest.approx(7.5) and first["known"][0]["quality"] == "good"
    assert (second["known"], second["refusal"]) == ([], None)
    assert (third["known"], third["refusal"]) == ([], 2)


async def test_scan_reads_only_asks_one_thing_at_a_time_and_leaves_a_pause(tmp_path: Path) -> None:
    async with ScriptedServer({1: xcd(), 2: xcd()}) as server:
        await scanned(f"127.0.0.1:{server.port}", "--units", "1-2", "--timeout-ms", "50")
        log = list(server.log)

    assert {request.function for request in log} <= {1, 2, 3, 4}
    assert len({request.connection for request in log}) == 1
    assert all(later.at - earlier.at >= 0.009 for earlier, later in pairwise(log))
    assert len(log) < 100


async def test_blocks_of_a_scan_pass_the_check_and_leave_out_what_the_file_has(tmp_path: Path) -> None:
    async with ScriptedServer({1: xcd(), 2: xcd()}) as server:
        known = (
            '[[detector]]\nid = "GD-2"\narea = "patio"\nbus = "linha"\nunit = 1\nprofile = "honeywell-sensepoint-xcd"\n'
        )
        file = depot(tmp_path, server.port, known)
        ran = await vigia("scan", "linha", "--file", file, "--units", "1-2", "--timeout-ms", "50")

    blocks = ran.out[ran.out.index("\n# ") :]
    (head,) = tomllib.loads(blocks)["detector"]
    assert (head["unit"], head["id"], head["profile"]) == (2, "GD-2-2", "honeywell-sensepoint-xcd")
    file.write_text(file.read_text("utf-8") + blocks, "utf-8")
    assert [str(one.id) for one in load(file, {}).depot.detectors] == ["GD-2", "GD-2-2"]


async def test_without_a_file_the_line_is_a_block_too(tmp_path: Path) -> None:
    async with ScriptedServer({5: xcd()}) as server:
        ran = await vigia("scan", f"127.0.0.1:{server.port}", "--units", "5", "--timeout-ms", "50")
        tables = tomllib.loads(ran.out[ran.out.index("\n[[bus]]") :])

    assert tables["bus"] == [{"id": "detectores", "transport": "tcp", "host": "127.0.0.1", "port": server.port}]
    assert (tables["detector"][0]["bus"], tables["detector"][0]["unit"]) == ("detectores", 5)
    text = ONE_LINE[: ONE_LINE.index("[[bus]]")] + ran.out[ran.out.index("\n[[bus]]") :]
    (tmp_path / "depot.toml").write_text(text, "utf-8")
    assert len(load(tmp_path / "depot.toml", {}).depot.detectors) == 1


async def test_one_device_that_answers_to_every_number_is_told_as_one(tmp_path: Path) -> None:
    units = {number: xcd() for number in range(256)}
    async with ScriptedServer(units) as server:
        _, found = await scanned(f"127.0.0.1:{server.port}", "--timeout-ms", "50")

    assert found["everybody"] and [unit["unit"] for unit in found["units"]] == [1]


async def test_a_gateway_that_says_nobody_is_there_has_no_unit_there(tmp_path: Path) -> None:
    units = {number: ScriptedUnit(exception=11) for number in range(256)} | {4: xcd()}
    async with ScriptedServer(units) as server:
        _, found = await scanned(f"127.0.0.1:{server.port}", "--units", "1-6", "--timeout-ms", "50")

    assert not found["everybody"] and [unit["unit"] for unit in found["units"]] == [4]


async def test_a_gateway_slower_than_the_wait_is_waited_for_once_it_shows(tmp_path: Path) -> None:
    units = {1: xcd(), 2: xcd(), 3: xcd()}
    for unit in units.values():
        unit.delay_s = 0.3
    async with ScriptedServer(units) as server:
        _, found = await scanned(f"127.0.0.1:{server.port}", "--units", "1-3", "--timeout-ms", "210")

    assert [unit["unit"] for unit in found["units"]] == [1, 2, 3]


async def test_a_unit_that_goes_silent_when_asked_more_is_left_alone(tmp_path: Path) -> None:
    shy = xcd()
    shy.answers_left = 1
    async with ScriptedServer({1: shy}) as server:
        _, found = await scanned(f"127.0.0.1:{server.port}", "--units", "1", "--timeout-ms", "50")
        asked = len(server.requests(unit=1))

    assert [unit["known"] for unit in found["units"]] == [[]]
    assert asked <= 3


async def test_a_unit_that_answers_in_anothers_name_is_reported(tmp_path: Path) -> None:
    async with ScriptedServer({2: ScriptedUnit(holding={0: 1}, wrong_unit=9)}) as server:
        _, found = await scanned(f"127.0.0.1:{server.port}", "--units", "1-2", "--timeout-ms", "50")

    assert found["units"] == [] and found["answered_for_others"] == [{"asked": 2, "answered": 9}]


async def test_a_line_that_cannot_be_had_says_why(tmp_path: Path) -> None:
    async with ScriptedServer() as server:
        port = server.port
    ran = await vigia("scan", f"127.0.0.1:{port}", "--units", "1-3")
    serial = await vigia("scan", str(tmp_path / "ttyUSB7"), "--units", "1-3")

    assert (ran.code, "(connection refused)" in ran.err) == (1, True)
    assert (serial.code, "(unplugged: " in serial.err) == (1, True)


@pytest.mark.parametrize("units", ["0-256", "8-3", "one", "", "1,,2"])
async def test_numbers_that_are_none_are_a_usage_error(units: str) -> None:
    assert (await vigia("scan", "127.0.0.1:1", "--units", units)).code == 2


async def test_a_bus_that_the_file_has_not_is_named_with_those_it_has(tmp_path: Path) -> None:
    ran = await vigia("scan", "saidas", "--file", depot(tmp_path, 1))
    assert (ran.code, "there are: linha" in ran.err) == (2, True)


async def test_scan_of_a_serial_port_finds_the_units_on_it(tmp_path: Path) -> None:
    """RTU over a real pseudo-terminal; the device at the far end checks every check sum it gets."""
    units = {3: xcd(), 5: ScriptedUnit(holding={0: 1})}
    asked: list[int] = []

    def answer(data: bytes) -> None:
        assert crc16(data) == 0 and len(data) == 8
        unit, function, address, count = struct.unpack(">BBHH", data[:6])
        asked.append(unit)
        if unit in units:
            request = Request(0.0, 1, 0, unit, function, address, count)
            cable.write(rtu_frame(bytes([unit]) + answer_to(request, units[unit])))

    cable = Cable(tmp_path / "adapter", answer)
    cable.plug()
    try:
        ran, found = await scanned(str(cable.link), "--units", "2-6", "--timeout-ms", "200", "--baud", "19200")
    finally:
        cable.unplug()

    assert ran.code == 0, ran.err
    assert [(unit["unit"], [known["profile"] for known in unit["known"]]) for unit in found["units"]] == [
        (3, ["honeywell-sensepoint-xcd"]),
        (5, []),
    ]
    assert set(asked) == {2, 3, 4, 5, 6}
