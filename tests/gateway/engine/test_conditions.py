"""What the law says of a depot comes a few conditions at a time, the gravest first, and no gas waits for it."""

from collections.abc import Iterable, Sequence

from alerts.alarms import AlarmKey, Kind
from alerts.policy import Timing
from alerts.routing import Recipient
from gateway.engine.conditions import AT_ONCE, BETWEEN
from gateway.engine.events import Breach, Effect, Entry, Judged, Record, SetOutput
from sensors.stamps import SECOND
from simulator.room import Room, orders

ALL_S = 200 / AT_ONCE * BETWEEN / SECOND + 0.1


def breaches(numbers: Iterable[int], reason: str = "violated", detail: str = "é proibido") -> tuple[Breach, ...]:
    return tuple(Breach(f"r{number}/depot:depot", reason, detail) for number in numbers)


def judged(room: Room, found: Sequence[Breach]) -> list[Effect]:
    return room.give(Judged(tuple(found), room.now()))


def standing(room: Room) -> dict[str, tuple[str, str]]:
    return {
        alarm.key.subject: (alarm.reason, alarm.detail)
        for alarm in room.engine.book
        if alarm.key.kind is Kind.COMPLIANCE and alarm.present
    }


def records(effects: Iterable[Effect]) -> list[list[Entry]]:
    """The alarm events of the law in each record."""
    found = [list(effect.entries) for effect in effects if isinstance(effect, Record)]
    return [[one for one in entries if one.kind == "alarm" and one.body["kind"] == "COMPLIANCE"] for entries in found]


def test_no_turn_of_the_engine_takes_more_than_a_few_conditions_and_in_the_end_all_stand() -> None:
    room = Room(orders("GD-1"))
    judged(room, breaches(range(200)))
    room.wait(ALL_S)
    judged(room, breaches(range(100, 200), "due-7"))
    room.wait(ALL_S)
    assert standing(room) == {f"r{number}/depot:depot": ("due-7", "é proibido") for number in range(100, 200)}
    turns = records(room.order)
    assert max(map(len, turns)) <= 2 * AT_ONCE, "one that got worse goes and comes"
    assert sum(map(len, turns)) == 200 + 100 + 2 * 100


def test_gas_in_the_midst_of_a_judgement_sounds_in_its_own_turn() -> None:
    room = Room(orders("GD-1"))
    room.wait(1, clean=("GD-1",))
    judged(room, breaches(range(200)))
    assert len(standing(room)) == AT_ONCE
    effects = room.read("GD-1", 12.0)
    assert isinstance(effects[0], SetOutput) and effects[0].on
    assert records(effects) == [[]]
    room.wait(ALL_S)
    assert len(standing(room)) == 200


def test_the_first_of_a_judgement_are_told_first_and_what_has_passed_goes_last() -> None:
    room = Room(orders("GD-1"))
    judged(room, breaches(range(8)))
    room.wait(ALL_S)
    judged(room, breaches(range(100, 110)))
    assert list(standing(room))[8:] == [f"r{number}/depot:depot" for number in range(100, 100 + AT_ONCE)]
    room.wait(ALL_S)
    assert set(standing(room)) == {f"r{number}/depot:depot" for number in range(100, 110)}


def test_a_judgement_in_the_midst_of_another_takes_its_place() -> None:
    room = Room(orders("GD-1"))
    judged(room, breaches(range(50)))
    judged(room, breaches(range(40, 60), detail="por pouco"))
    room.wait(ALL_S)
    assert standing(room) == {f"r{number}/depot:depot": ("violated", "por pouco") for number in range(40, 60)}
    judged(room, ())
    room.wait(ALL_S)
    assert not standing(room)


def test_other_words_for_a_condition_that_stands_are_no_event() -> None:
    room = Room(orders("GD-1"))
    judged(room, breaches(range(3)))
    effects = judged(room, breaches(range(3), detail="em outras palavras"))
    assert records(effects) == [[]]
    assert room.states[AlarmKey("r0/depot:depot", Kind.COMPLIANCE)].body is not None
    assert {detail for _, detail in standing(room).values()} == {"em outras palavras"}
    assert judged(room, breaches(range(3), detail="em outras palavras")) == []


def test_what_gets_worse_or_milder_is_told_as_it_is_now_and_as_resolved_only_when_it_is() -> None:
    owner = Recipient("dona", "Dona", "owner", ("hook",), frozenset({"COMPLIANCE"}))
    room = Room(orders("GD-1", recipients=(owner,)))
    for reason in ("due-30", "due-7", "due-0", "violated", "due-7"):
        judged(room, breaches([1], reason))
        room.wait(5)
    judged(room, ())
    room.wait(5)
    told = [(event.cause.value, event.reason) for _, _, event, _ in room.sent if event.key.kind is Kind.COMPLIANCE]
    assert told == [
        ("raised", "due-30"), ("raised", "due-7"), ("raised", "due-0"), ("raised", "violated"),
        ("raised", "due-7"), ("cleared", "due-7"),
    ]  # fmt: skip


def test_after_a_restart_hundreds_of_conditions_are_not_repeated_in_one_turn() -> None:
    room = Room(orders("GD-1"))
    judged(room, breaches(range(200)))
    room.wait(ALL_S)
    second = room.crash()
    second.wait(Timing().repeat_other / SECOND + 1, every=60)
    repeats = [turn for turn in records(second.order) if turn and turn[0].body["event"] == "still"]
    assert sum(map(len, repeats)) == 200
    assert max(map(len, repeats)) <= 2 * AT_ONCE
