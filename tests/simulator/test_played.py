"""The simulator plays every shipped profile of Modbus over real TCP, and the driver reads what was played."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from gateway.machine.clock import SystemClock
from sensors import profiles
from sensors.drivers.modbus import ModbusBus, ModbusHead
from sensors.drivers.pacer import Pacer
from sensors.drivers.settings import BusSettings
from sensors.profiles import Profile
from sensors.readings import DetectorId, Quality, Reading, Scan, Status
from sensors.stamps import MILLISECOND
from sensors.wire.points import ModbusPoints
from sensors.wire.units import Basis
from simulator.lines import HOST, listen
from simulator.played import PlayedHead, played_unit
from simulator.sayings import Wanted, sayable
from simulator.spoken_registers import now, registers, resolution

BASIS = Basis(1.7, 1.4)
DEADLINE_S = 10.0


def installed() -> list[Profile]:
    found = []
    for name in profiles.names():
        profile = profiles.load(name)
        if profile.is_detector and profile.wire == "modbus":
            found.append(profile.installed(profiles.example_settings(profile)))
    return found


@dataclass
class Bench:
    """Units of one line, one profile each, and what was last read of each."""

    profiles: list[Profile]
    wanted: list[Wanted]
    last: dict[str, Reading] = field(default_factory=dict)
    heard: asyncio.Event = field(default_factory=asyncio.Event)

    def scan(self, scan: Scan) -> None:
        for reading in scan.readings:
            self.last[reading.detector] = reading
        self.heard.set()

    async def until(self, holds: Callable[[], bool]) -> bool:
        try:
            async with asyncio.timeout(DEADLINE_S):
                while not holds():
                    self.heard.clear()
                    await self.heard.wait()
        except TimeoutError:
            return False
        return True


async def played(bench: Bench, then: Callable[[], object]) -> None:
    units = [
        played_unit(unit, [PlayedHead(profile, BASIS, lambda at=unit - 1: bench.wanted[at])])
        for unit, profile in enumerate(bench.profiles, start=1)
    ]
    server = await listen(units)
    heads = [
        ModbusHead(DetectorId(profile.id), unit, profile, BASIS) for unit, profile in enumerate(bench.profiles, start=1)
    ]
    settings = BusSettings("b", HOST, server.port, period_ns=100 * MILLISECOND, in_flight=8)
    bus = ModbusBus(settings, heads, clock=SystemClock(), pacer=Pacer(), on_scan=bench.scan, on_link=lambda _: None)
    task = asyncio.create_task(bus.run())
    try:
        result = then()
        if asyncio.iscoroutine(result):
            await result
    finally:
        task.cancel()
        await asyncio.wait([task])
        await server.stop()


def off_by(profile: Profile, gas: float) -> float:
    """How far a reading may be from the gas that was played: half a step of the raw value."""
    points = profile.points
    assert isinstance(points, ModbusPoints)
    return resolution(points, now(registers(points, BASIS, Wanted(gas), 1), points, BASIS)) / 2 + 1e-3


async def test_every_shipped_profile_is_read_over_tcp_as_it_was_played():
    mine = installed()
    bench = Bench(mine, [Wanted(12.5)] * len(mine))

    def shows(profile: Profile) -> bool:
        reading = bench.last.get(profile.id)
        return (
            reading is not None
            and reading.quality is Quality.GOOD
            and reading.lel_pct == pytest.approx(12.5, abs=off_by(profile, 12.5))
        )

    async def then() -> None:
        assert await bench.until(lambda: all(map(shows, mine))), {
            profile.id: bench.last.get(profile.id) for profile in mine if not shows(profile)
        }

    await played(bench, then)


async def test_a_fault_that_is_played_is_read_as_one_by_every_profile_that_can_say_it():
    mine = [
        profile
        for profile in installed()
        if isinstance(profile.points, ModbusPoints) and "fault" in sayable(profile.points)
    ]
    assert len(mine) >= 5
    bench = Bench(mine, [Wanted(1.0, "fault")] * len(mine))

    async def then() -> None:
        assert await bench.until(
            lambda: all(profile.id in bench.last and bench.last[profile.id].status is Status.FAULT for profile in mine)
        ), bench.last

    await played(bench, then)
