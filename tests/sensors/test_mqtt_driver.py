"""The MQTT driver against a real Mosquitto: fresh samples become readings, nothing else does, and it comes back."""

import asyncio
import contextlib
import json
import resource
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import replace

import aiomqtt
import pytest

from sensors.drivers.broker import DELAYS_S, Backoff
from sensors.drivers.mqtt import MqttHead, MqttSettings, MqttSource
from sensors.profiles import load
from sensors.readings import DetectorId, LinkChange, Quality, Reading, Scan, Status
from sensors.stamps import SECOND, Instant, Stamp, UtcNanos
from sensors.wire.meanings import Meaning
from sensors.wire.payload_points import FieldPoint, PayloadPoints, PayloadState
from sensors.wire.units import Basis, UnitOfValue

pytestmark = [pytest.mark.servers, pytest.mark.measured]

LEL = PayloadPoints("/lel")
PREHEAT = PayloadState(FieldPoint("/preheat"), Meaning(words=(("true", "warm_up"), ("false", "measuring"))))


class MachineClock:
    def now(self) -> Stamp:
        return Stamp(Instant(time.monotonic_ns()), UtcNanos(time.time_ns()))


class Ledger:
    """Everything a source told, and a way to wait for it."""

    def __init__(self) -> None:
        self.scans: list[Scan] = []
        self.links: list[LinkChange] = []
        self._told = asyncio.Event()

    def on_scan(self, scan: Scan) -> None:
        self.scans.append(scan)
        self._told.set()

    def on_link(self, link: LinkChange) -> None:
        self.links.append(link)
        self._told.set()

    async def until(self, holds: Callable[[], bool], within_s: float = 8.0) -> None:
        async with asyncio.timeout(within_s):
            while not holds():
                self._told.clear()
                with contextlib.suppress(TimeoutError):  # counters change without a word
                    async with asyncio.timeout(0.05):
                        await self._told.wait()

    def readings(self, detector: str) -> list[Reading]:
        return [reading for scan in self.scans for reading in scan.readings if reading.detector == detector]

    def values(self, detector: str) -> list[float | None]:
        return [reading.lel_pct for reading in self.readings(detector)]


def head(
    detector: str, points: PayloadPoints = LEL, *, topic: str | None = None, basis: Basis | None = None
) -> MqttHead:
    profile = replace(load("mqtt-json"), points=points)
    return MqttHead(
        detector=DetectorId(detector),
        topic=topic or f"depot/{detector}",
        profile=profile,
        basis=basis or Basis(1.4, 1.4),
        max_age_ns=5 * SECOND // 2,
    )


class Bench:
    def __init__(self, broker, *heads: MqttHead, **settings: object) -> None:
        self.ledger = Ledger()
        self.source = MqttSource(
            MqttSettings(broker.host, broker.port, client_id="watch", **settings),
            heads,
            clock=MachineClock(),
            on_scan=self.ledger.on_scan,
            on_link=self.ledger.on_link,
        )

    async def up(self, within_s: float = 8.0) -> None:
        await self.ledger.until(lambda: self.source.up, within_s)

    async def down(self, within_s: float = 12.0) -> None:
        await self.ledger.until(lambda: not self.source.up, within_s)


@contextlib.asynccontextmanager
async def running(work: Coroutine[None, None, None]) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@contextlib.asynccontextmanager
async def publisher(broker) -> AsyncIterator[aiomqtt.Client]:
    async with aiomqtt.Client(broker.host, broker.port, identifier="heads") as client:
        yield client


async def say(client: aiomqtt.Client, topic: str, payload: bytes | dict[str, object], *, retain: bool = False) -> None:
    body = json.dumps(payload).encode() if isinstance(payload, dict) else payload
    await client.publish(topic, body, qos=1, retain=retain)


