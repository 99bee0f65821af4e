"""Tries other addresses and word orders on the heads of a line, one read at a time. Writes nothing to any device."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from gateway.depot import Depot
from gateway.machine.clock import SystemClock
from sensors.drivers.asker import Asker, Reply, asking
from sensors.drivers.connections import NoConnectionError
from sensors.drivers.modbus import ModbusHead
from sensors.drivers.settings import BusSettings
from sensors.stamps import SECOND
from sensors.tryout import Diagnosis, Trial, Way, on_display, trial, verdict, ways, without_answer
from sensors.wire.modbus import Ask
from sensors.wire.points import ModbusPoints

ANSWER_WITHIN_S = 1.0
"""Longest wait for one answer, unless the bus waits longer: nobody is in a hurry here, and every head is asked once."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What was tried on one head. `about`: the trials that the verdict speaks of."""

    detector: str
    verdict: Diagnosis
    about: tuple[Trial, ...]
    trials: tuple[Trial, ...]


def try_out(depot: Depot, wanted: frozenset[str], shown: float | None = None) -> tuple[Tried, ...]:
    """Try these heads (those on MQTT have no registers and are left out); all lines side by side.

    `shown` is the number on the one head's own display, in its own unit.
    """
    return asyncio.run(_every_line(depot, wanted, shown))


async def _every_line(depot: Depot, wanted: frozenset[str], shown: float | None) -> tuple[Tried, ...]:
    lines = [(bus, [head for head in bus.heads if head.detector in wanted]) for bus in depot.buses]
    found = await asyncio.gather(*(_line(bus.settings, heads, shown) for bus, heads in lines if heads))
    return tuple(one for line in found for one in line)


async def _line(settings: BusSettings, heads: Iterable[ModbusHead], shown: float | None) -> list[Tried]:
    timeout_s = max(settings.timeout_ns / SECOND, ANSWER_WITHIN_S)
    async with asking(settings) as line:
        return [await _head(line, head, timeout_s, shown) for head in heads]


async def _head(line: Asker, head: ModbusHead, timeout_s: float, shown: float | None) -> Tried:
    points = head.profile.points
    expected = None
    if shown is not None and isinstance(points, ModbusPoints):
        expected = on_display(shown, points, head.basis)
    heard: dict[bytes, Reply] = {}
    trials = tuple(
        [
            await _trial(line, way, heard, timeout_s, expected)
            for way in ways(head.profile, head.detector, head.unit, head.basis)
        ]
    )
    said, about = verdict(trials)
    return Tried(str(head.detector), said, about, trials)


async def _trial(line: Asker, way: Way, heard: dict[bytes, Reply], timeout_s: float, expected: float | None) -> Trial:
    """Ask what the way asks, nothing twice; the four orders of one address share their answers."""
    words = b""
    for ask in way.block.asks:
        told = heard.get(ask.tail) or await _asked(line, ask, timeout_s)
        heard[ask.tail] = told
        if told.data is None:
            return without_answer(way, told.reason if told.refusal is None else f"exception-{told.refusal}")
        words += told.data
    return trial(way, words, SystemClock().now(), expected)


async def _asked(line: Asker, ask: Ask, timeout_s: float) -> Reply:
    try:
        return await line.ask(ask, timeout_s)
    except NoConnectionError as error:
        return Reply(reason=str(error))
