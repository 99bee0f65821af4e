"""The parts that are built for a depot on the network."""

import asyncio
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiomqtt import MqttError

from gateway.configuration.loading import load
from gateway.field.wiring import Ears, build
from gateway.machine.clock import SystemClock
from sensors.drivers import mqtt, outputs
from sensors.drivers.pacer import Pacer

MORE = """
[[channel]]
id = "portaria"
kind = "beacon"
mqtt = { command = { topic = "portaria/set", on = "1", off = "0" }, confirm = { topic = "portaria" } }
"""


@pytest.mark.parametrize(("module", "part"), [(mqtt, "mqtt"), (outputs, "mqtt-outputs")])
async def test_whoever_connects_to_the_broker_again_remembers_where_it_was(
    module: object, part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    twice = asyncio.Event()

    @asynccontextmanager
    async def connected(*_: object, names: object = None):
        asked.append(names)
        if len(asked) == 2:
            twice.set()
        raise MqttError("refused")
        yield

    monkeypatch.setattr(module, "connected", connected)
    file = tmp_path / "depot.toml"
    file.write_text((Path(__file__).parents[1] / "base.toml").read_text("utf-8") + MORE, encoding="utf-8")

    def nothing(*_: object) -> None:
        return None

    ears = Ears(nothing, nothing, nothing, nothing, nothing, nothing, nothing)
    wiring = build(load(file, {}).depot, SystemClock(), Pacer(), ears)
    task = asyncio.create_task(dict(wiring.parts)[part]())
    try:
        await asyncio.wait_for(twice.wait(), 5)
    finally:
        task.cancel()
        await asyncio.wait([task])
    assert asked[0] is not None and asked[0] is asked[1]
