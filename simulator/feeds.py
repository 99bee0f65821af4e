"""What feeds a drawn depot: UPSes that show mains and battery, on a line or behind the broker, well or ill."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from simulator.draws import DrawnSupply
from simulator.mains import Mains
from simulator.memory_broker import MemoryBroker
from simulator.mishaps import MISHAPS, Mishap
from simulator.pipes import NetLoop
from simulator.promises import Sight
from simulator.scripted import ScriptedServer, ScriptedUnit

MAINS_AT: Final = 3
CHARGE_AT: Final = 5
FULL_PCT, EMPTY_PCT = 80, 12
SPEAKS_S: Final = 5.0


class Feeds:
    """All supplies. `ill` names the faults of each."""

    def __init__(
        self,
        supplies: Sequence[DrawnSupply],
        lines: Mapping[str, ScriptedServer],
        broker: MemoryBroker,
        ill_ways: Mapping[str, list[str]],
        mains: Mains,
        loop: NetLoop,
        hindered: Callable[[str], bool],
    ) -> None:
        """`hindered`: whether something else on a line keeps whoever hangs there waiting."""
        self._hindered = hindered
        self.ill: dict[str, list[str]] = {supply.id: [] for supply in supplies}
        self._supplies = {supply.id: supply for supply in supplies}
        self._lines = lines
        self._broker = broker
        self._ill_ways = ill_ways
        self._mains = mains
        self._loop = loop
        self._on = dict.fromkeys(self._supplies, True)
        for supply in supplies:
            if supply.bus:
                lines[supply.bus].units[supply.unit] = ScriptedUnit()
            self._show(supply)

    def begin(self) -> None:
        """They are switched on."""
        for supply in self._supplies.values():
            if supply.topic:
                self._speak(supply)

    def line_of(self, name: str) -> str:
        """The line that it hangs on."""
        return self._supplies[name].bus

    def fit(self, name: str, mishap: Mishap, *, on: bool) -> None:
        """A fault of this one has begun, or is over."""
        supply = self._supplies[name]
        flickers = self._changes(supply).get("flickers_s")
        self._on[name] = "lost" not in self._changes(supply)
        if on and "flickers_s" in mishap.changes and flickers:
            self._flicker(supply)
        self._show(supply)
        self._look(supply)

    def line_changed(self, line: str) -> None:
        """Whoever hangs on this line is reached otherwise from now on."""
        for supply in self._supplies.values():
            if supply.bus == line:
                self._look(supply)

    def _changes(self, supply: DrawnSupply) -> dict[str, Any]:
        return {key: value for what in self.ill[supply.id] for key, value in MISHAPS[what].changes.items()}

    def _flicker(self, supply: DrawnSupply) -> None:
        flickers_s = self._changes(supply).get("flickers_s")
        if flickers_s is None:
            return
        self._on[supply.id] = not self._on[supply.id]
        self._show(supply)
        self._loop.call_later(flickers_s, self._flicker, supply)

    def _show(self, supply: DrawnSupply) -> None:
        changes, now = self._changes(supply), self._loop.time()
        lost, low = not self._on[supply.id], "low" in changes
        self._mains.shows(now, supply.id, "mains", trouble=lost)
        self._mains.shows(now, supply.id, "battery", trouble=low)
        if supply.bus:
            unit = self._lines[supply.bus].units[supply.unit]
            unit.silent = bool(changes.get("silent"))
            unit.discrete = {MAINS_AT: not lost}
            unit.inputs = {CHARGE_AT: EMPTY_PCT if low else FULL_PCT}

    def _look(self, supply: DrawnSupply) -> None:
        ill = [
            *self._ill_ways[supply.bus],
            *(what for what in self.ill[supply.id] if "silent" in MISHAPS[what].changes),
        ]
        dead = any(MISHAPS[what].sight is Sight.SILENT for what in ill)
        self._mains.reached(self._loop.time(), supply.id, well=not ill and not self._hindered(supply.bus), dead=dead)

    def _speak(self, supply: DrawnSupply) -> None:
        self._loop.call_later(SPEAKS_S, self._speak, supply)
        changes = self._changes(supply)
        if not changes.get("silent"):
            said = {"power": int(self._on[supply.id]), "charge": EMPTY_PCT if "low" in changes else FULL_PCT}
            self._broker.publish(supply.topic, json.dumps(said).encode())
