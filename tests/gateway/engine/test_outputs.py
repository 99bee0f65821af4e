"""Outputs of a running watch: the table applied to what stands, votes on costly ones, read-back, restarts."""

from dataclasses import replace

import pytest

from alerts.alarms import Kind, Level
from alerts.effects import Does, Occasion, Row, usual
from gateway.engine.events import Action, OpenWindow, OutputReported, WindowKind
from gateway.engine.orders import Watch
from sensors.readings import DetectorId, Quality, Status
from sensors.stamps import SECOND
from simulator.room import Room, orders

ROWS: dict[str, Row] = {
    "sirene": usual("siren"),
    "buzina": usual("horn"),
    "sinal": usual("beacon"),
    "valvula": usual("valve"),
    "vida": usual("heartbeat"),
    "cega": usual("relay", {Occasion.BLIND: Does.ON, Occasion.RAISED: Does.KEEP, Occasion.RISEN: Does.KEEP}),
}
AREAS = {"GD-1": "patio", "GD-2": "patio", "GD-3": "fundos"}


def watching(**changes: Row) -> Room:
    watches = tuple(Watch(DetectorId(name), area, "bus", round(2.5 * SECOND)) for name, area in AREAS.items())
    room = Room(orders(watches=watches, outputs=ROWS | changes, counting=frozenset()))
    for name in AREAS:
        room.read(name, 0.0)
    return room


def on(room: Room) -> set[str]:
    return {output for output, state in room.outputs.items() if state} - {"vida"}


def test_each_output_does_what_its_row_says_from_the_first_gas_to_the_reset() -> None:
    room = watching()
    assert room.outputs == dict.fromkeys(ROWS, False) | {"vida": True}
    room.read("GD-1", 12.0)
    assert on(room) == {"sirene", "buzina", "sinal"}
    room.act(Action.ACKNOWLEDGE, "GD-1")
    assert on(room) == {"sinal"}
    room.wait(0.5, clean=("GD-2", "GD-3"))
    room.read("GD-1", 25.0)
    assert on(room) == {"sirene", "buzina", "sinal"}
    room.wait(0.5, clean=("GD-2", "GD-3"))
    room.read("GD-1", 25.0)
    assert on(room) == {"sirene", "buzina", "sinal", "valvula"}
    room.act(Action.ACKNOWLEDGE, "GD-1")
    room.read("GD-1", 0.0)
    assert on(room) == {"sinal", "valvula"}
    room.act(Action.RESET, "GD-1")
    assert on(room) == set()


def highest(room: Room, head: str = "GD-1") -> None:
    """Gas of the highest level in two samples in a row."""
    for _ in range(2):
        room.wait(0.1)
        room.read(head, 60.0)


def test_a_valve_closes_at_once_on_a_second_head() -> None:
    room = watching()
    room.read("GD-1", 25.0)
    room.read("GD-2", 25.0)
    assert room.outputs["valvula"]


@pytest.mark.parametrize("lel", [25.0, 60.0])
def test_one_sample_closes_no_valve_whatever_its_level(lel: float) -> None:
    room = watching()
    for reading in (lel, 0.0, lel):
        room.wait(0.5, clean=("GD-2", "GD-3"))
        room.read("GD-1", reading)
    assert room.outputs["sirene"] and not room.outputs["valvula"]
    room.wait(0.5, clean=("GD-2", "GD-3"))
    room.read("GD-1", lel)
    assert room.outputs["valvula"]


def test_a_garbled_over_range_frame_sounds_the_siren_and_closes_no_valve() -> None:
    room = watching()
    room.wait(0.5, clean=tuple(AREAS))
    room.read("GD-1", None, quality=Quality.UNCERTAIN, status=Status.OVER_RANGE, at_least=100.0, reason="over-range")
    assert room.outputs["sirene"] and not room.outputs["valvula"]
    room.wait(0.5, clean=("GD-2", "GD-3"))
    room.read("GD-1", 0.0)
    assert not room.outputs["valvula"]


def test_the_last_head_left_in_an_area_closes_its_valve_with_its_second_sample() -> None:
    room = watching(valvula=replace(usual("valve"), areas=frozenset({"patio"})))
    room.wait(4.0, clean=("GD-1", "GD-3"))
    assert room.alarm("GD-2", Kind.BLIND) is not None
    room.read("GD-1", 25.0)
    assert room.outputs["sirene"] and not room.outputs["valvula"]
    room.wait(0.5, clean=("GD-3",))
    room.read("GD-1", 25.0)
    assert room.outputs["valvula"]


