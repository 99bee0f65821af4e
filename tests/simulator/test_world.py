"""Gas on the floor: none is lost, none is negative, and more of it is never less anywhere."""

from dataclasses import replace
from itertools import pairwise
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.sources import Hole, Phase, Rates
from simulator.world import Air, Floor, Ground, Leak, Place, Wall, World

SMALL = Ground(9, 6)
STEADY = Rates(((2.0, 0.0), (4.0, 60.0), (20.0, 60.0), (25.0, 0.0)))
CENTRE = (4.5, 2.5)

airs = st.builds(
    Air,
    wind_m_s=st.floats(0, 20),
    towards_deg=st.floats(0, 360),
    relative_density=st.floats(1.05, 3),
    lel_vol_pct=st.floats(0.5, 5),
    mixing_s=st.none() | st.floats(1, 60),
)
rates = st.lists(st.floats(0, 5000), min_size=2, max_size=4).map(
    lambda found: Rates(tuple((3.0 * number, rate) for number, rate in enumerate(found)))
)
places = st.builds(Place, st.floats(0, 9), st.floats(0, 6), st.floats(0, 3))
walls = st.lists(
    st.one_of(
        st.builds(lambda x, a, b: Wall(x, a, x, b), st.integers(0, 9), st.integers(0, 6), st.integers(0, 6)),
        st.builds(lambda y, a, b: Wall(a, y, b, y), st.integers(0, 6), st.integers(0, 9), st.integers(0, 9)),
    ),
    max_size=4,
).map(tuple)
grounds = walls.map(lambda found: Ground(9, 6, found))


def world(air: Air, source: Rates | Hole = STEADY, ground: Ground = SMALL, at: tuple[float, float] = CENTRE) -> World:
    return World(air, (Leak(*at, source),), ground)


def floor(told: World, t_s: float) -> Floor:
    found = Floor(told)
    found.advance(t_s)
    return found


@settings(deadline=None, max_examples=40)
@given(airs, grounds, rates, st.floats(0, 20))
def test_what_was_released_lies_on_the_floor_or_was_carried_off(air, ground, source, t_s):
    found = floor(world(air, source, ground), t_s)
    assert found.released_kg == pytest.approx(found.on_floor_kg + found.carried_off_kg, rel=1e-9, abs=1e-12)
    assert all(kg >= 0.0 for kg in found.kg)


@settings(deadline=None, max_examples=40)
@given(airs, grounds, rates, places, st.floats(0, 15))
def test_gas_is_never_negative_and_never_more_than_everything(air, ground, source, place, t_s):
    assert 0.0 <= floor(world(air, source, ground), t_s).vol_pct(place) <= 100.0


@settings(deadline=None, max_examples=40)
@given(airs, grounds, rates, st.floats(1, 10), st.floats(0, 15))
def test_more_leak_gives_no_less_gas_anywhere(air, ground, source, factor, t_s):
    more = Rates(tuple((at, rate * factor) for at, rate in source.rate_kg_h))
    least, most = floor(world(air, source, ground), t_s), floor(world(air, more, ground), t_s)
    assert all(high >= low * (1 - 1e-9) - 1e-9 for low, high in zip(least.kg, most.kg, strict=True))


@settings(deadline=None, max_examples=30)
@given(airs, grounds, st.tuples(st.floats(0, 9), st.floats(0, 6)), st.floats(0, 15))
def test_a_second_leak_gives_no_less_gas_anywhere(air, ground, at, t_s):
    one = world(air, STEADY, ground)
    both = replace(one, leaks=(*one.leaks, Leak(*at, STEADY)))
    assert all(
        high >= low * (1 - 1e-9) - 1e-9 for low, high in zip(floor(one, t_s).kg, floor(both, t_s).kg, strict=True)
    )


@settings(deadline=None, max_examples=20)
@given(st.floats(1.05, 3), st.floats(1, 2000), st.sampled_from([(1, 0), (-1, 0), (0, 1), (0, -1)]))
def test_in_still_air_it_comes_to_the_farther_no_sooner_and_no_thicker(density, rate, step):
    ground = Ground(21, 21)
    found = Floor(world(Air(relative_density=density), Rates(((0.0, rate),)), ground, (10.5, 10.5)))
    way = [Place(10.5 + step[0] * metres, 10.5 + step[1] * metres, 0.3) for metres in range(10)]
    came = [inf] * len(way)
    for second in range(1, 15):
        found.advance(second)
        seen = [found.lel_pct(place) for place in way]
        assert all(near >= far * (1 - 1e-9) - 1e-9 for near, far in pairwise(seen))
        came = [min(at, second) if lel >= 1.0 else at for at, lel in zip(came, seen, strict=True)]
    assert came == sorted(came)


