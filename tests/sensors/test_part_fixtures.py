"""Measures, outputs and counters of shipped Modbus devices as their makers write them: tests/sensors/parts/*.toml."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from sensors import profiles
from sensors.profiles import NEUTRAL
from sensors.readings import Quality, Status
from sensors.rehearsal import Given, image_of, readings
from sensors.wire.outputs import OutputPoint
from sensors.wire.places import Function
from sensors.wire.words import Stretch, raw_reader

FIXTURES = Path(__file__).parent / "parts"
FUNCTIONS = {function.name.lower(): function for function in Function}
SORTS = ("measure", "output", "counter")
KEYS = {
    "measure": {"name", "part", "channel", *FUNCTIONS, "value", "status", "quality", "reason"},
    "output": {"name", "part", "channel", "on", "off", "reads", "read_at"},
    "counter": {"name", "part", "channel", *FUNCTIONS, "count"},
}


@dataclass(frozen=True)
class Case:
    """One case of one file."""

    profile: str
    sort: str
    table: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.profile}: {self.table['name']}"


def cases(sort: str) -> list[Case]:
    return [
        Case(path.stem, sort, table)
        for path in sorted(FIXTURES.glob("*.toml"))
        for table in tomllib.loads(path.read_text(encoding="utf-8")).get(sort, ())
    ]


def tables(case: Case) -> dict[Function, dict[int, int | float | str]]:
    assert set(case.table) <= KEYS[case.sort], "a key that no case has"
    return {
        function: {int(address, 0): cell for address, cell in case.table[name].items()}
        for name, function in FUNCTIONS.items()
        if name in case.table
    }


@pytest.mark.parametrize("case", cases("measure"), ids=str)
def test_a_measure_becomes_the_number_in_its_own_unit(case: Case):
    table, profile = case.table, profiles.load(case.profile)
    points = profile.measure(table["part"], table.get("channel"))
    (reading,) = readings(replace(profile, points=points), Given(tables(case)), NEUTRAL)
    assert reading.status is Status(table.get("status", "measuring").replace("_", "-")), reading
    usual = {Status.MEASURING: Quality.GOOD, Status.OVER_RANGE: Quality.UNCERTAIN}.get(reading.status, Quality.BAD)
    assert reading.quality is Quality(table.get("quality", usual.value)), reading
    expected = table.get("value")
    assert reading.lel_pct == (None if expected is None else pytest.approx(expected, abs=1e-6))
    if "reason" in table:
        assert reading.reason == table["reason"]


@pytest.mark.parametrize("case", cases("output"), ids=str)
def test_an_output_is_written_and_read_back_as_its_maker_says(case: Case):
    table = case.table
    assert set(table) <= KEYS["output"], "a key that no case has"
    output = profiles.load(case.profile).output(table["part"], table.get("channel"))
    assert isinstance(output, OutputPoint)
    assert [*output.write(on=True)] == table["on"]
    assert [*output.write(on=False)] == table["off"]
    words = {True: "on", False: "off", None: "unknown"}
    assert {raw: words[output.state(int(raw))] for raw in table["reads"]} == table["reads"]
    assert output.read_back is not None
    assert [output.read_back.function.name.lower(), output.read_back.register] == table["read_at"]


@pytest.mark.parametrize("case", cases("counter"), ids=str)
def test_a_counter_is_read_in_its_own_word_order(case: Case):
    counter = profiles.load(case.profile).counter(case.table["part"], case.table.get("channel"))
    reads = [Stretch(*counter.place.span)]
    assert raw_reader(counter.place, reads)(image_of(tables(case)).words(reads), 0) == case.table["count"]


def test_every_measure_output_and_counter_of_a_shipped_modbus_device_has_a_case():
    proved = {(case.profile, sort, case.table["part"]) for sort in SORTS for case in cases(sort)}
    for name in profiles.names():
        profile = profiles.load(name)
        if profile.wire != "modbus" or "like" in profile.document:
            continue
        for sort in SORTS:
            for part in profile.parts(sort + "s"):
                assert (name, sort, part) in proved, f"{name}: no case for {sort} {part}"
