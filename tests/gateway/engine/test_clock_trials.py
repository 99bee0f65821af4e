"""A civil clock that is wrong, jumps or comes late: the alarm does not care, the record says so."""

from itertools import pairwise

import pytest

from alerts.alarms import AlarmKey, Kind, Phase
from gateway.engine.events import Action, ClockSet, Command, OpenWindow, SystemCondition, WindowKind
from gateway.ledger.ledger import Line, Watch, fold
from sensors.stamps import SECOND
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


@pytest.mark.parametrize("hours", [-5, 5])
def test_windows_and_shelves_last_as_long_as_they_were_given_however_the_clock_is_set(hours):
    room = Room(orders(*CLEAN))
    room.wait(1, clean=CLEAN)
    room.give(SystemCondition("mqtt", True, "refused", "", room.now()))
    room.give(Command(Action.SHELVE, AlarmKey("mqtt", Kind.SYSTEM), "Ana", "obra", room.now(), 600 * SECOND))
    room.give(OpenWindow(WindowKind.INHIBIT, "GD-1", 600 * SECOND, "Ana", "obra", room.now()))
    room.skew_s = hours * 3600.0
    room.wait(590, clean=CLEAN, every=1)
    assert room.alarm("mqtt", Kind.SYSTEM).suppressed is not None
    assert room.alarm("GD-1", Kind.BLIND).present
    room.wait(20, clean=CLEAN, every=1)
    assert room.alarm("mqtt", Kind.SYSTEM).suppressed is None
    assert not room.engine.book.present(AlarmKey("GD-1", Kind.BLIND))


@pytest.mark.parametrize("hours", [-5, 5])
def test_the_ledger_counts_no_hour_twice_and_none_that_never_was(hours):
    room = Room(orders(*CLEAN))
    room.wait(100, clean=CLEAN, every=1)
    room.skew_s = hours * 3600.0
    room.wait(100, clean=CLEAN, every=1)
    found = fold([Line(entry.kind, entry.body) for entry in room.entries], room.now().utc // 1_000_000)
    spans = [(one.start_ms, one.end_ms, one.state) for one in found if one.detector == "GD-1"]
    assert all(before[1] == after[0] for before, after in pairwise(spans))
    watched = sum(end - start for start, end, state in spans if state is Watch.WATCHED)
    assert watched <= 201_000, "no more than was lived"
    assert watched >= (99_000 if hours < 0 else 198_000), "what the clock shows twice is counted once"
