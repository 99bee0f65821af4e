"""How gas from leaks lies on a yard's floor: a layer that spreads, drifts and thins. Pure; knows no instrument.

Each cell of floor, a metre square, holds kg of gas. Between two cells it flows as one pool of heavy fluid runs into
the next (faster where it is deeper), and with the wind that reaches down there; the air above carries some of it off.
A wall between two cells stops both. What crosses an open side never comes back. Every step is an exact balance, and
more gas anywhere never makes less of it elsewhere. Formulas, figures and limits: docs/simulated-depot.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil, cos, exp, radians, sin, sqrt
from typing import Final

from simulator.sources import Escape, Hole, Rates

AIR_KG_M3: Final = 1.2
GRAVITY_M_S2: Final = 9.81
CELL_M: Final = 1.0
DRIFT: Final = 0.25
"""Share of the wind (measured overhead) that moves gas lying on the floor."""
DEPTH_M: Final = 0.6
"""Depth of the layer for a gas as heavy as air; heavier gas lies flatter in proportion."""
FASTEST_M_S: Final = 0.8
"""Gas spreads no faster than this by its own weight."""
STILL_MIXING_S: Final = 45.0
"""In still air a cell has thinned to 37 % after this time; wind shortens it."""
MIXING_PER_M_S: Final = 1.5
STEP_S: Final = 0.2
"""The longest step; shorter where the wind is strong."""
FORGOTTEN_KG: Final = 1e-8
"""Less than this in a cell (under 0.0001 %LEL at the floor) is carried off at once."""


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
        mixing_s: time in which the air above thins a cell to 37 %; None: what the wind makes of it.
    """

    wind_m_s: float = 0.0
    towards_deg: float = 0.0
    relative_density: float = 1.77
    lel_vol_pct: float = 1.4
    mixing_s: float | None = None

    @property
    def thins_in_s(self) -> float:
        """The time that counts."""
        return self.mixing_s or STILL_MIXING_S / (1.0 + MIXING_PER_M_S * self.wind_m_s)


@dataclass(frozen=True, slots=True)
class Wall:
    """A straight wall along the grid, from one crossing of it to another (metres)."""

    x1_m: int
    y1_m: int
    x2_m: int
    y2_m: int


