"""An output behind a real Mosquitto: told by one topic, believed by another, whatever becomes of device and broker."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiomqtt
import pytest
from patience import until

from alerts.channels.output import LocalOutput
from sensors import profiles
from sensors.drivers.broker import MqttSettings
from sensors.drivers.outputs import TopicOutput, Topics
from sensors.stamps import Instant, Stamp, UtcNanos
from sensors.wire.outputs import MqttOutput

pytestmark = [pytest.mark.servers, pytest.mark.measured]

COMMAND, STATE = "cmnd/sirene/POWER", "stat/sirene/POWER"


class MachineClock:
    def now(self) -> Stamp:
        return Stamp(Instant(time.monotonic_ns()), UtcNanos(time.time_ns()))


class Device:
    """A relay that takes commands and says its state after each, as Tasmota does. It can stick or fall silent."""

    def __init__(self, port: int) -> None:
        self.on = False
        self.stuck = False
        self.silent = False
        self.late_s = 0.0
        self.commands: list[bytes] = []
        self.heard: list[tuple[bool | None, str]] = []
        self._port = port
        self._client: aiomqtt.Client | None = None

    async def run(self) -> None:
        while True:
            try:
                async with aiomqtt.Client("127.0.0.1", self._port, identifier="aparelho") as client:
                    await client.subscribe(COMMAND, qos=1)
                    self._client = client
                    async for message in client.messages:
                        self.commands.append(bytes(message.payload))
                        if not self.stuck:
                            self.on = message.payload == b"ON"
                        await asyncio.sleep(self.late_s)
                        if not self.silent:
                            await self.say()
            except aiomqtt.MqttError:
                await asyncio.sleep(0.05)
            finally:
                self._client = None

    async def say(self, *, retain: bool = False) -> None:
        assert self._client is not None
        await self._client.publish(STATE, b"ON" if self.on else b"OFF", qos=1, retain=retain)

    @property
    def there(self) -> bool:
        return self._client is not None


@asynccontextmanager
async def installed(port: int, check_s: float = 30.0) -> AsyncIterator[tuple[Device, LocalOutput]]:
    point = profiles.load("tasmota-relay").output("relay")
    assert isinstance(point, MqttOutput)
    device, clock = Device(port), MachineClock()
    wire = TopicOutput(point, {"device": "sirene"})
    output = LocalOutput("sirene", wire, lambda _, on, why: device.heard.append((on, why)), clock, check_s)
    wire.listener = output
    settings = MqttSettings("127.0.0.1", port, client_id="vigia-outputs")
    broker = Topics(settings, [wire], clock)
    tasks = [asyncio.create_task(part()) for part in (device.run, broker.run, output.run)]
    await until(lambda: device.there)
    try:
        yield device, output
    finally:
        while left := [task for task in tasks if not task.done()]:
            for task in left:  # the fake's client forgets a cancellation that comes with an answer
                task.cancel()
            await asyncio.wait(left, timeout=0.5)


async def test_it_is_confirmed_by_its_state_topic_and_not_by_the_broker(mosquitto: Any) -> None:
    async with installed(mosquitto.port) as (device, output):
        output.set(False)
        await until(lambda: (False, "") in device.heard)
        output.set(True)
        await until(lambda: output.on is True, 2.0)
        assert device.on
        device.silent = True
        device.heard.clear()
        output.set(False)
        await until(lambda: not device.on)
        await until(lambda: (None, "no-answer") in device.heard, 3.0)
        assert output.on is None


async def test_a_device_that_does_not_obey_is_told_again_and_shown_as_it_is(mosquitto: Any) -> None:
    async with installed(mosquitto.port) as (device, output):
        device.stuck = True
        output.set(True)
        await until(lambda: (False, "wrong-state") in device.heard)
        await until(lambda: len(device.commands) >= 3, 4.0)
        device.stuck = False
        await until(lambda: output.on is True, 4.0)


async def test_a_state_that_the_broker_kept_proves_nothing(mosquitto: Any) -> None:
    async with aiomqtt.Client("127.0.0.1", mosquitto.port) as client:
        await client.publish(STATE, b"ON", qos=1, retain=True)
    async with installed(mosquitto.port) as (device, output):
        device.silent = True
        output.set(True)
        await until(lambda: (None, "no-answer") in device.heard, 4.0)
        assert (True, "") not in device.heard


async def test_a_device_that_starts_anew_is_put_right_at_once(mosquitto: Any) -> None:
    async with installed(mosquitto.port) as (device, output):
        output.set(True)
        await until(lambda: output.on is True)
        device.on = False  # its power came back: it says how it woke up
        began = time.monotonic()
        await device.say()
        await until(lambda: device.on, 2.0)
        await until(lambda: output.on is True, 2.0)
        assert time.monotonic() - began < 2.0


async def test_without_its_broker_nothing_is_known_of_it_and_with_it_again_it_is_told_anew(mosquitto: Any) -> None:
    async with installed(mosquitto.port) as (device, output):
        output.set(True)
        await until(lambda: output.on is True)
        mosquitto.stop()
        await until(lambda: output.on is None, 4.0)
        device.on = False
        mosquitto.start()
        await until(lambda: device.on and output.on is True, 10.0)


async def test_at_rest_it_is_told_again_every_so_often_so_that_a_dead_device_shows(mosquitto: Any) -> None:
    async with installed(mosquitto.port, check_s=0.5) as (device, output):
        output.set(False)
        await until(lambda: output.on is False)
        device.silent = True
        await until(lambda: output.on is None, 3.0)


async def test_a_device_that_answers_late_is_believed_all_the_same(mosquitto: Any) -> None:
    async with installed(mosquitto.port) as (device, output):
        output.set(False)
        await until(lambda: output.on is False)
        device.late_s = 1.4
        output.set(True)
        await until(lambda: (None, "no-answer") in device.heard, 2.0)
        await until(lambda: output.on is True, 2.0)
        device.late_s = 0.0
        await asyncio.sleep(2.0)
        assert output.on is True
