"""The ledger of watched time: every second of a detector has one state, a cause and, where one acted, a person."""

import time
from datetime import UTC, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboards.past import MonthView
from gateway.commands.figures import month_lines
from gateway.commands.locale import locale_of
from gateway.commands.talk import Talk
from gateway.engine.events import OpenWindow, WindowKind
from gateway.ledger.ledger import Ledger, Line, Stretch, Watch, fold, month_start_ms, months, within
from sensors.stamps import SECOND
from simulator.room import Room, orders, stamp

T0 = 1_780_000_000_000
HOUR = 3_600_000
SAO_PAULO, FORTALEZA = ZoneInfo("America/Sao_Paulo"), ZoneInfo("America/Fortaleza")


def boot(at, *watches, alive=None, **more):
    return Line("boot", {"at_ms": at, "watches": list(watches), "last_alive_ms": alive, **more})


def blind(at, event, reason="timeout", subject="GD-1", by=None, **more):
    return Line(
        "alarm", {"kind": "BLIND", "subject": subject, "event": event, "reason": reason, "at_ms": at, **more}, by
    )


def stop(at):
    return Line("stop", {"at_ms": at, "reason": "signal"})


def told(stretches, detector="GD-1"):
    return [
        (one.state.value, one.start_ms - T0, one.end_ms - T0, one.cause, one.by)
        for one in stretches
        if one.detector == detector
    ]


def test_blind_time_lies_between_its_raise_and_its_clear():
    found = fold([boot(T0, "GD-1"), blind(T0 + 10, "raised"), blind(T0 + 30, "cleared", "")], T0 + 100)
    assert told(found) == [
        ("watched", 0, 10, "", None),
        ("blind", 10, 30, "timeout", None),
        ("watched", 30, 100, "", None),
    ]


@pytest.mark.parametrize(
    ("reason", "state"), [("test-window", "in-test"), ("inhibited-by-person", "inhibited"), ("inhibited", "inhibited")]
)
def test_a_persons_doing_stands_with_the_persons_name(reason, state):
    found = fold([boot(T0, "GD-1"), blind(T0 + 10, "raised", reason, by="Ana"), blind(T0 + 30, "cleared", "")], T0 + 40)
    assert told(found)[1] == (state, 10, 30, reason, "Ana")


def test_a_test_window_on_a_blind_head_takes_over_and_a_repeat_changes_nothing():
    found = fold(
        [
            boot(T0, "GD-1"),
            blind(T0 + 10, "raised", "timeout"),
            blind(T0 + 15, "still", "timeout"),
            blind(T0 + 16, "still", "not-back"),
            blind(T0 + 20, "risen", "test-window", by="Ana"),
            blind(T0 + 30, "cleared", ""),
        ],
        T0 + 40,
    )
    assert told(found)[1:3] == [("blind", 10, 20, "timeout", None), ("in-test", 20, 30, "test-window", "Ana")]


def test_an_ordered_end_is_off_from_the_stop():
    found = fold([boot(T0, "GD-1"), stop(T0 + 50), boot(T0 + 90, "GD-1", alive=T0 + 50)], T0 + 100)
    assert told(found) == [
        ("watched", 0, 50, "", None),
        ("off", 50, 90, "signal", None),
        ("watched", 90, 100, "", None),
    ]


def test_a_crash_is_off_from_the_last_sign_of_life():
    found = fold([boot(T0, "GD-1"), boot(T0 + 900, "GD-1", alive=T0 + 60)], T0 + 1000)
    assert told(found)[:2] == [("watched", 0, 60, "", None), ("off", 60, 900, "crash", None)]


def test_a_crash_without_a_sign_of_life_is_off_from_the_last_entry():
    found = fold([boot(T0, "GD-1"), Line("output", {"at_ms": T0 + 40}), boot(T0 + 900, "GD-1")], T0 + 1000)
    assert told(found)[:2] == [("watched", 0, 40, "", None), ("off", 40, 900, "crash", None)]


def test_what_the_new_life_writes_before_its_boot_is_no_sign_of_the_old_one():
    early = Line("output", {"at_ms": T0 + 900})
    found = fold([boot(T0, "GD-1"), early, boot(T0 + 900, "GD-1", alive=T0 + 60)], T0 + 1000)
    assert told(found)[:2] == [("watched", 0, 60, "", None), ("off", 60, 900, "crash", None)]


