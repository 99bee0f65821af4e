"""The table of cause and effect, and how it is read from where an alarm stands."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.alarmbook import AlarmBook
from alerts.alarms import AlarmKey, AlarmState, Kind, Level
from alerts.effects import Does, Occasion, Row, asks, occasions, reading, usual
from sensors.readings import DetectorId, Quality, Reading, Status
from sensors.stamps import SECOND, Instant, Stamp, UtcNanos

GAS, BLIND = AlarmKey("GD-1", Kind.GAS), AlarmKey("GD-1", Kind.BLIND)
PLAIN = ("siren", "horn", "beacon", "relay")


def at(s: float) -> Stamp:
    return Stamp(Instant(round(s * SECOND)), UtcNanos(round(s * SECOND)))


def read(s: float, lel: float) -> Reading:
    return Reading(DetectorId("GD-1"), lel, None, Quality.GOOD, Status.MEASURING, None, at(s))


class Story:
    """One gas alarm and what happens to it, a second apart; and the same causes read in the table by memory."""

    def __init__(self) -> None:
        self.book = AlarmBook("depot", "b")
        self.s = 1.0
        self.memory: list[Occasion] = []
        self.muted_until = 0.0

    def now(self) -> Instant:
        return at(self.s).mono

    @property
    def alarm(self) -> AlarmState | None:
        return self.book.get(GAS)

    def happens(self, what: str) -> None:
        """Let it happen where the states allow it; `memory` keeps what did."""
        self.s += 1.0
        alarm, now = self.alarm, at(self.s)
        match what:
            case "raised" if alarm is None or not alarm.present:
                again = alarm is not None
                self.book.raise_(GAS, now, level=Level.A1, reading=read(self.s, 12.0))
                self.memory = [Occasion.RAISED, Occasion.RISEN] if again else [Occasion.RAISED]
            case "risen" if alarm is not None and alarm.present and alarm.level is Level.A1:
                self.book.rise(GAS, now, Level.A2, read(self.s, 25.0))
                self.memory = [*self._without_mute(), Occasion.RISEN]
            case "cleared" if alarm is not None and alarm.present:
                self.book.clear(GAS, now, read(self.s, 0.0))
                self.memory.append(Occasion.CLEARED)
            case "acknowledged" if self.book.acknowledge(GAS, now, "Ana", "") is not None:
                self.memory = [*self._without_mute(), Occasion.ACKNOWLEDGED]
            case "silenced" if self.book.silence(GAS, now, at(self.s + 120), "Ana", "") is not None:
                self.memory.append(Occasion.SILENCED)
                self.muted_until = self.s + 120
            case "reset" if self.book.reset(GAS, now, "Ana", "") is not None:
                self.memory = []
            case "later":
                self.s += 130
            case _:
                pass
        if self.s >= self.muted_until:
            self.memory = self._without_mute()

    def _without_mute(self) -> list[Occasion]:
        return [occasion for occasion in self.memory if occasion is not Occasion.SILENCED]

    def on(self, kind: str) -> bool:
        return self.alarm is not None and asks("x", usual(kind), self.alarm, "patio", self.now())


@given(st.lists(st.sampled_from(["raised", "risen", "cleared", "acknowledged", "silenced", "reset", "later"])))
def test_what_the_state_asks_for_is_what_the_causes_asked_for_one_after_the_other(causes: list[str]) -> None:
    story = Story()
    for cause in causes:
        story.happens(cause)
        for kind in PLAIN:
            assert story.on(kind) == reading(usual(kind), story.memory), (cause, kind)


def test_a_horn_is_silenced_for_its_level_only_and_a_beacon_stays_until_the_reset() -> None:
    story = Story()
    told = []
    for cause in ("raised", "acknowledged", "risen", "silenced", "later", "acknowledged", "cleared", "reset"):
        story.happens(cause)
        told.append((cause, story.on("horn"), story.on("beacon")))
    assert told == [
        ("raised", True, True),
        ("acknowledged", False, True),
        ("risen", True, True),
        ("silenced", False, True),
        ("later", True, True),
        ("acknowledged", False, True),
        ("cleared", False, True),
        ("reset", False, False),
    ]


def test_an_alarm_that_is_told_again_after_a_restart_of_its_gas_sounds_as_one_that_rose() -> None:
    story = Story()
    for cause in ("raised", "acknowledged", "cleared", "raised"):
        story.happens(cause)
    assert story.on("siren")


def gas(level: Level = Level.A2, **changes: object) -> AlarmState:
    book = AlarmBook("depot", "b")
    book.raise_(GAS, at(1), level=level, reading=read(1, 25.0))
    alarm = book.get(GAS)
    assert alarm is not None
    return replace(alarm, **changes)  # type: ignore[arg-type]


def asked(row: Row, alarm: AlarmState, area: str | None = "patio") -> bool:
    return asks("valvula", row, alarm, area, at(2).mono)


def test_a_costly_output_is_asked_for_only_by_the_alarms_that_hold_it() -> None:
    assert not asked(usual("valve"), gas(Level.A3))
    assert asked(usual("valve"), gas(Level.A2, holds=("valvula",)))
    assert not asked(usual("valve"), gas(Level.A2, holds=("outra",)))


def test_a_drill_moves_a_siren_and_never_a_valve() -> None:
    drill = gas(drill=True, holds=("valvula",))
    assert asked(usual("siren"), drill)
    assert not asked(usual("valve"), drill)


@pytest.mark.parametrize(("level", "on"), [(Level.A1, False), (Level.A2, True), (Level.A3, True)])
def test_gas_below_an_outputs_level_does_not_move_it(level: Level, on: bool) -> None:
    assert asked(replace(usual("relay"), level=Level.A2), gas(level)) is on


@pytest.mark.parametrize(("area", "on"), [("patio", True), ("fundos", False), (None, True)])
def test_an_alarm_of_another_area_does_not_move_it_and_one_of_an_unknown_area_does(area: str | None, on: bool) -> None:
    assert asked(replace(usual("siren"), areas=frozenset({"patio"})), gas(), area) is on


def test_a_blind_detector_moves_only_what_is_told_to_follow_it_and_only_while_it_is_blind() -> None:
    book = AlarmBook("depot", "b")
    book.raise_(BLIND, at(1), reason="timeout")
    blind, follower = book.get(BLIND), usual("relay", {Occasion.BLIND: Does.ON})
    assert blind is not None
    assert [asked(usual(kind), blind) for kind in (*PLAIN, "valve", "heartbeat")] == [False] * 6
    assert asked(follower, blind)
    assert not asked(usual("siren", {Occasion.BLIND: Does.ON}), _taken(book))
    assert asked(follower, _taken(book))
    book.clear(BLIND, at(3))
    gone = book.get(BLIND)
    assert gone is None or not asked(follower, gone)


def _taken(book: AlarmBook) -> AlarmState:
    book.acknowledge(BLIND, at(2), "Ana", "")
    alarm = book.get(BLIND)
    assert alarm is not None
    return alarm


def test_no_other_alarm_moves_an_output() -> None:
    book = AlarmBook("depot", "b")
    book.raise_(AlarmKey("journal", Kind.SYSTEM), at(1), reason="full")
    (alarm,) = book
    assert occasions(alarm, at(2).mono) == ()
    assert not any(asked(usual(kind), alarm) for kind in PLAIN)


def test_the_heartbeat_relay_follows_no_alarm() -> None:
    assert usual("heartbeat").held
    assert not asked(usual("heartbeat"), gas(Level.A3, holds=("valvula",)))
