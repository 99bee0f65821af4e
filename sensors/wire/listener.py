"""One head that speaks MQTT: its messages -> its readings. Knows no broker and no clock.

What is no new sample of the head is said by its kind, so that the driver can count it.
"""

import struct
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from math import nan
from typing import Final

from msgspec.structs import replace

from sensors.quality import Movement, Watch, judge, silence, unusable
from sensors.readings import DetectorId, Quality, Reading, Status
from sensors.stamps import Stamp
from sensors.wire.conversion import DECIMALS, Conversion, Measure, band, conversion
from sensors.wire.documents import GarbledPayloadError, Json, documents
from sensors.wire.meanings import both, precedence, told
from sensors.wire.payload_points import SPARKPLUG, PayloadPoints
from sensors.wire.payloads import Heard, PayloadReader
from sensors.wire.protobuf import NoBufferError
from sensors.wire.reader import HeadReader, InstalledHead
from sensors.wire.sparkplug import EdgeSession, Gone
from sensors.wire.units import Basis, UnitOfValue, reference_lel_pct_per
from sensors.wire.words import Stretch

SEQUENCE_STUCK: Final = "sequence-stuck"
"""Reason of a reading whose sequence number is that of another value before it."""


class Ignored(Enum):
    """Why a message is no new sample of a head."""

    ABSENT = "absent"  # it does not speak of the head's value
    DUPLICATE = "duplicate"  # the sample before, once more
    RETAINED = "retained"  # kept by the broker from before


@dataclass(frozen=True, slots=True)
class MqttPoints:
    """What a listener needs of a head: whose it is, where it speaks, what it says, and its basis."""

    detector: DetectorId
    topic: str
    points: PayloadPoints
    basis: Basis


Judgement = Reading | Ignored
MAX_CARRIED: Final = 1024
"""Registers that one message may carry."""


