"""What only time tells: a heartbeat that stops, a number that stands still, a zero that drifts."""

from dataclasses import replace

import pytest

from sensors.quality import Movement
from sensors.readings import DetectorId, Quality, Reading, Status
from sensors.stamps import SECOND, Instant, Stamp, UtcNanos
from sensors.wire.listener import Listener, MqttPoints
from sensors.wire.meanings import Meaning
from sensors.wire.payload_points import PayloadPoints
from sensors.wire.places import Function, Place, Type
from sensors.wire.points import HeartbeatPoint, ModbusPoints, StatePoint
from sensors.wire.registers import InstalledHead, plan
from sensors.wire.units import Basis

SAME = Basis(1.4, 1.4)
GAS = ModbusPoints(Function.HOLDING, 0, Type.UINT16)
BEATING = replace(GAS, heartbeat=HeartbeatPoint(Place(Function.HOLDING, 1), period_s=2.0, missed=2))


def at(seconds: float) -> Stamp:
    return Stamp(Instant(int(seconds * SECOND) + 1), UtcNanos(0))


class Heads:
    """Heads beside each other, each read with its own words at a given second."""

    def __init__(self, *points: ModbusPoints) -> None:
        movement = Movement()
        self._blocks = [
            plan(unit, [InstalledHead(DetectorId(f"D{unit}"), each, SAME)], movement)[0]
            for unit, each in enumerate(points, start=1)
        ]

    def says(self, which: int, seconds: float, *words: int) -> Reading:
        data = b"".join(word.to_bytes(2, "big") for word in words)
        return self._blocks[which].readings(data, 0, at(seconds))[0]


def test_a_heartbeat_that_stands_still_freezes_the_head_and_one_beat_brings_it_back():
    heads = Heads(BEATING)
    for second in range(6):
        assert heads.says(0, second, 5, second // 2).quality is Quality.GOOD
    assert heads.says(0, 8.0, 5, 2).quality is Quality.GOOD
    frozen = heads.says(0, 8.1, 5, 2)
    assert (frozen.status, frozen.reason, frozen.lel_pct, frozen.quality) == (
        Status.FROZEN,
        "no-heartbeat",
        None,
        Quality.BAD,
    )
    assert heads.says(0, 8.2, 5, 3).lel_pct == 5.0


def test_a_frozen_head_keeps_its_alarm_bit_since_bad_data_ends_no_alarm():
    alarm = StatePoint(Place(Function.HOLDING, 2), Meaning(bits=(("alarm1", 1),)))
    heads = Heads(replace(BEATING, states=(alarm,)))
    heads.says(0, 0, 5, 1, 1)
    frozen = heads.says(0, 10, 5, 1, 1)
    assert (frozen.status, frozen.lel_pct, frozen.at_least, frozen.gas()) == (Status.FROZEN, None, 25.0, 25.0)


def test_a_number_that_stands_still_while_others_move_is_frozen():
    heads = Heads(replace(GAS, frozen_after_s=30.0), GAS)
    for second in range(31):
        assert heads.says(0, second, 7).quality is Quality.GOOD
        heads.says(1, second, second)
    assert heads.says(0, 31, 7).status is Status.FROZEN
    assert heads.says(0, 32, 8).lel_pct == 8.0


def test_where_nobody_moves_nobody_is_called_frozen():
    heads = Heads(replace(GAS, frozen_after_s=30.0), GAS)
    for second in range(0, 600, 10):
        assert heads.says(0, second, 0).quality is Quality.GOOD
        assert heads.says(1, second, 0).quality is Quality.GOOD


def test_a_head_watched_alone_is_frozen_by_the_clock_alone():
    heads = Heads(replace(GAS, frozen_after_s=30.0))
    assert heads.says(0, 0, 7).quality is Quality.GOOD
    assert heads.says(0, 31, 7).status is Status.FROZEN


def test_no_head_is_called_frozen_unless_its_profile_or_the_site_asks():
    heads = Heads(GAS, GAS)
    for second in range(0, 100_000, 1000):
        heads.says(1, second, second % 7)
        assert heads.says(0, second, 0).quality is Quality.GOOD


def test_a_head_that_speaks_mqtt_is_frozen_by_the_same_rule():
    movement = Movement()
    listener = Listener(MqttPoints(DetectorId("D"), "a", PayloadPoints("/x", frozen_after_s=10.0), SAME), movement)
    outcomes = [listener.hear("a", b'{"x":4}', at(second))[0] for second in (0, 5, 10, 11)]
    assert [outcome.status for outcome in outcomes if isinstance(outcome, Reading)] == [
        Status.MEASURING,
        Status.MEASURING,
        Status.MEASURING,
        Status.FROZEN,
    ]


DRIFTING = replace(GAS, type=Type.INT16, scale=0.1, drift_warning=2.0)


@pytest.mark.parametrize(("tenths", "warned"), [(-30, True), (30, True), (15, False), (-15, False)])
def test_a_zero_that_stays_off_for_an_hour_is_told_and_still_measures(tenths, warned):
    heads = Heads(DRIFTING)
    said = [heads.says(0, second, tenths & 0xFFFF) for second in range(0, 7200, 10)]
    assert not any(reading.reason for reading in said[:359])
    assert all(reading.quality is Quality.GOOD for reading in said)
    assert (said[-1].reason == "zero-drift") is warned


def test_passing_gas_is_no_drift():
    heads = Heads(DRIFTING)
    reasons = set()
    for second in range(0, 36_000, 10):
        leak = 400 if 10_000 <= second < 13_000 else 3
        reasons.add(heads.says(0, second, leak).reason)
    assert reasons == {""}
