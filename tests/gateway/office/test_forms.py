"""The registers' forms as people fill them in: what a month or a year alone means never favours whoever wrote it."""

from datetime import date

import pytest

from compliance.registers.cells import Alone, CellError
from compliance.registers.forms import Field, FieldType, checked, read
from gateway.office.forms import forms


def field(register: str, name: str) -> Field:
    found = forms()[register].field(name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("register", "name", "text", "means"),
    [
        ("container", "made_on", "2011", date(2011, 1, 1)),
        ("container", "requalified_on", "2016", date(2016, 1, 1)),
        ("container", "plate_until", "2026", date(2026, 12, 31)),
        ("extinguisher", "inspected_on", "03/2026", date(2026, 3, 1)),
        ("extinguisher", "charge_until", "03/2027", date(2027, 3, 31)),
    ],
)
def test_what_began_began_on_the_first_day_and_what_ends_ends_on_the_last(
    register: str, name: str, text: str, means: date
) -> None:
    assert read(field(register, name), text) == means


@pytest.mark.parametrize("name", ["received_on", "published_on", "paid_on", "final_on"])
def test_a_deadline_is_counted_from_a_day_and_never_from_a_month(name: str) -> None:
    with pytest.raises(CellError):
        read(field("notice", name), "03/2026")


def test_every_day_until_which_something_holds_has_a_year_beyond_which_it_is_a_slip() -> None:
    ends = [one for form in forms().values() for one in form.fields if one.name.endswith(("_until", "_by"))]
    assert all(one.years_ahead for one in ends if one.type is FieldType.DATE) and len(ends) >= len(("charge", "plate"))


@pytest.mark.parametrize(
    ("register", "name", "slip", "meant"),
    [
        ("area", "corridor_to_limits_m", "100", "1,00"),
        ("area", "walled_pct", "500", "50,0"),
        ("area", "roof_height_m", "250", "2,50"),
        ("area", "distance_drain_m", "750", "7,50"),
        ("opening", "width_m", "120", "1,20"),
        ("opening", "height_m", "210", "2,10"),
        ("depot", "property_opening_width_m", "150", "1,50"),
        ("extinguisher", "charge_kg", "1200", "12,00"),
    ],
)
def test_centimetres_and_lost_commas_do_not_pass_as_compliant(register: str, name: str, slip: str, meant: str) -> None:
    known = field(register, name)
    assert read(known, meant) is not None
    with pytest.raises(CellError, match="too-large"):
        checked(known, read(known, slip))


def test_only_what_ends_has_the_last_day_of_a_month() -> None:
    dates = [one for form in forms().values() for one in form.fields if one.type is FieldType.DATE]

    assert dates
    assert all(one.name.endswith("_until") for one in dates if one.alone is Alone.LAST)
    assert all(one.alone is Alone.LAST for one in dates if one.name.endswith("_until"))
