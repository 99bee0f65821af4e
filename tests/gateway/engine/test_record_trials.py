"""Field trials of a record that survives: chatter at the limit, acknowledgements over restarts, reloads that repeat."""

import pytest

from alerts.alarms import AlarmKey, Kind, Phase
from alerts.routing import Recipient
from gateway.engine.events import Action, Command
from simulator.room import CENTRE, OWNER, Room, orders

TEN = tuple(f"GD-{number}" for number in range(1, 11))
MANY = tuple(f"GD-{number}" for number in range(1, 26))
FLOOD_TOLD = 1
"""So many alarms at once are one notice more."""
MINUTE = 60


def gas_told(room, recipient="dona"):
    return [
        (event.key.subject, event.cause.value)
        for _, d, event, _ in room.sent
        if d.recipient == recipient and event.key.kind is Kind.GAS
    ]


def reload(room, **changes):
    room._do(room.engine.reorder(orders(*MANY, escalation=(), **changes), room.now()))


def in_gas(room, names, seconds):
    """The heads go on reading standing gas."""
    for _ in range(round(seconds)):
        for name in names:
            room.read(name, 15.0)
        room.wait(1.0)


@pytest.mark.trial("B47")
def test_b47_a_value_that_swings_about_the_limit_is_one_alarm_with_reminders():
    room = Room(orders("GD-1"))
    room.read("GD-1", 9.9)
    for second in range(30 * MINUTE):
        room.read("GD-1", 10.1 if second % 2 == 0 else 9.9)
        room.wait(1.0)
        if second == 0:
            assert room.told("dona", Kind.GAS) == [("GD-1", "raised")]
    for second in range(60):
        room.read("GD-1", 10.6 if second % 2 == 0 else 9.4)
        room.wait(1.0)
    assert room.causes("GD-1").count("raised") == 1 and "cleared" not in room.causes("GD-1")
    assert len(gas_told(room)) <= 2 + 31 * MINUTE // 120  # the raise, one escalation, a reminder every two minutes
    room.read("GD-1", 8.1)  # inside the dead-band of 2
    assert room.alarm("GD-1").present
    room.read("GD-1", 7.9)
    assert not room.alarm("GD-1").present
    room.wait(30.0, clean=("GD-1",))
    assert room.causes("GD-1").count("cleared") == 1


@pytest.mark.trial("B48")
@pytest.mark.parametrize("down_s", [1.0, 3600.0])
def test_b48_acknowledgements_survive_a_kill_with_name_time_and_comment(down_s):
    room = Room(orders(*TEN))
    for name in TEN:
        room.read(name, 15.0)
    for name in TEN[:5]:
        room.give(Command(Action.ACKNOWLEDGE, AlarmKey(name, Kind.GAS), "Ana", f"vi {name}", room.now()))
    room.wait(1.0)
    after = room.crash(down_s=down_s)
    again = after.crash(boot="b003")
    for life in (after, again):
        assert [life.alarm(name).phase for name in TEN] == [Phase.ACKNOWLEDGED] * 5 + [Phase.UNACKNOWLEDGED] * 5
        assert {life.alarm(name).acknowledged_by for name in TEN[:5]} == {"Ana"}
        assert {life.alarm(name).acknowledged_by for name in TEN[5:]} == {None}
    acts = [entry for entry in room.entries if entry.body.get("event") == "acknowledged"]
    assert [(entry.person, entry.body["note"]) for entry in acts] == [("Ana", f"vi {name}") for name in TEN[:5]]
    assert all(entry.body["at_ms"] > 0 for entry in acts)
    again.wait(121.0)
    for name in TEN:
        again.read(name, 15.0)
    told = gas_told(again)
    assert {name for name, _ in told} == set(TEN[5:]) and {cause for _, cause in told} == {"still"}


@pytest.mark.trial("B49")
def test_b49_reloads_and_restarts_repeat_no_open_alarm():
    room = Room(orders(*MANY, escalation=()))
    in_gas(room, MANY, 2)
    assert len(gas_told(room)) == 25
    for _ in range(5):
        reload(room)
        in_gas(room, MANY, 10)
    assert len(room.sent) == 25 + FLOOD_TOLD
    for boot in ("b002", "b003"):
        room = room.crash(boot=boot)
        in_gas(room, MANY, 5)
        assert room.sent == []


@pytest.mark.trial("B49")
def test_b49_a_channel_that_is_new_gets_no_burst_of_raises():
    room = Room(orders(*MANY, escalation=()))
    in_gas(room, MANY, 2)
    both = Recipient(OWNER.id, OWNER.name, OWNER.role, ("hook", "phone"), OWNER.alarms)
    reload(room, recipients=(both, CENTRE))
    in_gas(room, MANY, 10)
    assert len(room.sent) == 25 + FLOOD_TOLD
