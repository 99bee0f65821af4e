"""The picture of heads: one that was never read is not watching yet; one told in short is seen as one told in full."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.messages.place import Place
from dashboards.ports import Change, DepotView, DetectorView, ToScreen
from dashboards.speaking import Speaker
from gateway.field.links import Links
from gateway.picture import Picture
from sensors.readings import Quality, Status
from simulator.room import Room, orders


def picture_of(room: Room) -> Picture:
    return Picture(
        room.engine,
        depot=DepotView("d", "Depósito", "", "UTC", "pt-BR", "0", "2026-11-30T11:10:59.123Z"),
        worst_case_s={},
        places=lambda _: Place("Depósito"),
        silence_s=120.0,
        links=Links(),
    )


def view_of(room: Room) -> DetectorView:
    return picture_of(room).snapshot(room.now()).detectors[0]


def test_a_head_that_was_never_read_is_not_watched_yet_and_has_no_age() -> None:
    room = Room(orders("GD-1"))
    assert room.engine.sight.count() == 0
    for _ in range(2):  # before the first poll, and after one that failed
        view = view_of(room)
        assert (view.watching, view.age_s, view.taken, view.reason) == (False, None, None, "not-yet-watched")
        room.silence("GD-1")
    assert room.engine.sight.count() == 0
    room.wait(3.2)
    view = view_of(room)
    assert (view.watching, view.age_s, view.reason) == (False, None, "timeout")


@pytest.mark.parametrize("then", ["silence", "reload"])
def test_a_head_that_was_read_once_keeps_its_age(then: str) -> None:
    room = Room(orders("GD-1"))
    room.read("GD-1", 0.0)
    assert view_of(room).watching and room.engine.sight.count() == 1
    if then == "silence":
        room.silence("GD-1")
    else:
        room.engine.reorder(orders("GD-1"), room.now())
    view = view_of(room)
    assert view.watching and view.age_s == 0.0


def test_a_value_is_shown_with_its_age_though_it_is_not_to_be_trusted_yet() -> None:
    room = Room(orders("GD-1"))
    room.read("GD-1", 3.0, quality=Quality.BAD, status=Status.WARM_UP)
    view = view_of(room)
    assert (view.watching, view.age_s, view.lel_pct) == (False, 0.0, 3.0)


def test_whoever_rests_is_told_of_alarms_and_outputs_but_not_of_heads() -> None:
    room = Room(orders("GD-1"))
    picture = picture_of(room)
    room.read("GD-1", 15.0)
    brief = picture.brief(room.now())
    assert brief.detectors == ()
    assert [alarm.kind for alarm in brief.alarms or ()] == ["GAS"]
    assert picture.heartbeat(room.now()).seq == brief.seq + 1


HEADS = ("GD-1", "GD-2")
BY_HAND = [
    {"lel": 0.0},
    {"lel": 2.5},
    {"lel": 15.0},
    {"lel": 0.0, "reason": "frozen", "quality": Quality.UNCERTAIN},
    {"lel": 4.0, "at_least": 4.0},
    {"lel": None, "at_least": 100.0, "status": Status.OVER_RANGE},
    {"lel": 3.0, "quality": Quality.BAD, "status": Status.WARM_UP},
    {"lel": None, "quality": Quality.BAD, "status": Status.NO_CONTACT, "reason": "timeout"},
]


@given(
    st.lists(st.tuples(st.sampled_from(HEADS), st.sampled_from(BY_HAND), st.sampled_from([0.1, 0.5, 1.0, 4.0, 40.0])))
)
def test_a_head_told_in_short_is_seen_as_one_told_in_full(steps: list[tuple[str, dict[str, object], float]]) -> None:
    room = Room(orders(*HEADS))
    picture, speaker = picture_of(room), Speaker()
    speaker.snapshot(picture.snapshot(room.now()))
    for head, reading, pause_s in steps:
        room.read(head, **reading)  # type: ignore[arg-type]
        for new in (True, False):  # at once, and once more when nothing is new but the time
            sent = msgspec.json.decode(msgspec.json.encode(picture.heartbeat(room.now())), type=ToScreen)
            assert isinstance(sent, Change)
            seen = {view.id: view for view in speaker.change(sent).detectors}
            truth = {view.id: view for view in picture.snapshot(room.now()).detectors}
            assert seen == {name: truth[name] for name in seen}
            assert not new or head in seen
            room.wait(pause_s)


def test_nearly_all_heads_are_told_in_short_and_nothing_of_it_goes_on_to_a_browser() -> None:
    room = Room(orders(*HEADS))
    picture, speaker = picture_of(room), Speaker()
    speaker.snapshot(picture.snapshot(room.now()))
    for _ in range(2):
        room.wait(0.5)
        room.read("GD-1", 1.5)
        room.read("GD-2", 15.0)
        change = picture.heartbeat(room.now())
    assert [well.id for well in change.well] == ["GD-1"]  # type: ignore[union-attr]
    assert [view.id for view in change.detectors] == ["GD-2"]
    said = speaker.change(change)
    assert {view.id: view.lel_pct for view in said.detectors} == {"GD-1": 1.5, "GD-2": 15.0}
    assert b"well" not in msgspec.json.encode(said)
