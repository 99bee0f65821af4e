"""The one table of alarm states, row by row and as a machine."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from alerts.alarms import Phase
from alerts.states import HORN, TABLE, UNACKNOWLEDGED, Trigger, step

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
