"""What the commands say of a line that cannot be read, and of converters that do not know transaction ids."""

import asyncio
from pathlib import Path

import pytest
from click.testing import Result
from field_command import vigia_here

from gateway.checkup import Health, examine
from gateway.configuration.loading import load
from simulator.scripted import IdFault, ScriptedServer, ScriptedUnit

BASE = '[depot]\nid = "x"\n[levels]\nA1 = 10\nA2 = 20\nA3 = 40\n[[area]]\nid = "patio"\nlicensed_kg = 100\n'
HEAD = (
    '[[detector]]\nid = "GD-{unit}"\narea = "patio"\nbus = "{bus}"\nunit = {unit}\nprofile = "generic-modbus"\n'
    'register = 0\ntype = "uint16"\nscale = 0.1\nlel_vol_pct = 1.4\n'
)


def file_of(folder: Path, *parts: str) -> Path:
    file = folder / "depot.toml"
    file.write_text(BASE + "\n".join(parts), "utf-8")
    return file


def tcp(name: str, port: int, more: str = "") -> str:
    return f'[[bus]]\nid = "{name}"\nhost = "127.0.0.1"\nport = {port}\n{more}'


def rtu(name: str, device: Path) -> str:
    return f'[[bus]]\nid = "{name}"\ntransport = "rtu"\ndevice = "{device}"\nbaud = 115200'


async def vigia(*args: str | Path) -> Result:
    """Run a command beside the loop that plays the field."""
    return await asyncio.to_thread(vigia_here, *args)


async def test_probe_reads_a_serial_port(tmp_path: Path) -> None:
    server = ScriptedServer({3: ScriptedUnit(holding={0: 73})}, rtu=True)
    server.plug(tmp_path / "adapter")
    async with server:
        said = await vigia("probe", file_of(tmp_path, rtu("a", tmp_path / "adapter"), HEAD.format(unit=3, bus="a")))
        assert said.exit_code == 0
        assert "7.30 % LEL" in said.stdout and "73" in said.stdout


async def test_probe_names_the_cure_where_there_is_no_adapter(tmp_path: Path) -> None:
    said = await vigia("probe", file_of(tmp_path, rtu("a", tmp_path / "adapter"), HEAD.format(unit=3, bus="a")))
    assert said.exit_code == 1
    assert "unplugged" in said.stdout and "/dev/serial/by-id" in said.stdout


@pytest.mark.trial("B19")
async def test_b19_probe_and_doctor_name_the_false_id_and_its_cure(tmp_path: Path) -> None:
    zero = ScriptedServer({1: ScriptedUnit(holding={0: 5}, id_fault=IdFault.ZERO)})
    swapped = ScriptedServer({2: ScriptedUnit(holding={0: 5}, id_fault=IdFault.SWAPPED)})
    right = ScriptedServer({3: ScriptedUnit(holding={0: 5})})
    async with zero, swapped, right:
        heads = [HEAD.format(unit=unit, bus=bus) for unit, bus in ((1, "a"), (2, "b"), (3, "c"))]
        lines = [tcp("a", zero.port), tcp("b", swapped.port), tcp("c", right.port)]
        file = file_of(tmp_path, *lines, *heads)
        said = await vigia("probe", file)
        assert said.exit_code == 1
        first, second, third = said.stdout.splitlines()
        assert "id-zero" in first and 'transaction_id = "ignore"' in first
        assert "id-swapped" in second and 'transaction_id = "ignore"' in second
        assert "0.50 % LEL" in third
        found = await asyncio.to_thread(lambda: list(examine(load(file, {}).depot)))
        blamed = {(one.check, one.values["bus"], one.values["ids"]) for one in found if one.check.startswith("id_")}
        assert blamed == {("id_zero", "a", "GD-1"), ("id_swapped", "b", "GD-2")}
        assert {one.health for one in found if one.check.startswith("id_")} == {Health.BAD}
        ill = await vigia("doctor", file)
        assert "X  bus a: GD-1 answer with the number 0" in ill.stdout
        relaxed = 'transaction_id = "ignore"'
        lines = [tcp("a", zero.port, relaxed), tcp("b", swapped.port, relaxed), tcp("c", right.port)]
        said = await vigia("probe", file_of(tmp_path, *lines, *heads))
        assert said.exit_code == 0, said.stdout