@dataclass(frozen=True, slots=True)
class Ground:
    """The floor: so many metres east and north. Its sides are open unless a wall stands along them."""

    east_m: int = 24
    north_m: int = 12
    walls: tuple[Wall, ...] = ()

    def cell(self, place: Place) -> int:
        """Return the number of the cell that holds this place, or of the nearest."""
        x = min(max(int(place.x_m // CELL_M), 0), self.east_m - 1)
        y = min(max(int(place.y_m // CELL_M), 0), self.north_m - 1)
        return y * self.east_m + x


@dataclass(frozen=True, slots=True)
class Leak:
    """Where gas comes out, at floor level, and how much of it."""

    x_m: float
    y_m: float
    source: Rates | Hole


@dataclass(frozen=True, slots=True)
class World:
    """Everything that decides how much gas is where, and when."""

    air: Air
    leaks: tuple[Leak, ...]
    ground: Ground = Ground()


@dataclass(slots=True)
class Floor:
    """The gas on the floor at `t_s`. Starts clean, at second 0.

    Attributes:
        kg: in each cell, row by row from the south-west corner.
        released_kg, carried_off_kg: since the start; their difference lies on the floor.
    """

    world: World
    t_s: float = 0.0
    kg: list[float] = field(init=False)
    released_kg: float = 0.0
    carried_off_kg: float = 0.0
    _escapes: tuple[tuple[int, Escape], ...] = field(init=False)
    _pairs: tuple[tuple[int, int, float], ...] = field(init=False)
    _sides: tuple[tuple[int, float], ...] = field(init=False)
    _steps: int = 0
    _step_s: float = field(init=False)

    def __post_init__(self) -> None:
        ground, air = self.world.ground, self.world.air
        self.kg = [0.0] * (ground.east_m * ground.north_m)
        self._escapes = tuple(
            (ground.cell(Place(leak.x_m, leak.y_m)), leak.source.escape()) for leak in self.world.leaks
        )
        wind = (cos(radians(air.towards_deg)), sin(radians(air.towards_deg)))
        east, north = (air.wind_m_s * DRIFT * part for part in wind)
        faces = tuple(_faces(ground, east, north))
        self._pairs = tuple((a, b, drift) for a, b, drift in faces if b >= 0)
        self._sides = tuple((a, drift) for a, b, drift in faces if b < 0)
        # what leaves a cell within a step, by its four faces at the most and with the wind, must not exceed what it has
        fastest = (4 * 1.5 * FASTEST_M_S + abs(east) + abs(north)) / CELL_M
        self._step_s = 1.0 / ceil(max(fastest, 1.0 / STEP_S))

    @property
    def on_floor_kg(self) -> float:
        """What lies there now."""
        return sum(self.kg)

    def advance(self, t_s: float) -> None:
        """Bring it to `t_s`, in whole steps; the last one may end a little short of it."""
        while (self._steps + 1) * self._step_s <= t_s + 1e-9:
            self._step(self._steps * self._step_s)
            self._steps += 1
        self.t_s = t_s

    def lel_pct(self, place: Place) -> float:
        """Return %LEL at a place."""
        return self.vol_pct(place) / self.world.air.lel_vol_pct * 100.0

    def vol_pct(self, place: Place) -> float:
        """Return gas in %vol at a place, from 0 to 100: as much as its cell holds, thinning out upwards.

        The layer is `DEPTH_M` over the density deep, or as deep as its gas would lie without any air.
        """
        per_m2 = self.kg[self.world.ground.cell(place)] / CELL_M**2
        if per_m2 <= 0.0:
            return 0.0
        density = self.world.air.relative_density
        pure_m = per_m2 / (AIR_KG_M3 * density)
        depth_m = max(DEPTH_M / density, pure_m)
        return 100.0 * pure_m / depth_m * exp(-place.height_m / depth_m)

    def _step(self, t_s: float) -> None:
        kg, dt_s = self.kg, self._step_s
        for cell, escape in self._escapes:
            out = escape.step(t_s, dt_s)
            kg[cell] += out
            self.released_kg += out
        if not any(kg):
            return
        self._spread(dt_s)
        keeps = exp(-dt_s / self.world.air.thins_in_s)
        for cell, held in enumerate(kg):
            if held > 0.0:
                left = held * keeps if held >= FORGOTTEN_KG else 0.0
                self.carried_off_kg += held - left
                kg[cell] = left

    def _spread(self, dt_s: float) -> None:
        """Move gas through every face, by its weight and with the wind, from what lay there before the step.

        No `max` and `min` of Python's in here: asked half a million times an hour, they are a tenth of a yard's cost.
        """
        kg = self.kg
        buoyancy = GRAVITY_M_S2 * (1.0 - 1.0 / self.world.air.relative_density) / AIR_KG_M3 / CELL_M**2
        most = FASTEST_M_S**2
        share = dt_s / CELL_M
        gained = [0.0] * len(kg)
        for a, b, drift in self._pairs:
            here, there = kg[a], kg[b]
            if here == there == 0.0:
                continue
            pull = buoyancy * (max(here, there))
            weight = (sqrt(pull) if pull < most else FASTEST_M_S) * (here - there)
            moved = share * (weight + drift * (here if drift > 0.0 else there))
            gained[a] -= moved
            gained[b] += moved
        for a, drift in self._sides:
            here = kg[a]
            if here > 0.0:
                pull = buoyancy * here
                weight = sqrt(pull) if pull < most else FASTEST_M_S
                moved = share * here * (weight + drift if drift > 0.0 else weight)
                gained[a] -= moved
                self.carried_off_kg += moved
        for cell, change in enumerate(gained):
            if change:
                kg[cell] = max(kg[cell] + change, 0.0)


def _faces(ground: Ground, east: float, north: float) -> Iterator[tuple[int, int, float]]:
    """Yield (cell, neighbour or -1 for outside, wind from the first to the second) of every face without a wall."""
    upright, flat = _walled(ground)
    width, height = ground.east_m, ground.north_m
    for y in range(height):
        for x in range(width + 1):
            if (x, y) not in upright:
                west, cell = y * width + x - 1, y * width + x
                if x == 0:
                    yield cell, -1, -east
                else:
                    yield west, cell if x < width else -1, east
    for y in range(height + 1):
        for x in range(width):
            if (x, y) not in flat:
                south, cell = (y - 1) * width + x, y * width + x
                if y == 0:
                    yield cell, -1, -north
                else:
                    yield south, cell if y < height else -1, north


def _walled(ground: Ground) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """Return the faces that walls stand on: those on the west of a cell, and those on its south."""
    upright: set[tuple[int, int]] = set()
    flat: set[tuple[int, int]] = set()
    for wall in ground.walls:
        low_x, high_x = sorted((wall.x1_m, wall.x2_m))
        low_y, high_y = sorted((wall.y1_m, wall.y2_m))
        upright |= {(wall.x1_m, y) for y in range(low_y, high_y)} if low_x == high_x else set()
        flat |= {(x, wall.y1_m) for x in range(low_x, high_x)} if low_y == high_y else set()
    return upright, flat
