"""How much vapour leaves a valve, a hose or a cylinder, and how it empties. Pure; knows no floor and no wind.

The vessel is one body of liquid at one temperature. What leaves as vapour cools it, which lowers the pressure that
drives the leak; what leaves as liquid flashes in part and boils off the ground for the rest. Formulas, figures and
limits: docs/simulated-depot.md.
"""

from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from math import cbrt, exp, inf, pi, sqrt
from typing import Final, Protocol

WARM_K: Final = 293.15
"""The vessel and the air around it, 20 °C."""
PRESSURE_PA: Final = 5.2e5
"""Vapour pressure (absolute) of a 50/50 mixture at `WARM_K`."""
OUTSIDE_PA: Final = 1.013e5
GAS_CONSTANT: Final = 163.0
"""J/(kg K), of a vapour of 51 g/mol."""
ADIABATIC: Final = 1.12
LATENT_J_KG: Final = 3.8e5
LIQUID_J_KG_K: Final = 2500.0
LIQUID_KG_M3: Final = 540.0
BOILING_K: Final = 243.0
"""Where the vapour pressure is that of the air outside."""
CRITICAL_RATIO: Final[float] = (2.0 / (ADIABATIC + 1.0)) ** (ADIABATIC / (ADIABATIC - 1.0))
CHOKED: Final[float] = sqrt(ADIABATIC / GAS_CONSTANT) * (2.0 / (ADIABATIC + 1.0)) ** (
    (ADIABATIC + 1.0) / (2.0 * (ADIABATIC - 1.0))
)
"""Mass flux of choked flow, times the root of the temperature and over the pressure."""
VAPOUR_DISCHARGE: Final = 0.8
LIQUID_DISCHARGE: Final = 0.6
WARMTH_W_K: Final = 3.0
"""Heat that reaches the liquid of a P-13 from the air, for each kelvin that it is colder; grows with the surface."""
P13_KG: Final = 13.0
SHELL: Final = 0.05
"""The steel around it holds as much warmth as this share of its contents."""
FLASHES: Final = 2.0
"""Flash fraction and as much again as spray that never reaches the ground."""
POOL_S: Final = 30.0
"""A pool on warm concrete has boiled off to 37 % after this time."""
SMALLEST_KG: Final = 1e-6


class Phase(Enum):
    """What reaches the hole: the vapour of an upright cylinder, or the liquid of a lying one, a tank or a hose."""

    VAPOUR = "vapour"
    LIQUID = "liquid"


class Escape(Protocol):
    """Vapour on its way, step by step."""

    def step(self, t_s: float, dt_s: float) -> float:
        """Return the kg of vapour that reach the floor within `dt_s` from `t_s` on."""
        ...


@dataclass(frozen=True, slots=True)
class Rates:
    """A rate told beforehand: (seconds, kg/h), times rising, smooth in between, the last one for good."""

    rate_kg_h: tuple[tuple[float, float], ...]

    def escape(self) -> Escape:
        """Return it at its beginning."""
        return self

    def step(self, t_s: float, dt_s: float) -> float:
        """See `Escape`."""
        return self.rate_at(t_s + dt_s / 2.0) * dt_s / 3600.0

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
class Hole:
    """A hole in something that holds LPG.

    Attributes:
        hole_mm: its diameter.
        contents_kg: what the vessel holds when it opens.
        opens_s, closes_s: seconds into the scenario; infinite for a hole that nobody closes.
    """

    phase: Phase
    hole_mm: float
    contents_kg: float
    opens_s: float
    closes_s: float = inf

    def escape(self) -> "Vessel":
        """Return it full and warm."""
        return Vessel(self, self.contents_kg)


@dataclass(slots=True)
class Vessel:
    """Where a vessel with a hole stands. `left_kg + pool_kg +` all that `step` returned is what it held."""

    hole: Hole
    left_kg: float
    pool_kg: float = 0.0
    kelvin: float = field(default=WARM_K)

    def step(self, t_s: float, dt_s: float) -> float:
        """See `Escape`."""
        boiled = self.pool_kg * (1.0 - exp(-dt_s / POOL_S)) if self.pool_kg > SMALLEST_KG else self.pool_kg
        self.pool_kg -= boiled
        open_s = min(t_s + dt_s, self.hole.closes_s) - max(t_s, self.hole.opens_s)
        if open_s <= 0.0 or self.left_kg <= 0.0:
            return boiled
        out = min(flow_kg_s(self.hole, self.kelvin) * open_s, self.left_kg)
        if self.hole.phase is Phase.VAPOUR:
            out = self._cooled(out, dt_s)
        if self.left_kg - out < SMALLEST_KG:
            out = self.left_kg
        self.left_kg -= out
        if self.hole.phase is Phase.VAPOUR:
            return boiled + out
        airborne = out * min(1.0, FLASHES * flash_fraction(self.kelvin))
        self.pool_kg += out - airborne
        return boiled + airborne

    def _cooled(self, out: float, dt_s: float) -> float:
        """Let the liquid pay for this vapour with its warmth and that of the air; return what it can pay for."""
        surface = cbrt(self.hole.contents_kg / P13_KG) ** 2
        holds_j_k = max(self.left_kg, SHELL * self.hole.contents_kg) * LIQUID_J_KG_K
        warmed = self.kelvin + WARMTH_W_K * surface * (WARM_K - self.kelvin) * dt_s / holds_j_k
        paid = min(out, holds_j_k * (warmed - BOILING_K) / LATENT_J_KG)
        self.kelvin = min(max(warmed - paid * LATENT_J_KG / holds_j_k, BOILING_K), WARM_K)
        return paid


def vapour_pressure_pa(kelvin: float) -> float:
    """Return the pressure over the liquid (absolute), by Clausius and Clapeyron."""
    return PRESSURE_PA * exp(-LATENT_J_KG / GAS_CONSTANT * (1.0 / kelvin - 1.0 / WARM_K))


def flash_fraction(kelvin: float) -> float:
    """Return the share of liquid that turns to vapour on its way out."""
    return max(0.0, LIQUID_J_KG_K * (kelvin - BOILING_K) / LATENT_J_KG)


def flow_kg_s(hole: Hole, kelvin: float) -> float:
    """Return what passes the hole: an orifice, choked for vapour wherever the pressure allows it."""
    inside = vapour_pressure_pa(kelvin)
    if inside <= OUTSIDE_PA:
        return 0.0
    area = pi / 4.0 * hole.hole_mm * hole.hole_mm / 1e6
    if hole.phase is Phase.LIQUID:
        return LIQUID_DISCHARGE * area * sqrt(2.0 * LIQUID_KG_M3 * (inside - OUTSIDE_PA))
    choked = VAPOUR_DISCHARGE * area * inside * CHOKED / sqrt(kelvin)
    ratio = OUTSIDE_PA / inside
    if ratio <= CRITICAL_RATIO:
        return choked
    towards_still = (ratio - CRITICAL_RATIO) / (1.0 - CRITICAL_RATIO)
    return choked * sqrt(max(0.0, 1.0 - towards_still * towards_still))
