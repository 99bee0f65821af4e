"""Hears every head once, over the same drivers as the watch, and stops. Switches no output, keeps nothing."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any

from gateway.depot import Depot
from gateway.machine.clock import SystemClock
from sensors.drivers.modbus import ModbusBus
from sensors.drivers.mqtt import MqttSource
from sensors.drivers.pacer import Pacer
from sensors.quality import NOT_MEASURING_ON_PURPOSE
from sensors.readings import DetectorId, LinkChange, Quality, Reading, Scan, Status
from sensors.stamps import SECOND, Clock, Stamp, milliseconds

SLOTS = 3
"""Periods of its bus that a Modbus head is given: the first may find the line not yet up."""

CONNECT_S = 3.0
"""Allowed for each connection before the first reading can come."""

SILENT = frozenset({Status.NO_CONTACT, Status.STALE})


@dataclass(frozen=True, slots=True)
class Probed:
    """What one head said. `reading` None: nothing came in time, and `reason` says what is known of its line."""

    detector: str
    source: str
    reading: Reading | None
    age_s: float | None
    reason: str

    @property
    def well(self) -> bool:
        """Whether the head was read and means what it says."""
        return self.reading is not None and self.reading.quality is not Quality.BAD

    @property
    def odd(self) -> bool:
        """Whether the head answered, and what it said looks as if it were read in a wrong way."""
        reading = self.reading
        if reading is None or reading.status in NOT_MEASURING_ON_PURPOSE:
            return False
        return reading.quality is Quality.BAD or reading.status is Status.OVER_RANGE


def probe(depot: Depot, wanted: frozenset[str]) -> tuple[Probed, ...]:
    """Hear these heads once, all lines side by side; at most as long as the slowest of them may take."""
    return asyncio.run(_Probe(depot, wanted).run())


class _Probe:
    def __init__(self, depot: Depot, wanted: frozenset[str]) -> None:
        self._depot = depot
        self._clock: Clock = SystemClock()
        self._missing = {DetectorId(name) for name in wanted}
        self._wanted = tuple(detector for detector in depot.detectors if detector.id in self._missing)
        self._heard: dict[DetectorId, Reading] = {}
        self._links: dict[str, str] = {}
        self._scope = asyncio.Timeout(None)

    async def run(self) -> tuple[Probed, ...]:
        try:
            async with self._scope:
                self._scope.reschedule(asyncio.get_running_loop().time() + self._longest_s())
                await asyncio.gather(*(part() for part in self._parts()), asyncio.Event().wait())
        except TimeoutError:
            pass  # everything was heard, or the time is up: either way the scope has ended the drivers
        now = self._clock.now()
        return tuple(self._probed(detector.id, detector.source, now) for detector in self._wanted)

    def _parts(self) -> list[Callable[[], Coroutine[Any, Any, None]]]:
        sources = {detector.source for detector in self._wanted}
        pacer = Pacer()
        parts: list[Callable[[], Coroutine[Any, Any, None]]] = [
            ModbusBus(
                bus.settings, bus.heads, clock=self._clock, pacer=pacer, on_scan=self._hear, on_link=self._note
            ).run
            for bus in self._depot.buses
            if bus.settings.id in sources
        ]
        heads = tuple(head for head in self._depot.mqtt_heads if head.detector in self._missing)
        if self._depot.mqtt is not None and heads:
            # a name of our own: with the gateway's, the broker would throw the gateway out
            settings = replace(self._depot.mqtt, client_id=f"{self._depot.mqtt.client_id}-probe-{os.getpid()}")
            source = MqttSource(settings, heads, clock=self._clock, on_scan=self._hear, on_link=self._note)
            parts.append(source.run)
        return parts

    def _longest_s(self) -> float:
        periods = [bus.settings.period_ns / SECOND * SLOTS for bus in self._depot.buses]
        ages = [head.max_age_ns / SECOND for head in self._depot.mqtt_heads if head.detector in self._missing]
        return CONNECT_S + max([*periods, *ages], default=0.0)

    def _hear(self, scan: Scan) -> None:
        if self._scope.expired():  # the drivers are being ended: what they say of that is no reading
            return
        for reading in scan.readings:
            heard = reading.status not in SILENT
            if heard or reading.detector in self._missing:
                self._heard[reading.detector] = reading
            if heard:
                self._missing.discard(reading.detector)
        if not self._missing:
            self._scope.reschedule(asyncio.get_running_loop().time())

    def _note(self, change: LinkChange) -> None:
        if not self._scope.expired():
            self._links[change.source] = "" if change.up else change.reason

    def _probed(self, detector: DetectorId, source: str, now: Stamp) -> Probed:
        reading = self._heard.get(detector)
        if reading is None or reading.status in SILENT:
            reason = self._links.get(source) or (reading.reason if reading else "") or "no-answer"
            return Probed(str(detector), source, None, None, reason)
        return Probed(str(detector), source, reading, milliseconds(reading.taken, now) / 1000, reading.reason)
