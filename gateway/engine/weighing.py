"""When a weight on a scale is one container, weighed once: steady, within bounds, and the platform empty before. Pure.

Nothing is guessed from noise: a weight counts once several readings in a row agree and the scale itself lets each
of them count. The next one counts only after the platform was seen empty for as many readings. What stands on it when
the watch starts was weighed before, or nobody knows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from sensors.stamps import MILLISECOND, Stamp
from sensors.wire.points import ModbusPoints
from sensors.wire.scales import Weight

CHECK_S, READINGS, WITHIN_KG = 0.5, 3, 0.05
"""How often a scale is asked, and how many readings in a row must agree how well, unless the file says otherwise."""


@dataclass(frozen=True, slots=True)
class Scale:
    """One scale that weighs containers at the sale.

    Attributes:
        points, kg_per_unit: where its weight is, and what one of its number is in kg.
        full: it weighs full containers; False: the returned ones.
        act: the stock movement that each weighing is as well; empty for none.
        check_s: between two readings.
        readings: so many in a row must agree, within `within_kg`.
        least_kg, most_kg: what can be one container; less is an empty platform, more is something else.
        tags: the tag reader that stands beside it; empty for none.
        unseen_s: without a weight that may be counted for so long, it is told.
    """

    id: str
    bus: str
    unit: int
    points: ModbusPoints
    kg_per_unit: float
    area: str
    size_kg: Decimal
    least_kg: float
    most_kg: float
    full: bool = True
    act: str = ""
    brand: str = ""
    name: str = ""
    check_s: float = CHECK_S
    readings: int = READINGS
    within_kg: float = WITHIN_KG
    tags: str = ""
    unseen_s: float = 120.0


@dataclass(frozen=True, slots=True)
class Weighing:
    """One container was weighed; `at` is the first reading that showed its weight."""

    kg: Decimal
    at: Stamp


WEIGHED: Final = "weighing"
"""The kind of journal entry by which the watch keeps a weighing at once; the office makes a ticket of each."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A weighing as the journal keeps it: kg as they were shown, UTC ms. The same scale and moment is the same one."""

    source: str
    kg: str
    at_ms: int


def body_of(scale: Scale, weighing: Weighing) -> dict[str, int | str]:
    """Return the body of a weighing's journal entry."""
    return {"source": scale.id, "kg": str(weighing.kg), "at_ms": weighing.at.utc // MILLISECOND}


def weighed_in(body: Mapping[str, Any]) -> Weighed:
    """Read a body of `body_of`. Raises LookupError, TypeError, ValueError, ArithmeticError: it is none."""
    return Weighed(str(body["source"]), str(Decimal(str(body["kg"]))), int(body["at_ms"]))


class Platform:
    """What stands on one scale; time is an argument."""

    def __init__(self, scale: Scale) -> None:
        self._scale = scale
        self._run: list[float] = []
        self._began: Stamp | None = None
        self._free = False

    def shown(self, weight: Weight, at: Stamp) -> Weighing | None:
        """Take one reading; return the weighing that it completes."""
        if weight.kg is None:
            self._run.clear()
            return None
        if self._run and max(*self._run, weight.kg) - min(*self._run, weight.kg) > self._scale.within_kg:
            self._run.clear()
        if not self._run:
            self._began = at
        self._run.append(weight.kg)
        if len(self._run) < self._scale.readings or self._began is None:
            return None
        self._run = self._run[-self._scale.readings :]
        kg = sorted(self._run)[len(self._run) // 2]
        if kg < self._scale.least_kg:
            self._free = True
        elif self._free and kg <= self._scale.most_kg:
            self._free = False
            return Weighing(round(Decimal(repr(kg)), 3), self._began)
        return None

    def lost(self) -> None:
        """It could not be read: readings before and after do not agree with each other, whatever they show."""
        self._run.clear()