def test_a_head_alone_in_its_area_closes_its_valve_with_its_second_sample() -> None:
    room = watching(valvula=replace(usual("valve"), areas=frozenset({"fundos"})))
    room.wait(0.5, clean=tuple(AREAS))
    room.read("GD-3", 25.0)
    assert room.outputs["sirene"] and not room.outputs["valvula"]
    room.wait(0.5, clean=("GD-1", "GD-2"))
    room.read("GD-3", 25.0)
    assert room.outputs["valvula"]


def test_the_neighbour_that_fails_closes_no_valve_by_failing() -> None:
    room = watching(valvula=replace(usual("valve"), areas=frozenset({"patio"})))
    room.wait(0.5, clean=tuple(AREAS))
    room.read("GD-1", 25.0)
    for _ in range(8):
        room.wait(0.5, clean=("GD-3",))
        room.read("GD-1", None, quality=Quality.BAD, status=Status.FAULT, reason="fault")
    assert room.alarm("GD-2", Kind.BLIND) is not None and not room.outputs["valvula"]


def test_a_valve_stays_closed_over_a_crash_when_the_gas_is_gone_and_opens_with_the_reset() -> None:
    room = watching()
    highest(room)
    room.read("GD-1", 0.0)
    room.wait(1.0, clean=tuple(AREAS))
    room = room.crash()
    assert room.outputs["valvula"]
    room.wait(4.0, clean=tuple(AREAS))
    room.act(Action.ACKNOWLEDGE, "GD-1")
    assert room.outputs["valvula"]
    room.act(Action.RESET, "GD-1")
    assert not room.outputs["valvula"]


def test_a_valve_that_nobody_voted_for_stays_open_over_a_crash() -> None:
    room = watching()
    room.read("GD-1", 25.0)
    room.read("GD-1", 0.0)
    room.wait(1.0, clean=tuple(AREAS))
    assert not room.crash().outputs["valvula"]


def test_a_drill_sounds_and_closes_no_valve() -> None:
    room = watching()
    room.give(OpenWindow(WindowKind.TEST, "GD-1", 600 * SECOND, "Ana", "", room.now()))
    for _ in range(3):
        room.wait(0.5, clean=("GD-2", "GD-3"))
        room.read("GD-1", 60.0)
    assert "sirene" in on(room) and not room.outputs["valvula"]


def test_an_output_of_one_area_follows_that_area_alone_and_is_its_first_output() -> None:
    room = watching(
        sirene=replace(usual("siren"), areas=frozenset({"fundos"})), buzina=usual("valve"), sinal=usual("valve")
    )
    room.read("GD-1", 12.0)
    assert "sirene" not in on(room)
    room.read("GD-3", 12.0)
    assert "sirene" in on(room)
    room.wait(0.06)
    first, third = room.alarm("GD-1"), room.alarm("GD-3")
    assert first is not None and first.first_output is None
    assert third is not None and third.first_output is not None


def test_an_output_of_a_higher_level_waits_for_it() -> None:
    room = watching(sinal=replace(usual("beacon"), level=Level.A2))
    room.read("GD-1", 12.0)
    assert "sinal" not in on(room)
    room.read("GD-1", 25.0)
    assert "sinal" in on(room)


def test_an_output_that_follows_blindness_is_on_while_a_detector_does_not_watch() -> None:
    room = watching()
    room.wait(3.0, clean=("GD-1", "GD-2"))
    assert on(room) == {"cega"}
    room.wait(4.0, clean=tuple(AREAS))
    assert on(room) == set()


@pytest.mark.parametrize(("shown", "reason"), [(None, "no-read-back"), (False, "wrong-state")])
def test_an_output_that_does_not_confirm_is_an_alarm_until_it_does(shown: bool | None, reason: str) -> None:
    room = watching()
    room.read_back = lambda output, wanted: shown if output == "sirene" and wanted else wanted
    room.read("GD-1", 12.0)
    room.wait(2.1, clean=("GD-2", "GD-3"))
    alarm = room.alarm("output:sirene", Kind.SYSTEM)
    assert alarm is not None and alarm.reason == reason
    room.give(OutputReported("sirene", True, "", room.now()))
    assert not room.engine.book.present(alarm.key)


