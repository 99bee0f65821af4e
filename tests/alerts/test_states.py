"""The one table of alarm states, row by row and as a machine."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from alerts.alarms import Kind, Phase, Suppression
from alerts.states import (
    HORN,
    NEVER_SUPPRESSED,
    SUPPRESSIONS,
    TABLE,
    UNACKNOWLEDGED,
    Trigger,
    step,
    suppress,
)

A, B, C, D, E, F = Phase


@pytest.mark.parametrize(
    ("phase", "trigger", "latching", "after"),
    [
        (A, Trigger.RAISE, True, B),
        (A, Trigger.ACKNOWLEDGE, True, None),
        (B, Trigger.ACKNOWLEDGE, True, C),
        (B, Trigger.CLEAR, True, E),
        (B, Trigger.CLEAR, False, D),
        (B, Trigger.RESET, True, None),
        (C, Trigger.RISE, True, B),
        (C, Trigger.CLEAR, True, F),
        (C, Trigger.CLEAR, False, A),
        (C, Trigger.ACKNOWLEDGE, True, None),
        (D, Trigger.ACKNOWLEDGE, False, A),
        (D, Trigger.RAISE, False, B),
        (E, Trigger.ACKNOWLEDGE, True, F),
        (E, Trigger.RESET, True, None),
        (E, Trigger.RAISE, True, B),
        (F, Trigger.RESET, True, A),
        (F, Trigger.RAISE, True, B),
    ],
)
def test_each_row_of_the_standard(phase: Phase, trigger: Trigger, latching: bool, after: Phase | None) -> None:
    assert step(phase, trigger, latching=latching) is after


def test_every_phase_can_be_left() -> None:
    assert {phase for phase, _ in TABLE} == set(Phase)


def test_nobody_is_asked_to_take_what_sounds_no_more() -> None:
    assert HORN < UNACKNOWLEDGED


@pytest.mark.parametrize("phase", list(Phase))
def test_the_end_of_a_drill_leaves_nothing_behind(phase: Phase) -> None:
    assert step(phase, Trigger.END, latching=True) is Phase.NORMAL


class LatchedAlarm(RuleBasedStateMachine):
    """A latching alarm under anything that may happen to it: no way to normal without both hands of a person."""

    def __init__(self) -> None:
        super().__init__()
        self.phase = Phase.NORMAL
        self.taken = self.gone = True

    @rule(trigger=st.sampled_from(sorted(set(Trigger) - {Trigger.END}, key=lambda trigger: trigger.value)))
    def happen(self, trigger: Trigger) -> None:
        after = step(self.phase, trigger, latching=True)
        if after is None:
            return
        if trigger in (Trigger.RAISE, Trigger.RISE):
            self.taken, self.gone = False, False
        if trigger is Trigger.ACKNOWLEDGE:
            self.taken = True
        if trigger is Trigger.CLEAR:
            self.gone = True
        if after is Phase.NORMAL:
            assert trigger is Trigger.RESET
            assert self.taken
            assert self.gone
        self.phase = after

    @invariant()
    def the_phase_says_whether_somebody_has_it(self) -> None:
        assert (self.phase in UNACKNOWLEDGED) is not self.taken


TestLatchedAlarm = LatchedAlarm.TestCase
TestLatchedAlarm.settings = settings(max_examples=60, deadline=None)


# --- suppression -----------------------------------------------------------------------------------

SHELF, DESIGN, OUT = Suppression
OF_SUPPRESSION = frozenset(trigger for _, trigger in SUPPRESSIONS)


@pytest.mark.parametrize(
    ("over", "trigger", "after"),
    [
        (None, Trigger.SHELVE, SHELF),
        (None, Trigger.SUPPRESS, DESIGN),
        (None, Trigger.TAKE_OUT, OUT),
        (SHELF, Trigger.SUPPRESS, DESIGN),
        (SHELF, Trigger.TAKE_OUT, OUT),
        (DESIGN, Trigger.TAKE_OUT, OUT),
    ],
)
def test_a_suppression_leaves_the_phase_as_it_is(over, trigger, after) -> None:
    for phase in Phase:
        assert suppress(Kind.BLIND, phase, over, trigger, present=True) == (phase, after)


@pytest.mark.parametrize(
    ("over", "trigger"),
    [(DESIGN, Trigger.SHELVE), (OUT, Trigger.SHELVE), (OUT, Trigger.SUPPRESS), (OUT, Trigger.UNSHELVE)],
)
def test_a_weaker_suppression_does_not_touch_a_stronger_one(over, trigger) -> None:
    assert suppress(Kind.BLIND, B, over, trigger, present=True) is None


@pytest.mark.parametrize("over", [SHELF, DESIGN, OUT])
@pytest.mark.parametrize("trigger", [Trigger.EXPIRE, Trigger.WORSEN])
def test_every_suppression_ends_by_its_time_and_when_it_gets_worse_and_alarms_anew(over, trigger) -> None:
    assert suppress(Kind.BLIND, C, over, trigger, present=True) == (B, None)
    assert suppress(Kind.BLIND, B, over, trigger, present=False) == (A, None)


def test_a_person_who_unshelves_has_the_alarm() -> None:
    assert suppress(Kind.SYSTEM, B, SHELF, Trigger.UNSHELVE, present=True) == (C, None)


@pytest.mark.parametrize("trigger", sorted(OF_SUPPRESSION, key=lambda trigger: trigger.value))
def test_nothing_ever_lies_over_gas(trigger: Trigger) -> None:
    assert Kind.GAS in NEVER_SUPPRESSED
    for phase in Phase:
        for over in (None, *Suppression):
            assert suppress(Kind.GAS, phase, over, trigger, present=True) is None


def test_a_trigger_moves_either_the_phase_or_the_suppression() -> None:
    assert OF_SUPPRESSION.isdisjoint({trigger for _, trigger in TABLE} | {Trigger.END})
    assert OF_SUPPRESSION | {trigger for _, trigger in TABLE} | {Trigger.END} == set(Trigger)


class QuietAlarm(RuleBasedStateMachine):
    """An alarm that can be suppressed, under anything: it never ends while present, and is never lost in silence."""

    def __init__(self) -> None:
        super().__init__()
        self.phase, self.over, self.present = Phase.NORMAL, None, False
        self.seen = True  # a person has taken it since its last raise that was told

    @rule(trigger=st.sampled_from(sorted(set(Trigger) - {Trigger.END, Trigger.RISE}, key=lambda one: one.value)))
    def happen(self, trigger: Trigger) -> None:
        if trigger is (Trigger.RAISE if self.present else Trigger.CLEAR):
            return  # a condition comes once and goes once
        if trigger in OF_SUPPRESSION:
            moved = suppress(Kind.BLIND, self.phase, self.over, trigger, present=self.present)
            if moved is None:
                return
            ended = self.over is not None and moved[1] is None
            self.phase, self.over = moved
            if ended and self.present:
                self.seen = trigger is Trigger.UNSHELVE
            return
        after = step(self.phase, trigger, latching=False)
        if after is None:
            return
        self.phase = after
        if trigger in (Trigger.RAISE, Trigger.CLEAR):
            self.present = trigger is Trigger.RAISE
        self.seen = trigger is Trigger.ACKNOWLEDGE or (self.seen and trigger is not Trigger.RAISE)

    @invariant()
    def what_is_present_is_in_no_normal_phase(self) -> None:
        assert not self.present or self.phase in (Phase.UNACKNOWLEDGED, Phase.ACKNOWLEDGED)

    @invariant()
    def nobody_is_said_to_have_what_nobody_took(self) -> None:
        if self.present and self.over is None:
            assert (self.phase is Phase.ACKNOWLEDGED) is self.seen

    @invariant()
    def every_suppression_can_end(self) -> None:
        if self.over is not None:
            assert suppress(Kind.BLIND, self.phase, self.over, Trigger.EXPIRE, present=self.present) is not None


TestQuietAlarm = QuietAlarm.TestCase
TestQuietAlarm.settings = settings(max_examples=80, deadline=None)