async def test_a_message_becomes_one_scan_with_one_reading_in_the_reference_basis(mosquitto):
    bench = Bench(mosquitto, head("GD-1", basis=Basis(2.1, 1.4)), head("GD-2", PayloadPoints("/ppm", UnitOfValue.PPM)))
    async with running(bench.source.run()):
        await bench.up()
        async with publisher(mosquitto) as client:
            await say(client, "depot/GD-1", {"lel": 8})
            await say(client, "depot/GD-2", {"ppm": 1400})
        await bench.ledger.until(lambda: len(bench.ledger.scans) == 2)
    first, second = bench.ledger.scans
    assert (first.source, len(first.readings), len(second.readings)) == ("mqtt", 1, 1)
    assert first.readings[0].lel_pct == pytest.approx(12.0)
    assert second.readings[0].lel_pct == pytest.approx(10.0)
    assert first.readings[0].taken == first.taken
    assert [link.up for link in bench.ledger.links] == [True]


async def test_heads_that_share_a_topic_are_one_scan(mosquitto):
    heads = [head(f"GD-{n}", PayloadPoints(f"/heads/{n}"), topic="depot/panel") for n in range(3)]
    bench = Bench(mosquitto, *heads)
    async with running(bench.source.run()):
        await bench.up()
        async with publisher(mosquitto) as client:
            await say(client, "depot/panel", {"heads": [1, 2, 3]})
            await say(client, "depot/panel", {"heads": [4, 5]})
        await bench.ledger.until(lambda: len(bench.ledger.scans) == 2)
    assert [[reading.lel_pct for reading in scan.readings] for scan in bench.ledger.scans] == [[1, 2, 3], [4, 5]]
    assert bench.source.counters.dropped_absent == 1


@pytest.mark.trial("B09")
async def test_b09_a_message_without_the_gas_field_does_not_refresh_the_value(mosquitto):
    bench = Bench(mosquitto, head("GD-1"))
    async with running(bench.source.run()):
        await bench.up()
        async with publisher(mosquitto) as client:
            await say(client, "depot/GD-1", {"lel": 12, "battery": 90})
            for _ in range(5):
                await say(client, "depot/GD-1", {"battery": 89})
            await say(client, "depot/GD-1", {"lel": 0})
            await say(client, "depot/GD-1", {"battery": 88})
            await say(client, "depot/GD-1", {"lel": 15})
        await bench.ledger.until(lambda: bench.source.counters.messages == 9)
    assert bench.ledger.values("GD-1") == [12, 0, 15]
    assert bench.source.counters.dropped_absent + bench.source.counters.dropped_duplicate == 6


@pytest.mark.trial("B22")
async def test_b22_retained_alarms_of_yesterday_are_no_readings_at_any_restart(mosquitto):
    heads = [head(f"GD-{n}") for n in range(30)]
    async with publisher(mosquitto) as client:
        for n in range(30):
            await say(client, f"depot/GD-{n}", {"lel": 55}, retain=True)
    for _ in range(3):
        bench = Bench(mosquitto, *heads)
        async with running(bench.source.run()):
            await bench.ledger.until(lambda bench=bench: bench.source.counters.dropped_retained == 30)
            async with publisher(mosquitto) as client:
                await say(client, "depot/GD-7", {"lel": 3}, retain=True)  # live, though its sender asks to retain it
            await bench.ledger.until(lambda bench=bench: len(bench.ledger.scans) > 0)
        assert [(reading.detector, reading.lel_pct) for s in bench.ledger.scans for reading in s.readings] == [
            ("GD-7", 3)
        ]


@pytest.mark.trial("B22")
async def test_b22_a_bounced_broker_link_replays_nothing(mosquitto):
    bench = Bench(mosquitto, head("GD-1"))
    async with publisher(mosquitto) as client:
        await say(client, "depot/GD-1", {"lel": 55}, retain=True)
    async with running(bench.source.run()):
        for bounce in range(3):
            await bench.ledger.until(lambda bounce=bounce: bench.source.counters.dropped_retained == bounce + 1)
            mosquitto.stop()
            await bench.down()
            mosquitto.start()
            await bench.up()
    assert bench.ledger.scans == []
    assert bench.source.counters.reconnects == 3
    assert [link.up for link in bench.ledger.links if link.up] == [True] * 4


