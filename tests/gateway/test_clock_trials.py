"""A civil clock that is wrong, jumps or comes late: the alarm does not care, the record says so."""

import pytest

from alerts.alarms import Kind, Phase
from gateway.events import Action, ClockSet
from simulator.room import EPOCH, Room, orders

TO_1970 = -EPOCH / 1e9
CLEAN = ("GD-1", "GD-2")


def clock(room):
    return room.alarm("clock", Kind.SYSTEM)


@pytest.mark.trial("B29")
def test_b29_a_boot_in_1970_alarms_at_once_and_marks_what_it_writes_until_the_clock_is_right():
    room = Room(orders(*CLEAN), skew_s=TO_1970)
    assert clock(room).reason == "behind"
    room.wait(20, clean=CLEAN)
    room.read("GD-1", 12.0)
    room.wait(0.1, clean=("GD-2",))
    assert [(at, event.cause.value) for at, _, event, _ in room.sent if event.key.kind is Kind.GAS] == [
        (pytest.approx(120.001, abs=1e-3), "raised")
    ]
    room.wait(160, clean=("GD-2",))
    assert all(entry.body.get("time_trusted") is False for entry in room.entries)

    room.skew_s = 0.0
    before = len(room.entries)
    room.wait(5, clean=("GD-2",))
    written = room.entries[before:]
    (step,) = (entry.body for entry in written if entry.kind == "clock")
    assert step["trusted"] is True and step["step_ms"] == pytest.approx(-TO_1970 * 1000)
    assert all("time_trusted" not in entry.body for entry in written)
    assert clock(room).phase is Phase.RETURNED_UNACKNOWLEDGED
    assert room.causes("GD-1")[0] == "raised" and room.alarm("GD-1").present


@pytest.mark.trial("B29")
def test_b29_a_boot_ten_minutes_before_the_last_sign_of_life_is_not_trusted_either():
    room = Room(orders(*CLEAN))
    room.wait(60, clean=CLEAN)
    after = room.crash(down_s=30, skew_s=-600.0)
    assert clock(after).reason == "behind"
    after.wait(180, clean=CLEAN)
    assert not after.engine.time.trusted
    after.skew_s = 0.0
    after.wait(1, clean=CLEAN)
    assert after.engine.time.trusted and not clock(after).present


def test_a_boot_with_a_right_clock_says_nothing_of_it():
    room = Room(orders(*CLEAN))
    room.wait(60, clean=CLEAN)
    assert clock(room.crash()) is None


def test_the_kernels_word_ends_a_time_that_a_journal_ahead_of_it_made_doubtful():
    room = Room(orders(*CLEAN), skew_s=86_400.0)
    room.wait(60, clean=CLEAN)
    after = room.crash(skew_s=0.0)
    assert clock(after).reason == "behind"
    after.give(ClockSet(after.now()))
    assert not clock(after).present and after.entries[-2].kind == "clock"


@pytest.mark.parametrize("seconds", [3600.0, -3600.0, 2.5])
def test_a_jump_of_the_civil_clock_is_told_recorded_and_over_after_a_minute(seconds):
    room = Room(orders(*CLEAN))
    room.wait(10, clean=CLEAN)
    room.skew_s = seconds
    room.wait(2, clean=CLEAN)
    assert (clock(room).reason, clock(room).detail) == ("jumped", f"{seconds:+.1f} s")
    assert [entry.body["step_ms"] for entry in room.entries if entry.kind == "clock"] == [seconds * 1000]
    room.act(Action.ACKNOWLEDGE, "clock", Kind.SYSTEM)
    room.wait(61, clean=CLEAN)
    assert clock(room) is None
    assert not [entry for entry in room.entries if entry.body.get("kind") in ("GAS", "BLIND")]


def test_a_second_jump_keeps_the_condition_for_a_minute_of_its_own():
    room = Room(orders(*CLEAN))
    room.skew_s = 10.0
    room.wait(50, clean=CLEAN)
    room.skew_s = 20.0
    room.wait(50, clean=CLEAN)
    assert clock(room).present
    room.wait(12, clean=CLEAN)
    assert not clock(room).present


def test_slow_drift_is_followed_in_silence():
    room = Room(orders(*CLEAN))
    for _ in range(100):
        room.skew_s += 0.5
        room.wait(1, clean=CLEAN)
    assert clock(room) is None


def test_a_jump_neither_raises_clears_nor_ages_anything():
    room = Room(orders(*CLEAN))
    room.read("GD-1", 12.0)
    room.wait(1, clean=("GD-2",))
    room.skew_s = -10_000_000.0
    room.wait(1, clean=("GD-2",))
    assert room.alarm("GD-1").present and room.causes("GD-1") == ["raised"]
    assert room.alarm("GD-2", Kind.BLIND) is None
