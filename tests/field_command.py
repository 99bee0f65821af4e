"""Runs a `vigia` command as a person does: this tree's code in a process of its own, in English."""

import asyncio
import os
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


async def vigia(*args: str | Path, within_s: float = 30, **environ: str) -> Ran:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway.cli"),
        *args,
        env={**os.environ, "VIGIA_LANG": "en", **environ},
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
