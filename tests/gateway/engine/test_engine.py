"""The engine on a virtual clock: each test is a short timeline of readings, people and answers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.alarms import AlarmKey, Kind, Level, Outcome, Phase, Verdict
from alerts.policy import Levels
from alerts.states import HORN
from gateway.engine.events import Action, Deliver, Record, SetOutput, Show, SystemCondition
from sensors.readings import Quality, Status
from simulator.room import Room, orders, stamp


@pytest.fixture
def room() -> Room:
    return Room(orders("GD-1", "GD-2"))


BAD = {"quality": Quality.BAD}


def test_gas_at_the_set_point_alarms_on_the_first_sample(room: Room) -> None:
    room.read("GD-1", 9.9)
    assert room.alarm("GD-1") is None
    effects = room.read("GD-1", 10.0)
    assert [type(e) for e in effects] == [SetOutput, SetOutput, Record, Show]
    alarm = room.alarm("GD-1")
    assert alarm is not None and alarm.level is Level.A1 and alarm.phase is Phase.UNACKNOWLEDGED


def test_messages_leave_after_the_commit_and_say_recorded(room: Room) -> None:
    room.read("GD-1", 12.0)
    assert room.sent == []
    room.wait(0.1, clean=("GD-2",))
    assert [(d.recipient, recorded) for _, d, _, recorded in room.sent] == [("dona", True)]
    assert room.sent[0][0] == pytest.approx(100.001, abs=1e-6)


def test_a_journal_that_hangs_holds_a_message_for_200_ms_only(room: Room) -> None:
    room.commit_s = 2.0
    room.read("GD-1", 12.0)
    room.wait(0.5, clean=("GD-2",))
    (at, _, event, recorded), *rest = [s for s in room.sent if s[2].key.kind is Kind.GAS]
    assert at == pytest.approx(100.2) and not recorded and rest == [] and event.level is Level.A1


def test_a_gas_alarm_knows_its_first_output(room: Room) -> None:
    room.answer_s = 0.02
    room.read("GD-1", 12.0)
    room.wait(0.1, clean=("GD-2",))
    alarm = room.alarm("GD-1")
    assert alarm is not None and alarm.first_output is not None
    assert (alarm.first_output.mono - alarm.sampled.mono) / 1e6 == pytest.approx(21.0)
    assert room.engine.firsts.worst_ns == alarm.first_output.mono - alarm.sampled.mono


def test_a_siren_that_was_read_back_counts_as_first_output() -> None:
    room = Room(orders("GD-1", recipients=()))
    room.read("GD-1", 12.0)
    room.wait(0.1)
    alarm = room.alarm("GD-1")
    assert alarm is not None and alarm.first_output is not None


def test_a_console_never_counts_as_first_output() -> None:
    room = Room(orders("GD-1", outputs={}, counting=frozenset()))
    room.read("GD-1", 12.0)
    room.wait(0.5)
    assert room.told("dona") and room.alarm("GD-1").first_output is None  # type: ignore[union-attr]


def test_a_rise_starts_the_alarm_again(room: Room) -> None:
    room.read("GD-1", 12.0)
    room.wait(0.2)
    room.act(Action.ACKNOWLEDGE, "GD-1")
    assert room.outputs["siren"] is False and room.outputs["beacon"] is True
    room.read("GD-1", 25.0)
    alarm = room.alarm("GD-1")
    assert alarm is not None and alarm.phase is Phase.UNACKNOWLEDGED and alarm.level is Level.A2
    assert alarm.first_output is None and room.outputs["siren"] is True
    room.wait(0.2)
    assert [c for s, c in room.told("dona") if s == "GD-1"] == ["raised", "acknowledged", "risen"]


def test_a_level_never_falls_within_an_alarm(room: Room) -> None:
    room.read("GD-1", 45.0)
    room.read("GD-1", 12.0)
    alarm = room.alarm("GD-1")
    assert alarm is not None and alarm.level is Level.A3 and alarm.peak == 45.0 and alarm.lel_pct == 12.0


def test_gas_latches_until_it_is_acknowledged_gone_and_reset(room: Room) -> None:
    room.read("GD-1", 12.0)
    assert room.act(Action.RESET, "GD-1") == []
    room.read("GD-1", 8.5)
    assert room.alarm("GD-1").phase is Phase.UNACKNOWLEDGED  # type: ignore[union-attr]  # inside the dead-band
    room.read("GD-1", 7.9)
    assert room.alarm("GD-1").phase is Phase.LATCHED_UNACKNOWLEDGED  # type: ignore[union-attr]
    assert room.act(Action.RESET, "GD-1") == [] and room.outputs["siren"] is True
    room.act(Action.ACKNOWLEDGE, "GD-1")
    assert room.outputs["siren"] is False and room.outputs["beacon"] is True
    room.act(Action.RESET, "GD-1")
    assert room.alarm("GD-1") is None and room.outputs["beacon"] is False
    assert room.causes("GD-1") == ["raised", "cleared", "acknowledged", "reset"]


@pytest.mark.parametrize(
    ("lel", "change"),
    [
        (None, {"quality": Quality.BAD, "status": Status.NO_CONTACT, "reason": "timeout"}),
        (None, {"quality": Quality.BAD, "status": Status.FAULT, "reason": "nan"}),
        (0.0, {"quality": Quality.BAD, "status": Status.FAULT}),
        (0.0, {"quality": Quality.UNCERTAIN, "status": Status.MEASURING}),
        (0.0, {"quality": Quality.GOOD, "status": Status.WARM_UP}),
        (0.0, {"quality": Quality.GOOD, "status": Status.INHIBITED}),
        (0.0, {"quality": Quality.BAD, "status": Status.UNDER_RANGE}),
        (0.0, {"quality": Quality.UNCERTAIN, "status": Status.FROZEN}),
    ],
)
def test_what_cannot_be_trusted_never_clears_an_alarm(room: Room, lel: float | None, change: dict) -> None:
    room.read("GD-1", 60.0)
    room.read("GD-1", lel, **change)
    alarm = room.alarm("GD-1")
    assert alarm is not None and alarm.present and alarm.level is Level.A3


def test_over_range_stays_gas_when_the_value_falls(room: Room) -> None:
    room.read("GD-1", 110.0, quality=Quality.UNCERTAIN, status=Status.OVER_RANGE, at_least=100.0)
    assert room.alarm("GD-1").level is Level.A3  # type: ignore[union-attr]
    assert room.alarm("GD-1", Kind.BLIND) is not None
    room.read("GD-1", 0.0)
    alarm = room.alarm("GD-1")
    assert alarm is not None and alarm.present and alarm.level is Level.A3


def test_over_range_without_a_number_is_the_highest_level(room: Room) -> None:
    room.read("GD-1", None, quality=Quality.UNCERTAIN, status=Status.OVER_RANGE)
    assert room.alarm("GD-1").level is Level.A3  # type: ignore[union-attr]


def test_a_boolean_head_alarms_by_its_bound(room: Room) -> None:
    room.read("GD-1", None, at_least=10.0)
    assert room.alarm("GD-1").level is Level.A1  # type: ignore[union-attr]


def test_one_lost_poll_is_no_blindness_and_silence_is_told_in_three_seconds(room: Room) -> None:
    room.read("GD-1", 0.0)
    room.wait(0.5, clean=("GD-2",))
    room.silence("GD-1")
    assert room.alarm("GD-1", Kind.BLIND) is None
    room.read("GD-1", 0.0)
    began = room.at
    for _ in range(8):
        room.wait(0.5, clean=("GD-2",))
        room.silence("GD-1")
    told = [at for at, d, e, _ in room.sent if e.key == AlarmKey("GD-1", Kind.BLIND) and d.recipient == "dona"]
    assert len(told) == 1 and told[0] - began <= 3.0
    assert room.alarm("GD-2", Kind.BLIND) is None


def test_a_head_that_says_it_does_not_watch_is_believed_at_once(room: Room) -> None:
    room.read("GD-1", 0.0, status=Status.INHIBITED)
    alarm = room.alarm("GD-1", Kind.BLIND)
    assert alarm is not None and alarm.reason == "inhibited"
    room.wait(4.0, clean=("GD-1",))
    assert not room.engine.book.present(AlarmKey("GD-1", Kind.BLIND))


def test_heads_never_heard_are_told_after_the_start() -> None:
    room = Room(orders("GD-1"))
    room.wait(3.1)
    alarm = room.alarm("GD-1", Kind.BLIND)
    assert alarm is not None and alarm.reason == "never-heard"


def test_a_cut_cable_is_one_notice_and_each_head_keeps_its_state(room: Room) -> None:
    room.wait(1.0, clean=("GD-1", "GD-2"))
    room.link(up=False)
    room.wait(4.0)
    assert room.told("dona") == [("bus", "raised")]
    assert room.sent[0][2].subjects == ("GD-1", "GD-2")
    assert room.alarm("GD-1", Kind.BLIND) is not None and room.alarm("GD-2", Kind.BLIND) is not None
    room.link(up=True)
    room.wait(4.0, clean=("GD-1", "GD-2"))
    assert room.told("dona") == [("bus", "raised"), ("bus", "cleared")]
    assert room.causes("GD-1", Kind.BLIND) == ["raised", "cleared"]


def test_a_head_that_stays_silent_after_its_cable_is_back_gets_its_own_notice(room: Room) -> None:
    room.wait(1.0, clean=("GD-1", "GD-2"))
    room.link(up=False)
    room.wait(4.0)
    room.link(up=True)
    room.wait(7.0, clean=("GD-1",))
    assert room.told("dona") == [("bus", "raised"), ("bus", "cleared"), ("GD-2", "still")]


def test_acknowledging_a_fault_does_not_acknowledge_the_gas_behind_it(room: Room) -> None:
    room.read("GD-1", 12.0)
    room.read("GD-1", None, status=Status.FAULT, **BAD)
    room.act(Action.ACKNOWLEDGE, "GD-1", Kind.BLIND)
    assert room.alarm("GD-1").phase is Phase.UNACKNOWLEDGED  # type: ignore[union-attr]


def test_silence_mutes_the_horn_for_two_minutes_only(room: Room) -> None:
    room.read("GD-1", 12.0)
    room.act(Action.SILENCE, "GD-1")
    assert room.outputs == {"siren": False, "beacon": True}
    room.wait(119.0, clean=("GD-2",))
    assert room.outputs["siren"] is False
    room.wait(1.5, clean=("GD-2",))
    assert room.outputs["siren"] is True


def test_a_rise_ends_a_mute(room: Room) -> None:
    room.read("GD-1", 12.0)
    room.act(Action.SILENCE, "GD-1")
    room.read("GD-1", 22.0)
    assert room.outputs["siren"] is True


def test_an_alarm_nobody_takes_is_repeated_and_escalated(room: Room) -> None:
    room.read("GD-1", 12.0)
    room.wait(130.0, clean=("GD-2",))
    assert room.told("dona", Kind.GAS) == [("GD-1", c) for c in ("raised", "still", "still")]
    assert room.told("central") == [("GD-1", "still")] * 2  # called in after 60 s, then the repeat


def test_an_alarm_that_was_taken_is_neither_repeated_nor_escalated(room: Room) -> None:
    room.read("GD-1", 12.0)
    room.wait(30.0, clean=("GD-2",))
    room.act(Action.ACKNOWLEDGE, "GD-1")
    room.wait(300.0, clean=("GD-2",))
    assert "still" not in room.causes("GD-1")
    assert room.told("central") == []


def test_a_recipient_called_in_hears_the_end_too(room: Room) -> None:
    room.read("GD-1", 12.0)
    room.wait(61.0, clean=("GD-2",))
    room.read("GD-1", 0.0)
    room.wait(1.0, clean=("GD-1", "GD-2"))
    assert [c for s, c in room.told("central") if s == "GD-1"] == ["still", "cleared"]


def test_a_failing_channel_is_tried_again_with_the_same_id_and_told() -> None:
    room = Room(orders("GD-1"), answers=lambda d: Outcome(Verdict.RETRY, "HTTP 503"))
    room.read("GD-1", 12.0)
    room.wait(20.0, clean=())
    tries = [d for _, d, e, _ in room.sent if e.key.kind is Kind.GAS]
    assert len(tries) >= 4 and len({d.id for d in tries}) == 1
    assert [d.attempt for d in tries] == list(range(1, len(tries) + 1))
    assert room.alarm("channel:hook", Kind.SYSTEM) is not None


def test_a_refused_delivery_is_not_tried_again_and_is_told() -> None:
    room = Room(orders("GD-1"), answers=lambda d: Outcome(Verdict.REFUSED, "HTTP 410"))
    room.read("GD-1", 12.0)
    room.wait(2.0)
    assert len([d for _, d, e, _ in room.sent if e.key.kind is Kind.GAS]) == 1
    alarm = room.alarm("channel:hook", Kind.SYSTEM)
    assert alarm is not None and alarm.reason == "refused" and alarm.detail == "HTTP 410"


def test_a_siren_that_does_not_answer_is_an_alarm_of_its_own() -> None:
    room = Room(orders("GD-1"), read_back=lambda output, on: None)
    room.wait(3.0, clean=("GD-1",))
    alarm = room.alarm("output:siren", Kind.SYSTEM)
    assert alarm is not None and alarm.reason == "no-read-back"
    room.read_back = lambda output, on: on
    room.read("GD-1", 12.0)
    room.wait(0.5)
    assert not room.engine.book.present(AlarmKey("output:siren", Kind.SYSTEM))


def test_a_restart_keeps_open_alarms_once_each_and_sends_what_was_owed() -> None:
    first = Room(orders("GD-1", "GD-2"), answers=lambda d: Outcome(Verdict.RETRY, "down"))
    first.read("GD-1", 30.0)
    first.wait(0.3, clean=("GD-2",))
    second = first.crash(answers=lambda d: Outcome(Verdict.ACCEPTED))
    assert second.outputs == {"siren": True, "beacon": True}
    second.read("GD-1", 30.0)
    second.wait(1.0, clean=("GD-2",))
    gas = [(d.id, e.cause.value) for _, d, e, _ in second.sent if e.key.kind is Kind.GAS]
    assert gas == [(first.sent[0][1].id, "raised")]
    assert second.alarm("GD-1").level is Level.A2  # type: ignore[union-attr]
    assert second.causes("GD-1") == []


def test_gas_present_at_the_first_start_alarms_at_once() -> None:
    room = Room(orders("GD-1"))
    room.read("GD-1", 50.0)
    room.wait(0.1)
    assert room.told("dona")[0] == ("GD-1", "raised")


def test_numbers_go_on_without_a_gap_over_a_restart_and_ids_are_never_used_twice() -> None:
    first = Room(orders("GD-1"))
    first.read("GD-1", 30.0)
    first.commit_s = None  # from here on nothing reaches the disk
    first.read("GD-1", 50.0)
    second = first.crash(commit_s=0.001)
    second.read("GD-1", 50.0)
    assert second.seqs()[0] == first.seqs()[-1] + 1
    ids = {d.event for _, d, _, _ in first.sent} | {e.body["id"] for e in second.entries if e.kind == "alarm"}
    assert f"depot-b00t-{second.seqs()[0]}" not in {e.body["id"] for e in second.entries if e.kind == "alarm"}
    assert ids


def test_an_acknowledged_alarm_stays_acknowledged_over_a_restart() -> None:
    first = Room(orders("GD-1"))
    first.read("GD-1", 30.0)
    first.act(Action.ACKNOWLEDGE, "GD-1")
    second = first.crash()
    second.read("GD-1", 30.0)
    alarm = second.alarm("GD-1")
    assert alarm is not None and alarm.phase is Phase.ACKNOWLEDGED and alarm.acknowledged_by == "Ana"
    assert second.outputs["siren"] is False


def test_a_mute_is_not_stretched_by_a_clock_set_back() -> None:
    first = Room(orders("GD-1"))
    first.read("GD-1", 30.0)
    first.act(Action.SILENCE, "GD-1")
    state = first.states[AlarmKey("GD-1", Kind.GAS)]
    ahead = dict(state.body or {}) | {"muted_until_ms": 4_000_000_000_000}
    first.states[state.key] = type(state)(state.key, ahead)
    second = first.crash()
    second.read("GD-1", 30.0)
    second.wait(121.0)
    assert second.outputs["siren"] is True


def test_an_alarm_of_a_head_that_was_removed_can_be_ended() -> None:
    first = Room(orders("GD-1", "GD-2"))
    first.read("GD-1", 30.0)
    second = first.crash(orders=orders("GD-2"))
    second.act(Action.ACKNOWLEDGE, "GD-1")
    second.act(Action.RESET, "GD-1")
    assert second.alarm("GD-1") is None


def test_new_orders_keep_standing_alarms(room: Room) -> None:
    room.read("GD-1", 12.0)
    room._do(room.engine.reorder(orders("GD-1", "GD-3"), stamp(room.at)))
    assert room.alarm("GD-1").present  # type: ignore[union-attr]
    room.wait(3.5, clean=("GD-1",))
    assert room.alarm("GD-3", Kind.BLIND) is not None
    assert room.alarm("GD-2", Kind.BLIND) is None


def test_new_levels_hold_from_the_next_reading(room: Room) -> None:
    room.read("GD-1", 8.0)
    room._do(room.engine.reorder(orders("GD-1", levels=Levels(5.0, 20.0, 40.0)), stamp(room.at)))
    room.read("GD-1", 8.0)
    assert room.alarm("GD-1") is not None


def test_a_reading_that_breaks_our_own_rule_quarantines_its_head_only(room: Room, monkeypatch) -> None:
    def broken(*_: object) -> None:
        raise AssertionError("impossible")

    monkeypatch.setattr("gateway.engine.gas.level_of", broken)
    room.read("GD-1", 50.0)
    monkeypatch.undo()
    assert room.alarm("GD-1", Kind.BLIND).reason == "quarantined"  # type: ignore[union-attr]
    assert room.alarm("detector:GD-1", Kind.SYSTEM) is not None
    room.read("GD-2", 50.0)
    assert room.alarm("GD-2") is not None


def test_a_part_that_fails_and_recovers_is_told_once_each(room: Room) -> None:
    for present in (True, True, False, False):
        room.give(SystemCondition("web", present, "ended", "", stamp(room.at)))
    room.wait(0.5, clean=("GD-1", "GD-2"))
    assert [c for s, c in room.told("dona") if s == "web"] == ["raised", "cleared"]


def test_outputs_come_before_the_journal_and_the_journal_before_messages(room: Room) -> None:
    room.commit_s = 0.0
    room.order.clear()
    room.read("GD-1", 12.0)
    room.wait(0.1, clean=("GD-2",))
    kinds = [type(e) for e in room.order]
    assert kinds.index(SetOutput) < kinds.index(Record) < kinds.index(Deliver)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.tuples(
                st.just("read"), st.sampled_from(["GD-1", "GD-2"]), st.sampled_from([0.0, 9.0, 12.0, 25.0, 99.0])
            ),
            st.tuples(st.just("bad"), st.sampled_from(["GD-1", "GD-2"]), st.sampled_from(list(Status))),
            st.tuples(st.just("act"), st.sampled_from(["GD-1", "GD-2"]), st.sampled_from(list(Action))),
            st.tuples(st.just("link"), st.booleans(), st.none()),
            st.tuples(st.just("wait"), st.sampled_from([0.1, 1.0, 3.0, 70.0]), st.none()),
            st.tuples(st.just("crash"), st.none(), st.none()),
        ),
        max_size=25,
    )
)
def test_whatever_happens_the_promises_of_the_engine_hold(steps: list) -> None:
    room = Room(orders("GD-1", "GD-2"))
    seqs: list[int] = []
    boots = 0
    for what, subject, value in steps:
        match what:
            case "read":
                room.read(subject, value)
                if value >= 10.0:
                    assert room.engine.book.present(AlarmKey(subject, Kind.GAS))
            case "bad":
                before = room.engine.book.present(AlarmKey(subject, Kind.GAS))
                room.read(subject, 0.0, quality=Quality.BAD, status=value)
                assert room.engine.book.present(AlarmKey(subject, Kind.GAS)) or not before
            case "act":
                before_alarm = room.alarm(subject)
                room.act(value, subject)
                if before_alarm is not None and room.alarm(subject) is None:
                    assert value is Action.RESET and before_alarm.phase is Phase.LATCHED_ACKNOWLEDGED
            case "link":
                room.link(up=subject)
            case "wait":
                room.wait(subject)
            case _:
                open_before = {a.key: a.phase for a in room.engine.book if a.key.kind is Kind.GAS}
                room.wait(0.01)
                seqs += room.seqs()
                boots += 1
                room = room.crash(boot=f"b{boots}")
                assert {a.key: a.phase for a in room.engine.book if a.key.kind is Kind.GAS} == open_before
        assert room.outputs.get("siren", False) == _horn(room)
    seqs += room.seqs()
    assert seqs == list(range(1, len(seqs) + 1))


def _horn(room: Room) -> bool:
    gas = (alarm for alarm in room.engine.book if alarm.key.kind is Kind.GAS and alarm.phase in HORN)
    return any(alarm.muted_until is None or alarm.muted_until.mono <= stamp(room.at).mono for alarm in gas)


def test_a_boolean_head_clears_by_its_no(room: Room) -> None:
    room.read("GD-1", None, at_least=10.0)
    room.read("GD-1", None, at_least=0.0, quality=Quality.UNCERTAIN, reason="no-status")
    assert room.alarm("GD-1").present  # type: ignore[union-attr]
    room.read("GD-1", None, at_least=0.0)
    assert room.alarm("GD-1").latched  # type: ignore[union-attr]


def test_a_second_alarm_under_a_sounding_siren_has_its_first_output_at_once(room: Room) -> None:
    room.read("GD-1", 12.0)
    room.wait(1.0, clean=("GD-2",))
    room.read("GD-2", 12.0)
    alarm = room.alarm("GD-2")
    assert alarm is not None and alarm.first_output == alarm.decided


def test_a_siren_read_long_ago_is_no_first_output() -> None:
    room = Room(orders("GD-1", "GD-2", recipients=()))
    room.read("GD-1", 12.0)
    room.wait(10.0, clean=("GD-2",))
    room.read("GD-2", 12.0)
    assert room.alarm("GD-2").first_output is None  # type: ignore[union-attr]


def test_a_head_that_flickers_is_one_notice(room: Room) -> None:
    for _ in range(60):
        room.read("GD-1", None, status=Status.FAULT, **BAD)
        room.wait(0.5, clean=("GD-2",))
        room.read("GD-1", 0.0)
        room.wait(0.5, clean=("GD-2",))
    assert room.told("dona", Kind.BLIND) == [("GD-1", "raised")]
    room.wait(4.0, clean=("GD-1", "GD-2"))
    assert room.told("dona", Kind.BLIND) == [("GD-1", "raised"), ("GD-1", "cleared")]


@pytest.mark.parametrize("lel", [9.9, 8.0])
def test_a_reset_needs_clear_air_now_and_not_only_once(room: Room, lel: float) -> None:
    room.read("GD-1", 12.0)
    room.act(Action.ACKNOWLEDGE, "GD-1")
    room.read("GD-1", 5.0)
    room.read("GD-1", lel)
    assert room.act(Action.RESET, "GD-1") == []
    room.read("GD-1", 7.9)
    assert room.act(Action.RESET, "GD-1") != []


def test_a_dead_head_cannot_be_reset(room: Room) -> None:
    room.read("GD-1", 12.0)
    room.act(Action.ACKNOWLEDGE, "GD-1")
    room.read("GD-1", 0.0)
    room.wait(4.0, clean=("GD-2",))
    assert room.act(Action.RESET, "GD-1") == []


def test_reloading_again_and_again_hides_no_dead_head(room: Room) -> None:
    room.wait(1.0, clean=("GD-1", "GD-2"))
    for _ in range(4):
        room.wait(2.0, clean=("GD-2",))
        room._do(room.engine.reorder(orders("GD-1", "GD-2"), stamp(room.at)))
    assert room.alarm("GD-1", Kind.BLIND) is not None


def test_notices_of_parts_that_were_taken_out_end_with_new_orders(room: Room) -> None:
    room.give(SystemCondition("channel:hook", True, "failing", "", stamp(room.at)))
    room.give(SystemCondition("journal", True, "full", "", stamp(room.at)))
    room._do(room.engine.reorder(orders("GD-1", "GD-2"), stamp(room.at)))
    assert not room.engine.book.present(AlarmKey("channel:hook", Kind.SYSTEM))
    assert room.engine.book.present(AlarmKey("journal", Kind.SYSTEM))


def test_a_watch_that_slept_blames_itself_and_no_head(room: Room) -> None:
    room.wait(1.0, clean=("GD-1", "GD-2"))
    room.at += 8.0
    room._do(room.engine.slept(8_000_000_000, stamp(room.at)))
    room.wait(2.0, clean=("GD-1", "GD-2"))
    assert room.alarm("watch", Kind.SYSTEM) is not None
    assert room.causes("GD-1", Kind.BLIND) == []
    room.at += 8.0
    room._do(room.engine.slept(8_000_000_000, stamp(room.at)))
    room.wait(2.0, clean=("GD-2",))
    assert room.causes("GD-1", Kind.BLIND) == ["raised"]


def test_a_head_renamed_while_in_gas_gives_no_all_clear(room: Room) -> None:
    room.read("GD-1", 15.0)
    room._do(room.engine.reorder(orders("GD-9", "GD-2"), stamp(room.at)))
    (event,) = [e for e in room.entries if e.kind == "alarm" and e.body["event"] == "cleared"]
    assert event.body["reason"] == "removed"
    assert room.alarm("GD-1").reason == "removed"  # type: ignore[union-attr]


def test_a_thousand_unanswered_alarms_are_repeated_without_holding_up_the_loop() -> None:
    names = [f"GD-{n}" for n in range(1000)]
    room = Room(orders(*names), answers=lambda _: Outcome(Verdict.RETRY, "down"))
    for name in names:
        room.read(name, 12.0)
    before = len(room.engine.telling.outbox)
    room.at += 121.0
    room._do(room.engine.advance(stamp(room.at)))
    assert len(room.engine.telling.outbox) > before


def test_heads_of_a_cut_cable_leave_no_row_behind_when_it_is_whole(room: Room) -> None:
    room.wait(1.0, clean=("GD-1", "GD-2"))
    room.link(up=False)
    room.wait(4.0)
    room.link(up=True)
    room.wait(4.0, clean=("GD-1", "GD-2"))
    assert [alarm.key.subject for alarm in room.engine.book] == ["bus"]


def test_a_notice_of_blindness_knows_its_first_output_too(room: Room) -> None:
    room.read("GD-1", 0.0, status=Status.INHIBITED)
    room.wait(0.2, clean=("GD-2",))
    alarm = room.alarm("GD-1", Kind.BLIND)
    assert alarm is not None and alarm.first_output is not None
    assert room.engine.firsts.worst_ns is None


def test_a_second_blindness_counts_from_its_own_beginning(room: Room) -> None:
    room.read("GD-1", 0.0, status=Status.INHIBITED)
    room.wait(5.0, clean=("GD-1", "GD-2"))
    ended = room.alarm("GD-1", Kind.BLIND)
    assert ended is not None and ended.ended is not None
    room.wait(60.0, clean=("GD-1", "GD-2"))
    room.read("GD-1", 0.0, status=Status.INHIBITED)
    again = room.alarm("GD-1", Kind.BLIND)
    assert again is not None and again.since == stamp(room.at)


def test_a_fault_has_no_horn_to_silence(room: Room) -> None:
    room.read("GD-1", 0.0, status=Status.INHIBITED)
    assert room.act(Action.SILENCE, "GD-1", Kind.BLIND) == []
