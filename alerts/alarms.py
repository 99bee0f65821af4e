"""The nouns of alarming: what an alarm is, where it stands, what happened to it, and who must be told."""

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import NewType

from sensors.readings import Reading
from sensors.stamps import Stamp

EventId = NewType("EventId", str)
"""``<depot>-<boot nonce>-<seq>``: the same on every repeat of a notice, never used twice."""


class Kind(Enum):
    """What an alarm is about."""

    GAS = "GAS"
    BLIND = "BLIND"
    SYSTEM = "SYSTEM"
    COMPLIANCE = "COMPLIANCE"


class Level(IntEnum):
    """Gas alarm levels; a higher one is worse."""

    A1 = 1
    A2 = 2
    A3 = 3


class Phase(Enum):
    """The six core states of ISA-18.2, latch included (letters of the standard's diagram: A to F)."""

    NORMAL = "normal"  # A
    UNACKNOWLEDGED = "unacknowledged"  # B
    ACKNOWLEDGED = "acknowledged"  # C
    RETURNED_UNACKNOWLEDGED = "returned-unacknowledged"  # D
    LATCHED_UNACKNOWLEDGED = "latched-unacknowledged"  # E
    LATCHED_ACKNOWLEDGED = "latched-acknowledged"  # F


class Suppression(Enum):
    """Why an alarm is kept quiet while its condition is followed underneath (letters G, H and I of the standard)."""

    SHELVED = "shelved"  # G: a person set it aside for a while
    BY_DESIGN = "by-design"  # H: a configured rule says that it tells nothing now
    OUT_OF_SERVICE = "out-of-service"  # I: a person took the detector out of the watch


class Cause(Enum):
    """What happened to an alarm. SILENCED is recorded but not sent out; the others are."""

    RAISED = "raised"
    RISEN = "risen"
    CLEARED = "cleared"
    ACKNOWLEDGED = "acknowledged"
    RESET = "reset"
    STILL = "still"
    SILENCED = "silenced"
    SHELVED = "shelved"
    UNSHELVED = "unshelved"
    SUPPRESSED = "suppressed"
    UNSUPPRESSED = "unsuppressed"


@dataclass(frozen=True, slots=True)
class AlarmKey:
    """One alarm: a subject (detector, bus, channel, ``journal`` ...) and what it is about."""

    subject: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Suppressed:
    """What keeps an alarm quiet: what it is, whose doing, why, since when, and when it ends by itself.

    `by` is None where the name was erased or never known.
    """

    what: Suppression
    by: str | None
    why: str
    since: Stamp
    until: Stamp


@dataclass(frozen=True, slots=True)
class AlarmState:
    """Where one alarm stands now.

    Attributes:
        id: the id of the event that raised this occurrence.
        seq: number of the event that last raised it or made it rise: what a person has seen when they act on it.
        level: the highest level reached in this occurrence; None unless GAS.
        present: whether the condition itself holds now.
        since, sampled, decided: when raised; the sample that raised it; when the engine decided.
        first_output: when the first counting output took the raise or the latest rise; None until then.
        peak: highest %LEL (reference basis) seen in this occurrence; None unless GAS.
        annunciated: when it was last raised or last rose: escalation counts from here.
        ended: when its condition went; None while it holds.
        muted_until: the horn is silenced until then; None when it may sound.
        until: when a window that a person opened over a head ends by itself; None but for such a window.
        opened_by: who opened that window; None but for such a window.
        drill: gas that a person announced in a test window: told and sounded as a drill, gone with the window.
        told: recipients that escalation has called in; they hear the rest of this occurrence too.
        reason: a short code for the cause (``timeout``, ``fault`` ...), for words and grouping.
        detail: what the code needs to be understood (an output, a reason, a count ...); free of persons' names.
        suppressed: what keeps it quiet; None while nothing does. Such an alarm stands in any phase, normal included.
        holds: costly outputs that were begun for it; they stay until it is reset.
        over_range: its head passed its range in this occurrence. A flooded head falls back to low values, so these
            prove nothing until a person has taken the alarm.
    """

    key: AlarmKey
    id: EventId
    phase: Phase
    level: Level | None
    present: bool
    since: Stamp
    sampled: Stamp
    decided: Stamp
    first_output: Stamp | None
    peak: float | None
    lel_pct: float | None
    quality: str
    muted_until: Stamp | None
    acknowledged_by: str | None
    reason: str
    detail: str
    annunciated: Stamp
    ended: Stamp | None = None
    told: tuple[str, ...] = ()
    seq: int = 0
    until: Stamp | None = None
    drill: bool = False
    opened_by: str | None = None
    suppressed: Suppressed | None = None
    holds: tuple[str, ...] = ()
    over_range: bool = False

    @property
    def latched(self) -> bool:
        """The condition has gone, the alarm is held until a person resets it."""
        return self.phase in (Phase.LATCHED_UNACKNOWLEDGED, Phase.LATCHED_ACKNOWLEDGED)

    @property
    def unchecked(self) -> bool:
        """Low values prove nothing yet: its head passed its range, and nobody has taken the alarm since."""
        return self.over_range and self.present and self.phase is Phase.UNACKNOWLEDGED

    @property
    def suppression(self) -> Suppression | None:
        """What kind of suppression lies over it, if any."""
        return None if self.suppressed is None else self.suppressed.what


@dataclass(frozen=True, slots=True)
class AlarmEvent:
    """One thing that happened to one alarm.

    Attributes:
        seq: counts up without a gap in one depot, across restarts.
        before, after: the alarm's phases around the event.
        reading: what was read, for GAS and BLIND; None otherwise.
        at: when the engine decided.
        sampled: when the value that caused it was taken (equal to `at` where no value did).
        by: the person who acted; None for the gateway itself.
        subjects: the detectors that one grouped notice covers; empty for a notice about its own subject.
        suppressed: what keeps the alarm quiet after the event.
        over_range: the head passed its range in this occurrence (`AlarmState`).
    """

    seq: int
    id: EventId
    key: AlarmKey
    cause: Cause
    before: Phase
    after: Phase
    level: Level | None
    reading: Reading | None
    lel_pct: float | None
    peak: float | None
    since: Stamp
    sampled: Stamp
    at: Stamp
    by: str | None = None
    note: str = ""
    reason: str = ""
    detail: str = ""
    subjects: tuple[str, ...] = ()
    drill: bool = False
    suppressed: Suppressed | None = None
    over_range: bool = False


class Verdict(Enum):
    """A channel's answer to one attempt."""

    ACCEPTED = "accepted"
    RETRY = "retry"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one attempt ended, and why. `reason` is a short text for the record: ``HTTP 503``, ``timeout`` ..."""

    verdict: Verdict
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One event owed to one recipient through one channel.

    Attributes:
        id: ``<event id>:<channel>:<recipient>``, the idempotency key of every attempt.
        attempt: 1 for the first.
    """

    id: str
    event: EventId
    recipient: str
    channel: str
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Notice:
    """What a channel is asked to hand over: one attempt of one delivery, with its event.

    Attributes:
        recorded: False when the journal had not confirmed the event 200 ms after it was decided.
        text: ready words for a person, in the depot's language.
        area_name, detector_name: as people call them; empty for what is in no area, and no detector.
    """

    delivery: Delivery
    event: AlarmEvent
    depot: str
    area: str
    recorded: bool
    text: str
    area_name: str = ""
    detector_name: str = ""
