"""The relay boards of a drawn depot: each siren or relay a coil that obeys, or does as its faults say."""

from collections.abc import Callable, Iterable, Mapping

from simulator.checker import Checker
from simulator.draws import DrawnSiren
from simulator.mishaps import MISHAPS, Mishap
from simulator.scripted import ScriptedServer, ScriptedUnit


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
        sirens: Iterable[DrawnSiren],
        lines: Mapping[str, ScriptedServer],
        ill_lines: Mapping[str, list[str]],
        checker: Checker,
        clock: Callable[[], float],
    ) -> None:
        self._sirens = {siren.id: siren for siren in sirens}
        self._lines = lines
        self._ill_lines = ill_lines
        self._checker = checker
        self._clock = clock
        self.ill: dict[str, list[str]] = {name: [] for name in self._sirens}
        for siren in self._sirens.values():
            unit = lines[siren.bus].units.setdefault(siren.unit, ScriptedUnit())
            if not isinstance(unit.coils, Coils):
                unit.coils = Coils(self._switched)
            unit.coils[siren.coil] = False

    def fit(self, name: str, mishap: Mishap, *, on: bool) -> None:
        """A fault of this one has begun, or is over."""
        siren = self._sirens[name]
        unit = self._lines[siren.bus].units[siren.unit]
        if "stuck" in mishap.changes:
            if any("stuck" in MISHAPS[what].changes for what in self.ill[name]):
                unit.stuck_coils.add(siren.coil)
            else:
                unit.stuck_coils.discard(siren.coil)
        if "switched_off" in mishap.changes and on:
            unit.coils[siren.coil] = False
        self._look(siren)

    def line_changed(self, line: str) -> None:
        """Whoever hangs on this line is reached otherwise from now on."""
        for siren in self._sirens.values():
            if siren.bus == line:
                self._look(siren)

    def _look(self, siren: DrawnSiren) -> None:
        if siren.kind != "siren":
            return
        ill = [*self._ill_lines[siren.bus], *self.ill[siren.id]]
        self._checker.way_out(self._clock(), siren.id, well=not ill)

    def _switched(self, coil: int, on: bool) -> None:
        for siren in self._sirens.values():
            if siren.coil == coil:
                self._checker.coil(self._clock(), siren.id, on=on)
