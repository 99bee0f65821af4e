"""A scale's readings: one ticket for each container that stood there, and none from noise."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.engine.weighing import Platform, Scale, Weighing
from sensors.wire.places import Function
from sensors.wire.points import ModbusPoints
from sensors.wire.scales import Weight
from simulator.room import stamp

POINTS = ModbusPoints(Function.HOLDING, 0)
SCALE = Scale("balanca", "linha", 9, POINTS, 1.0, "patio", Decimal(13), 6.5, 39.0)
MOVING = Weight(None, "moving")


def weighed(*shown: float | None) -> list[Weighing]:
    """Show one reading each second; None is one that the scale itself does not let count."""
    platform = Platform(SCALE)
    found = [
        platform.shown(MOVING if kg is None else Weight(kg), stamp(float(second))) for second, kg in enumerate(shown)
    ]
    return [weighing for weighing in found if weighing is not None]


EMPTY = (0.0, 0.0, 0.0)


def test_a_container_that_stands_still_is_weighed_once_from_its_first_steady_reading() -> None:
    found = weighed(*EMPTY, 11.2, None, 28.33, 28.35, 28.34, 28.34, 28.34, 28.34)
    assert [(one.kg, one.at) for one in found] == [(Decimal("28.34"), stamp(5.0))]


def test_the_next_counts_only_after_the_platform_was_steadily_empty() -> None:
    assert len(weighed(*EMPTY, *[28.0] * 4, 0.0, *[28.0] * 4)) == 1
    assert len(weighed(*EMPTY, *[28.0] * 4, *EMPTY, *[27.5] * 4)) == 2


def test_what_stands_there_at_the_start_counts_not() -> None:
    assert weighed(*[28.0] * 9) == []


@pytest.mark.parametrize("kg", [5.0, 82.5, -3.0])
def test_what_can_be_no_single_container_makes_no_ticket(kg: float) -> None:
    assert weighed(*EMPTY, *[kg] * 9) == []


def test_readings_on_both_sides_of_a_lost_one_do_not_agree() -> None:
    platform = Platform(SCALE)
    for second in range(3):
        platform.shown(Weight(0.0), stamp(float(second)))
    for second in range(3, 9):
        assert platform.shown(Weight(28.0), stamp(float(second))) is None
        if second % 2:
            platform.lost()


@given(st.lists(st.floats(-50, 400).map(lambda kg: round(kg, 2)), max_size=60))
def test_a_weight_counts_only_when_three_readings_in_a_row_agree(shown: list[float]) -> None:
    for weighing in weighed(*EMPTY, *shown):
        agreeing = [
            window
            for window in zip(shown, shown[1:], shown[2:], strict=False)
            if max(window) - min(window) <= SCALE.within_kg + 1e-9 and float(weighing.kg) in window
        ]
        assert agreeing and SCALE.least_kg <= weighing.kg <= SCALE.most_kg


@given(st.lists(st.one_of(st.none(), st.floats(0, 40)), max_size=60))
def test_there_is_never_more_than_one_ticket_for_each_time_the_platform_was_empty(shown: list[float | None]) -> None:
    empties = 1 + sum(kg is not None and kg < SCALE.least_kg for kg in shown) // SCALE.readings
    assert len(weighed(*EMPTY, *shown)) <= empties
