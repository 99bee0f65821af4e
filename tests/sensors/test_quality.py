"""The table of over-range and nonsense, row by row."""

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.alarms import Level
from alerts.policy import Levels, level_of, shows_clear_air, watches
from sensors.quality import Span, judge, silence, unusable, worst
from sensors.readings import DetectorId, Quality, Status
from sensors.stamps import Instant, Stamp, UtcNanos

NOW = Stamp(Instant(1), UtcNanos(2))
SPAN = Span(full_scale=100.0, zero_drift=5.0, trip=20.0)
LEVELS = Levels(10.0, 20.0, 40.0)
D = DetectorId("D1")


@pytest.mark.parametrize(
    ("value", "quality", "status", "lel_pct", "at_least", "reason"),
    [
        (0.0, Quality.GOOD, Status.MEASURING, 0.0, None, ""),
        (99.9, Quality.GOOD, Status.MEASURING, 99.9, None, ""),
        (-0.1, Quality.GOOD, Status.MEASURING, -0.1, None, ""),
        (-5.0, Quality.GOOD, Status.MEASURING, -5.0, None, ""),
        (-5.1, Quality.BAD, Status.FAULT, None, None, "below-zero"),
        (-inf, Quality.BAD, Status.FAULT, None, None, "not-a-number"),
        (nan, Quality.BAD, Status.FAULT, None, None, "not-a-number"),
        (inf, Quality.BAD, Status.FAULT, None, None, "not-a-number"),
        (100.0, Quality.UNCERTAIN, Status.OVER_RANGE, 100.0, 100.0, "over-range"),
        (250.0, Quality.UNCERTAIN, Status.OVER_RANGE, 250.0, 100.0, "over-range"),
        (20_001.0, Quality.UNCERTAIN, Status.OVER_RANGE, None, 100.0, "over-range"),
        (1e308, Quality.UNCERTAIN, Status.OVER_RANGE, None, 100.0, "over-range"),
    ],
)
def test_a_number_is_judged_by_the_span(value, quality, status, lel_pct, at_least, reason):
    said = judge(D, value, value, NOW, SPAN)
    assert (said.quality, said.status, said.lel_pct, said.at_least, said.reason) == (
        quality,
        status,
        lel_pct,
        at_least,
        reason,
    )


@pytest.mark.parametrize(
    "state", [Status.WARM_UP, Status.CALIBRATING, Status.INHIBITED, Status.FAULT, Status.UNDER_RANGE]
)
@pytest.mark.parametrize("value", [None, 3.0, 60.0])
def test_a_head_that_says_it_does_not_measure_gives_no_number(state, value):
    said = judge(D, value, value, NOW, SPAN, state)
    assert (said.quality, said.status, said.lel_pct, said.at_least) == (Quality.BAD, state, None, None)
    assert level_of(said, LEVELS) is None
    assert not shows_clear_air(said, LEVELS)
    assert not watches(said)


def test_the_own_alarm_of_a_head_that_does_not_measure_on_purpose_is_no_gas():
    said = {state: judge(D, 3.0, 3, NOW, SPAN, state, alarm=True).at_least for state in Status}
    assert said[Status.CALIBRATING] is said[Status.INHIBITED] is said[Status.WARM_UP] is None
    assert said[Status.FAULT] == said[Status.MEASURING] == 20.0


def test_over_range_stays_gas_of_the_highest_level_without_a_number():
    said = judge(D, None, 65534, NOW, SPAN, Status.OVER_RANGE)
    assert (said.lel_pct, said.at_least) == (None, 100.0)
    assert level_of(said, LEVELS) is Level.A3
    assert not watches(said)


def test_over_range_stays_gas_when_the_value_beside_it_is_low():
    said = judge(D, 1.0, 1, NOW, SPAN, Status.OVER_RANGE)
    assert level_of(said, LEVELS) is Level.A3
    assert not shows_clear_air(said, LEVELS)


def test_a_code_without_a_meaning_is_a_fault():
    assert judge(D, None, 7, NOW, SPAN).status is Status.FAULT


@given(
    st.floats() | st.none(),
    st.sampled_from(Status),
    st.booleans(),
    st.booleans(),
    st.floats(1.0, 1000.0) | st.just(inf),
)
def test_bad_data_never_clears_and_good_data_is_a_number_inside_the_span(value, state, alarm, seen, full_scale):
    span = Span(full_scale, 5.0, 20.0)
    said = judge(D, value, None, NOW, span, state, alarm=alarm, seen=seen)
    if said.quality is Quality.GOOD:
        assert said.status is Status.MEASURING
        assert said.lel_pct is not None
        assert -5.0 <= said.lel_pct < full_scale
        assert said.lel_pct == value
    else:
        assert said.reason
        assert not shows_clear_air(said, LEVELS)
    if said.quality is Quality.BAD:
        assert said.lel_pct is None
    if alarm:
        assert not shows_clear_air(said, LEVELS)


@given(st.permutations(list(Status)))
def test_of_many_states_the_one_that_counts_does_not_hang_on_their_order(states):
    assert worst(states) is Status.WARM_UP
    assert worst([]) is Status.MEASURING


def test_silence_and_refusal_hold_no_number():
    assert (silence(D, "timeout", NOW).status, silence(D, "timeout", NOW).raw) == (Status.NO_CONTACT, None)
    refused = unusable(D, Status.FAULT, "exception-2", None, NOW)
    assert (refused.quality, refused.lel_pct, refused.reason) == (Quality.BAD, None, "exception-2")
