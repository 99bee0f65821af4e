"""New orders in the midst of something: no window outlives its head, and no head is left to a notice that has gone."""

from alerts.alarms import AlarmKey, Kind
from gateway.engine.events import OpenWindow, WindowKind
from gateway.engine.orders import Orders
from sensors.stamps import SECOND
from simulator.room import Room, orders

BOTH = ("GD-1", "GD-2")


def watching(source: str = "bus") -> Room:
    room = Room(orders(*BOTH, source=source))
    for name in BOTH:
        room.read(name, 0.0)
    return room


def follow(room: Room, new: Orders) -> None:
    room._do(room.engine.reorder(new, room.now()))


def played(room: Room) -> None:
    """GD-1 is under test and reads gas."""
    room.give(OpenWindow(WindowKind.TEST, "GD-1", 600 * SECOND, "Ana", "teste mensal", room.now()))
    room.wait(0.2, clean=BOTH)
    room.read("GD-1", 30.0)
    room.wait(0.2, clean=("GD-2",))
    assert room.outputs["siren"]


def test_a_drill_ends_with_its_head_and_leaves_no_siren_on() -> None:
    room = watching()
    played(room)
    follow(room, orders("GD-9", "GD-2"))
    assert room.alarm("GD-1") is None and not room.outputs["siren"]
    (bump,) = [entry for entry in room.entries if entry.kind == "bump"]
    assert (bump.person, bump.body["detector"]) == ("Ana", "GD-1")


def test_a_head_that_is_named_anew_while_it_is_tested_alarms_for_real_under_its_new_name() -> None:
    room = watching()
    played(room)
    follow(room, orders("GD-9", "GD-2"))
    room.read("GD-9", 30.0)
    alarm = room.alarm("GD-9")
    assert alarm is not None and alarm.present and not alarm.drill and room.outputs["siren"]


def test_a_drill_that_was_played_by_a_head_which_the_next_start_does_not_know_is_over() -> None:
    room = watching()
    played(room)
    room.wait(0.5, clean=("GD-2",))
    again = room.crash(orders=orders("GD-9", "GD-2"))
    assert again.alarm("GD-1") is None and not again.outputs["siren"]


def test_a_window_stands_on_through_new_orders_and_ends_when_it_was_to_end() -> None:
    room = watching()
    played(room)
    for _ in range(3):
        follow(room, orders(*BOTH))
    room.read("GD-1", 30.0)
    assert room.alarm("GD-1").drill  # type: ignore[union-attr]
    for _ in range(1300):
        room.wait(0.5, clean=("GD-2",))
        room.read("GD-1", 30.0)
    alarm = room.alarm("GD-1")
    assert alarm is not None and alarm.present and not alarm.drill
    assert room.alarm("GD-1", Kind.BLIND) is None or not room.alarm("GD-1", Kind.BLIND).present  # type: ignore[union-attr]


def cut(source: str) -> Room:
    """Both heads are silent behind a cut cable, whose notice speaks for them."""
    room = watching(source)
    room.link(False, source)
    room.wait(4.0)
    assert [subject for subject, _ in room.told("dona", Kind.BLIND)] == [source]
    return room


def stay_silent(room: Room, polls: int) -> None:
    """Both heads are asked every half second, and say nothing."""
    for _ in range(polls):
        room.wait(0.5)
        for name in BOTH:
            room.silence(name)


def spoken_for(room: Room) -> bool:
    """Tell whether some notice that stands says of every blind head that it is blind."""
    return all(
        room.engine.book.present(AlarmKey(head.watch.source, Kind.BLIND))
        for head in room.engine.sight.heads.values()
        if head.grouped
    )


def test_heads_behind_a_cut_cable_that_is_named_anew_are_told_under_its_new_name() -> None:
    room = cut("linha")
    follow(room, orders(*BOTH, source="nova"))
    room.link(False, "nova")
    stay_silent(room, 8)
    assert spoken_for(room)
    assert room.told("dona", Kind.BLIND)[1:] == [("linha", "cleared"), ("nova", "raised")]


def test_heads_that_stay_silent_on_a_line_that_is_well_are_told_each_by_itself_after_new_orders() -> None:
    room = cut("linha")
    follow(room, orders(*BOTH, source="nova"))
    room.link(True, "nova")
    stay_silent(room, 8)
    assert spoken_for(room)
    assert room.told("dona", Kind.BLIND)[1:] == [("linha", "cleared"), ("GD-1", "still"), ("GD-2", "still")]


def test_a_start_with_another_name_for_a_cut_cable_leaves_no_head_untold() -> None:
    room = cut("linha").crash(orders=orders(*BOTH, source="nova"))
    room.link(False, "nova")
    stay_silent(room, 12)
    assert spoken_for(room) and ("nova", "raised") in room.told("dona", Kind.BLIND)


def test_a_head_that_falls_silent_again_as_its_cable_s_notice_ends_is_told() -> None:
    room = cut("bus")
    room.link(True)
    grace_s = 2.5 + room.orders.timing.back_after / SECOND
    room.wait(grace_s - 0.2, clean=("GD-1",))
    room.read("GD-2", 0.0)
    room.wait(0.3, clean=("GD-1",), every=0.1)
    assert not room.engine.book.present(AlarmKey("bus", Kind.BLIND)) and not room.told("dona", Kind.BLIND)[2:]
    for _ in range(12):
        room.silence("GD-2")
        room.wait(0.5, clean=("GD-1",))
    assert spoken_for(room)
    assert room.told("dona", Kind.BLIND)[2:] == [("GD-2", "still")]


def test_a_head_that_comes_and_goes_after_its_cable_s_notice_ended_is_told() -> None:
    room = cut("bus")
    room.link(True)
    for number in range(40):
        room.read("GD-1", 0.0)
        room.silence("GD-2")
        room.wait(0.2)
        if number:
            room.read("GD-2", 0.0)
        room.wait(0.3)
    assert not room.engine.book.present(AlarmKey("bus", Kind.BLIND))
    assert spoken_for(room) and ("GD-2", "still") in room.told("dona", Kind.BLIND)


def test_new_orders_again_and_again_hide_no_dead_head() -> None:
    room = watching()
    for _ in range(8):
        room.wait(0.6, clean=("GD-2",))
        follow(room, orders(*BOTH))
    assert room.engine.book.present(AlarmKey("GD-1", Kind.BLIND))
    assert not room.engine.book.present(AlarmKey("GD-2", Kind.BLIND))
