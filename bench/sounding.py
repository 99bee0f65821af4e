"""From the poll that shows gas to the siren that sounds: one alarm after the other, each taken and reset by a person.

The siren's own server tells when it was ordered to sound and when it was read back, which makes it the first output.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from bench.crossings import GAS_LEL_PCT, Tap
from bench.processes import BenchError, Watch
from simulator.scripted import Request, ScriptedServer, ScriptedUnit

UNIT, COIL = 1, 0
READ_COILS, WRITE_COIL, ON = 1, 5, 0xFF00
WITHIN_S = 15.0
LOOK_S = 0.02
BY = "Bancada"


@dataclass(frozen=True, slots=True)
class Sounded:
    """One alarm, in seconds from the answer that showed the gas to the order to sound, and to the read-back.

    A read-back counts when its question comes in; its answer goes out in the same step.
    """

    ordered_s: float
    proved_s: float


def siren() -> ScriptedServer:
    """A siren on a line of its own."""
    return ScriptedServer({UNIT: ScriptedUnit(coils={COIL: False})})


async def sound(watch: Watch, device: ScriptedServer, taps: Sequence[Tap], times: int) -> list[Sounded]:
    """Let one head after the other cross, so often in all, with the siren at rest before each.

    Raises:
        BenchError: the siren did not do as it should in time.
    """
    found = []
    await _rest(watch, device)
    for number in range(times):
        tap = taps[number % len(taps)]
        began = asyncio.get_running_loop().time()
        tap.turn(GAS_LEL_PCT)
        proved = await _first(device, READ_COILS, began, after=WRITE_COIL)
        ordered = await _first(device, WRITE_COIL, began)
        tap.turn(0.0)
        assert tap.server is not None
        read = next(request.at for request in tap.server.log if request.at >= began and request.unit == tap.unit)
        found.append(Sounded(ordered.at - read, proved.at - read))
        await _rest(watch, device)
    return found


async def _first(device: ScriptedServer, function: int, since: float, after: int | None = None) -> Request:
    """Wait for the first such request; with `after`, for the first one behind an order of that function."""
    deadline = since + WITHIN_S
    while True:
        log = [request for request in device.log if request.at >= since]
        if after is not None:
            order = next((request for request in log if request.function == after and request.count == ON), None)
            log = [] if order is None else [request for request in log if request.at >= order.at]
        found = next((request for request in log if request.function == function), None)
        if found is not None:
            return found
        if asyncio.get_running_loop().time() > deadline:
            raise BenchError(f"the siren heard no request of function {function} within {WITHIN_S:g} s")
        await asyncio.sleep(LOOK_S)


async def _rest(watch: Watch, device: ScriptedServer) -> None:
    """Have a person take and reset whatever stands, until the siren is at rest."""
    deadline = asyncio.get_running_loop().time() + WITHIN_S
    while True:
        alarms = [alarm for alarm in watch.snapshot().alarms if alarm.kind == "GAS"]
        if not alarms and not device.units[UNIT].coils[COIL]:
            return
        for alarm in alarms:
            watch.act("acknowledge", alarm.id, BY)
            watch.act("reset", alarm.id, BY)
        if asyncio.get_running_loop().time() > deadline:
            raise BenchError(f"the siren did not come to rest within {WITHIN_S:g} s")
        await asyncio.sleep(LOOK_S * 5)
