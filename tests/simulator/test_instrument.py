"""A simulated head: lag, noise, drift and range as the page of its physics says."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.instrument import (
    NOISE_LEL_PCT,
    RICH_LEL_PCT,
    Indication,
    Instrument,
    Plight,
    Sensor,
    follow,
    indicate,
    noise,
    response,
)

lels = st.floats(0, 200)
BEAD = Instrument(t90_s=0.0, catalytic=True)


@given(lels, lels, st.floats(0.01, 60), st.floats(0.1, 120), st.floats(0.01, 60))
def test_the_lag_nears_the_gas_and_never_passes_it(start, gas, elapsed, t90, more):
    first = follow(start, gas, elapsed, t90)
    later = follow(start, gas, elapsed + more, t90)
    assert min(start, gas) - 1e-9 <= first <= max(start, gas) + 1e-9
    assert abs(later - gas) <= abs(first - gas) + 1e-9


@given(lels, st.floats(0.5, 120))
def test_ninety_percent_of_a_step_is_shown_after_t90(gas, t90):
    assert abs(follow(0.0, gas, t90, t90) - 0.9 * gas) < 1e-6


@given(lels, lels, st.floats(0.1, 30), st.lists(st.floats(0.001, 5), min_size=1, max_size=30))
def test_steps_of_any_length_make_the_same_lag(start, gas, t90, steps):
    sensed = start
    for step in steps:
        sensed = follow(sensed, gas, step, t90)
    assert abs(sensed - follow(start, gas, sum(steps), t90)) < 1e-6


def test_a_head_without_lag_follows_at_once():
    assert follow(3.0, 50.0, 0.001, 0.0) == 50.0


@pytest.mark.parametrize(
    ("t90_s", "step", "after_s"),
    [(3, 15, 1.4), (3, 50, 0.3), (10, 20, 3.0), (15, 30, 2.6), (28, 20, 8.4), (35, 15, 16.7), (35, 100, 1.6)],
)
def test_a_step_shows_ten_percent_when_the_table_of_the_domain_says(t90_s, step, after_s):
    """The table of section 7.3: seconds until a head in a step of gas shows 10 %LEL."""
    assert follow(0.0, step, after_s - 0.06, t90_s) < 10.0 < follow(0.0, step, after_s + 0.06, t90_s)


@given(st.integers(0, 2**62), st.text(max_size=20), st.integers(-1, 10**6))
def test_noise_is_small_and_the_same_every_time(seed, head, tick):
    assert abs(noise(seed, head, tick)) <= NOISE_LEL_PCT
    assert noise(seed, head, tick) == noise(seed, head, tick)


def test_noise_differs_between_heads_and_ticks_and_lies_around_zero():
    drawn = [noise(7, head, tick) for head in ("GD-101", "GD-102") for tick in range(500)]
    assert len(set(drawn)) == len(drawn)
    assert abs(sum(drawn) / len(drawn)) < 0.05
    assert min(drawn) < -0.25 < 0.25 < max(drawn)


def test_a_head_warms_up_showing_zero_and_saying_so():
    head = Instrument(t90_s=10.0, warm_up_s=60.0)
    assert indicate(head, 55.0, 0.1, Plight(powered_s=59.9)) == Indication(0.0, "warm_up")
    assert not indicate(head, 55.0, 0.1, Plight(powered_s=60.0)).warm_up


@given(lels, st.floats(-0.3, 0.3))
def test_what_is_shown_stays_on_the_scale_and_its_end_is_over_range(sensed, wander):
    shown = indicate(Instrument(t90_s=10.0, full_scale=100.0), sensed, wander)
    assert 0.0 <= shown.lel_pct <= 100.0
    assert shown.over_range == (sensed + wander >= 100.0)


def test_the_output_of_a_bead_falls_in_rich_gas_and_is_nothing_where_it_is_too_rich_to_burn():
    seen = [response(BEAD, gas) for gas in (50.0, 100.0, 220.0, 400.0, 600.0, RICH_LEL_PCT, 2000.0)]
    assert seen[:3] == [50.0, 100.0, 220.0]
    assert seen[2] > seen[3] > 100.0 > seen[4] > seen[5] == seen[6] == 0.0
    assert response(Instrument(t90_s=0.0), 400.0) == 400.0, "an infrared head only saturates"


@given(st.floats(0, 100), st.floats(0, 100), st.floats(1, 1000), st.floats(0, 1000), st.floats(0, 1000))
def test_poison_takes_sensitivity_and_never_gives_it_back(gas, other, half_life, early, late):
    least, most = sorted((early, late))
    earlier, later = (Plight(poisoned_s=since, half_life_s=half_life).sensitivity for since in (least, most))
    assert 0.0 <= later <= earlier <= 1.0
    assert Plight(poisoned_s=half_life, half_life_s=half_life).sensitivity == pytest.approx(0.5)


def test_a_zero_may_wander_below_nothing_but_noise_alone_may_not():
    head = Instrument(t90_s=0.0)
    assert indicate(head, 0.0, -0.3).lel_pct == 0.0
    assert indicate(head, 0.0, -0.3, Plight(wandered_lel_pct=-4.0)).lel_pct == -4.0
    assert indicate(head, 0.0, 0.0, Plight(wandered_lel_pct=4.0)).lel_pct == 4.0


def test_a_word_is_said_over_the_value_it_has():
    assert indicate(Instrument(t90_s=0.0), 12.0, 0.0, Plight(word="inhibited")) == Indication(12.0, "inhibited")


def test_a_sensor_renews_what_it_shows_only_as_often_as_it_is_built_to():
    sensor = Sensor(Instrument(t90_s=0.0, refresh_s=2.0))
    shown = [sensor.step(tick / 10, 0.1, float(tick), 0.0).lel_pct for tick in range(50)]
    assert sorted(set(shown)) == [0.0, 20.0, 40.0]


def test_a_held_sensor_stands_still_and_then_shows_what_it_sensed_meanwhile():
    sensor = Sensor(Instrument(t90_s=0.0))
    sensor.step(0.0, 0.1, 5.0, 0.0)
    assert sensor.step(1.0, 1.0, 50.0, 0.0, Plight(held=True)).lel_pct == 5.0
    assert sensor.step(2.0, 1.0, 50.0, 0.0).lel_pct == 50.0


def test_gas_from_a_cup_takes_the_place_of_the_air_around():
    sensor = Sensor(Instrument(t90_s=0.0))
    assert sensor.step(0.0, 0.1, 0.0, 0.0, Plight(given_lel_pct=50.0)).lel_pct == 50.0
    assert sensor.step(0.1, 0.1, 0.0, 0.0).lel_pct == 0.0


def test_a_bead_in_rising_gas_shows_over_range_and_falls_back_into_its_scale():
    sensor = Sensor(replace(BEAD, t90_s=1.0))
    shown = [sensor.step(tick / 10, 0.1, tick * 12.0, 0.0) for tick in range(60)]
    assert any(each.over_range for each in shown)
    assert shown[-1].lel_pct < 60.0
