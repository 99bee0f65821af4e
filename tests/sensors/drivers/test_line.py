"""Whose turn it is, in virtual time: hours of a line in a second, against a modelled gateway."""

import heapq
import struct
from collections import defaultdict
from dataclasses import dataclass, field

import pytest

from sensors.drivers.line import BACKOFF_LAST_S, MUTE_S, Line
from sensors.readings import DetectorId, Quality, Reading, Scan, Status
from sensors.stamps import SECOND, Instant, Stamp, UtcNanos
from sensors.wire.modbus import HEAD, Head
from sensors.wire.points import Basis, Function, ModbusPoints, Type
from sensors.wire.registers import InstalledHead, plan

PERIOD_S, TIMEOUT_S, TICK_S = 0.5, 0.2, 0.01


@dataclass
class Gateway:
    """What the line talks to. Serial: one request at a time, a mute unit holds the line for `mute_wait_s`."""

    units: set[int]
    mute: set[int] = field(default_factory=set)
    serial: bool = True
    service_s: float = 0.01
    mute_wait_s: float = 1.0
    mute_code: int | None = None
    slow: dict[int, float] = field(default_factory=dict)
    dead: bool = False


class VirtualClock:
    """The line's clock."""

    def __init__(self, owner: "VirtualLine") -> None:
        self._owner = owner

    def now(self) -> Stamp:
        return Stamp(Instant(int(self._owner.now * SECOND)), UtcNanos(int(self._owner.now * SECOND)))


class VirtualLine:
    """A `Line` and a `Gateway` on one virtual clock."""

    def __init__(self, gateway: Gateway, *, window: int = 1, strict_ids: bool = True) -> None:
        self.now = 0.0
        self.gateway = gateway
        self.scans: list[tuple[float, Scan]] = []
        self.asked: list[tuple[float, int]] = []
        self.closings: list[tuple[float, str]] = []
        points = ModbusPoints(Function.HOLDING, 0, Type.UINT16, scale=0.1)
        blocks = [
            block
            for unit in sorted(gateway.units | gateway.mute)
            for block in plan(unit, [InstalledHead(DetectorId(f"D{unit}"), points, Basis(1.4, 1.4))])
        ]
        self._events: list[tuple[float, int, object]] = []
        self._count = 0
        self._free_at = 0.0
        self._epoch = 0
        self.line = Line(
            "bus",
            blocks,
            timeout_s=TIMEOUT_S,
            period_s=PERIOD_S,
            window=window,
            strict_ids=strict_ids,
            first_id=7,
            clock=VirtualClock(self),
            on_scan=lambda scan: self.scans.append((self.now, scan)),
        )
        self.line.opened(self._written, 0.0, anew=True)

    def _written(self, frame: bytes) -> None:
        transaction, _, _, unit, function, _ = HEAD.unpack_from(frame)
        self.asked.append((self.now, unit))
        gateway = self.gateway
        if gateway.dead:
            return
        mute = unit in gateway.mute
        took = gateway.mute_wait_s if mute else gateway.service_s + gateway.slow.get(unit, 0.0)
        begins = max(self.now, self._free_at) if gateway.serial else self.now
        if gateway.serial:
            self._free_at = begins + took
        if not mute:
            self._at(begins + took, (self._epoch, transaction, unit, bytes((function, 2, 0, 30))))
        elif gateway.mute_code is not None:
            self._at(begins + took, (self._epoch, transaction, unit, bytes((function | 0x80, gateway.mute_code))))

    def _at(self, when: float, event: object) -> None:
        self._count += 1
        heapq.heappush(self._events, (when, self._count, event))

    def run(self, until: float) -> None:
        """Let virtual time pass: slots on their absolute schedule, sweeps on ticks, answers when they come."""
        slot = (self.now // PERIOD_S + 1) * PERIOD_S if self.now else PERIOD_S
        while self.now < until:
            answer = self._events[0][0] if self._events else until
            due = self.line.due()
            sweep = max(-(-due // TICK_S) * TICK_S, self.now + TICK_S) if due < until else until
            self.now = min(slot, answer, sweep, until)
            if self._events and self._events[0][0] <= self.now:
                self._deliver(heapq.heappop(self._events)[2])
            trouble = self.line.sweep(self.now)
            if trouble:
                self._close(trouble)
            if self.now >= slot:
                slot += PERIOD_S
                self.line.slot(self.now)
            self.line.pump(self.now)

    def _deliver(self, event: object) -> None:
        epoch, transaction, unit, pdu = event  # type: ignore[misc]  # pushed by `_written`
        if epoch != self._epoch:
            return
        frame = bytearray(struct.pack(">HHHB", transaction, 0, len(pdu) + 1, unit) + pdu)
        head: Head = HEAD.unpack_from(frame)
        trouble = self.line.answer(head, frame, 0, self.now)
        if trouble:
            self._close(trouble)
        self.line.pump(self.now)

    def _close(self, reason: str) -> None:
        self._epoch += 1
        self.closings.append((self.now, reason))
        self.line.closed(reason, self.now, on_purpose=reason == "late-guard")
        self.line.opened(self._written, self.now, anew=reason != "late-guard")

    def readings(self, since: float = 0.0) -> dict[str, list[tuple[float, Reading]]]:
        """Readings by detector."""
        found: dict[str, list[tuple[float, Reading]]] = defaultdict(list)
        for at, scan in self.scans:
            for reading in scan.readings:
                if at >= since:
                    found[reading.detector].append((at, reading))
        return found

    def good_times(self, unit: int, since: float = 0.0) -> list[float]:
        """When good readings of a unit came."""
        return [at for at, reading in self.readings(since)[f"D{unit}"] if reading.quality is Quality.GOOD]

    def mean_periods(self, since: float, until: float) -> dict[int, float]:
        """Mean period of each live unit."""
        return {
            unit: (until - since) / max(1,len(self.good_times(unit, since))) for unit in self.gateway.units
        }

    def longest_gap(self, unit: int, since: float = 0.0) -> float:
        """Longest time between two good readings."""
        times = self.good_times(unit, since)
        return max(later - sooner for sooner, later in zip(times, times[1:], strict=False)) if len(times)>1 else 999

