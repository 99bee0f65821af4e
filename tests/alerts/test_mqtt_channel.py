"""Alarms out by MQTT, against a real Mosquitto: accepted means acknowledged, and names never leave their level."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field

import aiomqtt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from patience import until

from alerts.alarms import (
    AlarmEvent,
    AlarmKey,
    AlarmState,
    Cause,
    Delivery,
    EventId,
    Kind,
    Level,
    Notice,
    Phase,
    Verdict,
)
from alerts.channels.mqtt import ACKNOWLEDGE_S, MqttChannel, topic_level
from alerts.messages.body import body
from sensors.drivers.mqtt import MqttSettings
from sensors.stamps import SECOND, Instant, Stamp, UtcNanos
from simulator.memory_broker import MemoryBroker

servers = pytest.mark.servers
TOPIC = "vigia/centro/alarm/GD-101/GAS"


def stamp(second: float) -> Stamp:
    return Stamp(Instant(int(second * SECOND)), UtcNanos(1_796_000_000 * SECOND + int(second * SECOND)))


def notice(subject: str = "GD-101", *, seq: int = 7, cause: Cause = Cause.RAISED, recipient: str = "dona") -> Notice:
    raised = cause is Cause.RAISED
    event = AlarmEvent(
        seq=seq,
        id=EventId(f"centro-abc-{seq}"),
        key=AlarmKey(subject, Kind.GAS),
        cause=cause,
        before=Phase.NORMAL if raised else Phase.LATCHED_ACKNOWLEDGED,
        after=Phase.UNACKNOWLEDGED if raised else Phase.NORMAL,
        level=Level.A2,
        reading=None,
        lel_pct=21.0 if raised else 0.0,
        peak=21.0,
        since=stamp(1.0),
        sampled=stamp(1.0),
        at=stamp(1.25),
    )
    delivery = Delivery(id=f"{event.id}:central:{recipient}", event=event.id, recipient=recipient, channel="central")
    return Notice(
        delivery=delivery,
        event=event,
        depot="centro",
        area="patio",
        recorded=True,
        text="Gás no detector GD-101: 21 % LIE. Evacue.",
    )


@dataclass
class Listener:
    """Another client of the same broker, and all that it heard."""

    heard: list[tuple[str, object, bool, int]] = field(default_factory=list)
    _told: asyncio.Event = field(default_factory=asyncio.Event)

    async def listen(self, broker, ready: asyncio.Event) -> None:
        async with aiomqtt.Client(broker.host, broker.port, identifier="listener") as client:
            await client.subscribe("#", qos=1)
            ready.set()
            async for message in client.messages:
                self.heard.append((message.topic.value, json.loads(message.payload), message.retain, message.qos))
                self._told.set()

    def on(self, topic: str) -> list[object]:
        return [payload for where, payload, *_ in self.heard if where == topic]

    async def until(self, holds: Callable[[], bool], within_s: float = 8.0) -> None:
        async with asyncio.timeout(within_s):
            while not holds():
                self._told.clear()
                await self._told.wait()


@contextlib.asynccontextmanager
async def running(work: Coroutine[None, None, None]) -> AsyncIterator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@contextlib.asynccontextmanager
async def listening(broker) -> AsyncIterator[Listener]:
    listener, ready = Listener(), asyncio.Event()
    async with running(listener.listen(broker, ready)), asyncio.timeout(20.0):
        await ready.wait()
        yield listener


@contextlib.asynccontextmanager
async def channel_at(broker) -> AsyncIterator[MqttChannel]:
    channel = MqttChannel("central", MqttSettings(broker.host, broker.port, client_id="out"), "centro")
    async with running(channel.run()):
        await until(lambda: channel.up)
        yield channel


@servers
@pytest.mark.measured
async def test_a_notice_is_accepted_when_the_broker_has_the_event_and_the_state(mosquitto):
    async with channel_at(mosquitto) as channel, listening(mosquitto) as listener:
        began = time.monotonic()
        outcome = await channel.deliver(notice())
        assert time.monotonic() - began < 0.5
        await listener.until(lambda: len(listener.on("vigia/centro/event")) == 1)
        await listener.until(lambda: len(listener.on("vigia/centro/alarm/GD-101/GAS")) == 1)
    assert (outcome.verdict, outcome.reason) == (Verdict.ACCEPTED, "PUBACK")
    assert listener.on("vigia/centro/event") == [body(notice())]
    assert [qos for topic, _, _, qos in listener.heard if topic.endswith("/event")] == [1]


@servers
async def test_the_state_of_an_alarm_is_there_for_whoever_comes_later(mosquitto):
    async with channel_at(mosquitto) as channel:
        await channel.deliver(notice())
        await channel.deliver(notice(seq=9, cause=Cause.RESET))
        late = await channel.deliver(notice(seq=8))
    async with listening(mosquitto) as listener:
        await listener.until(lambda: len(listener.heard) >= 2)
    assert late.verdict is Verdict.ACCEPTED, "a late event is still delivered"
    assert listener.on("vigia/centro/alarm/GD-101/GAS") == [
        {
            "state": "normal",
            "level": "A2",
            "lel_pct": 0.0,
            "since": "2026-11-30T00:53:21.000Z",
            "sampled": "2026-11-30T00:53:21.000Z",
            "decided": "2026-11-30T00:53:21.250Z",
            "seq": 9,
            "suppression": None,
        }
    ]
    assert all(retained for _, _, retained, _ in listener.heard)
    assert listener.on("vigia/centro/event") == [], "events are not retained"


@servers
async def test_a_second_recipient_of_an_event_makes_no_second_message(mosquitto):
    async with channel_at(mosquitto) as channel, listening(mosquitto) as listener:
        outcomes = [await channel.deliver(notice(recipient=who)) for who in ("dona", "brigada")]
        await channel.deliver(notice(seq=8))
        await listener.until(lambda: len(listener.on("vigia/centro/event")) >= 2)
    assert [outcome.verdict for outcome in outcomes] == [Verdict.ACCEPTED, Verdict.ACCEPTED]
    assert [event["seq"] for event in listener.on("vigia/centro/event")] == [7, 8]


@servers
async def test_without_a_broker_a_notice_is_to_be_tried_again_and_comes_through_once_there_is_one(idle_mosquitto):
    channel = MqttChannel("central", MqttSettings(idle_mosquitto.host, idle_mosquitto.port, client_id="out"), "centro")
    assert (await channel.deliver(notice())).verdict is Verdict.RETRY
    async with running(channel.run()):
        await until(lambda: channel.reason == "refused")
        assert (await channel.deliver(notice())).reason == "refused"
        idle_mosquitto.start()
        await until(lambda: channel.up, within_s=5.0)
        assert (await channel.deliver(notice())).verdict is Verdict.ACCEPTED


@servers
@pytest.mark.measured
async def test_a_broker_that_does_not_acknowledge_is_not_believed(mosquitto):
    async with channel_at(mosquitto) as channel:
        mosquitto.freeze()
        began = time.monotonic()
        outcomes = await asyncio.gather(*(channel.deliver(notice(seq=seq)) for seq in (7, 8)))
        assert time.monotonic() - began < ACKNOWLEDGE_S + 0.5
        mosquitto.thaw()
        await until(lambda: channel.up)
        again = await channel.deliver(notice())
    assert [(o.verdict, o.reason) for o in outcomes] == [(Verdict.RETRY, "no-answer")] * 2
    assert again.verdict is Verdict.ACCEPTED


@servers
@pytest.mark.measured
async def test_a_broker_that_dies_in_the_middle_is_told_at_once(mosquitto):
    async with channel_at(mosquitto) as channel:
        mosquitto.freeze()
        delivering = asyncio.create_task(channel.deliver(notice()))
        await asyncio.sleep(0)
        began = time.monotonic()
        mosquitto.kill()
        outcome = await delivering
        assert time.monotonic() - began < 1.0
    assert outcome.verdict is Verdict.RETRY


@servers
async def test_a_broker_that_refuses_the_topic_has_not_accepted(idle_mosquitto, tmp_path):
    rules = tmp_path / "acl"
    rules.write_text("topic readwrite vigia/centro/health\n")
    idle_mosquitto.start(f"acl_file {rules}")
    async with channel_at(idle_mosquitto) as channel:
        outcome = await channel.deliver(notice())
    assert outcome.verdict is Verdict.RETRY
    assert "Not authorized" in outcome.reason


@servers
async def test_health_is_retained_and_a_watch_that_ends_in_any_way_is_dead(mosquitto):
    where = "vigia/centro/health"
    async with listening(mosquitto) as listener:
        async with channel_at(mosquitto) as channel:
            assert channel.health({"worst_case_s": 1.2})
            await listener.until(lambda: {"alive": True, "worst_case_s": 1.2} in listener.on(where))
        await listener.until(lambda: listener.on(where)[-1] == {"alive": False})
    async with listening(mosquitto) as later:
        await later.until(lambda: later.on(where) == [{"alive": False}])


@servers
async def test_health_is_told_again_when_the_broker_comes_back_with_nothing(mosquitto):
    async with channel_at(mosquitto) as channel:
        channel.health({"n": 1})
        mosquitto.stop()
        await until(lambda: not channel.up)
        assert not channel.health({"n": 2})
        mosquitto.wipe()
        mosquitto.start()
        await until(lambda: channel.up)
        async with listening(mosquitto) as listener:
            await listener.until(lambda: listener.on("vigia/centro/health") == [{"alive": True, "n": 2}])


NAMES = [
    "Sala #1",
    "a+b",
    "x/y",
    "$SYS/z",
    "área 2",
    "../alarm",
    "..",
    ".",
    "",
    "%2E",
    "a%2Fb",
    "a/b",
    "nul\x00",
    "\ud800",
]


@servers
@pytest.mark.trial("B26")
async def test_b26_every_name_has_its_own_topic_inside_the_prefix_and_the_link_stays(mosquitto):
    async with channel_at(mosquitto) as channel, listening(mosquitto) as listener:
        for seq, name in enumerate(NAMES[:-1], start=1):
            assert (await channel.deliver(notice(name, seq=seq))).verdict is Verdict.ACCEPTED
        await listener.until(lambda: len(listener.on("vigia/centro/event")) == len(NAMES) - 1)
        await listener.until(lambda: len(listener.heard) == 2 * (len(NAMES) - 1) + 1)
        assert channel.up
    topics = {topic for topic, *_ in listener.heard} - {"vigia/centro/event", "vigia/centro/health"}
    assert len(topics) == len(NAMES) - 1
    assert all(topic.startswith("vigia/centro/alarm/") and topic.count("/") == 4 for topic in topics)


@pytest.mark.trial("B26")
@given(st.text(), st.text())
def test_b26_two_names_never_share_a_level_and_none_leaves_it(one, other):
    level = topic_level(one)
    assert level.isascii()
    assert level.isprintable()
    assert level not in {"", ".", ".."}
    assert not set(level) & set("/+#$ ")
    assert (level == topic_level(other)) == (one == other)


@pytest.mark.trial("B26")
def test_b26_the_names_of_the_trial_are_all_different_levels():
    assert len({topic_level(name) for name in NAMES}) == len(NAMES)


async def test_an_older_event_that_is_told_again_after_a_restart_puts_no_state_over_what_stands_now() -> None:
    """The broker has been told of the end already; the restart knows only the alarms that stand, and this is owed."""
    memory = MemoryBroker()
    standing: dict[AlarmKey, AlarmState] = {}
    settings = MqttSettings("127.0.0.1", 1883)
    channel = MqttChannel("central", settings, "centro", standing.get, memory.connect)
    running = asyncio.ensure_future(channel.run())
    await memory.joined.wait()
    assert channel.up
    memory.keep(TOPIC, b'{"state": "normal"}')
    assert (await channel.deliver(notice(seq=7))).verdict is Verdict.ACCEPTED
    assert dict(memory.kept())[TOPIC] == b'{"state": "normal"}'
    assert (await channel.deliver(notice(seq=8, cause=Cause.RESET))).verdict is Verdict.ACCEPTED
    assert json.loads(dict(memory.kept())[TOPIC])["seq"] == 8
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running
