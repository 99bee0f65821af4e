"""Mains and battery: what counts as a trouble, and what as not seeing it."""

from alerts.alarms import AlarmKey, Kind
from gateway.engine.events import SystemCondition
from gateway.engine.supplies import Supply, SupplySight
from sensors.wire.gauges import RegisterGauge, Sign
from sensors.wire.places import Function, Place, Type
from simulator.room import Room, orders, stamp

GAUGE = RegisterGauge(Place(Function.DISCRETE, 3, Type.BOOL), Sign(when=("0",)))
UPS = Supply("nobreak", {"mains": GAUGE, "battery": GAUGE}, after_s=5.0, max_age_s=20.0)


class Watch:
    def __init__(self) -> None:
        self.at = 100.0
        self.sight = SupplySight(UPS, stamp(self.at).mono)
        self.told: list[tuple[str, bool, str]] = []
        self.first: set[str] = set()

    def hear(self, mains: bool | None, battery: bool | None = False, reason: str = "", every: float = 1.0) -> None:
        """One second passes and both gauges are read."""
        self.at += every
        for name, trouble in (("mains", mains), ("battery", battery)):
            self.sight.heard(name, trouble, reason, stamp(self.at).mono)
        self.look()

    def look(self) -> None:
        """Note what is new: the first word that all is well changes nothing where nothing stood."""
        for condition in self.sight.look(stamp(self.at)):
            if condition.present or condition.subject in {subject for subject, *_ in self.told}:
                self.told.append(_short(condition))
            else:
                self.first.add(condition.subject)


def _short(condition: SystemCondition) -> tuple[str, bool, str]:
    return condition.subject, condition.present, condition.reason


def test_a_loss_counts_once_it_was_shown_for_a_while_and_so_does_its_end() -> None:
    watch = Watch()
    for _ in range(5):
        watch.hear(True)
    assert watch.told == []
    watch.hear(True)
    assert watch.told == [("mains:nobreak", True, "lost")]
    for _ in range(6):
        watch.hear(False)
    assert watch.told[1:] == [("mains:nobreak", False, "lost")]


def test_a_flicker_is_no_notice() -> None:
    watch = Watch()
    for second in range(60):
        watch.hear(second % 5 == 0)
    assert watch.told == []


def test_mains_that_come_and_go_without_end_are_told_once_and_their_end_too() -> None:
    watch = Watch()
    for second in range(600):
        watch.hear(second % 5 < 2)
    assert watch.told == [("mains:nobreak", True, "unsteady")]
    for _ in range(7):
        watch.hear(False)
    assert watch.told[1:] == [("mains:nobreak", False, "lost")]


def test_a_weak_battery_is_told_apart_from_lost_mains() -> None:
    watch = Watch()
    for _ in range(7):
        watch.hear(True, True)
    assert watch.told == [("mains:nobreak", True, "lost"), ("battery:nobreak", True, "low")]


def test_what_is_not_heard_any_more_is_told_and_its_trouble_stands_on() -> None:
    watch = Watch()
    for _ in range(7):
        watch.hear(True)
    for _ in range(21):
        watch.hear(None, None, reason="timeout")
    assert watch.told == [("mains:nobreak", True, "lost"), ("supply:nobreak", True, "timeout")]
    for _ in range(7):
        watch.hear(False)
    assert watch.told[2:] == [("supply:nobreak", False, "timeout"), ("mains:nobreak", False, "lost")]


def test_one_gauge_of_two_that_is_mute_is_enough_not_to_be_seen() -> None:
    watch = Watch()
    for _ in range(21):
        watch.hear(False, None, reason="exception-2")
    assert watch.told == [("supply:nobreak", True, "exception-2")]


def test_a_supply_that_was_never_heard_says_so() -> None:
    watch = Watch()
    watch.at += 21
    watch.look()
    assert watch.told == [("supply:nobreak", True, "never-heard")]


def test_the_first_sure_word_ends_what_an_earlier_life_had_told_and_none_comes_before_it_is_sure() -> None:
    watch = Watch()
    for _ in range(5):
        watch.hear(False, None)
    assert watch.first == set()
    for _ in range(2):
        watch.hear(False, None)
    assert watch.first == {"mains:nobreak"}
    for _ in range(7):
        watch.hear(False)
    assert watch.first == {"mains:nobreak", "battery:nobreak", "supply:nobreak"}


def test_a_loss_is_told_once_through_new_orders_and_restarts_and_its_end_too() -> None:
    mains = "mains:nobreak"
    asked = orders("GD-1", lasting=frozenset({mains}))
    room = Room(asked)

    def says(present: bool) -> None:
        room.give(SystemCondition(mains, present, "lost", "", room.now()))
        room.wait(1.0, clean=("GD-1",))

    says(True)
    room._do(room.engine.reorder(asked, room.now()))
    says(True)
    assert room.told("dona", Kind.SYSTEM) == [(mains, "raised")]
    room = room.crash()
    says(True)
    assert room.told("dona", Kind.SYSTEM) == [] and room.engine.book.present(AlarmKey(mains, Kind.SYSTEM))
    says(False)
    assert room.told("dona", Kind.SYSTEM) == [(mains, "cleared")]


def test_the_loss_of_a_supply_that_left_the_configuration_ends_with_it() -> None:
    room = Room(orders("GD-1", lasting=frozenset({"mains:nobreak"})))
    room.give(SystemCondition("mains:nobreak", True, "lost", "", room.now()))
    room._do(room.engine.reorder(orders("GD-1"), room.now()))
    assert not room.engine.book.present(AlarmKey("mains:nobreak", Kind.SYSTEM))