@given(airs, st.floats(0, 5), st.floats(0.01, 5))
@settings(deadline=None, max_examples=20)
def test_heavy_gas_thins_out_with_height(air, low, step):
    found = floor(world(air), 8.0)
    assert found.vol_pct(Place(*CENTRE, low)) >= found.vol_pct(Place(*CENTRE, low + step))


def test_nothing_is_there_before_the_leak_begins():
    found = floor(world(Air()), 2.0)
    assert (found.on_floor_kg, found.released_kg) == (0.0, 0.0)


def test_the_floor_is_the_same_however_often_one_looks():
    one, other = Floor(world(Air(wind_m_s=3.0, towards_deg=70))), Floor(world(Air(wind_m_s=3.0, towards_deg=70)))
    for tick in range(200):
        one.advance(tick / 10)
    other.advance(199 / 10)
    assert one.kg == other.kg


def test_wind_carries_gas_to_the_lee():
    found = floor(world(Air(wind_m_s=2.0, towards_deg=0.0)), 15.0)
    assert found.vol_pct(Place(6.5, 2.5)) > 10 * found.vol_pct(Place(2.5, 2.5))


def test_wind_thins_gas_and_still_air_lets_it_lie():
    still, windy = Air(), Air(wind_m_s=3.0)
    assert windy.thins_in_s < still.thins_in_s / 4


def test_a_wall_keeps_gas_from_the_other_side_and_an_opening_lets_it_through():
    shut, ajar = (Wall(6, 0, 6, 6),), (Wall(6, 0, 6, 2), Wall(6, 3, 6, 6))
    behind = Place(7.5, 2.5)
    seen = [floor(world(Air(), ground=Ground(9, 6, found)), 20.0).lel_pct(behind) for found in ((), ajar, shut)]
    assert seen[0] > seen[1] > 1.0
    assert seen[2] == 0.0


def test_a_walled_yard_keeps_what_an_open_one_lets_go():
    around = tuple(Wall(*side) for side in ((0, 0, 9, 0), (0, 6, 9, 6), (0, 0, 0, 6), (9, 0, 9, 6)))
    still = Air(mixing_s=600)
    kept = floor(world(still, ground=Ground(9, 6, around)), 120.0)
    let_go = floor(world(still), 120.0)
    assert kept.on_floor_kg > 2 * let_go.on_floor_kg
    assert kept.carried_off_kg < 0.25 * kept.released_kg


def test_gas_comes_and_goes_smoothly_and_is_gone_in_the_end():
    told = Floor(world(Air(wind_m_s=0.5)))
    course = []
    for tick in range(3000):
        told.advance(tick / 10)
        course.append(told.lel_pct(Place(5.5, 2.5, 0.3)))
    peak = max(course)
    assert peak > 10.0
    assert max(abs(after - before) for before, after in pairwise(course)) < 0.05 * peak
    assert course[-1] < 0.01
    assert told.on_floor_kg < 1e-4


def test_a_front_of_gas_runs_as_fast_as_heavy_fluid_does():
    """A kilogram of propane-butane let go at once in still air: some metres wide within seconds, not one and not 50."""
    ground = Ground(41, 41)
    found = Floor(world(Air(mixing_s=600), Rates(((0.0, 3600.0), (1.0, 3600.0), (1.1, 0.0))), ground, (20.5, 20.5)))
    found.advance(6.0)
    wide = sum(found.lel_pct(Place(x + 0.5, 20.5)) > 5.0 for x in range(41))
    assert 5 <= wide <= 13


def test_a_cylinder_of_gas_lasts_no_longer_than_its_contents():
    emptied = floor(world(Air(), Hole(Phase.LIQUID, 8.0, 13.0, 1.0)), 240.0)
    assert emptied.released_kg == pytest.approx(13.0, rel=1e-3)
