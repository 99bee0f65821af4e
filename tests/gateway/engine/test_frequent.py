"""Alarms that come too often: counted, told by conditions of their own, notices together, gas never among them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.alarms import AlarmKey, Cause, Kind, Phase
from gateway.engine.events import Action, SystemCondition
from gateway.engine.frequent import MOST_NAMES
from gateway.journal import canonical
from sensors.readings import Quality, Status
from simulator.room import OWNER, Room, orders

MANY = tuple(f"GD-{n}" for n in range(1, 31))
FLOOD = AlarmKey("flood", Kind.SYSTEM)


def watching(*heads: str, **changes: object) -> Room:
    room = Room(orders(*heads, **changes))
    for head in heads:
        room.read(head, 0.0)
    return room


def flicker(room: Room, head: str, times: int, others: tuple[str, ...] = ()) -> None:
    """The head says that it is in fault, and is well for a while, so many times."""
    for _ in range(times):
        room.read(head, None, quality=Quality.BAD, status=Status.FAULT, reason="fault")
        room.wait(5.0, clean=others)
        room.wait(5.0, clean=(head, *others))


def fail(room: Room, *heads: str) -> None:
    for head in heads:
        room.read(head, None, quality=Quality.BAD, status=Status.FAULT, reason="fault")


# --- chatter -----------------------------------------------------------------------------------------


def test_a_head_that_keeps_losing_its_sight_is_told_as_such_and_its_notices_stop() -> None:
    room = watching("GD-1", "GD-2")
    flicker(room, "GD-1", 4, ("GD-2",))
    assert room.told("dona", Kind.BLIND) == [("GD-1", "raised"), ("GD-1", "cleared")] * 4
    flicker(room, "GD-1", 6, ("GD-2",))
    assert room.told("dona", Kind.BLIND)[8:] == []
    assert room.told("dona", Kind.SYSTEM) == [("chatter:GD-1", "raised")]
    alarm = room.alarm("chatter:GD-1", Kind.SYSTEM)
    assert alarm is not None and (alarm.reason, alarm.detail) == ("blind", "10")
    assert len(room.causes("GD-1", Kind.BLIND)) == 20, "all of it is on record"


def test_chatter_is_over_when_nothing_came_for_ten_minutes() -> None:
    room = watching("GD-1", "GD-2")
    flicker(room, "GD-1", 6, ("GD-2",))
    room.wait(601, clean=("GD-1", "GD-2"), every=1.0)
    assert room.told("dona", Kind.SYSTEM) == [("chatter:GD-1", "raised"), ("chatter:GD-1", "cleared")]
    flicker(room, "GD-1", 1, ("GD-2",))
    assert room.told("dona", Kind.BLIND)[-2:] == [("GD-1", "raised"), ("GD-1", "cleared")]


def test_a_head_that_stays_blind_when_its_chatter_ends_is_named_once_more() -> None:
    room = watching("GD-1", "GD-2")
    flicker(room, "GD-1", 6, ("GD-2",))
    fail(room, "GD-1")
    room.act(Action.ACKNOWLEDGE, "GD-1", Kind.BLIND)
    told = len(room.told("dona", Kind.BLIND))
    room.wait(605, clean=("GD-2",), every=1.0)
    assert room.told("dona", Kind.BLIND)[told:] == [("GD-1", "acknowledged"), ("GD-1", "still")]


def test_gas_that_comes_and_goes_is_told_each_time_and_as_chatter_too() -> None:
    room = watching("GD-1", "GD-2")
    for _ in range(8):
        room.read("GD-1", 12.0)
        room.wait(1.5, clean=("GD-2",))
        room.wait(8.5, clean=("GD-1", "GD-2"))
    gas = room.told("dona", Kind.GAS)
    assert gas.count(("GD-1", "raised")) == 8 and gas.count(("GD-1", "cleared")) == 8
    assert room.told("dona", Kind.SYSTEM)[:1] == [("chatter:GD-1", "raised")]
    alarm = room.alarm("chatter:GD-1", Kind.SYSTEM)
    assert alarm is not None and alarm.reason == "gas"


def test_who_does_not_hear_of_the_system_hears_of_every_blindness_by_itself() -> None:
    guard = OWNER.__class__("ronda", "Ronda", "operator", ("phone",), frozenset({"BLIND"}))
    room = watching("GD-1", "GD-2", recipients=(OWNER, guard))
    flicker(room, "GD-1", 8, ("GD-2",))
    assert room.told("ronda").count(("GD-1", "raised")) == 8
    assert room.told("dona").count(("GD-1", "raised")) == 4


def test_what_shows_states_gets_each_of_them() -> None:
    panel = OWNER.__class__("painel", "Painel", "operator", ("mqtt",), OWNER.alarms)
    room = watching("GD-1", "GD-2", recipients=(OWNER, panel), stateful=frozenset({"mqtt"}))
    flicker(room, "GD-1", 8, ("GD-2",))
    assert room.told("painel").count(("GD-1", "raised")) == 8


# --- flood -------------------------------------------------------------------------------------------


def test_more_than_ten_alarms_in_ten_minutes_are_a_flood_told_together_within_two_seconds() -> None:
    room = watching(*MANY)
    for head in MANY[:25]:
        fail(room, head)
        room.wait(0.1, clean=MANY[25:])
    room.wait(2.1, clean=MANY[25:])
    blind = [subject for subject, cause in room.told("dona", Kind.BLIND) if cause == "raised"]
    assert blind == list(MANY[:10])
    notices = [event for _, _, event, _ in room.sent if event.key == FLOOD]
    assert [event.cause.value for event in notices] == ["raised", "still"]
    assert set(notices[1].subjects) == set(MANY[10:25])
    last = max(at for at, _, event, _ in room.sent if event.key == FLOOD)
    assert last - room.at < 3.0


def test_ten_alarms_in_ten_minutes_are_no_flood() -> None:
    room = watching(*MANY)
    fail(room, *MANY[:10])
    assert not room.engine.book.present(FLOOD)


def test_gas_in_a_flood_is_told_at_once_by_itself_and_sounds() -> None:
    room = watching(*MANY)
    fail(room, *MANY[:20])
    room.read("GD-30", 12.0)
    room.wait(0.2)
    assert ("GD-30", "raised") in room.told("dona", Kind.GAS) and room.outputs["siren"]


def test_a_flood_ends_when_fewer_than_five_came_in_ten_minutes() -> None:
    room = watching(*MANY)
    fail(room, *MANY[:12])
    room.wait(640, clean=MANY, every=1.0)
    assert not room.engine.book.present(FLOOD)
    assert [cause for subject, cause in room.told("dona", Kind.SYSTEM)][-1] == "cleared"
    begins = [entry for entry in room.entries if entry.kind == "alarm" and entry.body["subject"] == "flood"]
    assert [entry.body["event"] for entry in begins if entry.body["event"] != "still"] == ["raised", "cleared"]
    fail(room, "GD-30")
    room.wait(0.1, clean=MANY[:29])
    assert room.told("dona", Kind.BLIND)[-1] == ("GD-30", "raised")


def test_every_alarm_of_a_flood_stands_and_is_on_record() -> None:
    room = watching(*MANY)
    fail(room, *MANY[:25])
    assert sum(alarm.key.kind is Kind.BLIND for alarm in room.engine.book) == 25
    assert all(room.causes(head, Kind.BLIND) == ["raised"] for head in MANY[:25])


def test_a_cut_cable_with_thirty_heads_is_one_notice_and_no_flood() -> None:
    room = watching(*MANY)
    room.link(up=False)
    room.wait(4.0)
    assert room.told("dona") == [("bus", "raised")]
    (notice,) = [event for _, _, event, _ in room.sent]
    assert set(notice.subjects) == set(MANY)


def test_the_flood_itself_is_never_shelved() -> None:
    room = watching(*MANY)
    fail(room, *MANY[:12])
    alarm = room.alarm("flood", Kind.SYSTEM)
    assert alarm is not None and not room.engine.suppressing.can_shelve(alarm)


# --- a rise ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("acknowledged", [True, False])
def test_every_rise_annunciates_anew(acknowledged: bool) -> None:
    room = watching("GD-1", "GD-2")
    for lel, level in ((12.0, "A1"), (25.0, "A2"), (45.0, "A3")):
        room.read("GD-1", lel)
        alarm = room.alarm("GD-1")
        assert alarm is not None and alarm.level is not None and alarm.level.name == level
        assert alarm.phase is Phase.UNACKNOWLEDGED and room.outputs["siren"]
        room.wait(1.0, clean=("GD-2",))
        if acknowledged:
            room.act(Action.ACKNOWLEDGE, "GD-1")
            assert not room.outputs["siren"]
    assert [cause for _, cause in room.told("dona") if cause in ("raised", "risen")] == ["raised", "risen", "risen"]


def test_system_faults_count_for_a_flood_too() -> None:
    room = watching("GD-1")
    for n in range(12):
        room.give(SystemCondition(f"channel:c{n}", present=True, reason="failing", detail="", at=room.now()))
    assert room.engine.book.present(FLOOD)


HEADS = MANY[:14]
DOINGS = st.tuples(st.sampled_from(HEADS), st.sampled_from(["gas", "worse", "clean", "fault", "act"]))


@settings(max_examples=40, deadline=None)
@given(st.lists(DOINGS, min_size=20, max_size=120))
def test_whatever_comes_too_often_every_raise_and_rise_of_gas_is_told_and_nothing_is_lost(doings) -> None:
    room = watching(*HEADS)
    for head, doing in doings:
        match doing:
            case "gas":
                room.read(head, 12.0)
            case "worse":
                room.read(head, 45.0)
            case "clean":
                room.read(head, 0.0)
            case "fault":
                fail(room, head)
            case "act":
                room.act(Action.ACKNOWLEDGE, head)
        room.wait(0.4)
    room.wait(61.0)
    recorded = [
        (str(entry.body["subject"]), str(entry.body["event"]))
        for entry in room.entries
        if entry.kind == "alarm" and entry.body["kind"] == "GAS"
    ]
    assert room.told("dona", Kind.GAS) == recorded
    assert room.seqs() == list(range(1, len(room.seqs()) + 1))
    grouped = {name for _, _, event, _ in room.sent if event.key == FLOOD for name in event.subjects}
    named = {subject for subject, cause in room.told("dona", Kind.BLIND) if cause in ("raised", "still")} | grouped
    chattering = {s.removeprefix("chatter:") for s, _ in room.told("dona", Kind.SYSTEM) if s.startswith("chatter:")}
    assert {head for head in HEADS if room.engine.book.present(AlarmKey(head, Kind.BLIND))} <= named | chattering


def test_a_fault_that_becomes_another_is_shown_as_it_is_now_and_told_so_at_the_next_repeat() -> None:
    room = watching("GD-1")
    for reason in ("slow", "full"):
        room.give(SystemCondition("journal", present=True, reason=reason, detail="", at=room.now()))
        room.wait(1.0, clean=("GD-1",))
    alarm = room.alarm("journal", Kind.SYSTEM)
    assert alarm is not None and alarm.reason == "full"
    room.wait(1800, clean=("GD-1",), every=1.0)
    assert room.told("dona", Kind.SYSTEM) == [("journal", "raised"), ("journal", "still")]
    assert [event.reason for _, _, event, _ in room.sent if event.key.kind is Kind.SYSTEM] == ["slow", "full"]
    second = room.crash()
    assert second.alarm("journal", Kind.SYSTEM) is not None


def test_a_flood_of_thousands_is_one_notice_that_the_journal_can_hold() -> None:
    room = watching("GD-1")
    for number in range(5000):
        subject = f"part-{number}-{'x' * 60}"
        room.give(SystemCondition(subject, present=True, reason="ended", detail="", at=room.now()))
    room.wait(120, clean=("GD-1",))
    told = [entry.body["subjects"] for entry in room.entries if entry.body.get("subject") == FLOOD.subject]
    assert max(len(names) for names in told if isinstance(names, list)) == MOST_NAMES
    for entry in room.entries:
        assert canonical.encode(dict(entry.body))


def test_what_comes_and_goes_without_end_leaves_no_heap_of_things_to_do() -> None:
    room = watching("GD-1", escalation=())
    for _ in range(100):
        room.read("GD-1", 12.0)
        for present in (True, False):
            room.give(SystemCondition("journal", present=present, reason="slow", detail="", at=room.now()))
        room.wait(0.2)
        room.read("GD-1", 0.0)
        room.act(Action.ACKNOWLEDGE, "GD-1")
        room.act(Action.RESET, "GD-1")
        room.wait(0.2)
    assert room.causes("GD-1").count("raised") == room.causes("journal", Kind.SYSTEM).count("raised") == 100
    room.wait(30, clean=("GD-1",))  # what waited for a read-back is through
    assert len(room.engine.deadlines) < 15


def test_an_alarm_that_grew_worse_is_repeated_counting_from_then() -> None:
    room = watching("GD-1", escalation=())
    room.read("GD-1", 12.0)
    room.wait(100)
    room.read("GD-1", 25.0)
    risen = room.at
    room.wait(300)
    stills = [at - risen for at, _, event, _ in room.sent if (event.key.kind, event.cause) == (Kind.GAS, Cause.STILL)]
    assert [round(after) for after in stills] == [120, 240]
