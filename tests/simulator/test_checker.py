"""The checker of the swarm on what a gateway must never say of a head that passed its range."""

from dataclasses import replace

import pytest

from alerts.policy import Levels
from gateway.engine.events import Action, Record
from gateway.engine.records import event_from
from sensors.readings import Quality, Status
from simulator.checker import Checker
from simulator.promises import HeadRule, Rules, Shown, Sight
from simulator.room import Room, orders

RULES = Rules(Levels(10.0, 20.0, 40.0), {"GD-1": HeadRule("bus", 3.0, 6.0)}, frozenset({"siren"}), frozenset())


@pytest.mark.parametrize(("remembers", "broken"), [(True, []), (False, ["over-range-held"])])
def test_a_gateway_that_forgets_that_a_head_was_over_range_is_caught(*, remembers: bool, broken: list[str]) -> None:
    room, checker = Room(orders("GD-1")), Checker(RULES)
    checker.began(room.at)
    checker.shown(room.at, "GD-1", Shown(Sight.PLAIN, 110.0))
    effects = room.read("GD-1", 110.0, quality=Quality.UNCERTAIN, status=Status.OVER_RANGE, at_least=100.0)
    hear(checker, room, effects)
    alarm = room.alarm("GD-1")
    assert alarm is not None
    if not remembers:
        room.engine.book.amend(replace(alarm, over_range=False))
    checker.shown(room.at, "GD-1", Shown(Sight.PLAIN, 0.0))
    hear(checker, room, room.read("GD-1", 0.0))
    hear(checker, room, room.act(Action.ACKNOWLEDGE, "GD-1"))
    hear(checker, room, room.read("GD-1", 0.0))
    assert [one.promise for one in checker.broken] == broken
    assert "over-range-held" in checker.kept or not remembers


def hear(checker: Checker, room: Room, effects: list) -> None:
    """Tell the checker of the alarm events that these effects record."""
    for effect in effects:
        if isinstance(effect, Record):
            bodies = [entry.body for entry in effect.entries if entry.kind == "alarm"]
            checker.heard(room.at, [event_from(body, room.now()) for body in bodies])
