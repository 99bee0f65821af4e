"""The relay boards of a drawn depot: each siren or relay a coil that obeys, or does as its faults say."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from simulator.checker import Checker
from simulator.draws import DrawnSiren
from simulator.memory_broker import MemoryBroker
from simulator.mishaps import MISHAPS, Mishap
from simulator.relays import Relay
from simulator.rounds import Rounds
from simulator.scripted import ScriptedServer, ScriptedUnit

NOWHERE: Final = 77
"""A coil that nothing hangs on."""

MUTE: Final = frozenset({"mute", "frozen", "unplugged", "refuses", "gone", "silent", "exception", "wrong_unit"})
"""Changes after which nobody who asks a board learns how it stands; a relay behind a broker is seldom asked."""


class Coils(dict[int, bool]):
    """The coils of a unit; every change is told."""

    def __init__(self, told: Callable[[int, bool], None]) -> None:
        super().__init__()
        self._told = told

    def __setitem__(self, coil: int, on: bool) -> None:
        if self.get(coil) is not on:
            super().__setitem__(coil, on)
            self._told(coil, on)


class Boards:
    """All sirens and relays. `ill` names the faults of each."""

    def __init__(
        self,
        sirens: Sequence[DrawnSiren],
        lines: Mapping[str, ScriptedServer],
        broker: MemoryBroker,
        ill_ways: Mapping[str, list[str]],
        checker: Checker,
        rounds: Rounds,
        clock: Callable[[], float],
    ) -> None:
        self._sirens = {siren.id: siren for siren in sirens}
        self._lines = lines
        self._ill_ways = ill_ways
        self._checker = checker
        self._rounds = rounds
        self._clock = clock
        self.ill: dict[str, list[str]] = {name: [] for name in self._sirens}
        self._relays = {
            siren.id: Relay(siren.topic, broker, partial(self._told, siren)) for siren in sirens if siren.topic
        }
        for siren in (siren for siren in sirens if not siren.topic):
            unit = lines[siren.bus].units.setdefault(siren.unit, ScriptedUnit())
            if not isinstance(unit.coils, Coils):
                unit.coils = Coils(self._switched)
            unit.coils[siren.coil] = False

    def fit(self, name: str, mishap: Mishap, *, on: bool) -> None:
        """A fault of this one has begun, or is over. Some befall the coil, others the whole board."""
        siren = self._sirens[name]
        if siren.topic:
            relay = self._relays[name]
            relay.changes = self._changes(name)
            if "switched_off" in mishap.changes and on:
                relay.switch(False)
            self._look(siren)
            return
        unit = self._lines[siren.bus].units[siren.unit]
        mine, board = self._changes(name), self._changes_of(siren)
        _put(unit.stuck_coils, siren.coil, there="stuck" in mine)
        unit.crossed.pop(siren.coil, None)
        if "crossed" in mine:
            unit.crossed[siren.coil] = next((coil for coil in unit.coils if coil != siren.coil), NOWHERE)
        unit.refuses_writes, unit.exception = board.get("refuses_writes"), board.get("exception")
        unit.let_go_s, unit.silent = board.get("let_go_s"), bool(board.get("silent"))
        unit.delay_s, unit.wrong_unit = board.get("delay_s", 0.0), board.get("wrong_unit")
        if "switched_off" in mishap.changes and on:
            unit.coils[siren.coil] = False
        for each in self._sirens.values():
            if (each.bus, each.unit) == (siren.bus, siren.unit):
                self._look(each)

    def line_of(self, name: str) -> str:
        """The line that it hangs on."""
        return self._sirens[name].bus

    def hinders(self, line: str) -> bool:
        """Whether a board on this line is so slow to answer, or so mute, that polls may have to wait for it."""
        on_it = (siren for siren in self._sirens.values() if siren.bus == line)
        return any("hinders" in self._changes_of(siren) for siren in on_it)

    def _changes(self, name: str) -> dict[str, Any]:
        return {key: value for what in self.ill[name] for key, value in MISHAPS[what].changes.items()}

    def _changes_of(self, siren: DrawnSiren) -> dict[str, Any]:
        """What the faults of everything on its board come to."""
        found: dict[str, Any] = {}
        for other in self._sirens.values():
            if (other.bus, other.unit) == (siren.bus, siren.unit):
                found |= self._changes(other.id)
        return found

    def line_changed(self, line: str) -> None:
        """Whoever hangs on this line is reached otherwise from now on."""
        for siren in self._sirens.values():
            if siren.bus == line:
                self._look(siren)

    def _look(self, siren: DrawnSiren) -> None:
        if siren.kind != "siren":
            return
        there = (each for each in self._sirens.values() if (each.bus, each.unit) == (siren.bus, siren.unit))
        ill = [*self._ill_ways[siren.bus], *(what for each in there for what in self.ill[each.id])]
        now = self._clock()
        self._checker.way_out(now, siren.id, well=not ill)
        of_board = self._ill_ways[siren.bus] if siren.topic else ill
        mute = any(MISHAPS[what].changes.keys() & MUTE for what in of_board)
        self._rounds.siren(now, siren.id, well=not ill, mute=mute)

    def _switched(self, coil: int, on: bool) -> None:
        for siren in self._sirens.values():
            if siren.coil == coil and not siren.topic:
                self._told(siren, on)

    def _told(self, siren: DrawnSiren, on: bool) -> None:
        self._checker.coil(self._clock(), siren.id, on=on)
        self._rounds.coil(siren.id, on=on)


def _put(coils: set[int], coil: int, *, there: bool) -> None:
    if there:
        coils.add(coil)
    else:
        coils.discard(coil)
