"""What `vigia probe` finds out about heads that are set up wrongly, over real sockets."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from field_command import ONE_LINE, vigia

from simulator.scripted import ScriptedServer, ScriptedUnit

HEAD = """
[[detector]]
id = "GD-{unit}"
area = "patio"
bus = "linha"
unit = {unit}
profile = "generic-modbus"
lel_vol_pct = 1.4
{keys}
"""


def depot(folder: Path, port: int, *keys: str) -> Path:
    heads = "".join(HEAD.format(unit=unit, keys=lines) for unit, lines in enumerate(keys, 1))
    file = folder / "depot.toml"
    file.write_text(ONE_LINE.format(port=port) + heads, "utf-8")
    return file


def floats(form: str, **values: float) -> dict[int, int]:
    """Registers by address (r0, r2 ...) that hold a float32 in this order of its bytes A to D."""
    found: dict[int, int] = {}
    for name, value in values.items():
        plain = dict(zip("ABCD", struct.pack(">f", value), strict=True))
        at = int(name[1:])
        found[at], found[at + 1] = struct.unpack(">HH", bytes(plain[letter] for letter in form))
    return found


async def probed(server: ScriptedServer, file: Path, *args: str) -> Any:
    ran = await vigia("probe", file, "--json", *args)
    assert ran.out, ran.err
    return json.loads(ran.out)


@pytest.mark.parametrize("order", ["CDAB", "BADC", "DCBA"])
async def test_probe_names_the_word_order_that_fits(tmp_path: Path, order: str) -> None:
    unit = ScriptedUnit(holding={9: 0xFFFF, **floats(order, r10=7.51), 12: 0xFFFF})
    async with ScriptedServer({1: unit}) as server:
        file = depot(tmp_path, server.port, 'register = 10\ntype = "float32"')
        (head,) = await probed(server, file)
        words = await vigia("probe", file)

    assert head["tried"]["verdict"] == "another"
    assert head["tried"]["fits"] == [{"address": 0, "word_order": order}]
    fitting = next(way for way in head["tried"]["ways"] if way["fits"])
    assert fitting["lel_pct"] == pytest.approx(7.51) and len(fitting["raw_bytes"].split()) == 4
    assert f'this fits: address +0, word_order = "{order}"' in words.out
    assert words.code == 1


@pytest.mark.parametrize("shift", [-1, 1])
async def test_probe_names_the_address_that_fits_when_the_manual_counts_from_one(tmp_path: Path, shift: int) -> None:
    registers = {29: 65535, 30: 65535, 31: 65535, 30 + shift: 123}
    async with ScriptedServer({1: ScriptedUnit(holding=registers)}) as server:
        file = depot(
            tmp_path, server.port, 'register = 30\ntype = "uint16"\nscale = 0.1\nsentinels = { fault = [65535] }'
        )
        (head,) = await probed(server, file)

    assert (head["tried"]["verdict"], head["tried"]["fits"]) == ("another", [{"address": shift, "word_order": "ABCD"}])


async def test_probe_tries_the_next_address_where_the_device_refuses_the_one_that_is_set(tmp_path: Path) -> None:
    async with ScriptedServer({1: ScriptedUnit(holding={31: 45})}) as server:
        file = depot(tmp_path, server.port, 'register = 30\ntype = "uint16"\nscale = 0.1')
        (head,) = await probed(server, file)

    assert head["reason"] == "exception-2"
    assert (head["tried"]["verdict"], head["tried"]["fits"]) == ("another", [{"address": 1, "word_order": "ABCD"}])
    assert {way["reason"] for way in head["tried"]["ways"] if way["address"] == 0} == {"exception-2"}


async def test_a_head_that_is_well_is_left_alone_unless_asked(tmp_path: Path) -> None:
    async with ScriptedServer({1: ScriptedUnit(holding={0: 0, 1: 22, 2: 0})}) as server:
        file = depot(tmp_path, server.port, 'register = 1\ntype = "uint16"\nscale = 0.1')
        (alone,) = await probed(server, file)
        asked_before = {request.address for request in server.log}
        (tried,) = await probed(server, file, "--try")
        (told,) = await probed(server, file, "GD-1", "--shows", "2.2")

    assert alone["tried"] is None and asked_before == {1}
    assert tried["tried"]["verdict"] == "as-set-and-others"
    assert told["tried"]["verdict"] == "as-set" and told["tried"]["fits"] == [{"address": 0, "word_order": "ABCD"}]


async def test_the_display_decides_between_ways_that_are_all_plausible(tmp_path: Path) -> None:
    async with ScriptedServer({1: ScriptedUnit(holding={0: 350, 1: 65535, 2: 120})}) as server:
        file = depot(
            tmp_path, server.port, 'register = 1\ntype = "uint16"\nscale = 0.1\nsentinels = { fault = [65535] }'
        )
        (several,) = await probed(server, file)
        (told,) = await probed(server, file, "GD-1", "--shows", "12")

    assert several["tried"]["verdict"] == "several"
    assert [way["address"] for way in several["tried"]["fits"]] == [-1, 1]
    assert (told["tried"]["verdict"], told["tried"]["fits"][0]["address"]) == ("another", 1)


async def test_a_mute_head_is_not_asked_again_and_again(tmp_path: Path) -> None:
    async with ScriptedServer({1: ScriptedUnit(silent=True)}) as server:
        (head,) = await probed(server, depot(tmp_path, server.port, "register = 0"))

    assert head["tried"] is None


async def test_the_display_of_many_heads_at_once_is_a_usage_error(tmp_path: Path) -> None:
    ran = await vigia("probe", depot(tmp_path, 1, "register = 0", "register = 0"), "--shows", "3")
    assert (ran.code, "name one head" in ran.err) == (2, True)


async def test_no_try_writes_anything(tmp_path: Path) -> None:
    async with ScriptedServer({1: ScriptedUnit(holding={0: 65535}, coils={0: False})}) as server:
        await vigia("probe", depot(tmp_path, server.port, "register = 0"), "--try")
        assert {request.function for request in server.log} == {3}