@pytest.mark.trial("B23")
async def test_b23_a_sample_that_comes_more_than_once_counts_once(mosquitto):
    bench = Bench(mosquitto, head("GD-1", PayloadPoints("/lel", sequence="/n")), head("GD-2"))
    async with running(bench.source.run()):
        await bench.up()
        async with publisher(mosquitto) as client:
            for n in range(5):
                for repeat in range(3):
                    await say(client, "depot/GD-1", {"lel": 10 + n, "n": n, "rssi": repeat})
            await asyncio.gather(*(say(client, "depot/GD-2", {"lel": 10}) for _ in range(3)))
            await say(client, "depot/GD-2", {"lel": 11})
        await bench.ledger.until(lambda: bench.source.counters.messages == 19)
    assert bench.ledger.values("GD-1") == [10, 11, 12, 13, 14]
    assert bench.ledger.values("GD-2") == [10, 11]
    assert bench.source.counters.dropped_duplicate == 12


@pytest.mark.trial("B02")
async def test_b02_a_broker_that_was_recreated_is_subscribed_to_again(mosquitto):
    bench = Bench(mosquitto, head("GD-1"))
    async with running(bench.source.run()):
        await bench.up()
        mosquitto.stop()
        await bench.down()
        mosquitto.wipe()
        mosquitto.start()
        await bench.up()
        async with publisher(mosquitto) as client:
            await say(client, "depot/GD-1", {"lel": 12})
        await bench.ledger.until(lambda: bench.ledger.values("GD-1") == [12], within_s=3.0)
    assert [link.up for link in bench.ledger.links if link.up] == [True, True]


@pytest.mark.trial("B04")
async def test_b04_a_driver_started_before_its_broker_comes_up_with_it(idle_mosquitto):
    bench = Bench(idle_mosquitto, head("GD-1"))
    async with running(bench.source.run()) as task:
        await bench.ledger.until(lambda: bench.source.counters.failed_connects >= 3)
        assert [(link.up, link.reason) for link in bench.ledger.links] == [(False, "refused")]
        spent = time.process_time()
        await bench.ledger.until(lambda: bench.source.counters.failed_connects >= 5)
        assert time.process_time() - spent < 0.5, "a refusing port must not make the CPU spin"
        idle_mosquitto.start()
        await bench.up(within_s=5.0)
        assert not task.done()
    assert [link.up for link in bench.ledger.links] == [False, True]


@pytest.mark.trial("B02")
async def test_b02_a_broker_that_is_up_but_answers_nothing_is_a_lost_link(mosquitto):
    bench = Bench(mosquitto, head("GD-1"))
    async with running(bench.source.run()):
        await bench.up()
        mosquitto.freeze()
        await bench.down(within_s=11.0)
        mosquitto.thaw()
        await bench.up(within_s=8.0)
    assert [link.up for link in bench.ledger.links] == [True, False, True]


async def test_cancelling_leaves_nothing_behind_at_any_moment_of_connecting(mosquitto):
    """The leaked-task fixture is the judge; the moments are those of connecting, shaking hands and subscribing."""
    for turns in range(0, 60, 3):
        bench = Bench(mosquitto, head("GD-1"))
        async with running(bench.source.run()):
            for _ in range(turns):
                await asyncio.sleep(0)


GARBAGE = {
    "latin": '{"lel":3,"onde":"Cozinha - Gás"}'.encode("latin-1"),
    "random": bytes(range(256)),
    "stitched": b'{"lel":1}\xff\x00\xfe{"lel":2}',
    "surrogate": b'{"lel":"\\ud800"}',
    "nul": b'{"lel":"\x00"}',
    "nan": b'{"lel":NaN}',
    "deep": b"[" * 30_000 + b"]" * 30_000,
    "digits": b'{"lel":' + b"9" * 60_000 + b"}",
}


@pytest.mark.trial("B25")
@pytest.mark.trial("B27")
async def test_b25_garbage_is_a_fault_of_its_own_head_and_no_delay_for_another(mosquitto):
    bench = Bench(mosquitto, head("bad"), head("good"))
    sent: list[float] = []
    async with running(bench.source.run()):
        await bench.up()
        async with (
            publisher(mosquitto) as bad,
            aiomqtt.Client(mosquitto.host, mosquitto.port, identifier="good") as good,
        ):
            for n, payload in enumerate([*GARBAGE.values(), b""]):
                await say(bad, "depot/bad", payload)
                sent.append(time.monotonic())
                await say(good, "depot/good", {"lel": n})
        await bench.ledger.until(lambda: len(bench.ledger.values("good")) == len(sent))
    faults = bench.ledger.readings("bad")
    assert len(faults) == len(GARBAGE)
    assert all((r.quality, r.status, r.lel_pct, r.at_least) == (Quality.BAD, Status.FAULT, None, None) for r in faults)
    assert {r.reason for r in faults} == {"garbled"}
    assert bench.source.counters.dropped_garbled == len(GARBAGE)
    assert bench.source.counters.dropped_empty == 1
    assert bench.source.counters.reconnects == 0
    delays = [r.taken.mono / SECOND - at for r, at in zip(bench.ledger.readings("good"), sent, strict=True)]
    assert max(delays) < 1.0