def test_a_head_that_was_blind_at_the_crash_is_blind_after_it():
    found = fold([boot(T0, "GD-1"), blind(T0 + 10, "raised"), boot(T0 + 90, "GD-1", alive=T0 + 20)], T0 + 100)
    assert told(found)[1:] == [
        ("blind", 10, 20, "timeout", None), ("off", 20, 90, "crash", None), ("blind", 90, 100, "timeout", None)
    ]  # fmt: skip


def test_a_head_that_was_never_heard_did_not_watch_since_the_start():
    found = fold([boot(T0, "GD-1", "GD-2"), blind(T0 + 3000, "raised", "never-heard")], T0 + 9000)
    assert told(found) == [("blind", 0, 9000, "never-heard", None)]
    assert told(found, "GD-2") == [("watched", 0, 9000, "", None)]


def test_a_reload_ends_the_ledger_of_a_removed_head_and_begins_that_of_a_new_one():
    reload = Line("reload", {"at_ms": T0 + 50, "watches": ["GD-2"]})
    found = fold([boot(T0, "GD-1"), reload, blind(T0 + 51, "cleared", "removed")], T0 + 80)
    assert told(found) == [("watched", 0, 50, "", None)]
    assert told(found, "GD-2") == [("watched", 50, 80, "", None)]


def test_the_notice_of_a_cable_is_no_detector_of_its_own():
    found = fold([boot(T0, "GD-1"), blind(T0 + 5, "raised", "link", subject="bus")], T0 + 10)
    assert {one.detector for one in found} == {"GD-1"}


@pytest.mark.trial("B29")
def test_b29_a_life_that_began_in_1970_is_put_where_its_correction_says():
    early = 20_000
    entries = [
        boot(T0, "GD-1"),
        stop(T0 + HOUR),
        boot(early, "GD-1", time_trusted=False),
        blind(early + 20_000, "raised", time_trusted=False),
        blind(early + 60_000, "cleared", "", time_trusted=False),
        Line("clock", {"at_ms": T0 + 2 * HOUR, "step_ms": T0 + 2 * HOUR - (early + 180_000), "trusted": True}),
    ]
    found = fold(entries, T0 + 3 * HOUR)
    start = 2 * HOUR - 180_000
    assert told(found) == [
        ("watched", 0, HOUR, "", None),
        ("off", HOUR, start, "signal", None),
        ("watched", start, start + 20_000, "", None),
        ("blind", start + 20_000, start + 60_000, "timeout", None),
        ("watched", start + 60_000, 3 * HOUR, "", None),
    ]


@pytest.mark.trial("B29")
def test_b29_a_life_that_never_learned_the_time_adds_no_time():
    entries = [boot(T0, "GD-1"), stop(T0 + HOUR), boot(5, "GD-1", time_trusted=False), boot(T0 + 2 * HOUR, "GD-1")]
    found = fold(entries, T0 + 3 * HOUR)
    assert [row[0] for row in told(found)] == ["watched", "off", "watched"]
    assert sum(one.end_ms - one.start_ms for one in found) == 3 * HOUR


def test_time_that_a_jump_forward_skipped_is_not_counted_as_watched():
    jump = Line("clock", {"at_ms": T0 + HOUR + 100, "step_ms": HOUR, "trusted": True})
    found = fold([boot(T0, "GD-1"), jump], T0 + 2 * HOUR)
    assert told(found) == [
        ("watched", 0, 100, "", None),
        ("off", 100, HOUR + 100, "clock", None),
        ("watched", HOUR + 100, 2 * HOUR, "", None),
    ]


def test_time_in_which_the_watch_itself_stood_still_is_not_counted_as_watched():
    slept = Line("slept", {"at_ms": T0 + 40, "length_ms": 10})
    assert told(fold([boot(T0, "GD-1"), slept], T0 + 100)) == [
        ("watched", 0, 30, "", None),
        ("off", 30, 40, "slept", None),
        ("watched", 40, 100, "", None),
    ]


def test_an_hour_that_a_clock_set_back_shows_twice_is_counted_once():
    back = Line("clock", {"at_ms": T0 + HOUR, "step_ms": -HOUR, "trusted": True})
    found = fold([boot(T0, "GD-1"), Line("output", {"at_ms": T0 + 2 * HOUR}), back], T0 + 3 * HOUR)
    assert told(found) == [("watched", 0, 3 * HOUR, "", None)]


