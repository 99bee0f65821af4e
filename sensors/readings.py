"""What a detector said in one scan, how far to trust it, and when it was taken."""

from dataclasses import dataclass
from enum import Enum
from typing import NewType

import msgspec

from sensors.stamps import Stamp

DetectorId = NewType("DetectorId", str)


class Quality(Enum):
    """How far a reading may be trusted; BAD never clears an alarm."""

    GOOD = "good"
    UNCERTAIN = "uncertain"
    BAD = "bad"


class Status(Enum):
    """What the head is doing, whatever number it shows."""

    MEASURING = "measuring"
    WARM_UP = "warm-up"
    INHIBITED = "inhibited"
    CALIBRATING = "calibrating"
    FAULT = "fault"
    OVER_RANGE = "over-range"
    UNDER_RANGE = "under-range"
    NO_CONTACT = "no-contact"
    STALE = "stale"
    FROZEN = "frozen"


class Reading(msgspec.Struct, frozen=True, gc=False):
    """One detector, one scan.

    Attributes:
        lel_pct: %LEL of the depot's reference basis; None when the head gave no number.
        at_least: a lower bound in %LEL where the head gives no number but a fact (a boolean head, over-range).
        raw: the register or payload value before scaling, for the eye; None without an answer.
        reason: a short code for what made the quality less than GOOD (``timeout``, ``exception-2``, ``sentinel`` ...).
    """

    detector: DetectorId
    lel_pct: float | None
    at_least: float | None
    quality: Quality
    status: Status
    raw: float | str | None
    taken: Stamp
    reason: str = ""

    def gas(self) -> float | None:
        """The %LEL to hold against the set-points: the number, or the bound where it is higher; None if neither."""
        if self.at_least is None:
            return self.lel_pct
        if self.lel_pct is None:
            return self.at_least
        return max(self.lel_pct, self.at_least)


class Scan(msgspec.Struct, frozen=True, gc=False):
    """What one source said at one moment: exactly one reading per detector it asked, silence included.

    Attributes:
        source: the bus id or ``mqtt``.
        taken: when the answer arrived, shared by all its readings.
    """

    source: str
    readings: tuple[Reading, ...]
    taken: Stamp


@dataclass(frozen=True, slots=True)
class LinkChange:
    """A source's line came up or went down (connection refused, reset, or mute as a whole)."""

    source: str
    up: bool
    reason: str
    at: Stamp
