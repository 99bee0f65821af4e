"""What is asked means a moment of the calendar that people use, or is refused by name."""

import contextlib
from datetime import date
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.registers.entries import Millis
from dashboards.office import Enter, Import, LineAsk
from gateway.office.asked import MomentError, day_of, end_of, from_lines, from_sheet, moment, until
from gateway.office.forms import forms
from gateway.office.refusals import said

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


@pytest.mark.parametrize("text", ["01/11/2026", "01/11/2026 08:30", "2026-11-01T08:30"])
def test_a_day_and_a_time_may_be_written_as_people_here_do(text: str) -> None:
    assert moment(text, ZONE, NOW) == moment("2026-11-01T08:30" if ":" in text else "2026-11-01", ZONE, NOW)


def test_a_refused_cell_is_named_by_its_field_and_says_choices_in_words() -> None:
    sheet = "id;Área;Agente;Carga (kg);No lugar\nE-1;patio;espuma química;8;sim\n"
    ask = Import(1, "Ana", "extinguisher", sheet.encode())
    _, (problem,) = from_sheet(ask, forms()["extinguisher"], ZONE, NOW, lambda: "x")
    assert (problem.line, problem.field) == (2, "agent")
    assert said(problem, forms())["pt-BR"].startswith("Agente: espuma química não existe; use um destes: pó BC, pó ABC")


def test_a_sheet_of_the_stock_is_a_count_and_has_no_column_for_where_to() -> None:
    assert brought("stock", "Área;Tamanho;Estado;Unidades\npatio;P-13;cheio;8\n") == []
    (problem,) = brought("stock", "Área;Tamanho;Estado;Unidades;Para a área\npatio;P-13;cheio;8;fundos\n")
    assert problem[:2] == (1, "unknown-column")


def test_a_field_may_be_called_by_its_heading() -> None:
    line = LineAsk("document", "alvara", values={"Validade": "07/2027", "documento": "alvará de uso"})
    (told,), problems = from_lines(Enter(1, "Ana", (line,)), forms(), ZONE, NOW, lambda: "x")
    assert problems == []
    assert told.entry.values == {"valid_until": date(2027, 7, 31), "kind": "use-permit"}


def test_how_things_were_on_a_day_is_how_they_were_at_its_end() -> None:
    assert until("10/11/2026", ZONE, NOW) == until("2026-11-10", ZONE, NOW) == moment("2026-11-11", ZONE, NOW) - 1
    assert until("2026-11-10T09:00", ZONE, NOW) == moment("10/11/2026 09:00", ZONE, NOW)


def test_a_report_to_a_day_ends_with_it_and_to_a_time_before_it() -> None:
    assert end_of("10/11/2026", ZONE, NOW) == moment("2026-11-11", ZONE, NOW)
    assert end_of("10/11/2026 09:00", ZONE, NOW) == moment("2026-11-10T09:00", ZONE, NOW)


def test_a_time_of_which_no_end_is_told_ends_now() -> None:
    assert end_of("", ZONE, NOW) == until("", ZONE, NOW) == NOW


@given(st.text(max_size=30) | st.text("0123456789-/:T +Z.", max_size=30))
def test_no_text_whatever_is_more_than_a_moment_or_none(text: str) -> None:
    for read in (moment, until, end_of):
        with contextlib.suppress(MomentError):
            assert isinstance(read(text, ZONE, NOW), int)
