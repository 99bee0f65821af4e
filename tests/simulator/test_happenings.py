"""What befalls a simulated head: when, for how long and with what effect."""

import pytest

from simulator.happenings import KINDS, Happening, What, plight
from simulator.instrument import WELL, Instrument

HEAD = Instrument(t90_s=10.0)


def at(t_s: float, *happenings: Happening, head: Instrument = HEAD):
    return plight(head, happenings, t_s)


def test_every_happening_has_its_kind():
    assert set(KINDS) == set(What)


def test_nothing_befalls_a_head_before_its_time_nor_after():
    fault = Happening(What.FAULT, "GD-1", 10.0, 20.0)
    assert [at(t_s, fault).word for t_s in (9.9, 10.0, 19.9, 20.0)] == ["", "fault", "fault", ""]


def test_without_happenings_a_head_is_well():
    assert at(500.0) == WELL


def test_the_latest_restart_counts():
    restarts = Happening(What.RESTART, "GD-1", 10.0), Happening(What.RESTART, "GD-1", 50.0)
    assert [at(t_s, *restarts).powered_s for t_s in (10.0, 30.0, 55.0)] == [0.0, 20.0, 5.0]


@pytest.mark.parametrize(
    ("what", "field", "value"),
    [
        (What.MENU, "held", True),
        (What.TEST_GAS, "given_lel_pct", 7.0),
        (What.SHIFT, "wandered_lel_pct", 7.0),
        (What.POISON, "half_life_s", 7.0),
        (What.INHIBIT, "word", "inhibited"),
    ],
)
def test_each_happening_has_its_effect_on_the_instrument(what, field, value):
    assert getattr(at(5.0, Happening(what, "GD-1", 1.0, amount=7.0)), field) == value


def test_a_zero_drifts_by_the_hour():
    assert at(1800.0, head=Instrument(t90_s=10.0, drift_lel_pct_h=-4.0)).wandered_lel_pct == -2.0
