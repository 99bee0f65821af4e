"""The picture of heads: one that was never read is not watching yet, and has no age."""

import pytest

from alerts.messages.words import Place
from dashboards.ports import DepotView, DetectorView
from gateway.links import Links
from gateway.picture import Picture
from sensors.readings import Quality, Status
from simulator.room import Room, orders


def view_of(room: Room) -> DetectorView:
    depot = DepotView("d", "Depósito", "", "UTC", "pt-BR", "0", "2026-11-30T11:10:59.123Z")
    picture = Picture(
        room.engine,
        depot=depot,
        worst_case_s={},
        places=lambda _: Place("Depósito"),
        silence_s=120.0,
        links=Links(),
    )
    return picture.snapshot(room.now()).detectors[0]


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
