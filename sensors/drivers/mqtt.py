"""MQTT heads: one subscription for all of them, each message becomes one scan in the same step. Knows no alarm."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from enum import Enum
from math import inf
from typing import Final

from aiomqtt import Message, MqttError

from sensors.drivers.broker import Backoff, Connection, MqttSettings, connected, reason_of
from sensors.profiles import Profile
from sensors.quality import UNKNOWN_TRIP_LEL_PCT, Span, judge, silence, unusable
from sensors.readings import DetectorId, LinkChange, Quality, Reading, Scan, Status
from sensors.stamps import MILLISECOND, SECOND, Clock, Instant, Stamp
from sensors.wire.payloads import GarbledPayloadError, Heard, Json, PayloadPoints, PayloadReader, decode
from sensors.wire.points import Basis, UnitOfValue, reference_lel_pct_per

__all__ = ["SOURCE", "MqttCounters", "MqttHead", "MqttSettings", "MqttSource"]

SOURCE: Final = "mqtt"
REPEAT_WINDOW_NS: Final = 100 * MILLISECOND
"""The same bytes on the same topic within this time are one sample that came twice."""
TOPICS_PER_SUBSCRIBE: Final = 100
SEQUENCE_STUCK: Final = "sequence-stuck"
"""Reason of a reading whose sequence number is not newer than the one before."""
WHOLE_LEL_PCT: Final = 100.0
"""Full scale of a head in %LEL of which nobody knows more."""


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
        dropped_garbled: no JSON text, or one that gives a head's value twice; told as a fault of the heads concerned.
        dropped_empty: no bytes: somebody cleared a retained message.
        dropped_absent: a message that does not speak of the head's value.
        dropped_duplicate: the sample before, once more.
        out_of_sequence: another sample under the number of the one before, or under an older one.
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
    ) -> None:
        self.up = False
        self.counters = MqttCounters()
        self._settings = settings
        self._clock = clock
        self._on_scan = on_scan
        self._on_link = on_link
        self._told: tuple[bool, str] | None = None
        topics: dict[str, list[_Ear]] = {}
        for head in heads:
            topics.setdefault(head.topic, []).append(_Ear(head))
        self._topics: Mapping[str, _Topic] = {topic: _Topic(tuple(ears)) for topic, ears in topics.items()}

    async def run(self) -> None:
        """Stay connected and subscribed until cancelled."""
        backoff = Backoff()
        connections = 0
        while True:
            began = self._clock.now()
            try:
                async with connected(self._settings, self._receive) as connection:
                    await self._subscribe(connection)
                    self.counters.reconnects += connections > 0
                    connections += 1
                    began = self._clock.now()
                    self._turn(up=True, reason="" if connection.limits_packets else "no-packet-limit")
                    await connection.lost()
            except MqttError as error:
                self.counters.failed_connects += not self.up
                stood = self._clock.now().mono - began.mono if self.up else 0
                self._turn(up=False, reason=reason_of(error))
                await asyncio.sleep(backoff.after(stood / SECOND))
            finally:
                self.up = False

    async def _subscribe(self, connection: Connection) -> None:
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
        topic = self._topics.get(message.topic.value)
        payload = message.payload
        if topic is None:
            return
        if message.retain:
            count.dropped_retained += 1
        elif not payload:
            count.dropped_empty += 1
        elif len(payload) > self._settings.max_packet:
            count.dropped_size += 1
        else:
            taken = self._clock.now()
            if topic.repeats(payload, taken.mono):
                count.dropped_duplicate += 1
                return
            readings = self._readings(topic, payload, taken)
            if readings:
                count.readings += len(readings)
                self._on_scan(Scan(SOURCE, readings, taken))

    def _readings(self, topic: "_Topic", payload: bytes, taken: Stamp) -> tuple[Reading, ...]:
        try:
            document = decode(payload)
        except GarbledPayloadError:
            self.counters.dropped_garbled += 1
            return tuple(ear.garbled(taken) for ear in topic.ears)
        readings = []
        for ear in topic.ears:
            try:
                heard = ear.hear(document, taken)
            except GarbledPayloadError:
                self.counters.dropped_garbled += 1
                heard = ear.garbled(taken)
            match heard:
                case Reading() as reading:
                    readings.append(reading)
                    self.counters.out_of_sequence += reading.reason == SEQUENCE_STUCK
                case _Silence.ABSENT:
                    self.counters.dropped_absent += 1
                case _Silence.DUPLICATE:
                    self.counters.dropped_duplicate += 1
        return tuple(readings)


class _Silence(Enum):
    """Why a message is no new sample of a head."""

    ABSENT = "absent"
    DUPLICATE = "duplicate"


class _Topic:
    """A topic, the heads that speak on it, and what was last said."""

    def __init__(self, ears: tuple["_Ear", ...]) -> None:
        self.ears = ears
        self._last = b""
        self._last_at = Instant(0)

    def repeats(self, payload: bytes, now: Instant) -> bool:
        """Tell whether this is the last sample once more; remember it if it is not."""
        if payload == self._last and now - self._last_at < REPEAT_WINDOW_NS:
            return True
        self._last = payload
        self._last_at = now
        return False


class _Ear:
    """One head, prepared for listening."""

    def __init__(self, head: MqttHead) -> None:
        points = head.profile.points
        if not isinstance(points, PayloadPoints):
            raise TypeError(f"{head.detector}: profile {head.profile.id} is none for MQTT")
        self._detector = head.detector
        self._reader = PayloadReader(points)
        per_unit = reference_lel_pct_per(points.unit_of_value, head.basis)
        full_scale = points.full_scale
        if full_scale is None:
            full_scale = WHOLE_LEL_PCT if points.unit_of_value is UnitOfValue.LEL_PCT else inf
        trip = UNKNOWN_TRIP_LEL_PCT if points.trip is None else points.trip * per_unit
        self._per_unit = per_unit
        self._span = Span(full_scale * per_unit, points.zero_drift * per_unit, trip)
        self._last: Heard | None = None
        self._seen = False

    def hear(self, document: Json, taken: Stamp) -> Reading | _Silence:
        """Return the reading in a document, or why there is none.

        Raises:
            GarbledPayloadError: the document gives this head's value or state twice.
        """
        heard = self._reader.read(document)
        if heard is None:
            return _Silence.ABSENT
        stuck = False
        if heard.sequence is not None:
            if self._last is not None and _same_sample(heard, self._last):
                return _Silence.DUPLICATE
            stuck = self._last is not None and not _newer(heard.sequence, self._last.sequence)
            self._last = heard
        reading = self._judged(heard, taken)
        # It says less than its profile promises: enough to raise an alarm, not enough to end one.
        if reading.quality is Quality.GOOD and not heard.complete:
            reading = replace(reading, quality=Quality.UNCERTAIN, reason="no-status")
        if reading.quality is not Quality.BAD and stuck:
            reading = replace(reading, quality=Quality.UNCERTAIN, reason=SEQUENCE_STUCK)
        self._seen = self._seen or reading.quality is not Quality.BAD
        return reading

    def _judged(self, heard: Heard, taken: Stamp) -> Reading:
        raw, status = heard.raw, heard.status
        if heard.gas is None:
            value = None if heard.reason and status is not Status.MEASURING else heard.value * self._per_unit
            return judge(self._detector, value, raw, taken, self._span, status, seen=self._seen)
        if status is not Status.MEASURING:
            return judge(self._detector, None, raw, taken, self._span, status, alarm=heard.gas, seen=self._seen)
        at_least = self._span.trip if heard.gas else 0.0
        return Reading(self._detector, None, at_least, Quality.GOOD, Status.MEASURING, raw, taken)

    def garbled(self, taken: Stamp) -> Reading:
        """Return the reading of a message that is no JSON text."""
        return unusable(self._detector, Status.FAULT, "garbled", None, taken)

    def unheard(self, reason: str, taken: Stamp) -> Reading:
        """Return the reading of a head that cannot be heard."""
        return silence(self._detector, reason, taken)


def _same_sample(one: Heard, other: Heard) -> bool:
    """Tell whether two messages are one sample: the same number, and the same word on value and state."""
    return (one.sequence, one.raw, one.gas, one.status, one.complete, one.reason) == (
        other.sequence,
        other.raw,
        other.gas,
        other.status,
        other.complete,
        other.reason,
    )


def _newer(sequence: str, before: str | None) -> bool:
    """Tell whether a sample comes after the one before. Numbers and times have an order; other texts only differ."""
    if before is None or sequence == before:
        return before is None
    for order in (float, datetime.fromisoformat):
        try:
            return bool(order(sequence) > order(before))  # type: ignore[operator]  # each is compared with its own kind
        except (ValueError, TypeError, OverflowError):  # TypeError: a time with a zone against one without
            continue
    return True
