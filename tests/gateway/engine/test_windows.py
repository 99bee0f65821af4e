"""Windows that a person opens over one head: a test in which gas is a drill, an inhibit that never covers gas."""

import pytest

from alerts.alarms import AlarmKey, Kind, Phase
from gateway.engine.events import Action, CloseWindow, OpenWindow, WindowKind
from sensors.readings import Quality, Status
from sensors.stamps import SECOND
from simulator.room import Room, orders, stamp


@pytest.fixture
def room() -> Room:
    room = Room(orders("GD-1", "GD-2"))
    room.read("GD-1", 0.0)
    room.read("GD-2", 0.0)
    return room


def opened(room: Room, kind: WindowKind, detector: str = "GD-1", minutes: float = 10.0) -> bool:
    order = OpenWindow(kind, detector, round(minutes * 60 * SECOND), "Ana", "teste mensal", stamp(room.at))
    return bool(room.give(order))


def close(room: Room, detector: str = "GD-1") -> None:
    room.give(CloseWindow(detector, "Ana", stamp(room.at)))


def entry(room: Room, kind: str) -> dict:
    (found,) = [e for e in room.entries if e.kind == kind]
    return {**found.body, "person": found.person}


def test_a_head_under_test_stands_as_not_watching_and_the_owner_is_told(room: Room) -> None:
    assert opened(room, WindowKind.TEST)
    room.wait(0.1)
    alarm = room.alarm("GD-1", Kind.BLIND)
    assert alarm is not None and alarm.reason == "test-window" and alarm.detail == "teste mensal"
    assert room.told("dona") == [("GD-1", "raised")]


def test_gas_in_a_test_window_is_a_drill_that_sounds_and_is_told(room: Room) -> None:
    opened(room, WindowKind.TEST)
    room.wait(1.0, clean=("GD-1", "GD-2"))
    room.read("GD-1", 30.0)
    room.wait(0.2)
    (event,) = [e for _, _, e, _ in room.sent if e.key == AlarmKey("GD-1", Kind.GAS)]
    assert event.drill and room.outputs["siren"]
    assert room.told("central") == []


def test_other_heads_stay_live_during_a_test(room: Room) -> None:
    opened(room, WindowKind.TEST)
    room.read("GD-2", 12.0)
    room.wait(0.2)
    (event,) = [e for _, _, e, _ in room.sent if e.key == AlarmKey("GD-2", Kind.GAS)]
    assert not event.drill


def test_a_bump_is_recorded_with_its_times_and_leaves_no_alarm(room: Room) -> None:
    opened(room, WindowKind.TEST)
    room.wait(2.0, clean=("GD-1", "GD-2"))
    room.read("GD-1", 35.0)
    room.wait(1.0)
    room.read("GD-1", 0.0)
    room.wait(1.0, clean=("GD-1", "GD-2"))
    close(room)
    room.wait(0.2)
    bump = entry(room, "bump")
    assert bump["passed"] is True and bump["peak_milli"] == 35_000 and bump["until_a1_ms"] == 2000
    assert bump["until_siren_ms"] == 50 and bump["until_told_ms"] == {"dona": 11} and bump["person"] == "Ana"
    assert room.alarm("GD-1") is None and not room.engine.book.present(AlarmKey("GD-1", Kind.BLIND))
    assert room.outputs == {"siren": False, "beacon": False}


def test_a_bump_without_gas_has_failed(room: Room) -> None:
    opened(room, WindowKind.TEST)
    room.wait(5.0, clean=("GD-1", "GD-2"))
    close(room)
    assert entry(room, "bump")["passed"] is False


def test_gas_that_is_still_there_when_the_test_ends_is_a_real_alarm(room: Room) -> None:
    opened(room, WindowKind.TEST, minutes=0.1)
    room.read("GD-1", 35.0)
    room.wait(4.0)
    room.read("GD-1", 35.0)
    room.wait(3.0, clean=("GD-2",))
    alarm = room.alarm("GD-1")
    assert alarm is not None and not alarm.drill and alarm.phase is Phase.UNACKNOWLEDGED
    assert [e.drill for _, _, e, _ in room.sent if e.key == AlarmKey("GD-1", Kind.GAS)] == [True, True, False]


def test_a_window_ends_by_itself(room: Room) -> None:
    opened(room, WindowKind.TEST, minutes=30)
    room.wait(30 * 60 + 1, clean=("GD-1", "GD-2"), every=1.0)
    assert not room.engine.book.present(AlarmKey("GD-1", Kind.BLIND))


def test_a_dead_head_is_named_when_its_window_ends(room: Room) -> None:
    opened(room, WindowKind.INHIBIT, minutes=1)
    room.wait(61, clean=("GD-2",))
    alarm = room.alarm("GD-1", Kind.BLIND)
    assert alarm is not None and alarm.present and alarm.reason != "inhibited-by-person"


@pytest.mark.parametrize("minutes", [0, -1, 31])
def test_a_test_window_is_bounded(room: Room, minutes: float) -> None:
    assert not opened(room, WindowKind.TEST, minutes=minutes)


def test_no_window_opens_over_a_standing_gas_alarm(room: Room) -> None:
    room.read("GD-1", 12.0)
    assert not opened(room, WindowKind.TEST)
    assert not opened(room, WindowKind.INHIBIT)
    room.read("GD-1", 0.0)
    assert not opened(room, WindowKind.TEST)


def test_an_inhibit_never_covers_gas(room: Room) -> None:
    opened(room, WindowKind.INHIBIT)
    room.read("GD-1", None, quality=Quality.BAD, status=Status.FAULT, reason="fault")
    room.read("GD-1", 12.0)
    alarm = room.alarm("GD-1")
    assert alarm is not None and not alarm.drill and room.outputs["siren"]
    assert not room.engine.book.present(AlarmKey("GD-1", Kind.BLIND))


def test_a_window_and_its_drill_survive_a_restart(room: Room) -> None:
    opened(room, WindowKind.TEST, minutes=5)
    room.read("GD-1", 30.0)
    second = room.crash()
    second.read("GD-1", 30.0)
    assert second.alarm("GD-1").drill  # type: ignore[union-attr]
    second.read("GD-1", 0.0)
    second.wait(5 * 60, clean=("GD-1", "GD-2"))
    assert second.alarm("GD-1") is None
    assert not second.engine.book.present(AlarmKey("GD-1", Kind.BLIND))


def test_a_drill_can_be_acknowledged_like_the_real_thing(room: Room) -> None:
    opened(room, WindowKind.TEST)
    room.read("GD-1", 30.0)
    room.act(Action.ACKNOWLEDGE, "GD-1")
    assert room.outputs["siren"] is False
    close(room)
    room.read("GD-1", 30.0)
    assert room.outputs["siren"] is True and not room.alarm("GD-1").drill  # type: ignore[union-attr]
