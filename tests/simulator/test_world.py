from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from simulator.world import Air, Leak, Place, World

times = st.floats(0, 200)
metres = st.floats(-50, 50)
rates = st.floats(0.01, 500)
airs = st.builds(
    Air,
    wind_m_s=st.floats(0, 10),
    towards_deg=st.floats(0, 360),
    relative_density=st.floats(1.05, 3),
    lel_vol_pct=st.floats(0.5, 5),
    mixing_s=st.floats(1, 60),
)
STEADY = ((10.0, 0.0), (12.0, 60.0), (40.0, 60.0), (45.0, 0.0))


def world(air: Air, timeline: tuple[tuple[float, float], ...] = STEADY) -> World:
    return World(air, (Leak(0.0, 0.0, timeline),))


@given(airs, metres, metres, st.floats(0, 10), times, rates)
def test_gas_is_never_negative_and_never_more_than_everything(air, x, y, height, t, rate):
    vol = world(air, ((0.0, 0.0), (5.0, rate))).vol_pct(Place(x, y, height), t)
    assert 0.0 <= vol <= 100.0


@given(airs, metres, metres, st.floats(0, 10))
def test_nothing_is_there_before_the_leak_begins(air, x, y, t):
    assert world(air).vol_pct(Place(x, y), t) == 0.0


@given(airs, st.floats(0, 360), st.lists(st.floats(0, 40), min_size=2, max_size=6, unique=True), times)
def test_in_still_air_gas_falls_with_distance(air, bearing, distances, t):
    from math import cos, radians, sin

    still = world(replace(air, wind_m_s=0.0))
    seen = [still.vol_pct(Place(d * cos(radians(bearing)), d * sin(radians(bearing))), t) for d in sorted(distances)]
    assert all(near >= far * (1 - 1e-9) for near, far in pairwise(seen))


@given(airs, metres, metres, times, rates, st.floats(1.01, 10))
def test_gas_rises_with_the_rate_of_the_leak(air, x, y, t, rate, factor):
    place = Place(x, y)
    less = world(air, ((0.0, 0.0), (5.0, rate))).vol_pct(place, t)
    more = world(air, ((0.0, 0.0), (5.0, rate * factor))).vol_pct(place, t)
    assert more >= less
    if 1e-9 < less < 1.0:
        assert more > less


@given(airs, st.floats(0, 5), st.floats(0.01, 5))
def test_heavy_gas_thins_out_with_height(air, low, step):
    place = Place(1.0, 0.0, low)
    assert world(air).vol_pct(place, 30.0) >= world(air).vol_pct(replace(place, height_m=low + step), 30.0)


def test_wind_carries_gas_to_the_lee():
    blown = world(Air(wind_m_s=2.0, towards_deg=0.0))
    assert blown.vol_pct(Place(3.0, 0.0), 35.0) > 10 * blown.vol_pct(Place(-3.0, 0.0), 35.0)


def test_gas_comes_and_goes_smoothly_and_is_gone_in_the_end():
    course = [world(Air()).lel_pct(Place(1.5, 0.0, 0.3), tick / 10) for tick in range(1500)]
    peak = max(course)
    assert peak > 10.0
    assert max(abs(after - before) for before, after in pairwise(course)) < 0.05 * peak
    assert course[-1] < 0.01


def test_a_rate_holds_its_timeline():
    leak = Leak(0.0, 0.0, STEADY)
    assert [leak.rate_at(t) for t in (9.9, 11.0, 12.0, 39.0, 45.0, 90.0)] == [0.0, 30.0, 60.0, 60.0, 0.0, 0.0]
