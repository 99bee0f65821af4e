"""The centre is called for gas that is sure; everybody else hears of the first sample."""

from dataclasses import replace

import pytest

from alerts.alarms import Kind
from alerts.messages.place import Place
from alerts.messages.words import words
from alerts.routing import Recipient
from gateway.engine.events import Action, OpenWindow, WindowKind
from sensors.readings import Status
from sensors.stamps import SECOND
from simulator.room import OWNER, Room, orders

CENTRE = Recipient("central", "Central", "centre", ("phone",), frozenset({"A1", "A2", "A3", "BLIND"}), called=True)
STRICT = replace(CENTRE, id="bombeiros", alarms=frozenset({"A2", "A3"}))


@pytest.fixture
def room() -> Room:
    return Room(orders("GD-1", "GD-2", recipients=(OWNER, CENTRE, STRICT), escalation=()))


def calls(room: Room, recipient: str = "central") -> list[str]:
    return [cause for _, cause in room.told(recipient, Kind.GAS)]


def test_one_sample_tells_the_owner_at_once_and_calls_no_centre(room: Room) -> None:
    room.read("GD-1", 12.0)
    room.wait(0.5)
    assert room.told("dona", Kind.GAS) == [("GD-1", "raised")]
    assert calls(room) == []
    room.read("GD-1", 0.0)
    room.wait(0.5)
    assert room.told("dona", Kind.GAS) == [("GD-1", "raised"), ("GD-1", "cleared")]
    assert calls(room) == [], "nor is it told of the end of what it never heard of"


def test_the_second_sample_calls_it_and_it_hears_all_that_follows(room: Room) -> None:
    for lel in (12.0, 13.0, 14.0, 25.0, 0.0):
        room.read("GD-1", lel)
        room.wait(0.5)
    assert calls(room) == ["still", "risen", "cleared"]
    assert [cause for _, cause in room.told("dona", Kind.GAS)] == ["raised", "risen", "cleared"]


def test_the_same_sample_heard_again_is_no_second_one(room: Room) -> None:
    room.read("GD-1", 12.0)
    room.read("GD-1", 12.0)
    room.wait(0.5)
    assert calls(room) == []


def test_a_second_head_calls_it_for_both(room: Room) -> None:
    room.read("GD-1", 12.0)
    room.wait(0.5)
    room.read("GD-2", 12.0)
    room.wait(0.1)
    assert sorted(room.told("central", Kind.GAS)) == [("GD-1", "still"), ("GD-2", "raised")]


def test_a_head_that_fails_in_gas_calls_it(room: Room) -> None:
    room.read("GD-1", 12.0)
    room.wait(5.0, clean=("GD-2",))
    assert "raised" in room.causes("GD-1", Kind.BLIND)
    assert calls(room) == ["still"]


def test_each_level_asks_for_two_samples_of_its_own(room: Room) -> None:
    told = []
    for lel in (12.0, 13.0, 25.0, 26.0):
        room.read("GD-1", lel)
        room.wait(0.5)
        told.append(calls(room, "bombeiros"))
    assert told == [[], [], [], ["still"]]


def test_gas_that_swings_about_the_set_point_calls_it_with_its_second_sample_at_it(room: Room) -> None:
    told = []
    for lel in (10.0, 9.8, 10.0, 9.8, 10.0):
        room.read("GD-1", lel)
        room.wait(0.5)
        told.append(calls(room))
    assert told == [[], [], ["still"], ["still"], ["still"]]


def test_spikes_with_clear_air_between_them_call_nobody(room: Room) -> None:
    for lel in (50.0, 0.0, 50.0, 0.0):
        room.read("GD-1", lel)
        room.wait(0.5)
    assert calls(room) == []


def test_two_spikes_in_a_latched_alarm_more_than_a_minute_apart_call_nobody(room: Room) -> None:
    for _ in range(3):
        room.read("GD-1", 50.0)
        for _ in range(122):
            room.wait(0.5)
            room.read("GD-1", 9.8)
        assert calls(room) == []
    assert room.alarm("GD-1") is not None


def test_one_sample_at_a_higher_level_holds_no_call_for_the_lower_back(room: Room) -> None:
    for lel in (25.0, 12.0):
        room.read("GD-1", lel)
        room.wait(0.5)
    assert calls(room) == ["still"]
    assert calls(room, "bombeiros") == [], "one sample of what it is called for"
    room.read("GD-1", 21.0)
    room.wait(0.5)
    assert calls(room, "bombeiros") == ["still"]


def test_over_range_needs_two_samples_too(room: Room) -> None:
    for told in ([], ["still"]):
        room.read("GD-1", None, at_least=100.0, status=Status.OVER_RANGE)
        room.wait(0.5)
        assert calls(room) == told


def test_a_head_that_passes_its_range_and_falls_silent_calls_it(room: Room) -> None:
    room.read("GD-1", None, at_least=100.0, status=Status.OVER_RANGE)
    room.wait(6.0, clean=("GD-2",))
    assert calls(room) == ["still"]


def test_an_acknowledgement_in_between_holds_no_call_back(room: Room) -> None:
    room.read("GD-1", 12.0)
    room.wait(0.3)
    room.act(Action.ACKNOWLEDGE, "GD-1")
    room.wait(0.3)
    room.read("GD-1", 13.0)
    room.wait(0.1)
    assert calls(room) == ["still"]


def test_a_restart_in_between_asks_for_two_samples_anew_and_calls_once(room: Room) -> None:
    room.read("GD-1", 12.0)
    room.wait(0.1)
    after = room.crash()
    after.read("GD-1", 12.0)
    after.wait(0.5)
    after.read("GD-1", 12.0)
    after.wait(0.5)
    assert calls(after) == ["still"]
    last = after.crash(boot="b003")
    for _ in range(3):
        last.read("GD-1", 12.0)
        last.wait(0.5)
    assert calls(last) == []


def test_gas_of_a_test_window_is_told_as_a_drill_by_the_lists(room: Room) -> None:
    room.give(OpenWindow(WindowKind.TEST, "GD-1", 600 * SECOND, "Ana", "bump", room.now()))
    room.read("GD-1", 35.0)
    room.wait(0.5)
    gas = [event for _, delivery, event, _ in room.sent if delivery.recipient == "central" and event.level]
    assert [(event.cause.value, event.drill) for event in gas] == [("raised", True)]


def test_the_call_reads_as_news_and_other_alarms_go_by_the_list(room: Room) -> None:
    room.read("GD-1", 12.0)
    room.wait(0.5)
    room.read("GD-1", 12.0)
    room.wait(0.5)
    (event,) = [event for _, delivery, event, _ in room.sent if delivery.recipient == "central"]
    assert words(event, Place("Depósito", area="Pátio"), "pt-BR").startswith("ALARME DE GÁS nível A1 - ")
    room.wait(6.0, clean=("GD-1",))
    assert ("GD-2", "raised") in room.told("central", Kind.BLIND)
