"""What each shipped device's documented encoding must become: every case of tests/sensors/profiles/*.toml."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sensors import profiles
from sensors.readings import Quality, Reading, Status
from sensors.rehearsal import Given, Message, readings
from sensors.wire.places import Function
from sensors.wire.units import Basis

FIXTURES = Path(__file__).parent / "profiles"
FUNCTIONS = {function.name.lower(): function for function in Function}
KEYS = {"name", "settings", "unit", "lel_vol_pct", "factor", "topic", "payload", "messages", *FUNCTIONS} | {
    "silent", "lel_pct", "at_least", "status", "quality", "reason", "within", "trials",
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One case of one file."""

    profile: str
    number: int
    table: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.profile}: {self.table.get('name', self.number)}"


def cases() -> list[Case]:
    return [
        Case(path.stem, number, table)
        for path in sorted(FIXTURES.glob("*.toml"))
        for number, table in enumerate(tomllib.loads(path.read_text(encoding="utf-8"))["case"], start=1)
    ]


def given(table: Mapping[str, Any]) -> Given:
    tables = {
        function: {int(address, 0): cell for address, cell in table[name].items()}
        for name, function in FUNCTIONS.items()
        if name in table
    }
    messages = [
        Message(
            bytes.fromhex(each["hex"]) if "hex" in each else each["payload"].encode(),
            each.get("topic", ""),
            each.get("retained", False),
        )
        for each in table.get("messages", [{"payload": table["payload"]}] if "payload" in table else [])
    ]
    return Given(tables, messages, table.get("topic", ""), table.get("unit", 1))


def read(case: Case) -> tuple[Reading, ...]:
    table = case.table
    profile = profiles.load(case.profile).installed(table.get("settings", {}))
    return readings(profile, given(table), Basis(table.get("lel_vol_pct", 1.4), 1.4, table.get("factor", 1.0)))


@pytest.mark.parametrize("case", cases(), ids=str)
def test_the_documented_encoding_becomes_the_reading_that_the_manual_means(case: Case):
    table = case.table
    assert set(table) <= KEYS, "a key that no case has"
    found = read(case)
    if table.get("silent", False):
        assert not found
        return
    assert found, "no reading came of it"
    reading = found[-1]
    status = Status(table.get("status", "measuring").replace("_", "-"))
    usual = {Status.MEASURING: Quality.GOOD, Status.OVER_RANGE: Quality.UNCERTAIN}.get(status, Quality.BAD)
    assert reading.status is status, reading
    assert reading.quality is Quality(table.get("quality", usual.value)), reading
    for name in ("lel_pct", "at_least"):
        expected = table.get(name)
        assert getattr(reading, name) == (
            None if expected is None else pytest.approx(expected, abs=table.get("within", 1e-4))
        ), f"{name}: {reading}"
    if "reason" in table:
        assert reading.reason == table["reason"]


def test_every_shipped_detector_has_fixtures_with_gas_with_a_fault_and_with_clean_air():
    for name in profiles.names():
        profile = profiles.load(name)
        if not profile.is_detector or profile.document.get("like") or profile.provenance.verification == "site":
            continue
        mine = [case for case in cases() if case.profile == name]
        assert len(mine) >= 3, f"{name}: at least a case of air, of gas and of trouble"
        said = {case.table.get("status", "measuring") for case in mine if not case.table.get("silent")}
        gas = [case.table.get("lel_pct", 0) or case.table.get("at_least", 0) or 0 for case in mine]
        assert max(gas) >= 10.0, f"{name}: no case shows gas"
        assert len(said) >= 2, f"{name}: all cases have the same status"
