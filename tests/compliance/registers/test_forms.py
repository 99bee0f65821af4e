"""What a field may hold: nothing that cannot be meant, shown or kept, whoever sends it."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.registers.cells import CellError
from compliance.registers.forms import Field, FieldType, checked, from_json, to_json


@pytest.mark.parametrize("day", ["9999-12-31", "0001-01-01", "1899-12-31", "2200-01-01"])
def test_a_day_that_nobody_means_is_refused_from_programs_as_from_people(day: str) -> None:
    with pytest.raises(CellError):
        from_json(Field("until", FieldType.DATE), day)


@pytest.mark.parametrize("number", ["1e-999999", "1e300", "-1e300", "9" * 40, "0." + "1" * 40, 1e300, 10**30])
def test_a_number_of_no_size_of_this_world_is_refused(number: str | float) -> None:
    with pytest.raises(CellError):
        from_json(Field("kg", FieldType.NUMBER), number)


def test_a_whole_number_beyond_the_journals_is_refused() -> None:
    with pytest.raises(CellError):
        checked(Field("units", FieldType.INTEGER), 10**30)


@pytest.mark.parametrize("text", ["\x00", "a\x1b[31mb", "\u202egnp.exe", "\ud800", "a\x85b"])
def test_text_that_cannot_be_shown_as_it_is_is_refused(text: str) -> None:
    with pytest.raises(CellError):
        checked(Field("note", FieldType.TEXT), text)


def test_text_may_have_lines_accents_and_signs() -> None:
    for text in ("São José\n2ª linha\t", "=1+1", "≥ 5 €", "👍🏽 ok", "مرحبا"):
        assert checked(Field("note", FieldType.TEXT), text) == text


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_what_a_number_field_takes_is_short_as_text_and_comes_back(number: Decimal) -> None:
    field = Field("kg", FieldType.NUMBER)
    try:
        value = checked(field, number)
    except CellError:
        return
    text = to_json(value)
    assert isinstance(text, str)
    assert len(text) <= 30
    assert from_json(field, text) == number
