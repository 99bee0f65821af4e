"""A unit that ends the connection, or holds the line: the others keep their turns. In virtual time."""

import asyncio
from itertools import pairwise

import pytest

from sensors import profiles
from sensors.drivers.modbus import ModbusBus, ModbusHead
from sensors.drivers.pacer import Pacer
from sensors.drivers.settings import BusSettings
from sensors.readings import DetectorId, Quality
from sensors.stamps import MILLISECOND, SECOND
from sensors.wire.units import Basis
from simulator.pipes import HOST, NetLoop
from simulator.scripted import ScriptedServer, ScriptedUnit
from simulator.virtual import VirtualClock

PERIOD_S = 0.5


def head(unit: int) -> ModbusHead:
    profile = profiles.load("generic-modbus").installed({"register": 0, "type": "uint16", "scale": 0.1})
    return ModbusHead(DetectorId(f"GD-{unit}"), unit, profile, Basis(1.4, 1.4))


class Watched:
    """A bus of four units in virtual time: what was read of each and when, and how often the line connected."""

    def __init__(self, in_flight: int, **server: object) -> None:
        self.loop = NetLoop()
        self.server = ScriptedServer({unit: ScriptedUnit(holding={0: 10 * unit}) for unit in range(1, 5)}, **server)
        self.good: dict[str, list[float]] = {f"GD-{unit}": [] for unit in range(1, 5)}
        self._settings = BusSettings(
            "linha", HOST, 1502, int(PERIOD_S * SECOND), 200 * MILLISECOND, in_flight=in_flight
        )

    def play(self, seconds: float, *faults: tuple[float, int, dict[str, object]]) -> int:
        """Run with these faults from their moments on; return the connections made after the first fault."""
        return self.loop.run_until_complete(self._play(seconds, faults))

    async def _play(self, seconds: float, faults: tuple[tuple[float, int, dict[str, object]], ...]) -> int:
        self.server.port = 1502
        await self.server.start()
        clock = VirtualClock(self.loop)
        heads = [head(unit) for unit in range(1, 5)]
        bus = ModbusBus(self._settings, heads, clock=clock, pacer=Pacer(), on_scan=self._scan, on_link=lambda _: None)
        running = self.loop.create_task(bus.run())
        began = self.loop.time()
        for at, unit, changes in faults:
            await asyncio.sleep(began + at - self.loop.time())
            for name, value in changes.items():
                setattr(self.server.units[unit], name, value)
        before = bus.counters.connects
        await asyncio.sleep(began + seconds - self.loop.time())
        running.cancel()
        await asyncio.wait([running])
        return bus.counters.connects - before

    def _scan(self, scan) -> None:
        for reading in scan.readings:
            if reading.quality is Quality.GOOD:
                self.good[reading.detector].append(self.loop.time() - 1000.0)

    def longest_gap(self, detector: str, start_s: float, end_s: float) -> float:
        times = [start_s, *(at for at in self.good[detector] if start_s <= at <= end_s), end_s]
        return max(later - earlier for earlier, later in pairwise(times))


FAULTS = {
    "garbage": {"garbage": b"\xff\x00no frame at all\x00\xff"},
    "a length that lies": {"length_error": 3},
    "a length too short": {"length_error": -1},
}


@pytest.mark.parametrize("in_flight", [1, 4])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_unit_that_breaks_the_stream_costs_its_neighbours_no_turn(fault: str, in_flight: int) -> None:
    watched = Watched(in_flight)
    connections = watched.play(30.0, (5.0, 2, FAULTS[fault]))
    for neighbour in ("GD-1", "GD-3", "GD-4"):
        assert watched.longest_gap(neighbour, 2.0, 30.0) <= 2 * PERIOD_S + 0.3
    assert 1 <= connections <= 14, (
        "one for each time that the unit is tried: twice at once, in the next slot, then as a probe"
    )


def test_two_units_that_break_the_stream_are_told_apart_from_the_two_that_do_not() -> None:
    watched = Watched(4)
    connections = watched.play(30.0, (5.0, 1, FAULTS["garbage"]), (5.0, 3, FAULTS["garbage"]))
    assert watched.longest_gap("GD-2", 2.0, 30.0) <= 2 * PERIOD_S + 0.3
    assert watched.longest_gap("GD-4", 2.0, 30.0) <= 2 * PERIOD_S + 0.3
    assert connections <= 28


def test_a_unit_that_broke_the_stream_is_read_again_once_it_is_well() -> None:
    watched = Watched(4)
    watched.play(40.0, (5.0, 2, FAULTS["garbage"]), (20.0, 2, {"garbage": None}))
    assert not [at for at in watched.good["GD-2"] if 6.0 < at < 20.0]
    back = [at for at in watched.good["GD-2"] if at >= 20.0]
    assert back[0] < 26.0, "its longest pause between two probes is five seconds"
    assert watched.longest_gap("GD-2", back[0], 40.0) <= 2 * PERIOD_S


def test_a_reset_in_the_midst_of_a_poll_is_made_up_for_at_once() -> None:
    watched = Watched(1)
    watched.server.units[2].delay_s = 0.1

    def pull() -> None:
        watched.server.reset()

    watched.loop.call_at(1010.0 + 0.05, pull)
    connections = watched.play(20.0, (9.0, 4, {}))
    assert connections == 1
    for detector in watched.good:
        assert watched.longest_gap(detector, 2.0, 20.0) <= 2 * PERIOD_S


def test_a_poll_lost_behind_a_gateway_that_waits_a_second_is_made_up_for_after_the_others() -> None:
    watched = Watched(1, serial=True, mute_wait_s=1.0)
    watched.play(30.0, (10.0, 2, {"silent": True}), (10.55, 2, {"silent": False}))
    for detector in watched.good:
        assert watched.longest_gap(detector, 2.0, 30.0) <= 2.0, detector


def test_a_unit_that_dies_behind_such_a_gateway_costs_its_neighbours_a_second_at_a_time() -> None:
    watched = Watched(1, serial=True, mute_wait_s=1.0)
    watched.play(60.0, (10.0, 2, {"silent": True}))
    for neighbour in ("GD-1", "GD-3", "GD-4"):
        assert watched.longest_gap(neighbour, 2.0, 60.0) <= 2.0
