"""An output that says its state only when it changes or is asked, as a Shelly does: confirmed all the same."""

import asyncio
import json
from typing import Any, cast

import pytest
from patience import until

from alerts.channels.output import LocalOutput
from gateway.machine.clock import SystemClock
from sensors import profiles
from sensors.drivers.outputs import TopicOutput
from sensors.wire.outputs import MqttOutput

pytestmark = [pytest.mark.asyncio, pytest.mark.measured]


class Shelly:
    """A switch of the second generation behind a broker that takes everything at once."""

    def __init__(self) -> None:
        self.on = False
        self.wire: TopicOutput | None = None
        self.asked = 0

    def hand_over(self, topic: str, payload: bytes, *, retain: bool) -> "asyncio.Future[None]":
        assert not retain
        loop = asyncio.get_running_loop()
        if topic == "casa/sirene/rpc":
            wanted = json.loads(payload)["params"]["on"]
            if wanted != self.on:
                self.on = wanted
                loop.call_soon(self.say)
        elif (topic, payload) == ("casa/sirene/command/switch:0", b"status_update"):
            self.asked += 1
            loop.call_soon(self.say)
        taken: asyncio.Future[None] = loop.create_future()
        taken.set_result(None)
        return taken

    def say(self) -> None:
        assert self.wire is not None
        self.wire.said(json.dumps({"id": 0, "source": "MQTT", "output": self.on}).encode())


async def test_it_is_confirmed_although_nothing_changed_and_looked_at_without_a_command() -> None:
    point = profiles.load("shelly-gen2-switch").output("relay", 0)
    assert isinstance(point, MqttOutput)
    shelly, told = Shelly(), list[tuple[bool | None, str]]()
    wire = TopicOutput(point, {"prefix": "casa/sirene"})
    output = LocalOutput("sirene", wire, lambda _, on, why: told.append((on, why)), SystemClock())
    shelly.wire, wire.listener = wire, output
    wire.connected(cast("Any", shelly))
    output.set(False)  # as it is already
    await until(lambda: told[-1:] == [(False, "")], 0.9)
    output.set(True)
    await until(lambda: told[-1:] == [(True, "")] and shelly.on, 0.9)
    output.set(False)
    await until(lambda: told[-1:] == [(False, "")] and not shelly.on, 0.9)
    asked, told[:] = shelly.asked, []
    output.look()
    await until(lambda: told == [(False, "")], 0.9)
    assert shelly.asked == asked + 1
    assert (None, "no-answer") not in told
    wire.lost("closed")
    output.set(False)
