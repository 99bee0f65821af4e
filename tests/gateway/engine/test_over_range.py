"""A head that passed its range: a flooded one falls back to low values, so what it reads is no all-clear by itself."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.alarms import AlarmState, Kind, Phase
from alerts.messages.guidance import guidance
from alerts.messages.place import Place
from alerts.messages.standing import StandingAlarm
from alerts.messages.words import standing, words
from gateway.engine.events import Action, CloseWindow, OpenWindow, WindowKind
from sensors.readings import Quality, Status
from sensors.stamps import SECOND
from simulator.room import Room, orders


def flood(room: Room, head: str = "GD-1", lel: float | None = 110.0) -> None:
    room.read(head, lel, quality=Quality.UNCERTAIN, status=Status.OVER_RANGE, at_least=100.0, reason="over-range")


@pytest.fixture
def room() -> Room:
    return Room(orders("GD-1", "GD-2"))


def gas(room: Room) -> AlarmState:
    alarm = room.alarm("GD-1")
    assert alarm is not None
    return alarm


def stands(room: Room) -> StandingAlarm:
    return StandingAlarm.of(gas(room), room.now())


def test_a_flooded_head_that_reads_nothing_is_no_all_clear(room: Room) -> None:
    flood(room)
    room.wait(50.0, clean=("GD-1", "GD-2"))
    assert room.causes("GD-1") == ["raised"]
    assert room.causes("GD-1", Kind.BLIND) == ["raised"]
    assert gas(room).present and gas(room).phase is Phase.UNACKNOWLEDGED
    assert room.outputs["siren"] and room.outputs["beacon"]


def test_a_reset_waits_for_a_person_and_then_for_a_clean_reading(room: Room) -> None:
    flood(room)
    room.read("GD-1", 0.0)
    room.act(Action.RESET, "GD-1")
    assert gas(room).present
    room.act(Action.ACKNOWLEDGE, "GD-1")
    room.act(Action.RESET, "GD-1")
    assert gas(room).present
    room.read("GD-1", 0.0)
    assert gas(room).phase is Phase.LATCHED_ACKNOWLEDGED
    room.act(Action.RESET, "GD-1", by="Bia")
    assert room.alarm("GD-1") is None
    assert room.causes("GD-1") == ["raised", "acknowledged", "cleared", "reset"]


def test_the_head_counts_as_watching_only_after_the_reset(room: Room) -> None:
    flood(room)
    room.act(Action.ACKNOWLEDGE, "GD-1")
    room.wait(30.0, clean=("GD-1", "GD-2"))
    assert gas(room).latched
    assert room.alarm("GD-1", Kind.BLIND).present  # type: ignore[union-attr]
    room.act(Action.RESET, "GD-1")
    room.wait(5.0, clean=("GD-1", "GD-2"))
    assert room.alarm("GD-1") is None
    assert not room.engine.book.present(room.engine.sight.heads["GD-1"].blind)  # type: ignore[index]


def test_a_flooded_head_that_has_fallen_silent_cannot_be_reset(room: Room) -> None:
    flood(room)
    room.act(Action.ACKNOWLEDGE, "GD-1")
    room.read("GD-1", 0.0)
    room.wait(10.0, clean=("GD-2",))
    room.act(Action.RESET, "GD-1")
    assert gas(room).latched


def test_who_had_taken_less_is_told_again_once(room: Room) -> None:
    room.read("GD-1", 60.0)
    room.act(Action.ACKNOWLEDGE, "GD-1")
    flood(room)
    flood(room)
    assert room.causes("GD-1") == ["raised", "acknowledged", "risen"]
    room.read("GD-1", 0.0)
    assert gas(room).present and room.outputs["siren"]
    room.act(Action.ACKNOWLEDGE, "GD-1")
    flood(room)
    assert room.causes("GD-1") == ["raised", "acknowledged", "risen", "acknowledged"]


def test_over_range_after_plain_gas_of_the_same_level_is_remembered_too(room: Room) -> None:
    room.read("GD-1", 100.0)
    flood(room, lel=100.0)
    room.read("GD-1", 0.0)
    assert room.causes("GD-1") == ["raised"]


def test_it_is_remembered_over_a_kill(room: Room) -> None:
    room.read("GD-1", 60.0)
    flood(room)
    room.wait(0.05)
    again = room.crash()
    again.wait(30.0, clean=("GD-1", "GD-2"))
    assert again.causes("GD-1") == []
    assert gas(again).over_range and gas(again).present
    assert again.alarm("GD-1", Kind.BLIND).present  # type: ignore[union-attr]
    again.act(Action.ACKNOWLEDGE, "GD-1")
    third = again.crash(boot="b003")
    third.read("GD-1", 0.0)
    assert third.causes("GD-1") == ["cleared"]
    assert "passou da faixa" in standing(stands(third), Place("Depósito", "", "", "GD-1", ""), "pt-BR")


def test_a_bump_test_past_the_range_ends_as_ever(room: Room) -> None:
    room.wait(1.0, clean=("GD-1", "GD-2"))
    room.give(OpenWindow(WindowKind.TEST, "GD-1", 600 * SECOND, "Ana", "", room.now()))
    flood(room)
    assert gas(room).drill and not gas(room).over_range
    room.read("GD-1", 0.0)
    assert room.causes("GD-1") == ["raised", "cleared"]
    room.give(CloseWindow("GD-1", "Ana", room.now()))
    assert room.alarm("GD-1") is None
    assert room.alarm("GD-1", Kind.BLIND) is None or not room.alarm("GD-1", Kind.BLIND).present  # type: ignore[union-attr]


def test_a_head_that_is_over_range_as_its_test_ends_has_the_real_alarm(room: Room) -> None:
    room.wait(1.0, clean=("GD-1", "GD-2"))
    room.give(OpenWindow(WindowKind.TEST, "GD-1", 600 * SECOND, "Ana", "", room.now()))
    flood(room)
    room.give(CloseWindow("GD-1", "Ana", room.now()))
    room.read("GD-1", 0.0)
    assert not gas(room).drill and gas(room).present and gas(room).over_range


def test_a_latched_code_of_the_head_itself_holds_the_alarm_after_it_was_taken(room: Room) -> None:
    flood(room, lel=None)
    room.act(Action.ACKNOWLEDGE, "GD-1")
    for _ in range(20):
        flood(room, lel=None)
    assert room.causes("GD-1") == ["raised", "acknowledged"]
    assert gas(room).present


def test_a_head_that_says_yes_and_no_clears_as_ever(room: Room) -> None:
    room.read("GD-1", None, at_least=50.0)
    room.read("GD-1", None, at_least=0.0)
    assert room.causes("GD-1") == ["raised", "cleared"]


@pytest.mark.parametrize(
    ("language", "said"), [("pt-BR", "confirme que não há gás"), ("en", "make sure there is no gas")]
)
def test_the_words_say_what_low_values_are_worth(room: Room, language: str, said: str) -> None:
    place = Place("Depósito", "", "pátio", "GD-1", "")
    flood(room)
    room.read("GD-1", 0.0)
    over = {"pt-BR": "depois de passar da faixa", "en": "after passing the detector's range"}[language]
    assert over in standing(stands(room), place, language)
    room.act(Action.ACKNOWLEDGE, "GD-1")
    assert said in standing(stands(room), place, language)
    room.read("GD-1", 0.0)
    assert said in standing(stands(room), place, language)
    assert said in guidance(stands(room), language).next_action


def test_every_notice_of_a_flooded_head_has_its_words_and_the_fault_keeps_its_own(room: Room) -> None:
    place = Place("Depósito", "", "pátio", "GD-1", "")
    flood(room)
    room.read("GD-1", 0.0)
    room.wait(130.0, clean=("GD-1", "GD-2"))
    for action in (Action.ACKNOWLEDGE, Action.RESET):
        room.act(action, "GD-1")
        room.wait(5.0, clean=("GD-1", "GD-2"))
    said = {(event.key.kind, event.cause.value): words(event, place, "pt-BR") for _, _, event, _ in room.sent}
    for cause in ("still", "acknowledged", "cleared", "reset"):
        assert "passar da faixa" in said[Kind.GAS, cause].lower() or cause == "reset"
    assert "restabelecido" in said[Kind.BLIND, "cleared"]
    assert "Gás abaixo do limite" not in said[Kind.GAS, "cleared"]


STEPS = st.one_of(
    st.tuples(st.just("read"), st.sampled_from([0.0, 7.0, 9.0, 12.0, 25.0, 99.0])),
    st.tuples(st.just("flood"), st.sampled_from([None, 100.0, 130.0])),
    st.tuples(st.just("bad"), st.sampled_from([Status.FAULT, Status.NO_CONTACT, Status.WARM_UP])),
    st.tuples(st.just("act"), st.sampled_from([Action.ACKNOWLEDGE, Action.RESET, Action.SILENCE])),
    st.tuples(st.just("wait"), st.sampled_from([0.3, 3.0, 40.0])),
    st.tuples(st.just("kill"), st.none()),
)


def _does(room: Room, what: str, value: object, number: int) -> Room:
    """Play one step; a kill gives the room of the next life."""
    match what:
        case "read":
            room.read("GD-1", value)  # type: ignore[arg-type]
        case "flood":
            flood(room, lel=value)  # type: ignore[arg-type]
        case "bad":
            room.read("GD-1", 0.0, quality=Quality.BAD, status=value)  # type: ignore[arg-type]
        case "act":
            room.act(value, "GD-1")  # type: ignore[arg-type]
        case "wait":
            room.wait(value)  # type: ignore[arg-type]
        case _:
            room.wait(0.01)
            return room.crash(boot=f"b{number}")
    return room


@settings(max_examples=300, deadline=None)
@given(st.lists(STEPS, max_size=25))
def test_after_over_range_only_a_person_and_then_a_clean_reading_end_it(steps: list) -> None:
    room = Room(orders("GD-1"))
    flooded = taken = False
    for number, (what, value) in enumerate(steps):
        before, seen = room, len(room.entries)
        room = _does(room, what, value, number)
        if what == "flood":
            taken, flooded = taken and flooded, True
        new = room.entries[seen if room is before else 0 :]
        for body in (entry.body for entry in new if entry.kind == "alarm" and entry.body["kind"] == "GAS"):
            said = body["event"]
            if said == "cleared":
                assert body["over_range"] is flooded and (taken or not flooded) and what == "read"
            assert said != "reset" or taken
            taken = said == "acknowledged" or (taken and said not in ("raised", "risen"))
            flooded = flooded and said != "reset"
        if flooded and not taken:
            assert gas(room).present or gas(room).latched
            assert room.outputs.get("beacon", True)
