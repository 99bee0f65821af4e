"""Where gas comes from: vessels and holes give what they held, no more, and as fast as physics lets them."""

from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.sources import (
    BOILING_K,
    OUTSIDE_PA,
    WARM_K,
    Hole,
    Phase,
    Rates,
    Vessel,
    flash_fraction,
    flow_kg_s,
    vapour_pressure_pa,
)

holes = st.builds(Hole, st.sampled_from(Phase), st.floats(0.1, 20), st.floats(0.1, 500), st.floats(0, 5))


def released(hole: Hole, until_s: float, dt_s: float = 0.2) -> tuple[float, Vessel]:
    vessel, total = hole.escape(), 0.0
    for step in range(round(until_s / dt_s)):
        total += vessel.step(step * dt_s, dt_s)
    return total, vessel


@settings(deadline=None, max_examples=60)
@given(holes, st.floats(0, 120))
def test_a_vessel_gives_what_it_held_and_no_more(hole, until_s):
    total, vessel = released(hole, until_s)
    assert total + vessel.left_kg + vessel.pool_kg == pytest.approx(hole.contents_kg, rel=1e-9)
    assert vessel.left_kg >= 0.0
    assert vessel.pool_kg >= 0.0
    assert BOILING_K <= vessel.kelvin <= WARM_K


@settings(deadline=None, max_examples=150)
@given(holes, st.floats(1.05, 4), st.floats(1, 90))
def test_a_wider_hole_has_given_no_less_at_any_time(hole, factor, until_s):
    wider = Hole(hole.phase, hole.hole_mm * factor, hole.contents_kg, hole.opens_s)
    assert released(wider, until_s)[0] >= released(hole, until_s)[0] * 0.999


def test_nothing_leaves_before_it_opens_nor_after_it_is_closed():
    hole = Hole(Phase.VAPOUR, 2.0, 13.0, 5.0, 10.0)
    assert released(hole, 5.0)[0] == pytest.approx(0.0, abs=1e-12)
    at_closing, later = released(hole, 10.0)[0], released(hole, 60.0)[0]
    assert at_closing > 0.0
    assert later == pytest.approx(at_closing)


def test_a_leaking_cylinder_cools_and_its_leak_weakens():
    hole = Hole(Phase.VAPOUR, 2.0, 13.0, 0.0)
    _, after = released(hole, 600.0)
    assert after.kelvin < WARM_K - 10
    assert flow_kg_s(hole, after.kelvin) < 0.7 * flow_kg_s(hole, WARM_K)


def test_liquid_leaves_ten_times_as_fast_as_vapour_through_the_same_hole():
    liquid, vapour = (flow_kg_s(Hole(phase, 3.0, 13.0, 0.0), WARM_K) for phase in (Phase.LIQUID, Phase.VAPOUR))
    assert 5 < liquid / vapour < 15


def test_a_hole_of_a_millimetre_leaks_a_few_kilograms_an_hour():
    assert 2.0 < flow_kg_s(Hole(Phase.VAPOUR, 1.0, 13.0, 0.0), WARM_K) * 3600 < 5.0


def test_part_of_the_liquid_lies_in_a_pool_and_boils_off_after_the_hole_is_closed():
    hole = Hole(Phase.LIQUID, 4.0, 100.0, 0.0, 20.0)
    total, vessel = released(hole, 20.0)
    assert vessel.pool_kg > 0.1 * total
    assert released(hole, 240.0)[1].pool_kg < 0.01


def test_the_vapour_pressure_is_that_of_the_air_where_it_boils_and_five_bar_in_the_shade():
    assert vapour_pressure_pa(BOILING_K) == pytest.approx(OUTSIDE_PA, rel=0.05)
    assert vapour_pressure_pa(WARM_K) == pytest.approx(5.2e5)
    assert flash_fraction(BOILING_K) == 0.0
    assert 0.2 < flash_fraction(WARM_K) < 0.5


def test_a_cold_vessel_gives_nothing():
    assert flow_kg_s(Hole(Phase.VAPOUR, 1.0, 13.0, 0.0), BOILING_K - 5) == 0.0


def test_rates_hold_their_timeline():
    rates = Rates(((10.0, 0.0), (12.0, 60.0), (40.0, 60.0), (45.0, 0.0)))
    assert [rates.rate_at(t) for t in (9.9, 11.0, 12.0, 39.0, 45.0, inf)] == [0.0, 30.0, 60.0, 60.0, 0.0, 0.0]
    assert rates.escape().step(20.0, 0.5) == pytest.approx(60 / 3600 * 0.5)