@pytest.mark.trial("B27")
async def test_b27_a_payload_of_16_mb_is_refused_by_the_broker_and_costs_neither_memory_nor_time(mosquitto):
    bench = Bench(mosquitto, head("bad"), head("good"))
    async with running(bench.source.run()):
        await bench.up()
        async with (
            publisher(mosquitto) as bad,
            aiomqtt.Client(mosquitto.host, mosquitto.port, identifier="good") as good,
        ):
            await say(bad, "depot/bad", b"[" * 1_000_000)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            await say(bad, "depot/bad", b'{"lel":3,"x":"' + b"x" * 16_000_000 + b'"}')
            at = time.monotonic()
            await say(good, "depot/good", {"lel": 7})
            await bench.ledger.until(lambda: bench.ledger.values("good") == [7], within_s=1.0)
            await say(bad, "depot/bad", {"lel": 1})
            await bench.ledger.until(lambda: bench.ledger.values("bad") == [1])
        assert bench.ledger.readings("good")[0].taken.mono / SECOND - at < 1.0
    # The publisher holds the payload in this process too, twice; the watch must add no third copy.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000
    assert bench.source.counters.messages == 2
    assert bench.source.counters.reconnects == 0


@pytest.mark.parametrize(
    ("value", "lel_pct", "at_least", "quality", "status"),
    [
        (99.9, 99.9, None, Quality.GOOD, Status.MEASURING),
        (100, 100, 100, Quality.UNCERTAIN, Status.OVER_RANGE),
        (150, 150, 100, Quality.UNCERTAIN, Status.OVER_RANGE),
        (-3, -3, None, Quality.GOOD, Status.MEASURING),
        (-6, None, None, Quality.BAD, Status.FAULT),
        (None, None, None, Quality.BAD, Status.FAULT),
        ("12", None, None, Quality.BAD, Status.FAULT),
        (True, None, None, Quality.BAD, Status.FAULT),
    ],
)
async def test_values_are_judged_by_the_rules_of_all_heads(mosquitto, value, lel_pct, at_least, quality, status):
    bench = Bench(mosquitto, head("GD-1"))
    async with running(bench.source.run()):
        await bench.up()
        async with publisher(mosquitto) as client:
            await say(client, "depot/GD-1", {"lel": 1})
            await say(client, "depot/GD-1", {"lel": value})
        await bench.ledger.until(lambda: len(bench.ledger.scans) == 2)
    reading = bench.ledger.readings("GD-1")[1]
    assert (reading.lel_pct, reading.at_least, reading.quality, reading.status) == (lel_pct, at_least, quality, status)


async def test_a_head_that_keeps_its_state_to_itself_can_raise_but_not_clear(mosquitto):
    bench = Bench(mosquitto, head("GD-1", PayloadPoints("/lel", states=(PREHEAT,))))
    async with running(bench.source.run()):
        await bench.up()
        async with publisher(mosquitto) as client:
            await say(client, "depot/GD-1", {"lel": 12})
            await say(client, "depot/GD-1", {"lel": 12, "preheat": True})
            await say(client, "depot/GD-1", {"lel": 12, "preheat": False})
        await bench.ledger.until(lambda: len(bench.ledger.scans) == 3)
    assert [(r.lel_pct, r.quality, r.status) for r in bench.ledger.readings("GD-1")] == [
        (12, Quality.UNCERTAIN, Status.MEASURING),
        (None, Quality.BAD, Status.WARM_UP),
        (12, Quality.GOOD, Status.MEASURING),
    ]


