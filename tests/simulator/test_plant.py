"""The simulated depot on its wires: gas shows in registers and in the record of the truth."""

import asyncio
import json
from datetime import datetime
from pathlib import Path

import aiomqtt
import pytest
from patience import wait_until
from pymodbus.client import AsyncModbusTcpClient

from simulator.lines import HOST
from simulator.plant import Plant, Record
from simulator.scenario import load, parse

BURST = """
yard = "patio"
seed = 5
lasts_s = 60
[title]
pt-BR = "Uma mangueira rompe"
en = "A hose bursts"
[description]
pt-BR = "Uma mangueira rompe."
en = "A hose bursts."
[air]
wind_m_s = 0
towards_deg = 0
[[leak]]
x_m = 12.5
y_m = 3.6
rate_kg_h = [[0.5, 0], [0.6, 4000]]
[[event]]
what = "restart"
head = "GD-108"
at_s = 0
"""
SOON_S = 10.0


@pytest.fixture
async def plant():
    opened = Plant(parse("burst", "burst.toml", BURST), Record(None))
    await opened.open()
    yield opened
    await opened.close()


async def registers(port: int, unit: int) -> list[int]:
    client = AsyncModbusTcpClient(HOST, port=port, timeout=2)
    assert await client.connect()
    try:
        return (await client.read_holding_registers(0, count=2, device_id=unit)).registers
    finally:
        client.close()


async def test_the_air_stands_still_until_the_start(plant):
    assert set(plant.ports) == {"linha-1", "linha-2", "saidas"}
    first = await registers(plant.ports["linha-1"], 3)
    assert first == await registers(plant.ports["linha-1"], 3)
    assert first[0] < 5
    assert plant.record.lines == []


async def test_a_leak_shows_in_the_registers_and_in_the_record(plant):
    plant.start()
    async with asyncio.timeout(SOON_S):
        while (await registers(plant.ports["linha-1"], 3))[0] < 400:
            pass  # each look is a request on the wire
    shown = [(line["detector"], line["set_point"]) for line in plant.record.lines if line["what"] == "shows"]
    assert [pair for pair in shown if pair[0] == "GD-103"] == [("GD-103", 10.0), ("GD-103", 20.0), ("GD-103", 40.0)]
    assert not any(detector.startswith("GD-2") for detector, _ in shown), (
        "a head on MQTT shows nothing unless it speaks"
    )


async def test_a_restarted_head_says_that_it_warms_up(plant):
    plant.start()
    assert await registers(plant.ports["linha-2"], 4) == [0, 0b10]


async def test_the_siren_is_heard_and_recorded_once(plant):
    client = AsyncModbusTcpClient(HOST, port=plant.ports["saidas"], timeout=2)
    assert await client.connect()
    for on in (True, True, False):
        await client.write_coil(0, on, device_id=1)
    client.close()
    assert [line["on"] for line in plant.record.lines if line["what"] == "siren"] == [True, False]
    assert plant.siren_on is False


async def test_a_stall_is_caught_up_before_the_next_answer(plant, monkeypatch):
    plant.start()
    loop = asyncio.get_running_loop()
    now = loop.time
    monkeypatch.setattr(loop, "time", lambda: now() + 6.0)
    assert (await registers(plant.ports["linha-1"], 3))[0] >= 400
    monkeypatch.undo()


async def test_mqtt_heads_speak_twice_a_second_through_a_real_broker(plant, broker_port):
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    heard: dict[str, list[tuple[float, dict[str, object]]]] = {}
    speaking = asyncio.create_task(plant.publish(HOST, broker_port, stop))
    async with (
        asyncio.timeout(SOON_S),
        aiomqtt.Client(HOST, broker_port, protocol=aiomqtt.ProtocolVersion.V311) as client,
    ):
        await client.subscribe("depot/#")
        async for message in client.messages:
            assert isinstance(message.payload, bytes)
            assert not message.retain
            heard.setdefault(str(message.topic), []).append((loop.time(), json.loads(message.payload)))
            if all(len(heard.get(f"depot/GD-20{n}", [])) >= 5 for n in (1, 2, 3, 4)):
                break
    stop.set()
    await asyncio.wait_for(speaking, SOON_S)
    for said in heard.values():
        numbers = [payload["seq"] for _, payload in said]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert all(isinstance(payload["lel"], float) for _, payload in said)
        span = said[4][0] - said[0][0]
        assert 1.5 < span < 3.0, "four gaps of half a second"


async def test_an_mqtt_head_comes_back_after_its_broker_was_away(plant, children):
    first = children.start("the broker", "-m", "simulator.broker", pipes=True)
    port = first.ports()["mqtt"]
    stop = asyncio.Event()
    speaking = asyncio.create_task(plant.publish(HOST, port, stop))
    await first_message(port)
    await asyncio.to_thread(first.stop)
    again = children.start("the broker", "-m", "simulator.broker", str(port), pipes=True)
    assert (await asyncio.to_thread(again.ports))["mqtt"] == port
    await first_message(port)
    stop.set()
    await asyncio.wait_for(speaking, SOON_S)


async def first_message(port: int) -> None:
    async with (
        asyncio.timeout(SOON_S),
        aiomqtt.Client(HOST, port, protocol=aiomqtt.ProtocolVersion.V311) as client,
    ):
        await client.subscribe("depot/#")
        await anext(aiter(client.messages))


async def test_as_a_process_it_starts_on_order_keeps_wanted_ports_and_writes_the_truth(children, tmp_path):
    scenario, truth = tmp_path / "burst.toml", tmp_path / "truth.jsonl"
    scenario.write_text(BURST, encoding="utf-8")
    record = f"--record={truth}"
    first = children.start("the plant", "-m", "simulator.plant", str(scenario), record, pipes=True)
    ports = dict(await asyncio.to_thread(first.ports))
    assert truth.read_text() == ""
    first.order("start")
    await asyncio.to_thread(wait_until, lambda: sum(line["what"] == "shows" for line in read(truth)) >= 3)
    await asyncio.to_thread(first.stop)
    assert first.process.returncode == 0
    lines = read(truth)
    assert lines[0]["what"] == "start"
    times = [datetime.fromisoformat(line["utc"]) for line in lines]
    assert times == sorted(times)
    wanted = [f"--port={line}={port}" for line, port in ports.items()]
    second = children.start("the plant", "-m", "simulator.plant", str(scenario), record, *wanted, pipes=True)
    assert dict(await asyncio.to_thread(second.ports)) == ports


def read(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def test_the_leak_shows_no_gas_before_its_time():
    opened = Plant(load("leak"), Record(None))
    await opened.open()
    opened.start()
    assert (await registers(opened.ports["linha-1"], 3))[0] < 5
    await opened.close()
