"""The nouns of the law: a statute, and what it asks of gas detection. Knows no file and not what day it is."""

from dataclasses import dataclass
from datetime import date
from enum import Enum


class StatuteKind(Enum):
    """What binds about a pack of rules."""

    STATUTE = "statute"
    REFERENCE = "reference"
    HOUSE = "house"


@dataclass(frozen=True, slots=True)
class Detection:
    """What one clause asks of gas detection. A None is silence of the clause, not a zero.

    Attributes:
        clause: where it stands, as the statute numbers it.
        set_point_lel_pct: the highest first set-point it allows, %LEL.
        within_s: the longest time from gas at the detector to the alarm, seconds.
        above_kg: it binds storage areas of more than this many nominal kg of LPG; 0 binds all.
    """

    clause: str
    set_point_lel_pct: float | None
    within_s: float | None
    above_kg: float

    def binds(self, licensed_kg: float) -> bool:
        """Tell whether an area licensed for this many kg falls under the clause."""
        return licensed_kg > self.above_kg or self.above_kg == 0


@dataclass(frozen=True, slots=True)
class Statute:
    """One statute, technical reference or house rule.

    Attributes:
        in_force_from: first day in force; None for a house rule, which holds always.
        detection: None where the text has no clause on gas detection.
    """

    id: str
    title: str
    citation: str
    kind: StatuteKind
    in_force_from: date | None
    detection: Detection | None
