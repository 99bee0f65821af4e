"""The whole gateway with a real Mosquitto: heads that publish, alarms that go out, and what brokers do to both."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any, Self

import aiomqtt
import pytest
from patience import WITHIN_S, until
from whole_depot import MQTT, MQTT_HEAD, Whole

pytestmark = pytest.mark.servers


def with_broker(depot: Whole, port: int, heads: range) -> None:
    depot.extra = MQTT.format(port=port) + "".join(MQTT_HEAD.format(n=n) for n in heads)


class Publishers:
    """Heads that publish four times a second for as long as they are told to. Values may be changed at any time."""

    def __init__(self, port: int, values: dict[str, float]) -> None:
        self.values = values
        self._port = port
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        while not self._task.done():  # aiomqtt's waits can swallow a cancellation that meets their answer
            self._task.cancel()
            await asyncio.wait([self._task], timeout=0.2)

    async def _run(self) -> None:
        no = 0
        while True:
            try:
                async with aiomqtt.Client("127.0.0.1", self._port) as client:
                    while True:
                        no += 1
                        for head, lel in self.values.items():
                            await client.publish(f"depot/{head}", json.dumps({"lel": lel, "seq": no}), qos=0)
                        await asyncio.sleep(0.25)
            except aiomqtt.MqttError:
                task = asyncio.current_task()
                if task is not None and task.cancelling():  # aiomqtt's farewell failed, and hid that we are to end
                    raise asyncio.CancelledError from None
                await asyncio.sleep(0.1)


async def retained(port: int, topic: str) -> dict[str, Any]:
    async with aiomqtt.Client("127.0.0.1", port) as client:
        await client.subscribe(topic, qos=1)
        async with asyncio.timeout(WITHIN_S):
            async for message in client.messages:
                return json.loads(bytes(message.payload))
    raise AssertionError


async def health_becomes(port: int, *, alive: bool) -> None:
    async with aiomqtt.Client("127.0.0.1", port) as client:
        await client.subscribe("vigia/deposito/health", qos=1)
        async with asyncio.timeout(WITHIN_S):
            async for message in client.messages:
                if json.loads(bytes(message.payload))["alive"] is alive:
                    return


async def test_a_leak_at_an_mqtt_head_alarms_and_leaves_on_the_broker(depot: Whole, mosquitto) -> None:
    with_broker(depot, mosquitto.port, range(11, 13))
    async with Publishers(mosquitto.port, {"GD-11": 0.0, "GD-12": 1.0}) as heads:
        await depot.start()
        await until(lambda: len(depot.line.log) > 6)
        began = time.monotonic()
        heads.values["GD-11"] = 22.0
        (call,) = await until(depot.hook.gas)
        assert call.at - began < 3.0 and call.body["level"] == "A2"
        kept = await retained(mosquitto.port, "vigia/deposito/alarm/GD-11/GAS")
        assert (kept["state"], kept["level"], kept["lel_pct"]) == ("unacknowledged", "A2", 22.0)
        assert set(kept) >= {"since", "sampled", "decided", "seq"}
        await health_becomes(mosquitto.port, alive=True)
        await depot.kill()
        await health_becomes(mosquitto.port, alive=False)  # the last will


@pytest.mark.trial("B02")
async def test_b02_a_recreated_broker_is_subscribed_again_and_alarms_in_time(depot: Whole, mosquitto) -> None:
    with_broker(depot, mosquitto.port, range(11, 12))
    async with Publishers(mosquitto.port, {"GD-11": 0.0}) as heads:
        await depot.start()
        mosquitto.stop()
        mosquitto.wipe()
        await until(lambda: depot.hook.of("BLIND", "raised", "mqtt"), what="the notice of the broker")
        mosquitto.start()
        await until(lambda: depot.hook.of("BLIND", "cleared", "mqtt"))
        began = time.monotonic()
        heads.values["GD-11"] = 12.0
        await until(depot.hook.gas)
        assert time.monotonic() - began < 3.0


@pytest.mark.trial("B22")
async def test_b22_retained_alarms_of_long_ago_set_off_nothing(depot: Whole, mosquitto) -> None:
    """30 heads with a retained alarm, none alive; 3 restarts of ours and 2 bounces of the broker."""
    with_broker(depot, mosquitto.port, range(11, 41))
    async with aiomqtt.Client("127.0.0.1", mosquitto.port) as client:
        for n in range(11, 41):
            await client.publish(f"depot/GD-{n}", json.dumps({"lel": 60.0}), qos=1, retain=True)
    depot.gas(1, 15.0)
    for life in range(3):
        count = len(depot.hook.calls)
        await depot.start()
        if life == 0:
            await until(depot.hook.gas)
            await until(lambda: depot.hook.of("BLIND", "raised"))
        for _ in range(2 if life == 1 else 0):
            mosquitto.stop()
            mosquitto.start()
        await until(lambda: len(depot.line.log) > 20)
        await asyncio.sleep(3.5)  # longer than the start's grace and any silence a head is allowed
        gas = [call for call in depot.hook.calls[count:] if call.body["kind"] == "GAS"]
        assert {call.body["subject"] for call in gas} <= {"GD-1"}
        assert len([call for call in gas if call.body["event"] == "raised"]) == (1 if life == 0 else 0)
        blind = [c.body["subject"] for c in depot.hook.calls[count:] if c.body["kind"] == "BLIND"]
        assert len(blind) == len(set(blind)), "one notice for each head at the most"
        await depot.kill()
        depot.line.log.clear()


@pytest.mark.trial("B27")
async def test_b27_huge_payloads_leave_the_good_head_on_time(depot: Whole, mosquitto) -> None:
    with_broker(depot, mosquitto.port, range(11, 13))
    async with Publishers(mosquitto.port, {"GD-11": 0.0}) as heads:
        await depot.start()
        await until(lambda: len(depot.line.log) > 6)
        async with aiomqtt.Client("127.0.0.1", mosquitto.port) as client:
            for size in (1, 16, 64):
                await client.publish("depot/GD-12", b"9" * (size * 1024 * 1024), qos=1, timeout=20)
            await client.publish("depot/GD-12", b'{"lel":' * 8000, qos=1)
            await client.publish("depot/GD-12", b'{"lel": ' + b"9" * 60_000 + b"}", qos=1)
        began = time.monotonic()
        heads.values["GD-11"] = 12.0
        (call,) = await until(depot.hook.gas)
        assert call.at - began < 1.5
        assert call.body["subject"] == "GD-11"
        assert depot.process is not None and depot.process.returncode is None
        peak_kb = int(_status(depot.process.pid)["VmHWM"].split()[0])
        assert peak_kb < 256 * 1024


def _status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}
