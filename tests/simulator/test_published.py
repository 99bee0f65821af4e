"""The simulator publishes every shipped profile of MQTT to a real Mosquitto, and the driver reads it there."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import aiomqtt
import pytest

from gateway.machine.clock import SystemClock
from sensors import profiles
from sensors.drivers.mqtt import MqttHead, MqttSettings, MqttSource
from sensors.profiles import Profile
from sensors.readings import DetectorId, Quality, Reading, Scan, Status
from sensors.stamps import SECOND
from sensors.wire.payload_points import SPARKPLUG, PayloadPoints
from sensors.wire.sparkplug import decode, value_of
from sensors.wire.topics import CAPTURE
from sensors.wire.units import Basis
from simulator.edge_node import EdgeNode
from simulator.sayings import Wanted, sayable
from simulator.spoken_payloads import availability, payloads

pytestmark = pytest.mark.servers

BASIS = Basis(1.4, 1.4)
DEADLINE_S = 10.0
DATA = "spBv1.0/GLP/DDATA/gateway7/GD-1"
AIR = {"Gas/LEL": 0.5, "Gas/Alarm": False}


@dataclass
class Bench:
    """A driver on a broker, and the last that it read of each head."""

    broker: object
    heads: list[MqttHead]
    last: dict[str, Reading] = field(default_factory=dict)
    told: asyncio.Event = field(default_factory=asyncio.Event)
    source: MqttSource = field(init=False)

    def scan(self, scan: Scan) -> None:
        for reading in scan.readings:
            self.last[reading.detector] = reading
        self.told.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        try:
            async with asyncio.timeout(DEADLINE_S):
                while not holds():
                    self.told.clear()
                    await self.told.wait()
        except TimeoutError:
            pytest.fail(f"last read: {self.last}")

    async def of_all(self, holds: Callable[[MqttHead], bool]) -> None:
        try:
            async with asyncio.timeout(DEADLINE_S):
                while not all(map(holds, self.heads)):
                    self.told.clear()
                    await self.told.wait()
        except TimeoutError:
            late = {head.detector: self.last.get(head.detector) for head in self.heads if not holds(head)}
            pytest.fail(f"not read: {late}")

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        settings = MqttSettings(self.broker.host, self.broker.port, client_id="watch")
        self.source = MqttSource(
            settings, tuple(self.heads), clock=SystemClock(), on_scan=self.scan, on_link=lambda _: self.told.set()
        )
        task = asyncio.create_task(self.source.run())
        try:
            await self.until(lambda: self.source.up)
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


def head_of(profile: Profile) -> MqttHead:
    """A head with a topic of its own that fits its profile."""
    points = points_of(profile)
    template = points.topic.replace("[", "").replace("]", "")
    topic = CAPTURE.sub(lambda match: f"{match[1]}-{profile.id}", template)
    return MqttHead(DetectorId(profile.id), topic, profile, BASIS, 5 * SECOND)


def points_of(profile: Profile) -> PayloadPoints:
    assert isinstance(profile.points, PayloadPoints)
    return profile.points


def shipped() -> list[Profile]:
    found = [profiles.load(name) for name in profiles.names()]
    return [one.installed(profiles.example_settings(one)) for one in found if one.is_detector and one.wire == "mqtt"]


async def publish(client: aiomqtt.Client, head: MqttHead, wanted: Wanted) -> None:
    for topic, payload in payloads(points_of(head.profile), head.topic, BASIS, wanted):
        await client.publish(topic, payload, qos=1)


def alarm_of(profile: Profile) -> str | None:
    return next((word for word in ("alarm1", "alarm", "alarm2") if word in sayable(points_of(profile))), None)


async def test_every_shipped_profile_of_mqtt_is_heard_as_it_was_published(mosquitto):
    bench = Bench(mosquitto, [head_of(profile) for profile in shipped()])
    assert len(bench.heads) >= 25

    def numbers(head: MqttHead) -> bool:
        points = points_of(head.profile)
        return points.value is not None or points.carrier is not None

    def air(head: MqttHead) -> bool:
        found = bench.last.get(head.detector)
        return found is not None and found.status is Status.MEASURING and found.gas() == 0.0

    def gas(head: MqttHead) -> bool:
        found = bench.last.get(head.detector)
        if found is None or found.status is not Status.MEASURING:
            return False
        if numbers(head):
            return found.quality is Quality.GOOD and found.lel_pct == pytest.approx(12.5, abs=0.51)
        return found.at_least is not None and found.at_least >= 10.0

    async with bench.running(), aiomqtt.Client(mosquitto.host, mosquitto.port, identifier="heads") as client:
        for head in bench.heads:
            await publish(client, head, Wanted(0.0))
        await bench.of_all(air)
        for head in bench.heads:
            word = "measuring" if numbers(head) else alarm_of(head.profile)
            assert word is not None
            await publish(client, head, Wanted(12.5, word, beat=1))
        await bench.of_all(gas)
    assert bench.source.counters.refused_topics == 0
    assert bench.source.counters.dropped_garbled == 0


async def test_faults_and_absences_that_are_published_are_read_as_such_by_every_profile_that_has_them(mosquitto):
    bench = Bench(mosquitto, [head_of(profile) for profile in shipped()])
    faulty = [head for head in bench.heads if "fault" in sayable(points_of(head.profile))]
    leaving = [head for head in bench.heads if points_of(head.profile).availability is not None]
    assert len(faulty) >= 8
    assert len(leaving) >= 15

    def has(status: Status, heads: list[MqttHead]) -> bool:
        return all(head.detector in bench.last and bench.last[head.detector].status is status for head in heads)

    async with bench.running(), aiomqtt.Client(mosquitto.host, mosquitto.port, identifier="heads") as client:
        for head in faulty:
            await publish(client, head, Wanted(0.0, "fault"))
        await bench.until(lambda: has(Status.FAULT, faulty))
        for head in leaving:
            said = availability(points_of(head.profile), head.topic, there=False)
            assert said is not None
            await client.publish(*said, qos=1, retain=True)
        await bench.until(lambda: has(Status.NO_CONTACT, leaving))


def edge_head() -> MqttHead:
    alarm = {"metric": "Gas/Alarm", "words": {"true": "alarm1", "false": "measuring"}}
    keys = {"metric": "Gas/LEL", "unit_of_value": "lel_pct", "states": [alarm]}
    profile = profiles.load("sparkplug-b").installed(keys)
    assert points_of(profile).payload == SPARKPLUG
    return MqttHead(DetectorId("GD-1"), DATA, profile, BASIS, 5 * SECOND)


async def asked(client: aiomqtt.Client) -> None:
    """Wait for a command that asks for births."""
    async with asyncio.timeout(DEADLINE_S):
        async for message in client.messages:
            found = decode(bytes(message.payload))
            assert [(one.name, value_of(one, one.datatype)) for one in found.metrics] == [
                ("Node Control/Rebirth", True)
            ]
            return


async def test_an_edge_node_is_asked_for_its_births_until_they_came_and_its_gas_is_heard(mosquitto):
    node, bench = EdgeNode(DATA), Bench(mosquitto, [edge_head()])
    node.birth(AIR)  # before anybody listens

    def reads(quality: Quality, number: float | None) -> bool:
        found = bench.last.get("GD-1")
        return found is not None and (found.quality, found.lel_pct) == (quality, number)

    async with aiomqtt.Client(mosquitto.host, mosquitto.port, identifier="gateway7") as client:
        await client.subscribe(node.topic("NCMD"), qos=1)
        async with bench.running():
            await asked(client)
            for topic, payload in node.birth(AIR):
                await client.publish(topic, payload)
            await bench.until(lambda: reads(Quality.GOOD, 0.5))
            await client.publish(*node.data({"Gas/LEL": 12.0}))
            await bench.until(lambda: reads(Quality.GOOD, 12.0))
            await client.publish(*node.data({"Gas/Alarm": True}))
            await bench.until(lambda: bench.last["GD-1"].at_least == 25.0)
            await client.publish(*node.data({"Gas/Alarm": False, "Gas/LEL": 1.0}))
            await bench.until(lambda: reads(Quality.GOOD, 1.0))
            node.data({"Gas/LEL": 3.0})  # lost on its way
            await client.publish(*node.data({"Gas/LEL": 13.0}))
            await bench.until(lambda: reads(Quality.UNCERTAIN, 13.0))
            for topic, payload in node.birth({**AIR, "Gas/LEL": 2.0}):
                await client.publish(topic, payload)
            await bench.until(lambda: reads(Quality.GOOD, 2.0))
            await client.publish(*node.death())
            await bench.until(lambda: bench.last["GD-1"].status is Status.NO_CONTACT)
            assert bench.last["GD-1"].reason == "offline"


async def test_after_a_lost_connection_an_edge_node_is_asked_again(mosquitto):
    node, bench = EdgeNode(DATA), Bench(mosquitto, [edge_head()])
    async with aiomqtt.Client(mosquitto.host, mosquitto.port, identifier="gateway7") as client:
        await client.subscribe(node.topic("NCMD"), qos=1)
        async with bench.running():
            for connection in range(3):
                await asked(client)
                bench.last.clear()
                for topic, payload in node.birth({**AIR, "Gas/LEL": float(connection)}):
                    await client.publish(topic, payload)
                await bench.until(
                    lambda number=float(connection): "GD-1" in bench.last and bench.last["GD-1"].lel_pct == number
                )
                # the broker throws out whoever has a name that somebody else comes with
                with contextlib.suppress(aiomqtt.MqttError):
                    async with aiomqtt.Client(mosquitto.host, mosquitto.port, identifier="watch"):
                        await bench.until(lambda: not bench.source.up)
            await asked(client)
