"""How gas from a leak spreads over a yard's floor: a pure function of time. Knows no instrument and no wire.

A leak is a row of puffs of vapour. Each lies in a shallow layer on the floor, drifts with the wind that reaches down
there, slumps outwards under its own weight and is thinned by the air above. What a point sees is the sum of all puffs
emitted so far. Walls, drains and gusts are not in this version.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import cos, exp, pi, radians, sin, sqrt

AIR_KG_M3 = 1.2
DRIFT = 0.25
"""Share of the wind (measured overhead) that moves gas lying on the floor."""
SOURCE_SPREAD_M = 0.8
"""Radius (one standard deviation) of a puff at birth: a jet that has already hit the ground."""
SLUMP_M2_S = 0.30
"""Spreading of a puff whose gas weighs twice the air's density; goes with the root of the excess."""
DEPTH_M = 0.6
"""Depth of the layer for a gas as heavy as air; heavier gas lies flatter in proportion."""
PUFF_S = 1.0
"""A puff holds what leaked in this time."""
LIVES = 6.0
"""A puff is forgotten after this many mixing times, when 0.25 % of it is left."""


@dataclass(frozen=True, slots=True)
class Place:
    """A point in the yard: metres east and north of its corner, and above its floor."""

    x_m: float
    y_m: float
    height_m: float = 0.0


@dataclass(frozen=True, slots=True)
class Air:
    """The weather and the gas.

    Attributes:
        wind_m_s, towards_deg: speed overhead, and where it blows to (0 east, 90 north).
        relative_density: of the vapour, air = 1 (propane 1.52, n-butane 2.00).
        lel_vol_pct: the vapour's lower explosive limit.
        mixing_s: time in which the air above thins a puff to 37 %.
    """

    wind_m_s: float = 0.0
    towards_deg: float = 0.0
    relative_density: float = 1.77
    lel_vol_pct: float = 1.4
    mixing_s: float = 12.0


@dataclass(frozen=True, slots=True)
class Leak:
    """A hole at floor level. `rate_kg_h` is a timeline of (seconds, kg/h), times rising, smooth in between."""

    x_m: float
    y_m: float
    rate_kg_h: tuple[tuple[float, float], ...]

    def rate_at(self, t_s: float) -> float:
        """Return kg/h at `t_s`: nothing before the first entry, the last entry's rate after it."""
        if t_s < self.rate_kg_h[0][0]:
            return 0.0
        for (start, low), (end, high) in pairwise(self.rate_kg_h):
            if t_s < end:
                share = (t_s - start) / (end - start)
                return low + (high - low) * share * share * (3.0 - 2.0 * share)
        return self.rate_kg_h[-1][1]


@dataclass(frozen=True, slots=True)
class World:
    """Everything that decides how much gas is where, and when."""

    air: Air
    leaks: tuple[Leak, ...]

    def lel_pct(self, place: Place, t_s: float) -> float:
        """Return %LEL at `place`, `t_s` seconds into the scenario."""
        return self.vol_pct(place, t_s) / self.air.lel_vol_pct * 100.0

    def vol_pct(self, place: Place, t_s: float) -> float:
        """Return gas in %vol at `place`; from 0 to 100."""
        fraction = sum(_fraction(leak, self.air, place, t_s) for leak in self.leaks)
        return 100.0 * min(fraction, 1.0)


def _fraction(leak: Leak, air: Air, place: Place, t_s: float) -> float:
    """Volume fraction at `place` from one leak: the sum over its puffs."""
    running_s = t_s - leak.rate_kg_h[0][0]
    if running_s <= 0.0:
        return 0.0
    depth_m = DEPTH_M / air.relative_density
    slump = SLUMP_M2_S * sqrt(max(air.relative_density - 1.0, 0.0))
    drift_x = air.wind_m_s * DRIFT * cos(radians(air.towards_deg))
    drift_y = air.wind_m_s * DRIFT * sin(radians(air.towards_deg))
    east, north = place.x_m - leak.x_m, place.y_m - leak.y_m
    m3_per_kg_h = PUFF_S / 3600.0 / (AIR_KG_M3 * air.relative_density)
    total = 0.0
    for number in range(int(min(running_s, LIVES * air.mixing_s) / PUFF_S) + 1):
        age = (number + 0.5) * PUFF_S
        rate = leak.rate_at(t_s - age)
        if rate <= 0.0:
            continue
        spread2 = SOURCE_SPREAD_M**2 + 2.0 * slump * age
        away2 = (east - drift_x * age) ** 2 + (north - drift_y * age) ** 2
        thinned = exp(-age / air.mixing_s - away2 / (2.0 * spread2))
        total += rate * m3_per_kg_h * thinned / (2.0 * pi * spread2 * depth_m)
    return total * exp(-place.height_m / depth_m)
