"""What is asked means a moment of the calendar that people use, or is refused by name."""

from zoneinfo import ZoneInfo

import pytest

from compliance.registers.entries import Millis
from dashboards.office import Import
from gateway.office.asked import MomentError, day_of, from_sheet, moment
from gateway.office.forms import forms

ZONE = ZoneInfo("America/Sao_Paulo")
NOW = Millis(1_800_000_000_000)


@pytest.mark.parametrize(
    "text",
    ["9999-12-31", "0001-01-01", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+14:00", "1899-12-31", "2200-01-01"],
)
def test_a_day_beyond_what_anybody_means_is_refused(text: str) -> None:
    with pytest.raises(MomentError):
        moment(text, ZONE, NOW)


@pytest.mark.parametrize("text", ["9999-12-01", "0001-01-01"])
def test_so_is_a_month(text: str) -> None:
    with pytest.raises(MomentError):
        day_of(text)


@pytest.mark.parametrize("text", ["2028-02-29", "2018-11-04", "2019-02-16T23:30", "2026-12-31T23:59:59Z", "1996-08-12"])
def test_leap_days_the_old_summer_time_and_year_ends_are_days_as_others(text: str) -> None:
    assert moment(text, ZONE, NOW)


def brought(register: str, sheet: str) -> list[tuple[int, str, str]]:
    ask = Import(1, "Ana", register, sheet.encode())
    _, problems = from_sheet(ask, forms()[register], ZONE, NOW, lambda: "x")
    return [(problem.line, problem.problem, problem.right) for problem in problems]


def test_a_sheet_that_says_two_things_of_one_subject_is_refused_by_both_lines() -> None:
    head = "id;area;agent;charge_kg;present\n"
    assert brought("extinguisher", head + "E-1;patio;powder-bc;8;sim\nE-1;patio;powder-bc;9;sim\n") == [
        (3, "subject-twice", "2")
    ]
    assert brought("extinguisher", head + "E-1;patio;powder-bc;8;sim\nE-2;patio;powder-bc;9;sim\n") == []


def test_a_count_of_the_stock_has_as_many_lines_for_an_area_as_there_are_piles() -> None:
    head = "area;size_kg;state;units\n"
    assert brought("stock", head + "patio;P-13;cheio;8\npatio;P-13;vazio;3\n") == []
