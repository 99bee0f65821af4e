"""A scale of a shipped profile: one read, and a weight only where its own states allow it."""

import struct

import pytest

from sensors import profiles
from sensors.wire.points import ModbusPoints
from sensors.wire.scales import RegisterScale, Weight
from simulator.room import stamp


def shown(weight: float, status: int, kg_per_unit: float = 1.0) -> Weight:
    points = profiles.load("tuna-id551pn").measure("weight", 2)
    assert isinstance(points, ModbusPoints)
    scale = RegisterScale(9, points, kg_per_unit)
    ask = scale.ask_back(9)
    assert (ask.unit, ask.function) == (9, 3)
    frame = b"\0" * 9 + struct.pack(">fHHH", weight, 0, 0, status)
    assert scale.answered(frame, 9)
    return scale.weight(stamp(0.0))


@pytest.mark.parametrize(
    ("status", "kg", "reason"),
    [
        (0x8000, 28.5, ""),
        (0x9000, None, "moving"),
        (0x0000, None, "no-weight"),
        (0x8400, None, "no-weight"),
        (0xC000, None, "no-weight"),
    ],
)
def test_a_weight_counts_only_while_the_scale_says_that_it_is_valid_and_still(
    status: int, kg: float | None, reason: str
) -> None:
    assert shown(28.5, status) == Weight(kg, reason)


def test_a_number_in_another_unit_becomes_kg() -> None:
    assert shown(2850.0, 0x8000, 0.01).kg == pytest.approx(28.5)
