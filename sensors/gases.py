"""Flammable limits and the conversions between %LEL, ppm and %vol. Knows nothing of wires or alarms."""

from typing import Final

PROPANE_LEL_VOL_PCT: Final = 1.7
"""Lower explosive limit of propane in air, by IEC 60079-20-1:2010."""

UNKNOWN_BASIS_VOL_PCT: Final = 2.1
"""Taken for a %LEL head whose basis nobody knows: the highest published one (NFPA 497:2008), so that it over-reads."""


def lel_pct_from_vol_pct(vol_pct: float, basis_vol_pct: float) -> float:
    """%vol of gas -> %LEL of the given basis (%vol)."""
    return vol_pct / basis_vol_pct * 100.0


def lel_pct_from_ppm(ppm: float, basis_vol_pct: float) -> float:
    """Ppm of gas -> %LEL of the given basis (%vol); 1 %vol is 10,000 ppm."""
    return lel_pct_from_vol_pct(ppm / 10_000.0, basis_vol_pct)


def rebased(lel_pct: float, head_basis_vol_pct: float, reference_vol_pct: float) -> float:
    """%LEL of a head's own basis -> %LEL of the depot's reference basis."""
    return lel_pct * head_basis_vol_pct / reference_vol_pct
