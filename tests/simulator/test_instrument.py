from hypothesis import given
from hypothesis import strategies as st

from simulator.instrument import NOISE_LEL_PCT, Instrument, follow, indicate, noise

lels = st.floats(0, 200)


@given(lels, lels, st.floats(0.01, 60), st.floats(0.1, 120), st.floats(0.01, 60))
def test_the_lag_nears_the_gas_and_never_passes_it(start, gas, elapsed, t90, more):
    first = follow(start, gas, elapsed, t90)
    later = follow(start, gas, elapsed + more, t90)
    assert min(start, gas) - 1e-9 <= first <= max(start, gas) + 1e-9
    assert abs(later - gas) <= abs(first - gas) + 1e-9


@given(lels, st.floats(0.5, 120))
def test_ninety_percent_of_a_step_is_shown_after_t90(gas, t90):
    assert abs(follow(0.0, gas, t90, t90) - 0.9 * gas) < 1e-6


@given(lels, lels, st.floats(0.1, 30), st.integers(2, 50))
def test_many_short_steps_make_one_long_one(start, gas, t90, parts):
    sensed = start
    for _ in range(parts):
        sensed = follow(sensed, gas, 5.0 / parts, t90)
    assert abs(sensed - follow(start, gas, 5.0, t90)) < 1e-6


def test_a_head_without_lag_follows_at_once():
    assert follow(3.0, 50.0, 0.001, 0.0) == 50.0


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
    assert indicate(head, 55.0, 0.1, 59.9).warm_up
    assert indicate(head, 55.0, 0.1, 59.9).lel_pct == 0.0
    assert not indicate(head, 55.0, 0.1, 60.0).warm_up


@given(lels, st.floats(-0.3, 0.3))
def test_what_is_shown_stays_on_the_scale_and_its_end_is_over_range(sensed, wander):
    shown = indicate(Instrument(t90_s=10.0, full_scale=100.0), sensed, wander, 1e9)
    assert 0.0 <= shown.lel_pct <= 100.0
    assert shown.over_range == (sensed + wander >= 100.0)
