"""The yard of a drawn depot: gas of its leaks lies on the floor and reaches every head, by `simulator.world`."""

from dataclasses import dataclass, field
from typing import Final

from simulator.draws import DrawnHead, DrawnYard
from simulator.sources import Rates
from simulator.world import Air, Floor, Ground, Leak, Place, World

GROUND: Final = Ground(6, 3)
HEIGHT_M: Final = 0.3
KG_H: Final = 1.2
"""Kg/h in still air for each %LEL that a leak is drawn with, so that about so much reaches a head beside it."""
BLOWN_OFF: Final = 2.0
"""So much more for each m/s of wind."""
GONE_LEL: Final = 0.2
"""%LEL below which what is left of a leak is forgotten, once nothing comes out any more."""


@dataclass(slots=True)
class Spills:
    """Everything that has leaked and still lies there. Each leak has a floor of its own; their gas adds up."""

    yard: DrawnYard
    _floors: list[tuple[float, float, Floor]] = field(default_factory=list)

    def leak(self, now: float, head: DrawnHead, lasts: float, size: float) -> None:
        """Gas comes out beside this head, or (of the strongest) right under it."""
        away = 0.0 if size > self.yard.under_from else 1.0
        rate = size * KG_H * (1.0 + BLOWN_OFF * self.yard.wind_m_s)
        rates = Rates(((0.0, rate), (lasts, rate), (lasts + 1.0, 0.0)))
        air = Air(self.yard.wind_m_s, self.yard.towards_deg)
        floor = Floor(World(air, (Leak(head.x_m + away, head.y_m, rates),), GROUND))
        self._floors.append((now, now + lasts + 1.0, floor))

    def advance(self, now: float) -> None:
        """Bring it to the present."""
        for began, _, floor in self._floors:
            floor.advance(now - began)

    def forget(self, now: float, heads: list[DrawnHead]) -> None:
        """Let go of what has run dry and reaches no head any more."""
        self._floors = [
            each for each in self._floors if now < each[1] or any(_at(each[2], head) >= GONE_LEL for head in heads)
        ]

    def clear(self) -> None:
        """A storm carries everything off."""
        self._floors = []

    @property
    def dry(self) -> bool:
        """Whether nothing lies there."""
        return not self._floors

    def at(self, head: DrawnHead) -> float:
        """Return the %LEL at a head."""
        return sum(_at(floor, head) for _, _, floor in self._floors)


def _at(floor: Floor, head: DrawnHead) -> float:
    return floor.lel_pct(Place(head.x_m, head.y_m, HEIGHT_M))
