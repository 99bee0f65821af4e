"""What the bench measured, and whether it meets its target."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import ceil
from statistics import median


class Aim(Enum):
    """Which way a target binds."""

    AT_LEAST = ">="
    AT_MOST = "<="


@dataclass(frozen=True, slots=True)
class Figure:
    """One number.

    Attributes:
        case: the bench that measured it.
        target: what was promised; None for a number that is only shown.
    """

    case: str
    name: str
    value: float
    unit: str
    aim: Aim = Aim.AT_MOST
    target: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without one."""
        if self.target is None:
            return None
        return self.value >= self.target if self.aim is Aim.AT_LEAST else self.value <= self.target

    @property
    def verdict(self) -> str:
        """The target and whether it was met, as text; empty without one."""
        if self.target is None:
            return ""
        return f"{self.aim.value} {self.target:g}: {'met' if self.met else 'NOT met'}"


def percentile(values: Sequence[float], percent: float) -> float:
    """Nearest-rank percentile; infinite for no values at all, so that nothing measured meets no target."""
    if not values:
        return float("inf")
    ranked = sorted(values)
    return ranked[max(0, ceil(len(ranked) * percent / 100) - 1)]


def medians(runs: Sequence[Sequence[Figure]]) -> list[Figure]:
    """Join runs of one case: each figure with the median of its values. The worst ever seen stays the worst."""
    joined = []
    for name in dict.fromkeys(figure.name for run in runs for figure in run):
        same = [figure for run in runs for figure in run if figure.name == name]
        first, values = same[0], [figure.value for figure in same]
        value = max(values) if name.endswith("max") else median(values)
        joined.append(Figure(first.case, name, value, first.unit, first.aim, first.target))
    return joined
