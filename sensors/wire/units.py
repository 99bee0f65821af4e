"""What a head's number counts, and what one of it is in %LEL of the depot's reference. Knows no wire."""

from dataclasses import dataclass
from enum import Enum

from sensors.gases import UNKNOWN_BASIS_VOL_PCT, lel_pct_from_ppm, lel_pct_from_vol_pct, rebased


@dataclass(frozen=True, slots=True)
class Basis:
    """What turns an installed head's number into %LEL of the depot's reference.

    Attributes:
        head_vol_pct: the LEL (%vol) the head was calibrated to; None where nobody knows, which over-reads on purpose.
        reference_vol_pct: the depot's reference LEL (%vol).
        factor: correction of this installed head, for example a methane-calibrated head on LPG.
    """

    head_vol_pct: float | None
    reference_vol_pct: float
    factor: float = 1.0


class UnitOfValue(Enum):
    """What a number counts. The last two become one of the first three through the installed head (`AnalogueHead`)."""

    LEL_PCT = "lel_pct"
    PPM = "ppm"
    VOL_PCT = "vol_pct"
    MILLIAMP = "milliamp"
    RANGE_PCT = "range_pct"


def reference_lel_pct_per(unit: UnitOfValue, basis: Basis) -> float:
    """%LEL of the reference basis for one `unit` of the head; every conversion is this one multiplication."""
    match unit:
        case UnitOfValue.LEL_PCT:
            head = UNKNOWN_BASIS_VOL_PCT if basis.head_vol_pct is None else basis.head_vol_pct
            return rebased(1.0, head, basis.reference_vol_pct) * basis.factor
        case UnitOfValue.PPM:
            return lel_pct_from_ppm(1.0, basis.reference_vol_pct) * basis.factor
        case UnitOfValue.VOL_PCT:
            return lel_pct_from_vol_pct(1.0, basis.reference_vol_pct) * basis.factor
        case UnitOfValue.MILLIAMP | UnitOfValue.RANGE_PCT:
            raise ValueError(f"{unit.value} is no gas until the head behind it is known")
