"""The ISA-18.2 table plus latch and suppression: every transition an alarm can make stands here and nowhere else."""

from enum import Enum

from alerts.alarms import Kind, Phase, Suppression


class Trigger(Enum):
    """What can move an alarm from one phase to another, or lay a suppression over it and take it off again."""

    RAISE = "raise"
    RISE = "rise"
    CLEAR = "clear"
    ACKNOWLEDGE = "acknowledge"
    RESET = "reset"
    END = "end"  # the drill is over: what was played leaves no alarm behind
    SHELVE = "shelve"  # by a person, for a while
    UNSHELVE = "unshelve"  # by a person, before the time is up
    SUPPRESS = "suppress"  # a configured rule begins to hold
    UNSUPPRESS = "unsuppress"  # it holds no longer
    TAKE_OUT = "take-out"  # a person takes the detector out of service
    RETURN = "return"  # and brings it back
    EXPIRE = "expire"  # the suppression's own end has come
    WORSEN = "worsen"  # gas at A1 or above, or a higher level: no suppression outlasts it


LATCHING = frozenset({Kind.GAS})
"""Kinds that stay until a person resets them: a catalytic head flooded past its range falls back to zero."""

NEVER_SUPPRESSED = frozenset({Kind.GAS})
"""Kinds over which no suppression can ever lie: A1 and above is never shelved."""

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

SUPPRESSIONS: dict[tuple[Suppression | None, Trigger], Suppression | None] = {
    (None, Trigger.SHELVE): Suppression.SHELVED,
    (None, Trigger.SUPPRESS): Suppression.BY_DESIGN,
    (None, Trigger.TAKE_OUT): Suppression.OUT_OF_SERVICE,
    (Suppression.SHELVED, Trigger.SUPPRESS): Suppression.BY_DESIGN,
    (Suppression.SHELVED, Trigger.TAKE_OUT): Suppression.OUT_OF_SERVICE,
    (Suppression.SHELVED, Trigger.UNSHELVE): None,
    (Suppression.SHELVED, Trigger.EXPIRE): None,
    (Suppression.SHELVED, Trigger.WORSEN): None,
    (Suppression.BY_DESIGN, Trigger.TAKE_OUT): Suppression.OUT_OF_SERVICE,
    (Suppression.BY_DESIGN, Trigger.UNSUPPRESS): None,
    (Suppression.BY_DESIGN, Trigger.EXPIRE): None,
    (Suppression.BY_DESIGN, Trigger.WORSEN): None,
    (Suppression.OUT_OF_SERVICE, Trigger.RETURN): None,
    (Suppression.OUT_OF_SERVICE, Trigger.EXPIRE): None,
    (Suppression.OUT_OF_SERVICE, Trigger.WORSEN): None,
}
"""What lies over an alarm after a trigger, whatever its phase. A stronger one replaces a weaker one for good."""

SEEN_BY_A_PERSON = frozenset({Trigger.UNSHELVE})
"""Ends of a suppression after which a standing condition counts as taken; after all others it alarms anew."""

UNACKNOWLEDGED = frozenset({Phase.UNACKNOWLEDGED, Phase.RETURNED_UNACKNOWLEDGED, Phase.LATCHED_UNACKNOWLEDGED})
"""Phases in which a person has yet to take the alarm."""

HORN = frozenset({Phase.UNACKNOWLEDGED, Phase.LATCHED_UNACKNOWLEDGED})
"""Phases in which the horn sounds: D flashes without it, E sounds as B does."""

QUIET = frozenset({Suppression.SHELVED, Suppression.BY_DESIGN})
"""Suppressions under which nothing of the alarm is told. Out of service is told when it begins and ends."""


def step(phase: Phase, trigger: Trigger, *, latching: bool) -> Phase | None:
    """Return the phase after `trigger`, or None where the table has no such move."""
    if trigger is Trigger.END:
        return Phase.NORMAL
    if trigger is Trigger.CLEAR and latching:
        return LATCHED_CLEAR.get(phase)
    return TABLE.get((phase, trigger))


def suppress(
    kind: Kind, phase: Phase, over: Suppression | None, trigger: Trigger, *, present: bool
) -> tuple[Phase, Suppression | None] | None:
    """Return the phase and what lies over it after `trigger`, or None where there is no such move.

    The phase goes on underneath. When a suppression ends, a condition that holds (`present`) alarms anew, or counts
    as taken where a person ended it; one that has gone leaves nothing.
    """
    if kind in NEVER_SUPPRESSED or (over, trigger) not in SUPPRESSIONS:
        return None
    after = SUPPRESSIONS[over, trigger]
    if after is not None:
        return phase, after
    if not present:
        return Phase.NORMAL, None
    return (Phase.ACKNOWLEDGED if trigger in SEEN_BY_A_PERSON else Phase.UNACKNOWLEDGED), None