def test_an_answer_lost_twice_within_the_time_to_confirm_is_no_alarm_and_one_lost_for_so_long_is() -> None:
    room = watching()
    for answered in (None, False, None):  # the second is lost just before the first one's time is over
        room.give(OutputReported("sirene", answered, "timeout", room.now()))
        room.wait(0.95, clean=tuple(AREAS))
    assert room.alarm("output:sirene", Kind.SYSTEM) is None
    for _ in range(2):
        room.give(OutputReported("sirene", None, "timeout", room.now()))
        room.wait(0.6, clean=tuple(AREAS))
    alarm = room.alarm("output:sirene", Kind.SYSTEM)
    assert alarm is not None and alarm.reason == "no-read-back"


def test_an_output_that_others_switch_while_nothing_stands_is_an_alarm_too() -> None:
    room = watching()
    room.wait(1.0, clean=tuple(AREAS))
    room.give(OutputReported("buzina", True, "wrong-state", room.now()))
    room.wait(2.1, clean=tuple(AREAS))
    assert room.alarm("output:buzina", Kind.SYSTEM) is not None


def test_the_confirmation_of_a_valve_or_a_heartbeat_is_no_first_output() -> None:
    room = watching()
    room.read_back = lambda output, wanted: wanted if output in ("valvula", "vida") else None
    highest(room)
    room.wait(1.0, clean=("GD-2", "GD-3"))
    alarm = room.alarm("GD-1")
    assert alarm is not None and room.outputs["valvula"] and alarm.first_output is None


def test_a_beacon_that_flashes_already_is_no_first_output_of_a_rise_and_a_siren_is() -> None:
    room = watching()
    room.read_back = lambda output, on: None if output in ("sirene", "buzina") and room.at > 101 else on
    room.read("GD-1", 12.0)
    room.wait(1.5, clean=("GD-2", "GD-3"))
    room.act(Action.ACKNOWLEDGE, "GD-1")
    room.read("GD-1", 25.0)
    room.give(OutputReported("sinal", True, "", room.now()))
    risen = room.alarm("GD-1")
    assert risen is not None and risen.first_output is None
    room.give(OutputReported("sirene", True, "", room.now()))
    risen = room.alarm("GD-1")
    assert risen is not None and risen.first_output is not None


def reported(room: Room, output: str, state: bool) -> None:
    room.give(OutputReported(output, state, "" if state else "wrong-state", room.now()))


def let_go(room: Room, *, times: int, every_s: float) -> None:
    """There is gas, and the siren lets go for a moment, so many times."""
    room.read("GD-1", 12.0)
    room.wait(0.5, clean=("GD-2", "GD-3"))
    for _ in range(times):
        reported(room, "sirene", state=False)
        room.wait(0.02)
        reported(room, "sirene", state=True)
        room.wait(every_s, clean=("GD-2", "GD-3"))


def test_an_output_that_lets_go_again_and_again_is_an_alarm_until_it_has_held_for_a_while() -> None:
    room = watching()
    let_go(room, times=100, every_s=1.0)
    alarm = room.alarm("output:sirene", Kind.SYSTEM)
    assert alarm is not None and alarm.present and alarm.reason == "does-not-hold"
    assert [told for told in room.told("dona") if told[0] == "output:sirene"] == [("output:sirene", "raised")]
    assert len([entry for entry in room.entries if entry.kind == "output"]) < 20, "no storm in the journal either"
    room.wait(61.0, clean=("GD-2", "GD-3"))
    assert not room.engine.book.present(alarm.key)


def test_an_output_that_was_let_go_twice_and_put_right_is_no_alarm() -> None:
    room = watching()
    let_go(room, times=2, every_s=5.0)
    assert room.alarm("output:sirene", Kind.SYSTEM) is None


def test_a_head_whose_very_first_reading_is_gas_has_its_vote_and_shuts_no_valve_alone() -> None:
    watches = tuple(Watch(DetectorId(name), area, "bus", round(2.5 * SECOND)) for name, area in AREAS.items())
    room = Room(orders(watches=watches, outputs=ROWS, counting=frozenset()))
    room.read("GD-2", 0.0)
    room.read("GD-1", 25.0)
    assert on(room) == {"sirene", "buzina", "sinal"}
    room.wait(0.5)
    room.read("GD-1", 25.0)
    assert "valvula" in on(room)