class Listener:
    """Judges what one head says.

    Attributes:
        topics: where it speaks, each with how its payloads are read. Those of Sparkplug end in ``+``, which stands for
            one level.
        edge: what it knows of its edge node; None for a head that is not behind one of Sparkplug.

    Raises:
        TopicError: (on making) if the head's topic does not fit its profile's template.
    """

    def __init__(self, head: MqttPoints, movement: Movement | None = None) -> None:
        points = head.points
        self._detector = head.detector
        self._points = points
        self._basis = head.basis
        self._reader = PayloadReader(points, head.topic)
        self.edge = EdgeSession(head.topic) if points.payload == SPARKPLUG else None
        self.topics = dict.fromkeys(self.edge.topics, SPARKPLUG) if self.edge else dict(self._reader.kinds)
        self._measure = Measure(0.0, points.top, points.zero_drift, points.trip, dict(points.trips), points.head)
        self._order = precedence(points.precedence)
        self._conversions: dict[UnitOfValue, Conversion] = {}
        self._sequence: str | None = None
        self._said: object = None
        self._seen = False
        self._carried: dict[int, HeadReader] = {}
        self._movement = movement or Movement()
        drift = points.drift_warning
        own = points.head.unit if points.head else points.unit_of_value
        self._watch = Watch(
            self._movement,
            frozen_after_s=points.frozen_after_s,
            drift=None if drift is None else drift * reference_lel_pct_per(own, head.basis),
        )

    def hear(self, topic: str, payload: bytes, taken: Stamp, *, retained: bool = False) -> tuple[Judgement, ...]:
        """Return what a message says, sample by sample; empty if it has nothing to do with this head.

        Raises:
            GarbledPayloadError: if the payload is not of the kind that the profile says.
        """
        if self.edge is not None:
            return (Ignored.RETAINED,) if retained else self._from_edge(self.edge, topic, payload, taken)
        there = self._reader.availability(topic, payload)
        if there is False:
            return (silence(self._detector, "offline", taken),)
        if there is True or topic not in self.topics:
            return ()
        samples = documents(payload, self.topics[topic])
        return tuple(self.sample(document, topic, taken, retained=retained) for document in samples)

    def sample(self, document: Json, topic: str | None, taken: Stamp, *, retained: bool = False) -> Judgement:
        """Return the reading in one document, or why there is none.

        Raises:
            GarbledPayloadError: if the registers it should carry are none.
        """
        if self._points.carrier is not None:
            return Ignored.RETAINED if retained else self._from_registers(document, taken)
        heard = self._reader.read(document, topic, retained=retained)
        if heard is None:
            return Ignored.RETAINED if retained else Ignored.ABSENT
        stuck = False
        if heard.sequence is not None and not retained:
            said = (heard.raw, heard.gas, heard.told)
            if heard.value is not None and (heard.sequence, said) == (self._sequence, self._said):
                return Ignored.DUPLICATE
            # A counter that stands still or goes back must hide no gas, and end none.
            stuck = heard.value is not None and not _newer(heard.sequence, self._sequence)
            self._sequence, self._said = heard.sequence, said
        reading = self._judged(heard, taken)
        if stuck and reading.quality is Quality.GOOD:
            reading = replace(reading, quality=Quality.UNCERTAIN, reason=SEQUENCE_STUCK)
        if reading.quality is Quality.GOOD and not (heard.complete and not heard.told.doubtful and not heard.late):
            # It says less than its profile promises: enough to raise an alarm, not enough to end one.
            reason = "no-status" if not heard.complete else "out-of-order" if heard.late else heard.told.reason
            reading = replace(reading, quality=Quality.UNCERTAIN, reason=reason)
        self._seen = self._seen or reading.quality is not Quality.BAD
        return reading if self._watch.idle or reading.raw is None else self._watch.watched(reading, reading.raw)

    def _from_edge(self, edge: EdgeSession, topic: str, payload: bytes, taken: Stamp) -> tuple[Judgement, ...]:
        try:
            said = edge.hear(topic, payload)
        except NoBufferError as error:
            raise GarbledPayloadError(str(error)) from None
        if said is None:
            return ()
        if isinstance(said, Gone):
            return (silence(self._detector, said.reason, taken),)
        document: Json = dict(said.values)
        outcome = self.sample(document, None, taken)
        if said.doubt and isinstance(outcome, Reading) and outcome.quality is Quality.GOOD:
            outcome = replace(outcome, quality=Quality.UNCERTAIN, reason=said.doubt)
        return (outcome,)

    def garbled(self, taken: Stamp) -> Reading:
        """Return the reading of a message that is not what the head would send."""
        return unusable(self._detector, Status.FAULT, "garbled", None, taken)

    def unheard(self, reason: str, taken: Stamp) -> Reading:
        """Return the reading of a head that cannot be heard."""
        return silence(self._detector, reason, taken)

    # --- details

    def _judged(self, heard: Heard, taken: Stamp) -> Reading:
        raw, said = heard.raw, heard.told
        unit = heard.unit or self._points.unit_of_value
        found = self._conversions.get(unit)
        if found is None:
            found = self._conversions[unit] = conversion(self._measure, unit, 1.0, self._basis, None)
        trip = found.bound(said.alarms)
        if heard.value is None:
            return self._of_words(heard, found, taken)
        if heard.gas is not None:
            return self._of_yes_or_no(heard, found, taken)
        value, reason, word = heard.value, said.reason, heard.word
        if self._points.head is not None and word is None:
            word = band(self._points.head, value)
        number: float | None = _to_lel(value, found)
        if word is not None:
            said, number = both(told((word,), self._order), said), None
            reason = said.reason
        if heard.reason and said.status is not Status.MEASURING:
            number = None
        if number is None and said.status is Status.MEASURING:
            return Reading(self._detector, None, trip, Quality.UNCERTAIN, Status.MEASURING, raw, taken, reason)
        reading = judge(
            self._detector, number, raw, taken, found.span, said.status,
            alarm=trip is not None, seen=self._seen, trip=trip, reason=reason,
        )  # fmt: skip
        if heard.reason == "unknown-unit" and reading.status is Status.FAULT:
            return replace(reading, reason=heard.reason)
        return reading

    def _of_words(self, heard: Heard, found: Conversion, taken: Stamp) -> Reading:
        """A head, or a message, without a number: gas only as far as the device says so itself."""
        said, trip = heard.told, found.bound(heard.told.alarms)
        if said.status is not Status.MEASURING:
            return judge(
                self._detector, None, None, taken, found.span, said.status,
                alarm=trip is not None, seen=self._seen, trip=trip, reason=said.reason,
            )  # fmt: skip
        at_least = trip if trip is not None else 0.0
        reason = said.reason or ("own-alarm" if trip is not None and self._points.value is not None else "")
        return Reading(self._detector, None, at_least, Quality.GOOD, Status.MEASURING, None, taken, reason)

    def _of_yes_or_no(self, heard: Heard, found: Conversion, taken: Stamp) -> Reading:
        said, raw = heard.told, heard.raw
        if said.status is not Status.MEASURING:
            return judge(
                self._detector, None, raw, taken, found.span, said.status,
                alarm=bool(heard.gas), seen=self._seen, reason=said.reason,
            )  # fmt: skip
        at_least = found.span.trip if heard.gas else 0.0
        return Reading(self._detector, None, at_least, Quality.GOOD, Status.MEASURING, raw, taken, said.reason)

    def _from_registers(self, document: Json, taken: Stamp) -> Judgement:
        carried, carrier = self._reader.registers(document), self._points.carrier
        if carried is None or carrier is None:
            return Ignored.ABSENT
        data = carried.data + b"\0" * (len(carried.data) % 2)
        count = len(data) // 2
        reader = self._carried.get(count)
        try:
            if reader is None:
                if not 0 < count <= MAX_CARRIED:
                    raise GarbledPayloadError("too few or too many registers")
                reads = [Stretch(carrier.function, carrier.first, count)]
                reader = HeadReader(
                    InstalledHead(self._detector, carrier.points, self._basis), reads, movement=self._movement
                )
                self._carried = {count: reader}
            return reader.reading(data, 0, taken)
        except (ValueError, struct.error, IndexError) as error:
            raise GarbledPayloadError(str(error)) from None


def _to_lel(value: float, found: Conversion) -> float:
    """Scale and offset were worked in when the message was read; what is left is the unit, and the head behind it."""
    if value != value:  # noqa: PLR0124 - not a number
        return nan
    return round(value * found.scale + found.offset, DECIMALS)


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
