"""The office of a whole depot: its commands as a person runs them, and its socket."""

import asyncio
import os
import sys
from pathlib import Path

from patience import until
from whole_depot import Whole

from dashboards.office import Enter, Look, Reply
from gateway.machine.sockets import ControlError
from gateway.office.door import ask_office


async def vigia(*arguments: str) -> tuple[int, str, str]:
    """Run one command; return its exit code, stdout and stderr."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "gateway.cli",
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"VIGIA_LANG": "en", "VIGIA_HOOK_SECRET": "segredo"},
    )
    out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


async def done(*arguments: str) -> str:
    code, out, err = await vigia(*arguments)
    assert code == 0, err
    return out


def socket_of(depot: Whole) -> Path:
    return depot.folder / "var" / "office.sock"


async def asked(depot: Whole, ask: Enter | Look) -> Reply:
    return await asyncio.to_thread(ask_office, socket_of(depot), ask)


async def opened(depot: Whole) -> None:
    def answers() -> bool:
        try:
            return ask_office(socket_of(depot), Look(1, "stock")).ok
        except ControlError:
            return False

    await until(lambda: socket_of(depot).exists(), what="office")
    for _ in range(100):  # it stands some moments before anybody listens behind it
        if await asyncio.to_thread(answers):
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the office does not answer")
