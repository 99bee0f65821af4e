"""`vigia discover` against a real broker: what announces itself becomes blocks that pass the check, and only those."""

import asyncio
import json
import tomllib
from pathlib import Path
from typing import Any

import aiomqtt
import pytest
from field_command import Ran, vigia

from gateway.configuration.loading import load

pytestmark = pytest.mark.servers

HEADER = """# a comment that stays
[depot]
id = "x"
[levels]
A1 = 10
A2 = 20
A3 = 40
[[area]]
id = "patio"
licensed_kg = 1560
[[area]]
id = "fundos"
licensed_kg = 520
[mqtt]
host = "127.0.0.1"
port = {port}
"""

GAS = {"type": "binary", "name": "gas", "property": "gas", "value_on": True, "value_off": False}
LEL = {"type": "numeric", "name": "gas_value", "property": "gas_value", "unit": "%LEL"}


def z2m(*names: str, filler: int = 0) -> bytes:
    devices: list[dict[str, Any]] = [
        {"friendly_name": name, "definition": {"model": "NEW-1", "vendor": "Acme", "exposes": [LEL, GAS]}}
        for name in names
    ]
    devices += [
        {"friendly_name": f"lamp {n}", "definition": {"model": "L", "exposes": ["x" * 500]}} for n in range(filler)
    ]
    return json.dumps(devices).encode()


def depot(folder: Path, port: int, extra: str = "") -> Path:
    file = folder / "depot.toml"
    file.write_text(HEADER.format(port=port) + extra, "utf-8")
    return file


def files(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir() if each.is_file())


async def keep(port: int, topic: str, payload: bytes | dict[str, Any]) -> None:
    """Publish a retained announcement, as bridges do."""
    content = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    async with aiomqtt.Client("127.0.0.1", port) as client:
        await client.publish(topic, content, qos=1, retain=True)


async def discovered(file: Path, *args: str) -> tuple[Ran, Any]:
    ran = await vigia("discover", file, "--seconds", "1", "--json", *args)
    return ran, json.loads(ran.out)


async def test_heads_that_announced_themselves_become_blocks_that_pass_the_check(
    tmp_path: Path, mosquitto: Any
) -> None:
    await keep(mosquitto.port, "zigbee2mqtt/bridge/devices", z2m("cozinha", "salão 2"))
    entity = {"state_topic": "esp/gas/state", "device_class": "gas", "name": "Botijão"}
    await keep(mosquitto.port, "homeassistant/binary_sensor/esp/gas/config", entity)
    known = '[[detector]]\nid = "cozinha"\narea = "patio"\nmqtt = "zigbee2mqtt/cozinha"\n'
    known += 'profile = "mqtt-json"\nvalue = "/gas_value"\n'
    file = depot(tmp_path, mosquitto.port, known)
    ran = await vigia("discover", file, "--seconds", "1", "--area", "fundos")

    assert ran.code == 0
    assert "cozinha (Acme NEW-1) on zigbee2mqtt/cozinha: already in the file" in ran.err
    heads = {head["id"]: head for head in tomllib.loads(ran.out)["detector"]}
    assert set(heads) == {"salao-2", "Botijao"}
    assert {head["area"] for head in heads.values()} == {"fundos"}
    file.write_text(file.read_text("utf-8") + ran.out, "utf-8")
    assert len(load(file, {}).depot.detectors) == 3


async def test_a_list_larger_than_a_heads_message_is_heard_whole(tmp_path: Path, mosquitto: Any) -> None:
    await keep(mosquitto.port, "zigbee2mqtt/bridge/devices", z2m("cozinha", filler=600))
    _, found = await discovered(depot(tmp_path, mosquitto.port))
    assert [head["topic"] for head in found["heads"]] == ["zigbee2mqtt/cozinha"]


