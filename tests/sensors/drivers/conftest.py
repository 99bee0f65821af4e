"""Buses on real loopback sockets, with everything they say collected."""

import asyncio
import itertools
import statistics
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest_asyncio

from sensors import profiles
from sensors.drivers.modbus import ModbusBus, ModbusHead
from sensors.drivers.names import Names
from sensors.drivers.pacer import Pacer
from sensors.drivers.settings import BusSettings, SerialSettings, Transport
from sensors.readings import DetectorId, LinkChange, Quality, Reading, Scan
from sensors.stamps import MILLISECOND, Instant, Stamp, UtcNanos
from sensors.wire.units import Basis


class MachineClock:
    def now(self) -> Stamp:
        return Stamp(Instant(time.monotonic_ns()), UtcNanos(time.time_ns()))


def head(detector: str, unit: int, register: int = 0, **settings: object) -> ModbusHead:
    """A head of tenths of %LEL in one register."""
    keys = {"register": register, "type": "uint16", "scale": 0.1, **settings}
    return ModbusHead(DetectorId(detector), unit, profiles.load("generic-modbus").installed(keys), Basis(1.4, 1.4))


class Rig:
    """Runs buses and remembers what they tell, with the loop's time of each telling."""

    def __init__(self) -> None:
        self.pacer = Pacer()
        self.readings: list[tuple[float, Reading]] = []
        self.links: list[tuple[float, LinkChange]] = []
        self.tasks: list[asyncio.Task[None]] = []
        self._news = asyncio.Event()

    head = staticmethod(head)

    def bus(
        self,
        port: int,
        heads: Sequence[ModbusHead],
        *,
        period_ms: int = 100,
        timeout_ms: int = 50,
        **more: object,
    ) -> ModbusBus:
        """A bus over TCP; `more` as in `BusSettings`."""
        return self.run(
            BusSettings(
                "linha",
                "127.0.0.1",
                port,
                period_ms * MILLISECOND,
                timeout_ms * MILLISECOND,
                **more,  # type: ignore[arg-type]
            ),
            heads,
        )

    def serial(
        self,
        device: Path,
        heads: Sequence[ModbusHead],
        *,
        period_ms: int = 100,
        timeout_ms: int = 50,
        late_ms: int = 150,
        id: str = "linha",  # noqa: A002 - as in `BusSettings`
        **more: object,
    ) -> ModbusBus:
        """A bus on a serial port, faster than most."""
        settings = BusSettings(
            id,
            period_ns=period_ms * MILLISECOND,
            timeout_ns=timeout_ms * MILLISECOND,
            late_ns=late_ms * MILLISECOND,
            transport=Transport.RTU,
            serial=SerialSettings(str(device), 115200),
            **more,  # type: ignore[arg-type]
        )
        return self.run(settings, heads)

    def run(self, settings: BusSettings, heads: Sequence[ModbusHead], names: Names | None = None) -> ModbusBus:
        bus = ModbusBus(
            settings,
            heads,
            clock=MachineClock(),
            pacer=self.pacer,
            on_scan=self._scan,
            on_link=self._link,
            names=names,
        )
        self.tasks.append(asyncio.create_task(bus.run()))
        return bus

    def of(self, detector: str, since: float = 0.0) -> list[Reading]:
        return [reading for at, reading in self.readings if reading.detector == detector and at >= since]

    def good(self, detector: str, since: float = 0.0) -> list[float]:
        return [
            at
            for at, reading in self.readings
            if reading.detector == detector and reading.quality is Quality.GOOD and at >= since
        ]

    def period_s(self, detector: str, since: float = 0.0) -> float:
        """Return the median time between good readings, in seconds: one hiccup of the machine leaves it alone."""
        return statistics.median(b - a for a, b in itertools.pairwise(self.good(detector, since)))

    async def until(self, holds: Callable[[], object], within_s: float = 5.0) -> None:
        """Wait until a condition holds, looking again at everything the buses tell."""
        async with asyncio.timeout(within_s):
            while not holds():
                self._news.clear()
                await self._news.wait()

    async def told_by(self, order: Callable[[Callable[[bool | None, str], None]], None]) -> tuple[bool | None, str]:
        """Give a coil command and wait for what becomes of it."""
        told: list[tuple[bool | None, str]] = []
        order(lambda state, reason: (told.append((state, reason)), self.told()))  # type: ignore[func-returns-value]
        await self.until(lambda: told)
        return told[0]

    async def scans(self, count: int) -> None:
        """Wait for so many more readings."""
        wanted = len(self.readings) + count
        await self.until(lambda: len(self.readings) >= wanted)

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    def told(self) -> None:
        self._news.set()

    def _scan(self, scan: Scan) -> None:
        self.readings.extend((self.now(), reading) for reading in scan.readings)
        self._news.set()

    def _link(self, change: LinkChange) -> None:
        self.links.append((self.now(), change))
        self._news.set()

    async def stop(self) -> None:
        for task in self.tasks:
            task.cancel()
        ended = await asyncio.gather(*self.tasks, return_exceptions=True)
        faults = [each for each in ended if not isinstance(each, asyncio.CancelledError)]
        assert faults == [], "a bus ended by itself"


@pytest_asyncio.fixture
async def rig() -> AsyncIterator[Rig]:
    rig = Rig()
    yield rig
    await rig.stop()
