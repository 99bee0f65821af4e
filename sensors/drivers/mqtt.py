"""MQTT heads: one subscription for all of them, each message becomes one scan in the same step. Knows no alarm."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Final, assert_never

from aiomqtt import Message, MqttError

from sensors.drivers.births import Births
from sensors.drivers.broker import Backoff, Connect, MqttConnection, MqttSettings, reason_of
from sensors.drivers.brokerconnection import connected
from sensors.drivers.names import Names
from sensors.profiles import Profile
from sensors.quality import Movement
from sensors.readings import DetectorId, LinkChange, Reading, Scan
from sensors.stamps import MILLISECOND, SECOND, Clock, Instant, Stamp
from sensors.wire.documents import GarbledPayloadError
from sensors.wire.listener import SEQUENCE_STUCK, Ignored, Listener, MqttPoints
from sensors.wire.payload_points import PayloadPoints
from sensors.wire.units import Basis

__all__ = ["SOURCE", "MqttCounters", "MqttHead", "MqttSettings", "MqttSource"]

SOURCE: Final = "mqtt"
REPEAT_WINDOW_NS: Final = 100 * MILLISECOND
"""The same bytes on the same topic within this time are one sample that came twice."""
TOPICS_PER_SUBSCRIBE: Final = 100


@dataclass(frozen=True, slots=True)
class MqttHead:
    """One head that speaks MQTT.

    Attributes:
        topic: where it speaks; no wildcards. Heads may share one.
        profile: installed (its settings applied); its points are `PayloadPoints`.
        max_age_ns: older than this its last value is stale; the engine's deadline, not this driver's.
    """

    detector: DetectorId
    topic: str
    profile: Profile
    basis: Basis
    max_age_ns: int


@dataclass(slots=True)
class MqttCounters:
    """What came in and what was not taken for a reading, since the start.

    Attributes:
        messages: all that arrived.
        readings: handed on.
        dropped_retained: what the broker had kept from before: never fresh.
        dropped_size: beyond the packet limit, from a broker that cannot be told of it.
        dropped_garbled: no JSON text; told as a fault of the heads on that topic.
        dropped_empty: no bytes: somebody cleared a retained message.
        dropped_absent: a message that does not speak of the head's value.
        dropped_duplicate: the sample before, once more.
        out_of_sequence: another value under the sequence number of the one before; taken, with doubt.
        refused_topics: subscriptions the broker did not grant, at the last connection.
        reconnects: connections made after the first.
        failed_connects: attempts that failed.
    """

    messages: int = 0
    readings: int = 0
    dropped_retained: int = 0
    dropped_size: int = 0
    dropped_garbled: int = 0
    dropped_empty: int = 0
    dropped_absent: int = 0
    dropped_duplicate: int = 0
    out_of_sequence: int = 0
    refused_topics: int = 0
    reconnects: int = 0
    failed_connects: int = 0

    def items(self) -> Iterator[tuple[str, int]]:
        """Yield each name with its count."""
        for field in fields(self):
            yield field.name, getattr(self, field.name)


class MqttSource:
    """Subscribes for all heads and hands on what they say. `run` it; it ends only when cancelled."""

    def __init__(
        self,
        settings: MqttSettings,
        heads: tuple[MqttHead, ...],
        *,
        clock: Clock,
        on_scan: Callable[[Scan], None],
        on_link: Callable[[LinkChange], None],
        connect: Connect | None = None,
    ) -> None:
        """`connect` holds a connection to the broker, where it is not to be the network's."""
        self.up = False
        self.counters = MqttCounters()
        self._settings = settings
        self._connect: Connect = connect or partial(connected, names=Names())
        self._clock = clock
        self._on_scan = on_scan
        self._on_link = on_link
        self._told: tuple[bool, str] | None = None
        topics: dict[str, list[Listener]] = {}
        movement = Movement()
        ears = [listener(head, movement) for head in heads]
        self._births = Births(ears, clock)
        for ear in ears:
            for topic in ear.topics:
                topics.setdefault(topic, []).append(ear)
        self._topics: Mapping[str, _Topic] = {topic: _Topic(tuple(ears)) for topic, ears in topics.items()}

    async def run(self) -> None:
        """Stay connected and subscribed until cancelled."""
        backoff = Backoff()
        connections = 0
        while True:
            began = self._clock.now()
            try:
                async with self._connect(self._settings, self._receive) as connection:
                    self._births.forget()
                    await self._subscribe(connection)
                    self.counters.reconnects += connections > 0
                    connections += 1
                    began = self._clock.now()
                    self._turn(up=True, reason="" if connection.limits_packets else "no-packet-limit")
                    self._births.begin(connection)
                    await connection.lost()
            except MqttError as error:
                self.counters.failed_connects += not self.up
                stood = self._clock.now().mono - began.mono if self.up else 0
                self._turn(up=False, reason=reason_of(error))
                await asyncio.sleep(backoff.after(stood / SECOND))
            finally:
                self.up = False
                self._births.end()

    async def _subscribe(self, connection: MqttConnection) -> None:
        """Subscribe to everything, whatever session the broker believes to remember."""
        refused: list[str] = []
        topics = list(self._topics)
        for start in range(0, len(topics), TOPICS_PER_SUBSCRIBE):
            some = topics[start : start + TOPICS_PER_SUBSCRIBE]
            grants = await connection.ask_for(some)
            refused += [topic for topic, granted in zip(some, grants, strict=True) if not granted]
        self.counters.refused_topics = len(refused)
        if refused:
            now = self._clock.now()
            ears = [ear for topic in refused for ear in self._topics[topic].ears]
            self._on_scan(Scan(SOURCE, tuple(ear.unheard("not-authorised", now) for ear in ears), now))

    def _turn(self, *, up: bool, reason: str) -> None:
        self.up = up
        if self._told != (up, reason):
            self._told = (up, reason)
            self._on_link(LinkChange(SOURCE, up, reason, self._clock.now()))

    def _receive(self, message: Message) -> None:
        """Take one message: what is no new sample is counted and dropped, the rest is handed on as one scan."""
        count = self.counters
        count.messages += 1
        name = message.topic.value
        topic = self._topics.get(name) or self._topics.get(name.rpartition("/")[0] + "/+")
        payload = message.payload
        if topic is None:
            return
        if not payload:
            count.dropped_empty += 1
        elif len(payload) > self._settings.max_packet:
            count.dropped_size += 1
        else:
            taken = self._clock.now()
            if not message.retain and topic.repeats(payload, taken.mono):
                count.dropped_duplicate += 1
                return
            for readings in self._scans(name, topic.ears, payload, taken, retained=message.retain):
                count.readings += len(readings)
                self._on_scan(Scan(SOURCE, readings, taken))
            self._births.look(topic.ears)

    def _scans(
        self, topic: str, ears: Sequence[Listener], payload: bytes, taken: Stamp, *, retained: bool
    ) -> Iterator[tuple[Reading, ...]]:
        """Yield the readings of one message; those of the second, third ... sample in it apart, in their order."""
        heard: list[list[Reading]] = []
        garbled = False
        for ear in ears:
            try:
                outcomes = ear.hear(topic, payload, taken, retained=retained)
            except GarbledPayloadError:
                garbled = True
                outcomes = () if retained else (ear.garbled(taken),)
            for number, outcome in enumerate(outcomes):
                if isinstance(outcome, Ignored):
                    self._count(outcome)
                    continue
                while len(heard) <= number:
                    heard.append([])
                self.counters.out_of_sequence += outcome.reason == SEQUENCE_STUCK
                heard[number].append(outcome)
        self.counters.dropped_garbled += garbled
        if retained and not heard:
            self.counters.dropped_retained += 1
        yield from (tuple(readings) for readings in heard if readings)

    def _count(self, ignored: Ignored) -> None:
        match ignored:
            case Ignored.ABSENT:
                self.counters.dropped_absent += 1
            case Ignored.DUPLICATE:
                self.counters.dropped_duplicate += 1
            case Ignored.RETAINED:
                pass  # the message as a whole is counted once
            case _:
                assert_never(ignored)


def listener(head: MqttHead, movement: Movement | None = None) -> Listener:
    """Return who listens to this head.

    Raises:
        TypeError: if its profile is not installed, or not one of MQTT.
        TopicError: if its topic does not fit its profile.
    """
    points = head.profile.points
    if not isinstance(points, PayloadPoints):
        raise TypeError(f"{head.detector}: profile {head.profile.id} is none for MQTT")
    return Listener(MqttPoints(head.detector, head.topic, points, head.basis), movement)


class _Topic:
    """A topic, the heads that speak on it, and what was last said."""

    def __init__(self, ears: tuple[Listener, ...]) -> None:
        self.ears = ears
        self._numbered = any(ear.edge is not None for ear in ears)
        self._last = b""
        self._last_at = Instant(0)

    def repeats(self, payload: bytes, now: Instant) -> bool:
        """Tell whether this is the last sample once more; remember it if it is not.

        Messages that carry a number in their node's sequence are told apart by that.
        """
        if self._numbered:
            return False
        if payload == self._last and now - self._last_at < REPEAT_WINDOW_NS:
            return True
        self._last = payload
        self._last_at = now
        return False
