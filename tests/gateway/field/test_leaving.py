"""What becomes of an output that new orders no longer name: at rest where that is safe, and never without a word."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from depot_text import BASE, loaded, replaced

from alerts.alarms import Kind, Phase
from alerts.channels.output import LocalOutput
from alerts.effects import OutputKind, Row, stays_when_left, usual
from alerts.messages.guidance import guidance
from alerts.messages.place import Place
from alerts.messages.standing import StandingAlarm
from alerts.messages.words import standing
from gateway.depot import Depot
from gateway.engine.events import Action, Left
from gateway.engine.orders import Watch
from gateway.field.leaving import LEAVE_S, leaving, let_go
from gateway.machine.clock import SystemClock
from sensors.readings import DetectorId
from sensors.stamps import SECOND
from simulator.room import Room, orders

SIREN = '[[channel]]\nid = "sirene"\nkind = "siren"\nbus = "saidas"\nunit = 1\ncoil = 0\n'
VALVE = '[[channel]]\nid = "valvula"\nkind = "valve"\nbus = "saidas"\nunit = 1\ncoil = 4\nenergised = "normal"\n'
TOPICS = 'mqtt = { command = { topic = "a/set", on = "1", off = "0" }, confirm = { topic = "a" } }'


def depot(folder: Path, text: str = BASE) -> Depot:
    return loaded(folder, text).depot


def gone(folder: Path, before: str, after: str) -> dict[str, str]:
    return {output.id: place for output, place in leaving(depot(folder, before), depot(folder, after))}


# --- which ones leave ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("coil = 0", "coil = 1"),
        ("unit = 1\ncoil = 0", "unit = 2\ncoil = 0"),
        ("port = 5021", "port = 5022"),
        (SIREN, ""),
        ('bus = "saidas"\nunit = 1\ncoil = 0', TOPICS),
    ],
)
def test_an_output_whose_address_or_board_changed_leaves_its_old_switch(tmp_path: Path, old: str, new: str) -> None:
    assert gone(tmp_path, BASE, replaced(old, new)) == {"sirene": "127.0.0.1:5021, unit 1, coil 0"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('id = "sirene"', 'id = "sirene-do-portao"'),
        ('kind = "siren"', 'kind = "horn"'),
        ("coil = 0", 'coil = 0\nenergised = "normal"'),
    ],
)
def test_a_switch_that_is_named_anew_or_turned_round_leaves_nobody(tmp_path: Path, old: str, new: str) -> None:
    assert gone(tmp_path, BASE, replaced(old, new)) == {}


def test_a_line_of_another_name_at_the_same_address_is_the_same_board(tmp_path: Path) -> None:
    assert gone(tmp_path, BASE, BASE.replace('"saidas"', '"placa"')) == {}


def test_a_switch_behind_the_broker_is_told_from_others_by_its_broker_and_topic(tmp_path: Path) -> None:
    before = replaced('bus = "saidas"\nunit = 1\ncoil = 0', TOPICS)
    assert gone(tmp_path, before, before.replace('"a/set"', '"b/set"')) == {"sirene": "127.0.0.1:1883, a/set"}
    assert gone(tmp_path, before, before.replace('on = "1"', 'on = "ON"')) == {}


# --- how they are left -----------------------------------------------------------------------------


class Switch:
    """A switch on a wire that answers at once, or never."""

    def __init__(self, *, on: bool, answers: bool = True) -> None:
        self.on = on
        self.answers = answers
        self.told: list[bool] = []

    def allows(self, on: bool) -> bool:
        return on in (True, False)

    def write(self, on: bool, done: Any) -> None:
        self.told.append(on)
        if self.answers:
            self.on = on
            done(on, "")

    def read(self, done: Any) -> bool:
        if self.answers:
            done(self.on, "")
        return True


def let_go_of(folder: Path, *switches: Switch, asked: bool = True) -> tuple[tuple[Left, ...], float, list[Any]]:
    """Remove siren and valve, both on, from the file; return how they were left, after how long, and what they told."""
    before = depot(folder, BASE + VALVE)
    after = depot(folder, replaced(SIREN, ""))
    reports: list[Any] = []

    async def story() -> tuple[tuple[Left, ...], float]:
        outputs = {
            name: LocalOutput(name, switch, lambda *said: reports.append(said), SystemClock())
            for name, switch in zip(("sirene", "valvula"), switches, strict=True)
        }
        for output in outputs.values():
            output.set(True)
        reports.clear()
        began = asyncio.get_running_loop().time()
        left = await let_go(before, after, outputs, lambda _: asked)
        took = asyncio.get_running_loop().time() - began
        for output in outputs.values():
            output.set(True)  # gas comes in the last moment
            output.give_up()
        return left, took

    return *asyncio.run(story()), reports


@pytest.mark.measured
def test_a_siren_that_leaves_is_silenced_and_a_valve_that_gas_closed_stays_closed(tmp_path: Path) -> None:
    siren, valve = Switch(on=True), Switch(on=True)
    left, took, reports = let_go_of(tmp_path, siren, valve)
    assert siren.told == [True, False] and valve.told == [True]
    assert [(each.output, each.stays, each.on) for each in left] == [("sirene", False, False), ("valvula", True, True)]
    assert took < LEAVE_S and reports == [], "the engine hears nothing of it"


def test_a_valve_that_only_a_test_had_closed_is_opened_before_it_leaves(tmp_path: Path) -> None:
    siren, valve = Switch(on=True), Switch(on=True)
    left, _, _ = let_go_of(tmp_path, siren, valve, asked=False)
    assert valve.told == [True, False]
    assert [each.on for each in left] == [False, False]


@pytest.mark.parametrize("kind", OutputKind)
def test_what_acts_on_gas_stays_as_gas_has_it_and_what_tells_people_ends(kind: OutputKind) -> None:
    acts = kind in (OutputKind.VALVE, OutputKind.RELAY)
    assert stays_when_left(usual(kind.value), asked=True) is acts
    assert not stays_when_left(usual(kind.value), asked=False)


# --- what is said of it ----------------------------------------------------------------------------

ROWS: dict[str, Row] = {"sirene": usual("siren"), "valvula": usual("valve")}


def sounding() -> Room:
    watches = tuple(Watch(DetectorId(name), "patio", "bus", round(2.5 * SECOND)) for name in ("GD-1", "GD-2"))
    room = Room(orders(watches=watches, outputs=ROWS, counting=frozenset()))
    for lel in (0.0, 60.0, 60.0):
        room.wait(0.5, clean=("GD-2",))
        room.read("GD-1", lel)
    room.wait(0.5, clean=("GD-2",))
    assert room.outputs["sirene"] and room.outputs["valvula"]
    return room


def siren_left(*, on: bool | None = False, asked: bool = True) -> Left:
    return Left("sirene", "siren", "10.0.0.9:502, unit 1, coil 0", asked=asked, stays=False, on=on)


VALVE_LEFT = Left("valvula", "valve", "10.0.0.9:502, unit 1, coil 4", asked=True, stays=True, on=True)


def follow(room: Room, rows: dict[str, Row], *left: Left) -> None:
    room._do(room.engine.reorder(orders("GD-1", "GD-2", outputs=rows), room.now(), left))


def said(room: Room, output: str) -> str | None:
    alarm = room.alarm(f"left-output:{output}", Kind.SYSTEM)
    return None if alarm is None or not alarm.present else alarm.reason


def test_a_siren_that_was_let_go_in_the_midst_of_gas_is_told_of_until_a_person_took_it() -> None:
    room = sounding()
    follow(room, {}, siren_left(), VALVE_LEFT)
    assert (said(room, "sirene"), said(room, "valvula")) == ("let-go", "left-on")
    entries = [entry.body for entry in room.entries if entry.kind == "output-left"]
    assert [(body["output"], body["stays"], body["on"]) for body in entries] == [
        ("sirene", False, False),
        ("valvula", True, True),
    ]
    room.wait(0.1)
    assert ("left-output:valvula", "raised") in room.told("dona", Kind.SYSTEM)
    follow(room, {})
    assert said(room, "valvula") == "left-on", "another reload says nothing of a valve that nobody went to"
    for output in ROWS:
        room.act(Action.ACKNOWLEDGE, f"left-output:{output}", Kind.SYSTEM)
        assert room.alarm(f"left-output:{output}", Kind.SYSTEM) is None
    room.wait(0.1)
    assert ("left-output:valvula", "cleared") not in room.told("dona", Kind.SYSTEM), "nobody knows that it is well"


@pytest.mark.parametrize("on", [True, None])
def test_a_board_that_does_not_confirm_that_it_went_off_is_told_of(on: bool | None) -> None:
    room = sounding()
    follow(room, {"valvula": ROWS["valvula"]}, siren_left(on=on, asked=False))
    assert said(room, "sirene") == "not-at-rest"


def test_what_left_at_rest_or_sounds_at_its_new_address_is_recorded_and_troubles_nobody() -> None:
    for left in (siren_left(asked=False), siren_left()):
        room = sounding()
        follow(room, ROWS if left.asked else {"valvula": ROWS["valvula"]}, left)
        assert said(room, "sirene") is None
        assert [entry.body["reason"] for entry in room.entries if entry.kind == "output-left"] == [""]


def test_what_was_read_at_the_old_address_proves_nothing_of_the_new_one() -> None:
    room = sounding()
    room.read_back = lambda output, _: None if output == "sirene" else True
    follow(room, ROWS, siren_left())
    states = dict(room.engine.outputs)
    assert states["sirene"].confirmed is None and states["valvula"].confirmed
    room.wait(3.0, clean=("GD-2",))
    alarm = room.alarm("output:sirene", Kind.SYSTEM)
    assert alarm is not None and alarm.reason == "no-read-back"


def test_a_restart_leaves_the_notice_to_be_taken() -> None:
    room = sounding()
    follow(room, {}, VALVE_LEFT)
    room.wait(0.1)
    again = room.crash(orders=orders("GD-1", "GD-2", outputs={}))
    alarm = again.alarm("left-output:valvula", Kind.SYSTEM)
    assert alarm is not None and alarm.phase is Phase.RETURNED_UNACKNOWLEDGED


@pytest.mark.parametrize(
    ("language", "where", "to_do"),
    [("pt-BR", "10.0.0.9:502, unit 1, coil 4", "solte-a à mão"), ("en", "10.0.0.9:502, unit 1, coil 4", "by hand")],
)
def test_the_words_say_which_switch_and_what_to_do(language: str, where: str, to_do: str) -> None:
    room = sounding()
    follow(room, {}, VALVE_LEFT)
    alarm = room.alarm("left-output:valvula", Kind.SYSTEM)
    assert alarm is not None
    stands = StandingAlarm.of(alarm, room.now())
    text = standing(stands, Place("Depósito Centro"), language)
    assert where in text and to_do in text and "…" not in text
    assert guidance(stands, language).next_action