def test_an_older_journal_without_names_says_nothing():
    assert fold([Line("boot", {"at_ms": T0, "detectors": 4}), blind(T0 + 5, "raised")], T0 + 10) == []


def ms(text, zone=UTC):
    return round(datetime.fromisoformat(text).replace(tzinfo=zone).timestamp() * 1000)


@pytest.mark.trial("B30")
def test_b30_months_have_the_hours_that_summer_time_left_them():
    whole = [Stretch("GD-1", Watch.WATCHED, ms("2018-10-15"), ms("2019-03-15"))]
    hours = {share.month: share.ms[Watch.WATCHED] / HOUR for share in months(whole, SAO_PAULO)}
    assert hours["2018-11"] == 30 * 24 - 1
    assert hours["2019-02"] == 28 * 24 + 1
    assert sum(hours.values()) == (whole[0].end_ms - whole[0].start_ms) / HOUR


@pytest.mark.trial("B30")
@pytest.mark.parametrize("zone", [SAO_PAULO, FORTALEZA])
def test_b30_the_month_of_2026_begins_three_hours_after_utc(zone):
    assert month_start_ms(ms("2026-01-15T15:00"), zone) == ms("2026-01-01T03:00")


@pytest.mark.trial("B31")
def test_b31_a_late_evening_is_in_its_own_local_month():
    evening = [ms(f"2026-06-30T{at}", FORTALEZA) for at in ("20:30", "21:30", "23:59:59")]
    entries = [boot(ms("2026-06-01", FORTALEZA), "GD-1")]
    for at in evening:
        entries += [blind(at, "raised"), blind(at + 500, "cleared", "")]
    found = fold(entries, ms("2026-07-02", FORTALEZA))
    by_month = {share.month: share.ms for share in months(found, FORTALEZA)}
    assert by_month["2026-06"][Watch.BLIND] == 1500
    assert Watch.BLIND not in by_month["2026-07"]
    assert sum(by_month["2026-06"].values()) == 30 * 24 * HOUR


