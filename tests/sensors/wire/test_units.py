"""Units to %LEL of the reference, against the definition."""

import pytest

from sensors.wire.units import Basis, UnitOfValue, reference_lel_pct_per


@pytest.mark.parametrize(
    ("unit", "basis", "per"),
    [
        (UnitOfValue.LEL_PCT, Basis(1.4, 1.4), 1.0),
        (UnitOfValue.LEL_PCT, Basis(1.7, 1.4), 1.7 / 1.4),
        (UnitOfValue.LEL_PCT, Basis(None, 1.4), 1.5),  # unknown: the highest basis, so that it over-reads
        (UnitOfValue.LEL_PCT, Basis(1.4, 1.4, 1.62), 1.62),
        (UnitOfValue.PPM, Basis(2.1, 1.4), 1 / 140),  # 1.4 %vol is 14,000 ppm; the head's basis plays no part
        (UnitOfValue.VOL_PCT, Basis(None, 1.4), 100 / 1.4),
    ],
)
def test_units_become_pct_lel_of_the_reference(unit, basis, per):
    assert reference_lel_pct_per(unit, basis) == pytest.approx(per)
