"""The ISA-18.2 table plus latch: every transition an alarm can make stands here and nowhere else."""

from enum import Enum

from alerts.alarms import Kind, Phase


class Trigger(Enum):
    """What can move an alarm from one phase to another."""

    RAISE = "raise"
    RISE = "rise"
    CLEAR = "clear"
    ACKNOWLEDGE = "acknowledge"
    RESET = "reset"
    END = "end"  # the drill is over: what was played leaves no alarm behind


LATCHING = frozenset({Kind.GAS})
"""Kinds that stay until a person resets them: a catalytic head flooded past its range falls back to zero."""

TABLE: dict[tuple[Phase, Trigger], Phase] = {
    (Phase.NORMAL, Trigger.RAISE): Phase.UNACKNOWLEDGED,
    (Phase.UNACKNOWLEDGED, Trigger.RISE): Phase.UNACKNOWLEDGED,
    (Phase.UNACKNOWLEDGED, Trigger.ACKNOWLEDGE): Phase.ACKNOWLEDGED,
    (Phase.UNACKNOWLEDGED, Trigger.CLEAR): Phase.RETURNED_UNACKNOWLEDGED,
    (Phase.ACKNOWLEDGED, Trigger.RISE): Phase.UNACKNOWLEDGED,
    (Phase.ACKNOWLEDGED, Trigger.CLEAR): Phase.NORMAL,
    (Phase.RETURNED_UNACKNOWLEDGED, Trigger.RAISE): Phase.UNACKNOWLEDGED,
    (Phase.RETURNED_UNACKNOWLEDGED, Trigger.ACKNOWLEDGE): Phase.NORMAL,
    (Phase.LATCHED_UNACKNOWLEDGED, Trigger.RAISE): Phase.UNACKNOWLEDGED,
    (Phase.LATCHED_UNACKNOWLEDGED, Trigger.ACKNOWLEDGE): Phase.LATCHED_ACKNOWLEDGED,
    (Phase.LATCHED_ACKNOWLEDGED, Trigger.RAISE): Phase.UNACKNOWLEDGED,
    (Phase.LATCHED_ACKNOWLEDGED, Trigger.RESET): Phase.NORMAL,
}

LATCHED_CLEAR: dict[Phase, Phase] = {
    Phase.UNACKNOWLEDGED: Phase.LATCHED_UNACKNOWLEDGED,
    Phase.ACKNOWLEDGED: Phase.LATCHED_ACKNOWLEDGED,
}
"""Where CLEAR leads when the alarm latches, in place of the rows above."""

UNACKNOWLEDGED = frozenset({Phase.UNACKNOWLEDGED, Phase.RETURNED_UNACKNOWLEDGED, Phase.LATCHED_UNACKNOWLEDGED})
"""Phases in which a person has yet to take the alarm."""

HORN = frozenset({Phase.UNACKNOWLEDGED, Phase.LATCHED_UNACKNOWLEDGED})
"""Phases in which the horn sounds: D flashes without it, E sounds as B does."""


def step(phase: Phase, trigger: Trigger, *, latching: bool) -> Phase | None:
    """Return the phase after `trigger`, or None where the table has no such move."""
    if trigger is Trigger.END:
        return Phase.NORMAL
    if trigger is Trigger.CLEAR and latching:
        return LATCHED_CLEAR.get(phase)
    return TABLE.get((phase, trigger))