def test_the_engines_own_record_folds_to_what_happened():
    room = Room(orders("GD-1", "GD-2"))
    room.wait(10, clean=("GD-1", "GD-2"))
    room.wait(10, clean=("GD-2",))
    room.wait(5, clean=("GD-1", "GD-2"))
    lines = [Line(entry.kind, entry.body, entry.person) for entry in room.entries]
    found = fold(lines, stamp(room.at).utc // 1_000_000)
    assert {one.state for one in found if one.detector == "GD-2"} == {Watch.WATCHED}
    assert [one.state for one in found if one.detector == "GD-1"] == [Watch.WATCHED, Watch.BLIND, Watch.WATCHED]
    (dark,) = (one for one in found if one.state is Watch.BLIND)
    # until it has been back for `Timing.back_after`
    assert 10_000 <= dark.end_ms - dark.start_ms <= 11_500


def test_windows_of_the_engines_own_record_are_neither_watched_nor_blind():
    room = Room(orders("GD-1"))
    room.wait(10, clean=("GD-1",))
    for kind in WindowKind:
        room.give(OpenWindow(kind, "GD-1", 60 * SECOND, "Ana", "cilindro", room.now()))
        room.wait(60, clean=("GD-1",))
        room.wait(10, clean=("GD-1",))
    lines = [Line(entry.kind, entry.body, entry.person) for entry in room.entries]
    found = fold(lines, room.now().utc // 1_000_000)
    assert [(one.state, one.end_ms - one.start_ms) for one in found if one.state is not Watch.WATCHED] == [
        (Watch.IN_TEST, 60_000),
        (Watch.INHIBITED, 60_000),
        (Watch.OUT_OF_SERVICE, 60_000),
    ]
    assert {one.by for one in found if one.state in (Watch.IN_TEST, Watch.INHIBITED)} == {"Ana"}


def test_a_watch_that_stood_still_says_so_in_its_own_record():
    room = Room(orders("GD-1"))
    room.wait(10, clean=("GD-1",))
    room.at += 8
    room._do(room.engine.slept(7 * SECOND, room.now()))
    room.wait(10, clean=("GD-1",))
    lines = [Line(entry.kind, entry.body, entry.person) for entry in room.entries]
    found = fold(lines, room.now().utc // 1_000_000)
    assert [(one.state, one.end_ms - one.start_ms) for one in found if one.cause == "slept"] == [(Watch.OFF, 7_000)]


@pytest.mark.trial("B29")
def test_b29_the_engines_record_of_a_boot_in_1970_is_put_right():
    room = Room(orders("GD-1"), skew_s=-stamp(0).utc / 1e9)  # the civil clock starts at 1970-01-01T00:01:40
    room.wait(180, clean=("GD-1",))
    room.skew_s = 0.0
    room.wait(20, clean=("GD-1",))
    lines = [Line(entry.kind, entry.body, entry.person) for entry in room.entries]
    (watched,) = fold(lines, room.now().utc // 1_000_000)
    assert (watched.state, watched.start_ms) == (Watch.WATCHED, stamp(100).utc // 1_000_000)


events = st.sampled_from(["raised", "cleared", "still", "boot", "stop", "clock", "slept", "reload"])


@given(st.lists(st.tuples(events, st.integers(-5000, 20_000), st.sampled_from(["A", "B"]), st.booleans()), max_size=40))
def test_stretches_of_a_detector_never_overlap_whatever_is_written(steps):
    ledger, brief, at = Ledger(), Ledger(latest=True), T0
    for event, later, name, trusted in steps:
        at += later
        mark = {} if trusted else {"time_trusted": False}
        if event == "boot":
            line = boot(at, "A", "B", alive=at - 7, **mark)
        elif event == "reload":
            line = Line("reload", {"at_ms": at, "watches": [name], **mark})
        elif event == "stop":
            line = stop(at)
        elif event == "clock":
            line = Line("clock", {"at_ms": at, "step_ms": later, "trusted": trusted, **mark})
        elif event == "slept":
            line = Line("slept", {"at_ms": at, "length_ms": later, **mark})
        else:
            line = blind(at, event, subject=name, **mark)
        ledger.take(line)
        brief.take(line)
    found = ledger.close(at + 10)
    for name in ("A", "B"):
        mine = [one for one in found if one.detector == name]
        assert all(one.start_ms < one.end_ms for one in mine)
        assert all(a.end_ms <= b.start_ms for a, b in pairwise(mine))
        latest = [one for one in brief.close(at + 10) if one.detector == name]
        assert latest == mine[len(mine) - len(latest) :] and len(latest) <= 2, "who follows for years keeps the latest"


@pytest.mark.measured
def test_a_fold_of_200_000_entries_takes_less_than_five_seconds():
    names = [f"GD-{number}" for number in range(100)]
    lines = [boot(T0, *names)]
    for number in range(200_000):
        event = "raised" if (number // 100) % 2 == 0 else "cleared"
        lines.append(blind(T0 + 1000 * number, event, subject=names[number % 100]))
    began = time.perf_counter()
    found = fold(lines, T0 + 201_000_000)
    shares = months(within(found, T0, T0 + 201_000_000), SAO_PAULO)
    assert time.perf_counter() - began < 5
    assert len(found) > 190_000 and shares


def test_a_month_is_told_with_how_much_of_it_is_known():
    talk, locale = Talk.of({"LANG": "pt_BR.UTF-8"}), locale_of("pt-BR", "America/Sao_Paulo")
    month = MonthView("GD-1", "2026-11", 311.0, 80.5, 19.5, 0.0, 0.0, 0.0, 0.0)
    assert list(month_lines(talk, [month], locale)) == [
        "2026-11  GD-1  monitorado 80,500 % de 5 min (sem monitoramento 19,500 %)"
    ]


def test_a_head_that_only_failed_its_polls_did_not_watch_since_the_start_whatever_its_reason():
    room = Room(orders("GD-1", "GD-2"))
    for _ in range(9):
        room.wait(0.5, clean=("GD-2",))
        room.silence("GD-1")
    lines = [Line(entry.kind, entry.body, entry.person) for entry in room.entries]
    found = fold(lines, room.now().utc // 1_000_000)
    assert {one.state for one in found if one.detector == "GD-1"} == {Watch.BLIND}
    assert found[-1].cause == "timeout"
    assert {one.state for one in found if one.detector == "GD-2"} == {Watch.WATCHED}
