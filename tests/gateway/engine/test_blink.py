"""A line that is down for a moment: who was read just now is not blind by it."""

from alerts.alarms import Kind
from simulator.room import Room, orders


def test_a_line_that_blinks_as_one_head_grows_stale_blinds_nobody_else() -> None:
    room = Room(orders("GD-1", "GD-2"))
    room.wait(2.0, clean=("GD-1", "GD-2"))
    room.wait(2.0, clean=("GD-1",))
    room.link(up=False)
    room.wait(0.45, clean=("GD-1",), every=0.44)
    assert room.alarm("GD-2", Kind.BLIND) is None
    room.wait(0.2, clean=())  # GD-2 grows too old within the blink
    room.link(up=True)
    room.wait(2.0, clean=("GD-1",))
    blind = room.alarm("GD-2", Kind.BLIND)
    assert blind is not None and blind.reason != "link"
    assert room.alarm("GD-1", Kind.BLIND) is None
    assert room.alarm("bus", Kind.BLIND) is None


def test_a_line_that_stays_down_is_still_one_notice() -> None:
    room = Room(orders("GD-1", "GD-2", "GD-3"))
    room.wait(2.0, clean=("GD-1", "GD-2", "GD-3"))
    room.wait(0.3, clean=("GD-3",), every=0.2)
    room.link(up=False)
    room.wait(4.0)
    assert room.alarm("bus", Kind.BLIND) is not None
    assert [subject for subject, cause in room.told("dona", Kind.BLIND) if cause == "raised"] == ["bus"]
    for head in ("GD-1", "GD-2", "GD-3"):
        assert room.alarm(head, Kind.BLIND) is not None
