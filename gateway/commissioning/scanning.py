"""Finds the units on a Modbus line by asking each number once, and recognises known models. Writes to no device.

One question is open at a time, with the line's own pauses between; a unit that stops answering is left alone. A device
on the network that answers to every number is told from a line full of devices by asking numbers nobody uses.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gateway.machine.clock import SystemClock
from sensors import profiles
from sensors.drivers.asker import Asker, Reply, asking
from sensors.drivers.connections import NoConnectionError
from sensors.drivers.settings import BusSettings
from sensors.readings import Reading
from sensors.recognition import Portrait, portraits
from sensors.wire.modbus import READ_HOLDING, ask_registers

UNLIKELY = (201, 223, 241)
"""Unit numbers that nobody gives: a line on which all of them answer has one device that listens to any."""

NOBODY = frozenset({10, 11})
"""Exception codes by which a gateway says that no unit is there."""

LONGEST_WAIT_S = 3.0
"""However slow a gateway proves to be, one question waits no longer."""

WAIT_MARGIN = 1.2
MOST_SILENCES = 2
"""Unanswered questions after which a unit is left alone."""


@dataclass(frozen=True, slots=True)
class Known:
    """A model that a unit may be. `reading` is that of its first head, decoded by the profile; its basis is unknown."""

    profile: str
    title: str
    reading: Reading
    needs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit that answers. `refusal`: exception code of its answer to the first question; None where it gave data."""

    number: int
    refusal: int | None
    known: tuple[Known, ...]


@dataclass(slots=True)
class Sweep:
    """What was found.

    Attributes:
        everybody: one device answers to every number; only the first of the range was looked at.
        silent: numbers that nobody answered.
        names: (asked, answered): units that answered in another's name.
        trouble: why the line could not be asked to the end; empty when it could.
    """

    units: list[Unit] = field(default_factory=list)
    everybody: bool = False
    silent: list[int] = field(default_factory=list)
    names: list[tuple[int, int]] = field(default_factory=list)
    trouble: str = ""


def scan(
    settings: BusSettings, numbers: Sequence[int], timeout_s: float, progress: Callable[[int, Unit | None], None]
) -> Sweep:
    """Ask every number once; `progress` hears of each."""
    return asyncio.run(_Scan(settings, timeout_s, progress).run(numbers))


class _Scan:
    def __init__(self, settings: BusSettings, timeout_s: float, progress: Callable[[int, Unit | None], None]) -> None:
        self._settings = settings
        self._timeout_s = timeout_s
        self._progress = progress
        self._portraits = portraits(profiles.load(name) for name in profiles.names())
        self._sweep = Sweep()

    async def run(self, numbers: Sequence[int]) -> Sweep:
        async with asking(self._settings) as line:
            try:
                await self._all(line, numbers)
            except NoConnectionError as error:
                self._sweep.trouble = str(error)
        self._sweep.units.sort(key=lambda unit: unit.number)
        return self._sweep

    async def _all(self, line: Asker, numbers: Sequence[int]) -> None:
        sweep = self._sweep
        if len(numbers) > 1 and not self._settings.rtu:
            sweep.everybody = all([await self._lives(line, number) is not None for number in UNLIKELY])
            sweep.names.clear()
        if sweep.everybody:
            await self._look(line, numbers[0])
            return
        at_first_s = self._timeout_s
        await self._each(line, numbers)
        self._longer(line)
        if self._timeout_s > at_first_s:  # a gateway slower than we waited: who was silent may have been cut off
            missed, sweep.silent = sweep.silent, []
            await self._each(line, missed)

    async def _each(self, line: Asker, numbers: Sequence[int]) -> None:
        for number in numbers:
            await self._look(line, number)

    async def _look(self, line: Asker, number: int) -> None:
        told = await self._lives(line, number)
        if told is None:
            self._sweep.silent.append(number)
            self._progress(number, None)
            return
        unit = Unit(number, told.refusal, await self._recognise(line, number))
        self._sweep.units.append(unit)
        self._progress(number, unit)

    async def _lives(self, line: Asker, number: int) -> Reply | None:
        """Ask the first question; any answer but a gateway's "nobody there" is a sign of life."""
        told = await self._ask(line, number)
        if told.by is not None:
            self._sweep.names.append((number, told.by))
        return told if told.data is not None or told.refusal not in {None, *NOBODY} else None

    async def _ask(self, line: Asker, number: int) -> Reply:
        self._longer(line)
        return await line.ask(ask_registers(number, READ_HOLDING, 0, 1), self._timeout_s)

    def _longer(self, line: Asker) -> None:
        """Wait as long from now on as the slowest answer took that came too late."""
        self._timeout_s = max(self._timeout_s, min(line.late_s * WAIT_MARGIN, LONGEST_WAIT_S))

    async def _recognise(self, line: Asker, number: int) -> tuple[Known, ...]:
        answers: dict[bytes, Reply] = {}
        silences = 0
        found: list[Known] = []
        for portrait in self._portraits:
            if not portrait.lives_at(number):
                continue
            ask = portrait.ask(number)
            if ask.tail not in answers:
                answers[ask.tail] = await line.ask(ask, self._timeout_s)
                silences += bool(answers[ask.tail].reason)
            data = answers[ask.tail].data
            if data is not None and portrait.fits(data):
                reading = await self._reading(line, number, portrait)
                if reading is not None:
                    profile = portrait.profile
                    needs = tuple(name for name in ("channel", "head") if name in profile.requires)
                    found.append(Known(profile.id, profile.title, reading, needs))
            if silences >= MOST_SILENCES:
                break
        return tuple(found)

    async def _reading(self, line: Asker, number: int, portrait: Portrait) -> Reading | None:
        """Read the whole first head; None where the device refuses it, and so is another."""
        block, words = portrait.block(number), b""
        for ask in block.asks:
            told = await line.ask(ask, self._timeout_s)
            if told.data is None:
                return None
            words += told.data
        (reading,) = block.readings(words, 0, SystemClock().now())
        return None if reading.reason == "other-device" else reading
