"""Runs a `vigia` command as a person does: this tree's code in a process of its own, or in this one, in English."""

import asyncio
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner, Result

from gateway.cli import Vigia
from gateway.commands.talk import Talk

ENGLISH = {"VIGIA_LANG": "en", "VIGIA_HOOK_SECRET": "hush"}
CONTRACT = Path(__file__).with_name("gateway").joinpath("contract.toml").read_text("utf-8")
ONE_LINE = """
[depot]
id = "x"
[levels]
A1 = 10
A2 = 20
A3 = 40
[[area]]
id = "patio"
licensed_kg = 1560
[[bus]]
id = "linha"
host = "127.0.0.1"
port = {port}
"""
"""A depot with one Modbus line and nothing on it yet."""


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


async def vigia(*args: str | Path, within_s: float = 30, **environ: str) -> Ran:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway.cli"),
        *args,
        env={**os.environ, **ENGLISH, **environ},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(within_s):
            out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
    return Ran(process.returncode or 0, out.decode(), err.decode())


def vigia_here(*args: str | Path, environ: dict[str, str] | None = None) -> Result:
    """Run it in this process."""
    talk = Talk.of(ENGLISH if environ is None else environ)
    return CliRunner().invoke(Vigia(talk), [str(arg) for arg in args])


def contract(folder: Path, old: str = "", new: str = "") -> Path:
    """The configuration of the contract as a file, with one part of it replaced."""
    assert old in CONTRACT
    file = folder / "depot.toml"
    file.write_text(CONTRACT.replace(old, new) if old else CONTRACT, "utf-8")
    return file
