"""Every shipped profile of Modbus registers is played on a real pseudo-terminal and read from it by RTU."""

import asyncio
from pathlib import Path

import pytest

from gateway.machine.clock import SystemClock
from sensors import profiles
from sensors.drivers.modbus import ModbusBus, ModbusHead
from sensors.drivers.pacer import Pacer
from sensors.drivers.settings import BusSettings, SerialSettings, Transport
from sensors.profiles import Profile
from sensors.readings import DetectorId, Quality, Reading, Scan
from sensors.stamps import MILLISECOND
from sensors.wire.places import Function
from sensors.wire.points import ModbusPoints
from sensors.wire.units import Basis
from simulator.sayings import Wanted
from simulator.scripted import ScriptedServer, ScriptedUnit
from simulator.spoken_registers import now, registers, resolution

BASIS = Basis(1.7, 1.4)
GAS = 12.5


def heads_on_registers() -> list[Profile]:
    """Those that are read from registers alone; the scripted device keeps no discrete inputs."""
    found = []
    for name in profiles.names():
        profile = profiles.load(name)
        if profile.is_detector and profile.wire == "modbus":
            installed = profile.installed(profiles.example_settings(profile))
            assert isinstance(installed.points, ModbusPoints)
            if not any(function.of_bits for function in registers(installed.points, BASIS, Wanted(GAS)).cells):
                found.append(installed)
    return found


def unit_of(profile: Profile, number: int) -> ScriptedUnit:
    assert isinstance(profile.points, ModbusPoints)
    cells = registers(profile.points, BASIS, Wanted(GAS), number).cells
    return ScriptedUnit(holding=cells.get(Function.HOLDING, {}), inputs=cells.get(Function.INPUT, {}))


async def test_every_shipped_profile_is_read_over_a_serial_line_as_it_was_played(tmp_path: Path) -> None:
    mine = heads_on_registers()
    assert len(mine) > 25
    units = {number: unit_of(profile, number) for number, profile in enumerate(mine, start=1)}
    server = ScriptedServer(units, rtu=True)
    link = tmp_path / "adapter"
    server.plug(link)
    last: dict[str, Reading] = {}
    heard = asyncio.Event()

    def scan(scan: Scan) -> None:
        last.update({reading.detector: reading for reading in scan.readings})
        heard.set()

    heads = [ModbusHead(DetectorId(profile.id), number, profile, BASIS) for number, profile in enumerate(mine, 1)]
    serial = SerialSettings(str(link), 115200)
    settings = BusSettings("b", "", 0, period_ns=1000 * MILLISECOND, transport=Transport.RTU, serial=serial)
    bus = ModbusBus(settings, heads, clock=SystemClock(), pacer=Pacer(), on_scan=scan, on_link=lambda _: None)

    def shows(profile: Profile) -> bool:
        reading, points = last.get(profile.id), profile.points
        assert isinstance(points, ModbusPoints)
        step = resolution(points, now(registers(points, BASIS, Wanted(GAS)), points, BASIS)) / 2 + 1e-3
        return (
            reading is not None and reading.quality is Quality.GOOD and reading.lel_pct == pytest.approx(GAS, abs=step)
        )

    task = asyncio.create_task(bus.run())
    try:
        async with asyncio.timeout(20):
            while not all(map(shows, mine)):
                heard.clear()
                await heard.wait()
    except TimeoutError:
        pytest.fail(str({profile.id: last.get(profile.id) for profile in mine if not shows(profile)}))
    finally:
        task.cancel()
        await asyncio.wait([task])
        await server.stop()
