"""Tests of outputs on a virtual clock: by order and by calendar, read back, and never in the way of gas."""

import json
from dataclasses import replace
from datetime import UTC, datetime, time
from pathlib import Path
from time import monotonic
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest
from depot_text import BASE, loaded
from hypothesis import given
from hypothesis import strategies as st

from alerts.alarms import Cause, Kind
from alerts.effects import usual
from alerts.messages.place import Place
from alerts.messages.words import words
from alerts.routing import Recipient
from dashboards.ports import Drill as Ask
from gateway.commands.drill import results_of, tell_results
from gateway.commands.talk import Talk
from gateway.deeds import understood
from gateway.engine.events import Action, Drill
from gateway.engine.outputtests import LastTest
from gateway.engine.plans import Plan
from sensors.stamps import SECOND, UtcNanos
from simulator.room import EPOCH, Room, orders

SAO_PAULO = ZoneInfo("America/Sao_Paulo")
ROWS = {"sirene": usual("siren"), "sinal": usual("beacon"), "valvula": usual("valve"), "vida": usual("heartbeat")}
HEADS = ("GD-1", "GD-2")


def local(seconds_from_now: float) -> datetime:
    """The local time so long after the Room's first moment."""
    return datetime.fromtimestamp(EPOCH // SECOND + 100 + seconds_from_now, UTC).astimezone(SAO_PAULO)


def plan(in_s: float, weekly: bool = False) -> Plan:
    when = local(in_s)
    return Plan(when.weekday() if weekly else None, time(when.hour, when.minute), SAO_PAULO, ("sirene", "sinal"))


def watching(tests: Plan | None = None) -> Room:
    room = Room(orders(*HEADS, outputs=ROWS, tests=tests, counting=frozenset()))
    for name in HEADS:
        room.read(name, 0.0)
    room.wait(0.5, clean=HEADS)
    return room


def on(room: Room) -> set[str]:
    return {name for name, state in room.outputs.items() if state} - {"vida"}


def drill(room: Room, *outputs: str) -> None:
    room.give(Drill(outputs, "Ana", "", room.now()))


def ended(room: Room) -> list[tuple[object, object, object]]:
    return [(e.body["output"], e.body["ok"], e.body["reason"]) for e in room.entries if e.kind == "output-test"]


def failed(room: Room, output: str) -> str | None:
    alarm = room.alarm(f"output-test:{output}", Kind.SYSTEM)
    return None if alarm is None else alarm.reason


def test_a_drill_pulses_one_output_after_the_other_and_is_recorded_with_its_person() -> None:
    room = watching()
    drill(room)
    assert {name for name, on in room.outputs.items() if on} == {"sirene", "vida"}
    room.wait(1.1, clean=HEADS)
    assert {name for name, on in room.outputs.items() if on} == {"sinal", "vida"}
    room.wait(2.0, clean=HEADS)
    assert {name for name, on in room.outputs.items() if on} == {"vida"}
    assert ended(room) == [("sirene", True, ""), ("sinal", True, "")]
    (begun,) = [e for e in room.entries if e.kind == "drill"]
    assert (begun.person, begun.body["outputs"], begun.body["scheduled"]) == ("Ana", ["sirene", "sinal"], False)
    assert all(e.body["drill"] for e in room.entries if e.kind == "output-test")
    assert not list(room.engine.book)


def test_an_output_that_does_not_light_fails_its_test_and_stands_as_an_alarm_until_one_is_passed() -> None:
    room = watching()
    room.read_back = lambda output, on: False if output == "sirene" else on
    drill(room, "sirene")
    room.wait(3.0, clean=HEADS)
    assert ended(room) == [("sirene", False, "not-on")]
    assert failed(room, "sirene") == "not-on"
    room.read_back = lambda _, on: on
    drill(room, "sirene")
    room.wait(3.0, clean=HEADS)
    assert ended(room)[-1] == ("sirene", True, "")
    assert not room.engine.book.present(next(iter(room.engine.book)).key)


def test_an_output_that_does_not_go_out_again_fails_too() -> None:
    room = watching()
    room.read_back = lambda output, on: True if output == "sirene" else on
    drill(room, "sirene")
    room.wait(4.0, clean=HEADS)
    assert ended(room) == [("sirene", False, "not-off")]


def test_no_drill_begins_while_gas_stands_even_when_it_is_gone_and_only_held() -> None:
    room = watching()
    room.read("GD-1", 12.0)
    room.wait(1.0, clean=("GD-2",))
    room.read("GD-1", 0.0)
    drill(room)
    room.wait(1.0, clean=HEADS)
    assert not [e for e in room.entries if e.kind == "drill"]


def test_gas_during_a_test_takes_over_at_once_and_the_siren_does_not_stop_for_it() -> None:
    room = watching()
    drill(room, "sirene", "sinal")
    room.wait(0.3, clean=HEADS)
    before = len(room.order)
    room.read("GD-1", 12.0)
    assert ended(room) == [] or ended(room) == [("sirene", True, "taken-over")]
    room.wait(2.0, clean=("GD-2",))
    assert ended(room) == [("sirene", True, "taken-over")]
    assert room.outputs["sirene"] and room.outputs["sinal"]
    changes = [effect for effect in room.order[before:] if getattr(effect, "output", "") == "sirene"]
    assert not any(effect.on is False for effect in changes)  # type: ignore[union-attr]
    alarm = room.alarm("GD-1")
    assert alarm is not None and alarm.first_output is not None
    room.act(Action.ACKNOWLEDGE, "GD-1")
    assert not room.outputs["sirene"]


@pytest.mark.parametrize("outputs", [("nada",), ("vida",), ("sirene", "nada")])
def test_what_is_no_output_or_is_held_by_the_watch_is_not_tested(outputs: tuple[str, ...]) -> None:
    room = watching()
    drill(room, *outputs)
    assert not [e for e in room.entries if e.kind == "drill"]


def test_an_exercise_reaches_every_recipient_once_as_a_drill_and_leaves_no_alarm() -> None:
    deaf = Recipient("vizinho", "Vizinho", "neighbour", ("hook",), frozenset({"A3"}))
    told = orders(*HEADS, outputs=ROWS, counting=frozenset())
    room = Room(replace(told, recipients=(*told.recipients, deaf)))
    for name in HEADS:
        room.read(name, 0.0)
    room.give(Drill((), "Ana", "", room.now(), tell=True))
    room.wait(5.0, clean=HEADS)
    heard = [(delivery.recipient, event.cause, event.drill) for _, delivery, event, _ in room.sent]
    assert {(one.id, Cause.RAISED, True) for one in room.orders.recipients} == set(heard)
    assert len(heard) == len(room.orders.recipients)
    assert [output for output, ok, _ in ended(room) if ok] == ["sirene", "sinal"]
    assert not list(room.engine.book)
    said = words(room.sent[0][2], Place("Depósito"), "pt-BR")
    assert said == (
        "SIMULADO - exercício de aviso pedido por Ana - Depósito. Recebeu? Avise Ana. É um exercício: não ligue 193."
    )


def test_an_exercise_needs_no_outputs_and_waits_for_no_gas_to_pass() -> None:
    room = Room(orders(*HEADS, outputs={}, counting=frozenset()))
    drill(room)
    assert not [entry for entry in room.entries if entry.kind == "drill"], "there is nothing to test"
    room.read("GD-1", 12.0)
    room.give(Drill((), "Ana", "", room.now(), tell=True))
    room.wait(1.0, clean=("GD-2",))
    assert not [event for _, _, event, _ in room.sent if event.drill], "gas stands: that is no time for an exercise"


@pytest.mark.parametrize(("outputs", "known"), [(("sirene",), True), ((), True), (("sirene", "campainha"), False)])
def test_an_output_that_is_not_there_is_named_so_where_it_was_asked_for(outputs: tuple[str, ...], known: bool) -> None:
    room = watching()
    asked = understood(Ask(1, "Ana", outputs), room.engine, cast("Any", None), room.now())
    assert asked == (Drill(outputs, "Ana", "", room.now()) if known else "unknown-output")


def test_a_valve_is_tested_only_when_it_is_named() -> None:
    room = watching()
    drill(room)
    room.wait(5.0, clean=HEADS)
    assert "valvula" not in [output for output, _, _ in ended(room)]
    drill(room, "valvula")
    assert room.outputs["valvula"]
    room.wait(3.0, clean=HEADS)
    assert ended(room)[-1] == ("valvula", True, "") and not room.outputs["valvula"]


def test_outputs_are_tested_at_their_local_time_and_not_before() -> None:
    room = watching(plan(180))
    room.wait(100, clean=HEADS)
    assert ended(room) == []
    room.wait(100, clean=HEADS)
    assert ended(room) == [("sirene", True, ""), ("sinal", True, "")]
    (begun,) = [e for e in room.entries if e.kind == "drill"]
    assert begun.person is None and begun.body["scheduled"] is True


def test_a_test_that_fell_into_a_time_without_a_watch_is_made_after_the_start() -> None:
    room = watching(plan(180))
    room.wait(200, clean=HEADS)
    again = room.crash(down_s=23 * 3600 + 3600)
    for name in HEADS:
        again.read(name, 0.0)
    again.wait(5, clean=HEADS)
    assert [output for output, _, _ in ended(again)] == ["sirene", "sinal"]


def test_what_failed_before_a_restart_still_stands_after_it() -> None:
    room = watching()
    room.read_back = lambda output, on: False if output == "sirene" else on
    drill(room, "sirene")
    room.wait(3.0, clean=HEADS)
    assert failed(room.crash(), "sirene") == "not-on"


def test_a_test_kept_from_its_time_for_a_day_by_a_standing_alarm_is_overdue() -> None:
    room = watching(plan(180, weekly=True))
    room.read("GD-1", 12.0)
    room.read("GD-1", 0.0)
    room.wait(3600, clean=HEADS, every=2.0)
    assert failed(room, "sirene") is None
    room.wait(24 * 3600, clean=HEADS, every=2.0)
    assert failed(room, "sirene") == "overdue"
    room.act(Action.ACKNOWLEDGE, "GD-1")
    room.act(Action.RESET, "GD-1")
    room.wait(120, clean=HEADS)
    assert ended(room) == [("sirene", True, ""), ("sinal", True, "")]
    assert not any(alarm.present for alarm in room.engine.book if alarm.key.subject.startswith("output-test"))


@given(st.integers(0, 4 * 366 * 24 * 3600), st.none() | st.integers(0, 6), st.times())
def test_the_times_before_and_after_a_moment_enclose_it_on_the_right_day(
    at: int, weekday: int | None, when: time
) -> None:
    made = Plan(weekday, when.replace(second=0, microsecond=0), SAO_PAULO, ())
    now = UtcNanos(EPOCH + at * SECOND)
    before, after = made.before(now), made.after(now)
    assert before <= now < after
    assert after - before <= (7 if weekday is not None else 1) * 25 * 3600 * SECOND
    for moment in (before, after):
        there = datetime.fromtimestamp(moment // SECOND, UTC).astimezone(SAO_PAULO)
        assert (there.hour, there.minute) == (when.hour, when.minute)
        assert weekday in (None, there.weekday())


def test_new_orders_keep_what_is_known_of_tests() -> None:
    room = watching(plan(180))
    room.wait(200, clean=HEADS)
    last = dict(room.engine.tests.last)
    room.engine.reorder(replace(room.orders, tests=plan(10_000)), room.now())
    assert room.engine.tests.last == last and isinstance(last["sirene"], LastTest)


def test_new_orders_break_a_running_test_off_and_leave_nothing_on() -> None:
    room = watching()
    drill(room)
    assert room.outputs["sirene"]
    room._do(room.engine.reorder(replace(room.orders, outputs={"sirene": ROWS["sirene"]}), room.now()))
    assert not room.outputs["sirene"]
    room.wait(6.0, clean=HEADS)
    assert ended(room) == [("sirene", False, "broken-off")]


def test_a_test_that_new_orders_broke_off_says_so_and_what_was_not_tested_and_is_due_as_before() -> None:
    room = watching(plan(180))
    drill(room, "sinal", "sirene", "valvula")
    room.wait(1.5, clean=HEADS)
    room._do(room.engine.reorder(room.orders, room.now()))
    assert ended(room) == [("sinal", True, ""), ("sirene", False, "broken-off")]
    (cut,) = [entry.body for entry in room.entries if entry.body.get("reason") == "broken-off"]
    assert cut["untested"] == ["valvula"] and not on(room)
    tests = room.engine.tests
    assert [(tests.shown(name) or cut).reason for name in ("sinal", "sirene", "valvula")] == [  # type: ignore[union-attr]
        "",
        "broken-off",
        "broken-off",
    ]
    assert failed(room, "sirene") is None, "it has not failed"
    again = room.crash()
    assert failed(again, "sirene") is None
    room.wait(200, clean=HEADS)
    assert ended(room)[2:] == [("sirene", True, ""), ("sinal", True, "")]
    assert tests.shown("sirene") == tests.last["sirene"]


def test_gas_that_ends_a_test_is_shown_at_each_output_that_it_left_untested() -> None:
    room = watching()
    drill(room, "sirene", "sinal")
    room.read("GD-1", 12.0)
    tests = room.engine.tests
    assert [getattr(tests.shown(name), "reason", None) for name in ("sirene", "sinal")] == ["taken-over"] * 2


class Journal:
    """What a drill's own watch wrote meanwhile."""

    def __init__(self, *bodies: dict[str, object]) -> None:
        self.bodies = bodies

    def filed(self, kind: str, after: int) -> list[tuple[int, dict[str, object], str]]:
        assert kind == "output-test"
        return [(idx, body, "") for idx, body in enumerate(self.bodies) if idx > after]


@pytest.mark.measured
def test_whoever_runs_a_drill_is_told_at_once_that_new_orders_broke_it_off_and_what_was_proved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    depot = loaded(tmp_path, BASE).depot
    talk = Talk.of({"VIGIA_LANG": "pt-BR"})
    proved: dict[str, object] = {"output": "sirene", "ok": True, "reason": "", "until_on_ms": 120}
    cut: dict[str, object] = {"output": "sinal", "ok": False, "reason": "broken-off", "until_on_ms": None}
    wanted = ("sirene", "sinal", "valvula")
    began = monotonic()
    found = list(results_of(cast("Any", Journal(proved, cut)), 0, wanted))
    assert found == [proved, cut] and monotonic() - began < 5, "not after the longest time a test may take"
    assert not tell_results(talk, depot, wanted, found, as_json=False)
    said = capsys.readouterr()
    assert "sirene  APROVADA" in said.out and "INTERROMPIDA" in said.out
    assert "Provadas até ali: sirene. Sem prova: sinal, valvula. Repita o teste." in said.err
    assert not tell_results(talk, depot, wanted, found, as_json=True)
    answer = json.loads(capsys.readouterr().out)
    assert (answer["ok"], answer["broken_off"], answer["untested"]) == (False, "broken-off", ["valvula"])


def test_what_failed_stands_over_new_orders_until_its_output_is_gone() -> None:
    room = watching()
    room.read_back = lambda output, on: False if output == "sirene" else on
    drill(room, "sirene")
    room.wait(3.0, clean=HEADS)
    room._do(room.engine.reorder(room.orders, room.now()))
    assert failed(room, "sirene") == "not-on"
    rest = {name: row for name, row in ROWS.items() if name != "sirene"}
    room._do(room.engine.reorder(replace(room.orders, outputs=rest), room.now()))
    (alarm,) = [alarm for alarm in room.engine.book if alarm.key.subject == "output-test:sirene"]
    assert not alarm.present


def test_many_new_orders_leave_one_look_at_the_calendar() -> None:
    room = watching(plan(180))
    for _ in range(50):
        room._do(room.engine.reorder(room.orders, room.now()))
    room.wait(200, clean=HEADS)
    assert ended(room) == [("sirene", True, ""), ("sinal", True, "")]
    assert sum(type(task).__name__ == "OutputTestDue" for _, _, task in room.engine.deadlines._heap) == 1


def test_a_test_that_a_wrong_clock_dated_years_ahead_does_not_put_off_the_next_ones() -> None:
    room = watching(plan(120))
    room.skew_s = 10 * 365 * 86_400.0
    room.wait(3700, every=600)  # due at once by that clock
    done = len(ended(room))
    assert done
    room.skew_s = 0.0
    room.wait(90_000, every=3600)
    assert len(ended(room)) == done + 2, "each output is tested within a day of the right time"


@pytest.mark.parametrize("hours", [-3, 3])
def test_no_siren_is_tested_in_between_because_the_clock_was_set_by_hours(hours: int) -> None:
    room = watching(plan(-3 * 3600 - 600))  # passed some hours ago, by every clock of this test
    room.skew_s = hours * 3600.0
    room.wait(3700, every=600)
    room.skew_s = 0.0
    room.wait(7300, every=600)
    assert ended(room) == []