async def test_a_yes_or_no_head_gives_a_bound_and_no_number(mosquitto):
    bench = Bench(mosquitto, head("GD-1", PayloadPoints("/gas", trip=10.0), basis=Basis(2.1, 1.4)))
    async with running(bench.source.run()):
        await bench.up()
        async with publisher(mosquitto) as client:
            await say(client, "depot/GD-1", {"gas": True})
            await say(client, "depot/GD-1", {"gas": False})
        await bench.ledger.until(lambda: len(bench.ledger.scans) == 2)
    assert [(r.lel_pct, r.at_least) for r in bench.ledger.readings("GD-1")] == [
        (None, pytest.approx(15.0)),
        (None, 0.0),
    ]


class Doorkeeper:
    """Speaks just enough MQTT 5 to let anybody in and grant all but one subscription of each SUBSCRIBE."""

    host = "127.0.0.1"
    port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                kind, length = await reader.readexactly(2)
                body = await reader.readexactly(length)
                if kind == 0x10:  # CONNECT
                    writer.write(b"\x20\x03\x00\x00\x00")
                elif kind == 0x82:  # SUBSCRIBE of two topics: packet id, properties, topics
                    writer.write(b"\x90\x05" + body[:2] + b"\x00" + b"\x01\x87")
                elif kind == 0xC0:  # PINGREQ
                    writer.write(b"\xd0\x00")
        writer.close()


async def test_a_topic_the_broker_does_not_grant_is_a_head_without_contact():
    keeper = Doorkeeper()
    async with await asyncio.start_server(keeper.serve, keeper.host, 0) as server:
        keeper.port = server.sockets[0].getsockname()[1]
        bench = Bench(keeper, head("GD-1"), head("GD-2"))
        async with running(bench.source.run()):
            await bench.up()
        assert bench.source.counters.refused_topics == 1
    assert [(r.detector, r.status, r.reason) for s in bench.ledger.scans for r in s.readings] == [
        ("GD-2", Status.NO_CONTACT, "not-authorised")
    ]


class OldBroker:
    """Speaks MQTT 3.1.1 only: grants one subscription, says one thing; meets a CONNECT of MQTT 5 in its manner."""

    host = "127.0.0.1"
    port = 0

    def __init__(self, manner: str) -> None:
        self.manner = manner

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                kind, length = await reader.readexactly(2)
                body = await reader.readexactly(length)
                if kind == 0x10 and body[6] == 5:
                    if self.manner == "hangs-up":
                        break
                    if self.manner == "refuses":
                        writer.write(b"\x20\x02\x00\x01")
                elif kind == 0x10:
                    writer.write(b"\x20\x02\x00\x00")
                elif kind == 0x82:
                    writer.write(b"\x90\x03" + body[:2] + b"\x01")
                    topic, said = b"depot/GD-1", b'{"lel":12}'
                    writer.write(bytes([0x30, 2 + len(topic) + len(said), 0, len(topic)]) + topic + said)
        writer.close()


@pytest.mark.parametrize("manner", ["refuses", "hangs-up", "says-nothing"])
async def test_a_broker_of_mqtt_3_is_spoken_to_in_its_own_version(manner):
    broker = OldBroker(manner)
    async with await asyncio.start_server(broker.serve, broker.host, 0) as server:
        broker.port = server.sockets[0].getsockname()[1]
        bench = Bench(broker, head("GD-1"))
        async with running(bench.source.run()):
            await bench.ledger.until(lambda: bench.ledger.values("GD-1") == [12], within_s=3.0)
    assert [(link.up, link.reason) for link in bench.ledger.links] == [(True, "no-packet-limit")]


async def test_a_wrong_password_is_told_as_such(idle_mosquitto, tmp_path):
    passwords = tmp_path / "passwords"
    passwords.touch()
    idle_mosquitto.start("allow_anonymous false", f"password_file {passwords}")
    bench = Bench(idle_mosquitto, head("GD-1"), username="vigia", password="wrong")  # noqa: S106  # of nobody
    async with running(bench.source.run()):
        await bench.ledger.until(lambda: len(bench.ledger.links) == 1)
    assert (bench.ledger.links[0].up, bench.ledger.links[0].reason) == (False, "not-authorised")


