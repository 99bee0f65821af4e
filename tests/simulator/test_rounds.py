"""Rounds find what was left undone: each promise of theirs broken once, and kept once."""

from dataclasses import replace

import pytest

from alerts.alarms import AlarmKey, Kind
from gateway.engine.events import Action, OpenWindow, OutputReported, WindowKind
from sensors.stamps import SECOND
from simulator.room import Room, orders
from simulator.rounds import SETTLED_S, Posted, Rounds

POSTED = Posted({"GD-1": "bus", "GD-2": "bus"}, {"siren": "siren"})


def watched(room: Room) -> Rounds:
    rounds = Rounds("hook", POSTED)
    rounds.stirred(room.at)
    rounds.coil("siren", on=False)
    for name in POSTED.sources:
        room.read(name, 0.0)
    return rounds


def looked(room: Room, rounds: Rounds) -> list[str]:
    rounds.look(room.at, room.now().utc, room.engine.book)
    return [each.promise for each in rounds.broken]


def test_a_siren_that_sounds_for_nothing_and_one_that_does_not_sound_for_gas_are_found() -> None:
    room = Room(orders("GD-1", "GD-2"))
    rounds = watched(room)
    room.wait(2 * SETTLED_S, clean=("GD-1", "GD-2"))
    assert looked(room, rounds) == [] and rounds.kept["siren-follows"] == 1
    rounds.coil("siren", on=True)
    assert looked(room, rounds) == ["siren-follows"]
    silent = watched(other := Room(orders("GD-1", "GD-2")))
    other.read("GD-1", 30.0)
    for _ in range(3 * round(SETTLED_S)):
        other.wait(1.0, clean=("GD-2",))
        other.read("GD-1", 30.0)
    assert looked(other, silent) == ["siren-follows"]


def test_a_siren_that_nobody_can_ask_must_have_been_told_of() -> None:
    room = Room(orders("GD-1", "GD-2"))
    rounds = watched(room)
    rounds.siren(room.at, "siren", well=False, mute=True)
    room.wait(3 * SETTLED_S, clean=("GD-1", "GD-2"))
    assert looked(room, rounds) == ["siren-is-told"]
    room.give(OutputReported("siren", None, "timeout", room.now()))
    room.wait(3.0, clean=("GD-1", "GD-2"))
    rounds.broken.clear()
    assert looked(room, rounds) == []


def test_a_blind_head_of_which_the_owner_never_heard_is_found() -> None:
    room = Room(orders("GD-1", "GD-2"))
    rounds = watched(room)
    room.wait(4.0, clean=("GD-2",))
    (event,) = [event for _, _, event, _ in room.sent if event.key == AlarmKey("GD-1", Kind.BLIND)]
    rounds.heard(room.at, [event])
    room.wait(2 * SETTLED_S, clean=("GD-2",))
    assert looked(room, rounds) == ["blind-is-told"]
    rounds.broken.clear()
    rounds.told(room.at, "hook", event)
    assert looked(room, rounds) == []


@pytest.mark.parametrize("tested", [True, False])
def test_gas_that_stands_as_a_drill_without_a_test_is_found(tested: bool) -> None:
    room = Room(orders("GD-1", "GD-2"))
    rounds = watched(room)
    room.give(OpenWindow(WindowKind.TEST, "GD-1", 600 * SECOND, "Ana", "", room.now()))
    room.read("GD-1", 30.0)
    if not tested:
        window = room.alarm("GD-1", Kind.BLIND)
        assert window is not None
        room.engine.book.amend(replace(window, present=False))
    assert looked(room, rounds) == ([] if tested else ["windows"])


def test_while_a_horn_is_muted_nothing_is_asked_of_the_siren() -> None:
    room = Room(orders("GD-1", "GD-2"))
    rounds = watched(room)
    room.read("GD-1", 30.0)
    room.act(Action.SILENCE, "GD-1")
    for _ in range(2 * round(SETTLED_S)):
        room.wait(1.0, clean=("GD-2",))
        room.read("GD-1", 30.0)
    assert looked(room, rounds) == []
