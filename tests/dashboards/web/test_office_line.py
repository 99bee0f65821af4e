"""The line to the office: one that hangs is known within seconds, one that works long is waited for."""

import asyncio
import socket
from pathlib import Path

import pytest
from patience import until

from dashboards.office import Look, Reply, ToOffice
from dashboards.web import office_line
from dashboards.web.office_line import NoOfficeError, OfficeLine
from gateway.machine import sockets
from gateway.machine.sockets import ControlError
from gateway.office import door
from gateway.office.door import Door, UnansweredError, ask_office

pytestmark = [pytest.mark.asyncio, pytest.mark.measured]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office_line, "SILENT_AFTER_S", 0.4)
    monkeypatch.setattr(door, "SIGN_EVERY_S", 0.05)


async def test_an_office_that_takes_the_ask_and_says_nothing_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "office.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()  # as the kernel answers for a stopped process
        async with asyncio.timeout(2):
            with pytest.raises(NoOfficeError):
                await OfficeLine(path).ask(Look(1, "stock"))
        with pytest.raises(UnansweredError):
            await asyncio.to_thread(ask_office, path, Look(1, "stock"), 0.1)


async def test_an_office_that_works_longer_than_the_silence_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "office.sock"

    async def answer(ask: ToOffice) -> Reply:
        await asyncio.sleep(0.6)
        return Reply(ask.ref, ok=True, data="done")

    async def ask() -> tuple[Reply, Reply]:
        await until(path.exists, what="the door")
        over_http = await OfficeLine(path).ask(Look(1, "stock"))
        return over_http, await asyncio.to_thread(ask_office, path, Look(1, "stock"), 0.4)

    serving = asyncio.ensure_future(Door(path, answer).run())
    try:
        async with asyncio.timeout(5):
            assert [reply.data for reply in await ask()] == ["done", "done"]
    finally:
        serving.cancel()
        await asyncio.wait([serving])


async def test_a_door_whose_socket_was_removed_ends_so_that_another_is_opened(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(sockets, "LOOK_S", 0.01)
    path = tmp_path / "office.sock"

    async def answer(ask: ToOffice) -> Reply:
        return Reply(ask.ref, ok=True)

    serving = asyncio.ensure_future(Door(path, answer).run())
    await until(path.exists, what="the door")
    path.unlink()
    async with asyncio.timeout(5):
        with pytest.raises(ControlError, match="removed by others"):
            await serving
