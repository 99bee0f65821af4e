"""How the heads of a running watch vote on a costly action, while the legal alarm waits for none of it."""

from alerts.alarms import Level, Phase
from alerts.voting import Gate, Why, tally
from gateway.engine.events import OpenWindow, WindowKind
from sensors.readings import DetectorId, Quality, Status
from sensors.stamps import SECOND
from simulator.room import Room, orders

GATE = Gate(Level.A2, heads=2, samples=2)


def vote(room: Room):
    return tally(GATE, room.engine.gas.ballots([DetectorId("GD-1"), DetectorId("GD-2")]))


def watching() -> Room:
    room = Room(orders("GD-1", "GD-2"))
    room.read("GD-1", 0.0)
    room.read("GD-2", 0.0)
    room.wait(0.1)
    return room


def test_one_sample_sounds_the_alarm_and_the_second_confirms_it():
    room = watching()
    room.read("GD-1", 25.0)
    assert room.outputs["siren"] and not vote(room).passed
    room.wait(0.5)
    room.read("GD-1", 25.0)
    assert vote(room).why is Why.SAMPLES


def test_gas_that_swings_about_the_level_confirms_itself():
    room = watching()
    for lel in (25.0, 15.0):
        room.wait(0.5)
        room.read("GD-1", lel)
        assert not vote(room).passed
    room.wait(0.5)
    room.read("GD-1", 25.0)
    assert vote(room).passed


def test_a_minute_below_the_level_begins_the_count_anew_and_a_lost_poll_does_not():
    room = watching()
    room.read("GD-1", 25.0)
    for _ in range(122):
        room.wait(0.5)
        room.read("GD-1", 15.0)
    room.wait(0.5)
    room.read("GD-1", 25.0)
    assert not vote(room).passed
    room.wait(0.5)
    room.silence("GD-1")
    room.wait(0.5)
    room.read("GD-1", 25.0)
    assert vote(room).passed


def test_a_head_that_dies_with_gas_keeps_its_vote():
    room = watching()
    room.read("GD-1", 25.0)
    room.read("GD-1", None, quality=Quality.BAD, status=Status.FAULT, reason="fault")
    assert vote(room).votes == ("GD-1",)
    room.read("GD-2", 25.0)
    assert vote(room).why is Why.HEADS


def test_gas_of_a_drill_confirms_nothing():
    room = watching()
    room.give(OpenWindow(WindowKind.TEST, "GD-1", 600 * SECOND, "Ana", "", room.now()))
    for _ in range(3):
        room.wait(0.5, clean=("GD-2",))
        room.read("GD-1", 60.0)
    alarm = room.alarm("GD-1")
    assert alarm is not None and alarm.phase is Phase.UNACKNOWLEDGED
    assert vote(room).votes == () and vote(room).of == 1


def test_gas_of_a_drill_confirms_no_gas_that_is_read_after_its_window():
    room = watching()
    room.give(OpenWindow(WindowKind.TEST, "GD-1", 5 * SECOND, "Ana", "", room.now()))
    for lel in (60.0, 60.0, 0.0):
        room.wait(0.5, clean=("GD-2",))
        room.read("GD-1", lel)
    room.wait(6.0, clean=("GD-1", "GD-2"))
    room.wait(0.1)
    room.read("GD-1", 60.0)
    assert room.outputs["siren"] and not vote(room).passed
    room.wait(0.5)
    room.read("GD-1", 60.0)
    assert vote(room).passed
