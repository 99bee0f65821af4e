"""Cells as people write them. Covers B32 (29 February) and B62 (decimal comma)."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.registers.cells import (
    Alone,
    CellError,
    Marks,
    day,
    iso,
    iso_month,
    marks_of,
    number,
    shown,
    size,
    typed,
    whole,
    yes_or_no,
)
from compliance.registers.civil import add_months


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("9,99", "9.99"),
        ("1.234,56", "1234.56"),
        ("1,234.56", "1234.56"),
        ("10,5 %", "10.5"),
        ("12 kg", "12"),
        (" 7 ", "7"),
        ("-0,5", "-0.5"),
        ("R$ 8,30", "8.30"),
        ("1.234.567", "1234567"),
    ],
)
def test_b62_a_number_is_read_as_its_writer_meant_it(cell: str, value: str) -> None:
    assert number(cell) == Decimal(value)


@pytest.mark.parametrize("cell", ["1.234", "1,234", "1e3", "NaN", "inf", "", "12 13", "1,2,3", "--5", "٣"])
def test_b62_what_could_be_two_numbers_or_none_is_refused(cell: str) -> None:
    with pytest.raises(CellError):
        number(cell)


def test_b62_a_declared_style_settles_what_luck_would() -> None:
    assert number("1.234", Marks.COMMA) == 1234
    assert number("1.234", Marks.POINT) == Decimal("1.234")
    with pytest.raises(CellError):
        number("1.234,56", Marks.POINT)


def test_b62_one_column_keeps_one_style() -> None:
    assert marks_of(["1.234", "9,5", "12"]) is Marks.COMMA
    assert marks_of(["12", "13"]) is None
    with pytest.raises(CellError, match="mixed-decimal-marks"):
        marks_of(["9,5", "9.5"])


@given(st.decimals(min_value=-100000, max_value=100000, places=2))
def test_a_number_survives_being_written_with_a_comma(value: Decimal) -> None:
    text = str(value).replace(".", ",")
    assert number(text, Marks.COMMA) == value


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("31/07/2026", date(2026, 7, 31)),
        ("1/2/2026", date(2026, 2, 1)),
        ("2026-07-31", date(2026, 7, 31)),
    ],
)
def test_a_date_is_read_day_first(cell: str, expected: date) -> None:
    assert day(cell) == day(cell, Alone.FIRST) == day(cell, Alone.LAST) == expected


@pytest.mark.parametrize(
    ("cell", "first", "last"),
    [
        ("07/2026", date(2026, 7, 1), date(2026, 7, 31)),
        ("02/2028", date(2028, 2, 1), date(2028, 2, 29)),
        ("2026-02", date(2026, 2, 1), date(2026, 2, 28)),
        ("2026", date(2026, 1, 1), date(2026, 12, 31)),
    ],
)
def test_a_month_or_a_year_alone_begins_what_began_and_ends_what_ends(cell: str, first: date, last: date) -> None:
    assert day(cell, Alone.FIRST) == first
    assert day(cell, Alone.LAST) == last
    with pytest.raises(CellError, match="not-a-date"):
        day(cell)


@pytest.mark.parametrize("cell", ["31/02/2026", "13/2026", "29/02/2026", "1/1/26", "hoje", "", "00/2026", "0000"])
def test_no_such_day_is_refused(cell: str) -> None:
    for alone in (None, Alone.FIRST, Alone.LAST):
        with pytest.raises(CellError):
            day(cell, alone)


def test_b32_a_year_after_29_february_is_28_february() -> None:
    assert add_months(date(2028, 2, 29), 12) == date(2029, 2, 28)
    assert add_months(date(2028, 2, 29), 48) == date(2032, 2, 29)
    assert add_months(date(2027, 1, 31), 1) == date(2027, 2, 28)
    assert add_months(date(2028, 1, 31), 1) == date(2028, 2, 29)
    assert add_months(date(2026, 1, 31), -2) == date(2025, 11, 30)


@given(st.dates(date(1950, 1, 1), date(2150, 1, 1)), st.integers(-240, 240))
def test_b32_months_never_raise_and_land_in_the_right_month(start: date, months: int) -> None:
    found = add_months(start, months)
    assert (found.year * 12 + found.month) - (start.year * 12 + start.month) == months
    assert found.day <= start.day


def test_yes_no_whole_numbers_and_sizes_are_read_in_portuguese() -> None:
    assert yes_or_no("Sim") and not yes_or_no("NÃO")
    assert whole("12 un") == 12
    assert [size(cell) for cell in ("P-13", "p45", "13", "13 kg")] == [13, 45, 13, 13]
    for wrong in ("talvez", ""):
        with pytest.raises(CellError):
            yes_or_no(wrong)
    with pytest.raises(CellError, match="not-whole"):
        whole("1,5")


@pytest.mark.parametrize(
    ("text", "got", "right"),
    [
        ("EXT\u200b-1", "EXT[U+200B]-1", "EXT-1"),
        ("Ana\u00ad Souza", "Ana[U+00AD] Souza", "Ana Souza"),
        ("E\u202e1", "E[U+202E]1", "E1"),
        ("Azul\u3164", "Azul[U+3164]", "Azul"),
        ("\ufeffalvara", "[U+FEFF]alvara", "alvara"),
        ("a\x1b[31m", "a[U+001B][31m", "a[31m"),
        ("\u2060", "[U+2060]", "EXT-07"),
    ],
)
def test_what_nobody_can_see_is_refused_with_its_place_and_the_text_without_it(text: str, got: str, right: str) -> None:
    for prose in (False, True):
        with pytest.raises(CellError) as refused:
            shown(text, prose=prose)
        assert (refused.value.problem, refused.value.got, refused.value.right) == ("unprintable", got, right)


def test_a_note_may_have_lines_and_the_pictures_that_phones_write() -> None:
    note = "Válvula trocada \u2714\ufe0f\npor \U0001f468\u200d\U0001f527"
    assert shown(note, prose=True) == note
    with pytest.raises(CellError):
        shown(note)


@given(st.text(st.characters(categories=["L", "N", "P", "Zs"]), max_size=30))
def test_names_that_look_alike_are_one(name: str) -> None:
    assert typed(typed(name)) == typed(name) == typed(f"\u00a0{name.replace(' ', '  ')}\t")
    assert typed("A\u0301rea  07") == "Área 07"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("01/11/2026", "2026-11-01"),
        ("1.2.2026", "2026-02-01"),
        ("01/11/2026 14:30", "2026-11-01T14:30"),
        ("01/11/2026T8:05", "2026-11-01T08:05"),
        ("01/11/2026 08:05:09", "2026-11-01T08:05:09"),
        ("2026-11-01", "2026-11-01"),
        ("31/13/2026", "2026-13-31"),
        ("11/2026", "11/2026"),
        ("amanhã", "amanhã"),
    ],
)
def test_a_time_as_people_here_write_it_is_one_of_iso_8601(text: str, meant: str) -> None:
    assert iso(text) == meant
    assert iso_month("11/2026") == iso_month("2026-11") == "2026-11"