async def test_write_appends_what_is_new_and_twice_changes_nothing_more(tmp_path: Path, mosquitto: Any) -> None:
    await keep(mosquitto.port, "zigbee2mqtt/bridge/devices", z2m('a "b" \\', "c"))
    file = depot(tmp_path, mosquitto.port)
    file.chmod(0o640)
    before = file.read_text("utf-8")
    first, _ = await discovered(file, "--write")
    after = file.read_text("utf-8")
    again, found = await discovered(file, "--write")

    assert (first.code, again.code) == (0, 0)
    assert after.startswith(before) and file.read_text("utf-8") == after
    assert [head["known"] for head in found["heads"]] == [True, True] and found["blocks"] == []
    assert {head.topic for head in load(file, {}).depot.mqtt_heads} == {'zigbee2mqtt/a "b" \\', "zigbee2mqtt/c"}
    assert file.stat().st_mode & 0o777 == 0o640
    assert files(tmp_path) == ["depot.toml"]


async def test_write_leaves_a_file_alone_that_would_not_be_right_with_the_blocks(
    tmp_path: Path, mosquitto: Any
) -> None:
    await keep(mosquitto.port, "zigbee2mqtt/bridge/devices", z2m("p" * 400))
    file = depot(tmp_path, mosquitto.port)
    before = file.read_text("utf-8")
    ran, found = await discovered(file, "--write")

    assert (ran.code, "nothing was written" in ran.err) == (78, True)
    assert f"{file}:" in ran.err and len(found["blocks"]) == 1
    assert file.read_text("utf-8") == before
    assert files(tmp_path) == ["depot.toml"]


async def test_a_name_made_to_break_out_of_the_block_stays_inside_it(tmp_path: Path, mosquitto: Any) -> None:
    nasty = 'x"\n[web]\nlisten = "0.0.0.0:80"\n#\u2028\x1b[31m'
    devices = [{"friendly_name": nasty, "definition": {"model": nasty, "vendor": nasty, "exposes": [LEL]}}]
    await keep(mosquitto.port, "zigbee2mqtt/bridge/devices", json.dumps(devices).encode())
    ran = await vigia("discover", depot(tmp_path, mosquitto.port), "--seconds", "1")

    tables = tomllib.loads(ran.out)
    assert set(tables) == {"detector"} and tables["detector"][0]["mqtt"] == f"zigbee2mqtt/{nasty}"
    assert "\x1b" not in ran.out + ran.err


async def test_shellies_are_called_only_when_asked_for(tmp_path: Path, mosquitto: Any) -> None:
    file = depot(tmp_path, mosquitto.port)
    calls: list[str] = []
    async with aiomqtt.Client("127.0.0.1", mosquitto.port) as shelly:
        await shelly.subscribe("shellies/command", qos=1)
        await discovered(file)
        ran = vigia("discover", file, "--seconds", "3", "--json", "--ask")
        asked = asyncio.create_task(ran)
        async with asyncio.timeout(15):
            async for message in shelly.messages:
                calls.append(bytes(message.payload).decode())  # type: ignore[arg-type]  # bytes always
                await shelly.publish("shellies/announce", json.dumps({"id": "shellygas-1", "model": "SHGS-1"}), qos=1)
                break
        found = json.loads((await asked).out)

    assert calls == ["announce"]
    assert [(head["topic"], head["profile"]) for head in found["heads"]] == [
        ("shellies/shellygas-1/sensor/gas", "shelly-gas")
    ]


async def test_without_a_broker_it_says_what_to_do(tmp_path: Path, idle_mosquitto: Any) -> None:
    ran, _ = await discovered(depot(tmp_path, idle_mosquitto.port))
    assert (ran.code, "cannot be listened to (connection refused)" in ran.err) == (1, True)
    file = tmp_path / "other.toml"
    file.write_text(HEADER[: HEADER.index("[mqtt]")], "utf-8")
    ran = await vigia("discover", file)
    assert (ran.code, "there is no [mqtt]" in ran.err) == (2, True)