async def test_what_the_receiver_raises_ends_the_run_with_that_very_error(mosquitto):
    bench = Bench(mosquitto, head("GD-1"))

    def refuse(scan: Scan) -> None:
        raise AssertionError(f"tripped by {scan.readings[0].lel_pct}")

    bench.source._on_scan = refuse
    task = asyncio.create_task(bench.source.run())
    await bench.up()
    async with publisher(mosquitto) as client:
        await say(client, "depot/GD-1", {"lel": 12})
    with pytest.raises(AssertionError, match="tripped by 12"):
        await asyncio.wait_for(task, 5.0)


def test_waits_grow_to_two_seconds_and_start_over_after_a_connection_that_stood():
    backoff = Backoff()
    assert [backoff.after(0.0) for _ in range(8)] == [*DELAYS_S, 2.0, 2.0]
    assert backoff.after(60.0) == 0.0
    assert backoff.after(0.1) == DELAYS_S[1]


def test_a_password_is_not_in_the_settings_words():
    assert "geheim" not in repr(MqttSettings("h", password="geheim"))  # noqa: S106  # of nobody


async def test_gas_under_a_sequence_number_that_does_not_move_is_heard_and_is_never_clear_air(mosquitto):
    bench = Bench(mosquitto, head("GD-1", PayloadPoints("/lel", sequence="/n")))
    async with running(bench.source.run()):
        await bench.up()
        async with publisher(mosquitto) as client:
            for lel in (1, 1, 55, 56, 56, 1):
                await say(client, "depot/GD-1", {"lel": lel, "n": 7})
            await say(client, "depot/GD-1", {"lel": 1, "n": 8})
        await bench.ledger.until(lambda: bench.source.counters.messages == 7)
    assert bench.ledger.values("GD-1") == [1, 55, 56, 1, 1]
    assert [reading.quality for reading in bench.ledger.readings("GD-1")] == [
        Quality.GOOD,
        Quality.UNCERTAIN,
        Quality.UNCERTAIN,
        Quality.UNCERTAIN,
        Quality.GOOD,
    ]
    assert {reading.reason for reading in bench.ledger.readings("GD-1")} == {"", "sequence-stuck"}
    assert bench.source.counters.dropped_duplicate == 2
    assert bench.source.counters.out_of_sequence == 3


@pytest.mark.parametrize(
    ("numbers", "trusted"),
    [
        ([10, 9, 11], [True, False, True]),
        ([9.5, 9.25], [True, False]),
        ([5000, 0, 1, 2], [True, False, True, True]),  # a head that was started anew
        (["2026-11-30T13:00:02Z", "2026-11-30T13:00:01Z"], [True, False]),
        (["b", "a", "c"], [True, True, True]),  # marks without an order
    ],
)
async def test_an_older_sample_that_comes_late_can_raise_an_alarm_but_not_end_one(mosquitto, numbers, trusted):
    bench = Bench(mosquitto, head("GD-1", PayloadPoints("/lel", sequence="/n")))
    async with running(bench.source.run()):
        await bench.up()
        async with publisher(mosquitto) as client:
            for number in numbers:
                await say(client, "depot/GD-1", {"lel": 30, "n": number})
        await bench.ledger.until(lambda: len(bench.ledger.readings("GD-1")) == len(numbers))
    assert [reading.quality is Quality.GOOD for reading in bench.ledger.readings("GD-1")] == trusted


async def test_a_value_given_twice_in_a_message_is_a_fault_of_that_head_only(mosquitto):
    heads = [head("GD-1", topic="shared"), head("GD-2", PayloadPoints("/other"), topic="shared")]
    bench = Bench(mosquitto, *heads)
    async with running(bench.source.run()):
        await bench.up()
        async with publisher(mosquitto) as client:
            await client.publish("shared", b'{"lel":60,"lel":1,"other":55}')
        await bench.ledger.until(lambda: len(bench.ledger.scans) == 1)
    (fault,) = bench.ledger.readings("GD-1")
    assert (fault.status, fault.quality, fault.reason) == (Status.FAULT, Quality.BAD, "garbled")
    assert bench.ledger.values("GD-2") == [55]
    assert bench.source.counters.dropped_garbled == 1
