"""Line protocol: any name comes through as one record, and only numbers are fields."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import BEGIN_S, reading

from gateway.store.lines import LINE, REPLACED, GasLines, figures, prefix, series_of, tag
from sensors.readings import DetectorId, Status
from simulator.bases import parse

NAMES = (
    "Cozinha, bloco A=1",
    "São João do Açúcar",
    "C:\\",
    "a\\,b",
    "linha1\ngas value=99",
    "  bordas  ",
    "chama 🔥",
    "",
    "\\",
    ",= ",
    "a\x00b\u2028c",
)


def as_kept(name: str) -> str:
    """What a database has of a name: the name, with the one documented replacement."""
    return "".join(
        REPLACED if c == "\\" or c in "\u2028\u2029" or ord(c) < 32 or 127 <= ord(c) < 160 else c for c in name
    )


@pytest.mark.trial("B37")
@pytest.mark.parametrize("name", NAMES)
def test_b37_a_name_comes_back_exactly_or_with_the_one_replacement_and_makes_no_second_record(name: str):
    lines = GasLines("centro", {DetectorId(name): name})
    line = lines.of(reading(name, 1.5, BEGIN_S))
    assert "\n" not in line
    assert LINE.fullmatch(line)
    point = parse(line)
    wanted = {"depot": "centro", "area": as_kept(name), "detector": as_kept(name)}
    assert point.tags == {key: value for key, value in wanted.items() if value}, "an empty tag is left out"
    assert point.fields == {"lel_pct": 1.5, "quality": 2, "status": 0}


@given(st.text(max_size=250), st.text(max_size=250))
def test_no_name_breaks_a_line(area: str, name: str):
    line = GasLines("centro", {DetectorId(name): area}).of(reading(name, 1.5, BEGIN_S))
    assert len(line.splitlines()) <= 1
    assert LINE.fullmatch(line)
    assert parse(line).measurement == "gas"
    assert parse(line).ms == BEGIN_S * 1000
    assert series_of(line) == line.rpartition(" lel_pct")[0]


@pytest.mark.parametrize(
    ("value", "least", "fields"),
    [
        (1.25, None, {"lel_pct": 1.25, "quality": 2, "status": 0}),
        (None, None, {"quality": 0, "status": 7}),
        (None, 100.0, {"at_least": 100.0, "quality": 0, "status": 7}),
        (math.nan, None, {"quality": 2, "status": 0}),
        (math.inf, 20.0, {"at_least": 20.0, "quality": 2, "status": 0}),
        (-0.004, None, {"lel_pct": -0.004, "quality": 2, "status": 0}),
    ],
)
def test_fields_are_numbers_and_what_is_no_number_is_left_out(
    value: float | None, least: float | None, fields: dict[str, float]
):
    line = GasLines("centro", {DetectorId("GD-1"): "patio"}).of(reading("GD-1", value, BEGIN_S, at_least=least))
    assert LINE.fullmatch(line)
    assert parse(line).fields == fields


def test_every_status_has_its_own_number():
    lines = GasLines("centro", {DetectorId("GD-1"): "patio"})
    said = [parse(lines.of(reading("GD-1", 1.0, BEGIN_S, status=status))).fields["status"] for status in Status]
    assert said == list(range(len(Status)))


def test_a_head_of_no_area_of_ours_has_no_line():
    assert GasLines("centro", {}).of(reading("GD-1", 1.0, BEGIN_S)) == ""


def test_figures_with_odd_names_or_no_numbers_are_left_out():
    begin = prefix("health", {"depot": "centro"})
    line = figures(begin, {"loop_lag_ms": 0.25, "bus_polls{bus=x}": 3.0, "worst": math.nan}, 5)
    assert line == "health,depot=centro loop_lag_ms=0.250 5"
    assert figures(begin, {"worst": math.nan}, 5) == ""


def test_a_measurement_that_is_no_name_is_refused():
    with pytest.raises(ValueError, match="beginning"):
        prefix("gas value=1\n", {})


def test_a_long_name_is_cut():
    assert len(tag("x" * 1000)) == 200
