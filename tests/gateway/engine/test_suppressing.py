"""Shelves, rules and heads out of service: quiet for a while, never over gas, and no area is left alone unsaid."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.alarms import AlarmKey, Kind, Phase, Suppression
from gateway.engine.events import Action, CloseWindow, Command, OpenWindow, SystemCondition, WindowKind
from gateway.engine.orders import ByDesign
from gateway.engine.orders import Watch as Watched
from gateway.ledger.ledger import Line, Watch, fold
from sensors.readings import DetectorId, Quality, Status
from sensors.stamps import MILLISECOND, SECOND
from simulator.room import OWNER, Room, orders

BOTH = ("GD-1", "GD-2")
HOOK = AlarmKey("influx", Kind.SYSTEM)


@pytest.fixture
def room() -> Room:
    return begun(orders(*BOTH))


def begun(given: Any) -> Room:
    room = Room(given)
    for watch in given.watches:
        room.read(watch.detector, 0.0)
    return room


def shelve(room: Room, key: AlarmKey, minutes: float = 30.0, note: str = "peça pedida") -> bool:
    effects = room.give(Command(Action.SHELVE, key, "Ana", note, room.now(), round(minutes * 60 * SECOND)))
    return bool(effects)


def take_out(room: Room, detector: str, days: float = 2.0, note: str = "foi para calibração") -> bool:
    length = round(days * 86_400 * SECOND)
    return bool(room.give(OpenWindow(WindowKind.OUT_OF_SERVICE, detector, length, "Ana", note, room.now())))


def unwell(room: Room, present: bool = True, subject: str = "influx") -> None:
    room.give(SystemCondition(subject, present, "no-answer", "", room.now()))


def blind(room: Room, detector: str = "GD-1", others: tuple[str, ...] = ("GD-2",)) -> AlarmKey:
    room.wait(3.0, clean=others)
    assert room.engine.book.present(AlarmKey(detector, Kind.BLIND))
    return AlarmKey(detector, Kind.BLIND)


# --- shelves ---------------------------------------------------------------------------------------


def test_a_shelved_fault_tells_nobody_anything_until_its_time_is_up_and_then_alarms_anew(room: Room) -> None:
    unwell(room)
    room.wait(1.0, clean=BOTH)
    assert shelve(room, HOOK, 60)
    room.wait(59 * 60, clean=BOTH, every=1.0)
    assert room.told("dona", Kind.SYSTEM) == [("influx", "raised"), ("influx", "shelved")]
    alarm = room.alarm("influx", Kind.SYSTEM)
    assert alarm is not None and alarm.suppression is Suppression.SHELVED
    room.wait(61, clean=BOTH, every=1.0)
    alarm = room.alarm("influx", Kind.SYSTEM)
    assert alarm is not None and alarm.suppressed is None and alarm.phase is Phase.UNACKNOWLEDGED
    assert room.told("dona", Kind.SYSTEM)[2:] == [("influx", "unshelved")]
    room.wait(31 * 60, clean=BOTH, every=1.0)
    assert room.told("dona", Kind.SYSTEM)[3:] == [("influx", "still")]


def test_what_comes_and_goes_under_a_shelf_is_recorded_and_not_told(room: Room) -> None:
    unwell(room)
    room.wait(1.0, clean=BOTH)
    shelve(room, HOOK)
    for present in (False, True, False, True):
        room.wait(5.0, clean=BOTH)
        unwell(room, present)
    room.wait(1.0, clean=BOTH)
    assert room.causes("influx", Kind.SYSTEM) == ["raised", "shelved", "cleared", "raised", "cleared", "raised"]
    assert room.told("dona", Kind.SYSTEM) == [("influx", "raised"), ("influx", "shelved")]


def test_a_shelf_over_what_has_passed_ends_without_a_trace(room: Room) -> None:
    unwell(room)
    shelve(room, HOOK, 1)
    unwell(room, present=False)
    room.act(Action.ACKNOWLEDGE, "influx", Kind.SYSTEM)
    assert room.alarm("influx", Kind.SYSTEM) is not None
    room.wait(61, clean=BOTH)
    assert room.alarm("influx", Kind.SYSTEM) is None


def test_a_person_who_takes_the_shelf_away_has_the_alarm(room: Room) -> None:
    unwell(room)
    shelve(room, HOOK)
    room.act(Action.UNSHELVE, "influx", Kind.SYSTEM, by="Bia")
    alarm = room.alarm("influx", Kind.SYSTEM)
    assert alarm is not None and alarm.phase is Phase.ACKNOWLEDGED and alarm.acknowledged_by == "Bia"


@pytest.mark.parametrize(("minutes", "note"), [(0, "x"), (-5, "x"), (481, "x"), (30, ""), (30, "  ")])
def test_a_shelf_needs_a_reason_and_an_end_within_bounds(room: Room, minutes: float, note: str) -> None:
    unwell(room)
    assert not shelve(room, HOOK, minutes, note)


def test_gas_is_never_shelved(room: Room) -> None:
    room.read("GD-1", 12.0)
    assert not shelve(room, AlarmKey("GD-1", Kind.GAS))
    room.read("GD-1", 0.0)
    assert not shelve(room, AlarmKey("GD-1", Kind.GAS))


def test_gas_on_the_head_ends_the_shelf_over_its_blindness(room: Room) -> None:
    key = blind(room)
    shelve(room, key)
    room.read("GD-1", 12.0)
    alarm = room.alarm("GD-1", Kind.BLIND)
    assert alarm is not None and alarm.suppressed is None
    assert room.alarm("GD-1") is not None and room.outputs["siren"]


def test_a_shelf_survives_a_crash_with_person_reason_and_end(room: Room) -> None:
    key = blind(room)
    shelve(room, key, 60)
    room.wait(10, clean=("GD-2",))
    second = room.crash()
    second.wait(5, clean=("GD-2",))
    alarm = second.alarm("GD-1", Kind.BLIND)
    assert alarm is not None and alarm.suppressed is not None
    assert (alarm.suppressed.by, alarm.suppressed.why) == ("Ana", "peça pedida")
    second.wait(3600, clean=("GD-2",), every=1.0)
    alarm = second.alarm("GD-1", Kind.BLIND)
    assert alarm is not None and alarm.suppressed is None and alarm.phase is Phase.UNACKNOWLEDGED
    assert ("GD-1", "unshelved") in second.told("dona")


def test_a_clock_set_back_over_a_restart_does_not_stretch_a_shelf(room: Room) -> None:
    shelve(room, blind(room), 30)
    second = room.crash(skew_s=-86_400.0)
    second.wait(8 * 3600 + 5, clean=("GD-2",), every=1.0)
    alarm = second.alarm("GD-1", Kind.BLIND)
    assert alarm is not None and alarm.suppressed is None


def test_channels_that_show_states_get_what_people_do_not_hear() -> None:
    panel = OWNER.__class__("painel", "Painel", "operator", ("mqtt",), OWNER.alarms)
    room = begun(orders(*BOTH, recipients=(OWNER, panel), stateful=frozenset({"mqtt"})))
    unwell(room)
    shelve(room, HOOK)
    unwell(room, present=False)
    room.wait(1.0, clean=BOTH)
    assert [cause for _, cause in room.told("painel")] == ["raised", "shelved", "cleared"]
    assert [cause for _, cause in room.told("dona")] == ["raised", "shelved"]


def test_what_a_rule_kept_quiet_is_told_after_a_start_that_knows_no_such_rule() -> None:
    key = AlarmKey("GD-1", Kind.BLIND)
    room = begun(orders(*BOTH, by_design=(by_design(key),)))
    blind(room)
    room.wait(0.2, clean=("GD-2",))
    assert room.told("dona") == []
    again = room.crash(orders=orders(*BOTH))
    again.wait(0.3)
    assert again.told("dona") == [("GD-1", "unsuppressed")]


@pytest.mark.parametrize("there", [False, True])
def test_a_rule_whose_last_day_a_step_of_the_clock_brings_is_over_whatever_else_happens(there: bool) -> None:
    room = begun(orders(*BOTH, by_design=(by_design(HOOK, until_s=7200.0),)))
    if there:  # back and forth again: no alarm says that the clock is wrong
        room.skew_s = -3600.0
        room.wait(1.0, clean=BOTH)
    unwell(room)
    room.wait(1.0, clean=BOTH)
    assert room.alarm("influx", Kind.SYSTEM).suppressed is not None  # type: ignore[union-attr]
    room.skew_s = 7200.0
    room.wait(1.0, clean=BOTH)
    assert ("influx", "unsuppressed") in room.told("dona")


CABLE = AlarmKey("bus", Kind.BLIND)


def cut(room: Room) -> None:
    """The line of both heads is cut."""
    room.link(False)
    room.wait(6.0)


def test_a_rule_over_a_line_alone_leaves_no_head_behind_it_untold() -> None:
    room = begun(orders(*BOTH, by_design=(by_design(CABLE),)))
    cut(room)
    assert sorted(room.told("dona", Kind.BLIND)) == [("GD-1", "still"), ("GD-2", "still")]


def test_a_head_with_gas_behind_a_line_that_a_rule_keeps_quiet_with_its_heads_is_told_blind() -> None:
    heads = (AlarmKey("GD-1", Kind.BLIND), AlarmKey("GD-2", Kind.BLIND))
    room = begun(orders(*BOTH, by_design=(by_design(CABLE, *heads),)))
    room.read("GD-1", 30.0)
    cut(room)
    assert room.told("dona", Kind.BLIND) == [("GD-1", "still"), ("area:patio", "raised")]
    again = room.crash()
    again.link(False)
    again.wait(6.0)
    again.link(True)
    for _ in range(20):
        for name in BOTH:
            again.read(name, 0.0)
        again.wait(0.5, clean=BOTH)
    assert ("GD-1", "cleared") in again.told("dona", Kind.BLIND)
    assert not any(name == "GD-2" for name, _ in again.told("dona", Kind.BLIND))


def test_a_head_that_goes_blind_behind_a_line_already_quiet_is_told_at_once() -> None:
    room = begun(orders(*BOTH, by_design=(by_design(CABLE),)))
    room.give(OpenWindow(WindowKind.INHIBIT, "GD-1", 600 * SECOND, "Ana", "pintura", room.now()))
    cut(room)
    room.give(CloseWindow("GD-1", "Ana", room.now()))
    room.wait(0.3)
    assert room.told("dona", Kind.BLIND)[-1] == ("GD-1", "raised")


def test_who_shows_states_hears_of_heads_behind_a_cut_cable_and_of_what_a_restart_ended() -> None:
    panel = OWNER.__class__("painel", "Painel", "operator", ("mqtt",), OWNER.alarms)
    room = begun(orders(*BOTH, recipients=(OWNER, panel), stateful=frozenset({"mqtt"})))
    unwell(room)
    cut(room)
    assert [cause for name, cause in room.told("painel") if name == "GD-1"] == ["raised"]
    room.act(Action.ACKNOWLEDGE, "GD-1", Kind.BLIND)
    room.link(True)
    room.wait(6.0, clean=BOTH)
    assert [cause for name, cause in room.told("painel") if name == "GD-1"] == ["raised", "acknowledged", "cleared"]
    assert ("GD-1", "cleared") not in room.told("dona")
    again = room.crash()
    again.wait(1.0, clean=BOTH)
    assert ("influx", "cleared") in again.told("painel") and ("influx", "cleared") not in again.told("dona")


# --- out of service ----------------------------------------------------------------------------------


def test_a_head_out_of_service_stands_as_such_with_person_reason_and_end(room: Room) -> None:
    assert take_out(room, "GD-1")
    room.wait(0.2, clean=BOTH)
    alarm = room.alarm("GD-1", Kind.BLIND)
    assert alarm is not None and alarm.suppressed is not None
    over = alarm.suppressed
    assert (over.what, over.by, over.why) == (Suppression.OUT_OF_SERVICE, "Ana", "foi para calibração")
    assert room.told("dona") == [("GD-1", "raised")]
    room.wait(7200, clean=("GD-2",), every=1.0)
    assert room.told("dona") == [("GD-1", "raised")], "a dead head out of service is no news"


def test_a_head_that_is_brought_back_watches_or_says_why_not(room: Room) -> None:
    take_out(room, "GD-1")
    room.wait(10, clean=BOTH)
    room.give(CloseWindow("GD-1", "Bia", room.now()))
    assert not room.engine.book.present(AlarmKey("GD-1", Kind.BLIND))
    take_out(room, "GD-1")
    room.wait(10, clean=("GD-2",))
    room.give(CloseWindow("GD-1", "Bia", room.now()))
    alarm = room.alarm("GD-1", Kind.BLIND)
    assert alarm is not None and alarm.present and alarm.suppressed is None and alarm.reason != "out-of-service"


def test_out_of_service_ends_by_itself(room: Room) -> None:
    take_out(room, "GD-1", days=0.02)
    room.wait(0.02 * 86_400 + 1, clean=BOTH, every=1.0)
    assert not room.engine.book.present(AlarmKey("GD-1", Kind.BLIND))


def test_gas_on_a_head_out_of_service_is_an_alarm_at_once(room: Room) -> None:
    take_out(room, "GD-1")
    room.read("GD-1", 12.0)
    alarm = room.alarm("GD-1")
    assert alarm is not None and not alarm.drill and room.outputs["siren"]
    assert not room.engine.book.present(AlarmKey("GD-1", Kind.BLIND))


@pytest.mark.parametrize(("days", "note"), [(0, "x"), (31, "x"), (1, ""), (1, " ")])
def test_out_of_service_needs_a_reason_and_an_end_within_bounds(room: Room, days: float, note: str) -> None:
    assert not take_out(room, "GD-1", days, note)


def test_out_of_service_takes_the_place_of_a_shelf(room: Room) -> None:
    shelve(room, blind(room))
    assert take_out(room, "GD-1")
    alarm = room.alarm("GD-1", Kind.BLIND)
    assert alarm is not None and alarm.suppression is Suppression.OUT_OF_SERVICE


def test_the_end_of_a_shelf_that_gave_way_at_the_same_instant_does_not_end_out_of_service(room: Room) -> None:
    key = blind(room)
    shelve(room, key, 1)
    take_out(room, "GD-1", days=0.001)
    room.wait(70, clean=("GD-2",))
    alarm = room.alarm("GD-1", Kind.BLIND)
    assert alarm is not None and alarm.suppression is Suppression.OUT_OF_SERVICE
    room.wait(20, clean=("GD-2",))
    alarm = room.alarm("GD-1", Kind.BLIND)
    assert alarm is not None and alarm.suppressed is None and alarm.reason != "out-of-service"


def test_out_of_service_survives_a_crash_and_ends_when_it_was_to(room: Room) -> None:
    take_out(room, "GD-1", days=1)
    second = room.crash()
    second.wait(60, clean=("GD-2",))
    alarm = second.alarm("GD-1", Kind.BLIND)
    assert alarm is not None and alarm.suppression is Suppression.OUT_OF_SERVICE
    second.wait(86_400, clean=("GD-2",), every=2.0)
    alarm = second.alarm("GD-1", Kind.BLIND)
    assert alarm is not None and alarm.suppressed is None and alarm.present


def test_the_ledger_counts_out_of_service_as_not_watched_with_cause_and_person(room: Room) -> None:
    take_out(room, "GD-1")
    room.wait(60, clean=BOTH)
    room.give(CloseWindow("GD-1", "Ana", room.now()))
    room.wait(10, clean=BOTH)
    lines = [Line(entry.kind, entry.body, entry.person) for entry in room.entries]
    (out,) = [one for one in fold(lines, room.now().utc // MILLISECOND) if one.state is Watch.OUT_OF_SERVICE]
    assert (out.detector, out.cause, out.by, out.end_ms - out.start_ms) == ("GD-1", "out-of-service", "Ana", 60_000)


# --- areas that nobody watches -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(WindowKind))
def test_a_window_that_leaves_an_area_alone_is_told_at_once(room: Room, kind: WindowKind) -> None:
    for detector in BOTH:
        room.give(OpenWindow(kind, detector, 600 * SECOND, "Ana", "obra", room.now()))
    room.wait(0.1, clean=BOTH)
    assert ("area:patio", "raised") in room.told("dona")
    room.give(CloseWindow("GD-2", "Ana", room.now()))
    room.wait(0.1, clean=BOTH)
    assert ("area:patio", "cleared") in room.told("dona")


def test_a_head_that_dies_while_the_other_is_out_of_service_leaves_its_area_alone(room: Room) -> None:
    take_out(room, "GD-1")
    room.wait(5.0)
    assert room.engine.book.present(AlarmKey("area:patio", Kind.BLIND))


def test_a_shelf_over_the_last_blind_head_says_that_the_area_is_alone(room: Room) -> None:
    room.wait(5.0)
    assert not room.engine.book.present(AlarmKey("area:patio", Kind.BLIND)), "each head was told by itself"
    shelve(room, AlarmKey("GD-1", Kind.BLIND))
    assert room.engine.book.present(AlarmKey("area:patio", Kind.BLIND))


def test_a_shelf_over_a_cut_cable_says_that_the_areas_behind_it_are_alone(room: Room) -> None:
    room.link(False)
    room.wait(5.0)
    assert not room.engine.book.present(AlarmKey("area:patio", Kind.BLIND)), "the cable was told"
    shelve(room, AlarmKey("bus", Kind.BLIND))
    assert room.engine.book.present(AlarmKey("area:patio", Kind.BLIND))


def test_a_cable_that_is_cut_anew_under_its_shelf_is_told(room: Room) -> None:
    room.link(False)
    room.wait(5.0)
    shelve(room, AlarmKey("bus", Kind.BLIND))
    room.link(True)
    room.wait(30.0, clean=BOTH)
    before = len(room.told("dona", Kind.BLIND))
    room.link(False)
    room.wait(5.0)
    assert ("bus", "raised") in room.told("dona", Kind.BLIND)[before:]
    alarm = room.alarm("bus", Kind.BLIND)
    assert alarm is not None and alarm.suppressed is None and alarm.phase is Phase.UNACKNOWLEDGED


def test_what_says_that_an_area_is_alone_is_never_shelved(room: Room) -> None:
    for detector in BOTH:
        take_out(room, detector)
    assert not shelve(room, AlarmKey("area:patio", Kind.BLIND))


def test_each_area_is_looked_at_by_itself() -> None:
    watches = tuple(Watched(DetectorId(f"GD-{n}"), f"a{n}", "bus", round(2.5 * SECOND)) for n in (1, 2))
    room = begun(orders(watches=watches))
    take_out(room, "GD-1")
    assert room.engine.book.present(AlarmKey("area:a1", Kind.BLIND))
    assert not room.engine.book.present(AlarmKey("area:a2", Kind.BLIND))


def test_new_orders_that_move_the_last_watching_head_away_leave_the_area_alone_at_once(room: Room) -> None:
    take_out(room, "GD-1")
    moved = tuple(
        Watched(DetectorId(name), area, "bus", round(2.5 * SECOND))
        for name, area in (("GD-1", "patio"), ("GD-2", "rua"))
    )
    room._do(room.engine.reorder(orders(watches=moved), room.now()))
    assert room.engine.book.present(AlarmKey("area:patio", Kind.BLIND))


def test_an_area_that_is_alone_is_still_told_after_a_crash(room: Room) -> None:
    for detector in BOTH:
        take_out(room, detector)
    second = room.crash()
    second.wait(31 * 60, clean=BOTH, every=1.0)
    assert ("area:patio", "still") in second.told("dona")


# --- by design ---------------------------------------------------------------------------------------


def by_design(*alarms: AlarmKey, during: AlarmKey | None = None, until_s: float = 10_000.0) -> ByDesign:
    until = Room(orders()).now(until_s).utc
    return ByDesign(frozenset(alarms), during, "Eng. Rui", "linha desligada com a bomba", until)


def test_a_rule_keeps_its_alarm_quiet_and_visible() -> None:
    room = begun(orders(*BOTH, by_design=(by_design(HOOK),)))
    unwell(room)
    room.wait(1.0, clean=BOTH)
    alarm = room.alarm("influx", Kind.SYSTEM)
    assert alarm is not None and alarm.suppressed is not None
    assert (alarm.suppressed.what, alarm.suppressed.by) == (Suppression.BY_DESIGN, "Eng. Rui")
    unwell(room, present=False)
    room.wait(1.0, clean=BOTH)
    assert room.told("dona") == []
    assert room.causes("influx", Kind.SYSTEM) == ["raised", "suppressed", "cleared", "unsuppressed"]


def test_a_rule_holds_only_while_its_own_condition_does() -> None:
    during = AlarmKey("mqtt", Kind.SYSTEM)
    room = begun(orders(*BOTH, by_design=(by_design(HOOK, during=during),)))
    unwell(room, subject="mqtt")
    unwell(room)
    room.wait(1.0, clean=BOTH)
    assert room.told("dona") == [("mqtt", "raised")]
    unwell(room, present=False, subject="mqtt")
    room.wait(1.0, clean=BOTH)
    assert room.told("dona")[1:] == [("mqtt", "cleared"), ("influx", "unsuppressed")]
    alarm = room.alarm("influx", Kind.SYSTEM)
    assert alarm is not None and alarm.phase is Phase.UNACKNOWLEDGED


def test_a_rule_ends_on_its_day() -> None:
    room = begun(orders(*BOTH, by_design=(by_design(HOOK, until_s=60.0),)))
    unwell(room)
    room.wait(61.0, clean=BOTH)
    assert room.told("dona") == [("influx", "unsuppressed")]


def test_a_rule_never_holds_over_a_head_that_reads_gas() -> None:
    key = AlarmKey("GD-1", Kind.BLIND)
    room = begun(orders(*BOTH, by_design=(by_design(key),)))
    blind(room)
    alarm = room.alarm("GD-1", Kind.BLIND)
    assert alarm is not None and alarm.suppression is Suppression.BY_DESIGN
    room.read("GD-1", 12.0)
    alarm = room.alarm("GD-1", Kind.BLIND)
    assert alarm is not None and alarm.suppressed is None and room.outputs["siren"]


def test_new_orders_without_the_rule_let_its_alarm_speak() -> None:
    room = begun(orders(*BOTH, by_design=(by_design(HOOK),)))
    unwell(room)
    room.wait(1.0, clean=BOTH)
    room._do(room.engine.reorder(orders(*BOTH), room.now()))
    room.wait(1.0, clean=BOTH)
    assert ("influx", "unsuppressed") in room.told("dona")


# --- whatever people do --------------------------------------------------------------------------------

DOINGS = ("gas", "clean", "fault", "shelve", "unshelve", "take-out", "test", "inhibit", "close", "act", "wait", "crash")


def windows(kind: WindowKind, room: Room, detector: str) -> None:
    room.give(OpenWindow(kind, detector, 60 * SECOND, "Ana", "obra", room.now()))


def do(room: Room, detector: str, doing: str) -> Room:
    blind_key = AlarmKey(detector, Kind.BLIND)
    match doing:
        case "gas":
            room.read(detector, 12.0)
        case "clean":
            room.read(detector, 0.0)
        case "fault":
            room.read(detector, None, quality=Quality.BAD, status=Status.FAULT, reason="fault")
        case "shelve":
            shelve(room, blind_key, minutes=1)
            shelve(room, AlarmKey(detector, Kind.GAS))
            shelve(room, AlarmKey("area:patio", Kind.BLIND))
        case "unshelve":
            room.act(Action.UNSHELVE, detector, Kind.BLIND)
        case "take-out":
            take_out(room, detector, days=0.001)
        case "test":
            windows(WindowKind.TEST, room, detector)
        case "inhibit":
            windows(WindowKind.INHIBIT, room, detector)
        case "close":
            room.give(CloseWindow(detector, "Ana", room.now()))
        case "act":
            room.act(Action.ACKNOWLEDGE, detector, Kind.BLIND)
            room.act(Action.ACKNOWLEDGE, detector)
            room.act(Action.RESET, detector)
        case "crash":
            room.wait(0.1)
            return room.crash(boot=f"b{len(room.boot)}{room.at:.0f}")
        case _:
            room.wait(30.0, clean=("GD-2",))
    return room


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(BOTH), st.sampled_from(DOINGS)), max_size=40))
def test_whatever_people_do_gas_is_never_quiet_no_area_is_alone_unsaid_and_every_silence_ends(doings: Any) -> None:
    room = begun(orders(*BOTH))
    for detector, doing in doings:
        room = do(room, detector, doing)
        book = room.engine.book
        for alarm in book:
            over = alarm.suppressed
            assert over is None or alarm.key.kind is not Kind.GAS
            assert over is None or over.until.mono > room.now().mono, "every silence has an end to come"
            assert over is None or (over.by == "Ana" and over.why)
            assert alarm.phase is not Phase.NORMAL or over is not None
            if alarm.key.kind is Kind.GAS and alarm.present and not alarm.drill:
                blind_too = book.get(AlarmKey(alarm.key.subject, Kind.BLIND))
                assert blind_too is None or blind_too.suppression is not Suppression.OUT_OF_SERVICE
        blinds = [book.get(AlarmKey(name, Kind.BLIND)) for name in BOTH]
        dark = all(one is not None and one.present for one in blinds)
        asked = any(one is not None and (one.suppressed or one.until) for one in blinds)
        assert not (dark and asked) or book.present(AlarmKey("area:patio", Kind.BLIND))
        assert dark or not book.present(AlarmKey("area:patio", Kind.BLIND))
        assert set(room.states) == {alarm.key for alarm in book}, "what a restart would know is what stands"
    room.wait(120.0, clean=BOTH)
    assert not any(alarm.suppressed or (alarm.present and alarm.until) for alarm in room.engine.book)
