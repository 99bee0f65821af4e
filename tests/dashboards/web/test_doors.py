"""The doors of the web child: callers who say nothing, too many of them, and no descriptor left."""

import asyncio
import contextlib
import os
import socket
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from dashboards.web import doors
from dashboards.web.server import WebServer, listening

pytestmark = pytest.mark.measured

ROOT = Path(__file__).parents[3]


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Answers when the whole body has come."""
    if scope["type"] == "lifespan":
        for told in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{told}.complete"})
        return
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (await receive())["type"] != "websocket.disconnect":
            await send({"type": "websocket.send", "text": "here"})
        return
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture
async def port() -> AsyncIterator[int]:
    listener = listening("127.0.0.1", 0)
    server = WebServer(app, closing=lambda: None)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started:  # noqa: ASYNC110 - uvicorn tells it by this alone
        await asyncio.sleep(0.01)
    yield listener.getsockname()[1]
    server.end()
    await task
    listener.close()


async def ended(reader: asyncio.StreamReader, within_s: float) -> bool:
    """Tell whether the other side hangs up in time."""
    try:
        async with asyncio.timeout(within_s):
            return await reader.read(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


HALF = (
    b"",
    b"GET / HT",
    b"GET / HTTP/1.1\r\nHost: x\r\n",
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n1234",
    b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n1234\r\n",
)


@pytest.mark.parametrize("said", HALF, ids=["nothing", "half a line", "half a head", "half a body", "half the chunks"])
async def test_a_request_that_is_never_said_to_its_end_is_hung_up_on(port: int, said: bytes, monkeypatch: Any) -> None:
    monkeypatch.setattr(doors, "REQUEST_WITHIN_S", 0.3)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(said)
    assert await ended(reader, 3.0)
    writer.close()


async def test_one_that_drips_its_request_has_no_more_time_than_the_others(port: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(doors, "REQUEST_WITHIN_S", 0.5)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    began = time.monotonic()
    writer.write(b"GET / HTTP/1.1\r\n")
    hung_up = asyncio.create_task(ended(reader, 3.0))
    for number in range(200):
        if hung_up.done():
            break
        writer.write(f"X-{number}: y\r\n".encode())
        await asyncio.sleep(0.02)
    assert await hung_up
    assert time.monotonic() - began < 2.0
    writer.close()


async def test_a_second_half_request_on_a_kept_connection_is_hung_up_on_too(port: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(doors, "REQUEST_WITHIN_S", 0.3)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
    writer.write(b"GET / HTTP/1.1\r\n")
    assert await ended(reader, 2.0)
    writer.close()


async def test_a_live_channel_outlives_the_time_of_a_request(port: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(doors, "REQUEST_WITHIN_S", 0.2)
    async with aiohttp.ClientSession() as session, session.ws_connect(f"http://127.0.0.1:{port}/") as live:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                await live.receive()
        await live.send_str("?")
        assert await live.receive_str() == "here"


async def test_one_connection_too_many_is_closed_at_once_and_room_is_made_again(port: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(doors, "MOST_CONNECTIONS", 5)
    inside = [await asyncio.open_connection("127.0.0.1", port) for _ in range(5)]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    assert await ended(reader, 1.0)
    writer.close()
    inside[0][1].close()
    async with aiohttp.ClientSession() as session, asyncio.timeout(3):
        while True:
            with contextlib.suppress(aiohttp.ClientError):
                async with session.get(f"http://127.0.0.1:{port}/") as answer:
                    assert await answer.text() == "ok"
                    break
    for _, each in inside[1:]:
        each.close()


async def test_a_child_without_a_free_descriptor_neither_spins_nor_floods_its_log_and_comes_back(
    tmp_path: Path,
) -> None:
    process = await asyncio.create_subprocess_exec(
        *("prlimit", "--nofile=40:40", sys.executable, "-m", "gateway.children.webchild"),
        *("--socket", str(tmp_path / "control.sock"), "--journal", str(tmp_path / "journal.db")),
        *("--listen", "127.0.0.1:0", "--announce"),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    url = msgspec.json.decode(await process.stdout.readline())["listening"]
    address = ("127.0.0.1", int(url.rstrip("/").rpartition(":")[2]))
    callers = [socket.create_connection(address, timeout=5) for _ in range(120)]
    turned_away = 0
    for caller in callers:
        caller.settimeout(0.05)
        with contextlib.suppress(TimeoutError, ConnectionError):
            turned_away += caller.recv(1) == b""
    assert turned_away > 60
    before = _cpu_s(process.pid)
    await asyncio.sleep(1.0)  # the span over which its use of the processor is measured
    assert _cpu_s(process.pid) - before < 0.3
    for caller in callers:
        caller.close()
    async with aiohttp.ClientSession() as session, asyncio.timeout(5):
        while True:
            with contextlib.suppress(aiohttp.ClientError):
                async with session.get(f"{url}health") as answer:
                    assert answer.status == 503  # no gateway behind it; but the child answers
                    break
    process.terminate()
    _, log = await process.communicate()
    assert len(log) < 20_000
    assert process.returncode == 0


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def test_the_limit_of_descriptors_is_raised_as_far_as_it_may_be(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *("prlimit", "--nofile=60:700", sys.executable, "-c"),
        "from gateway.machine.limits import raise_descriptors as r; import resource; r(); r();"
        "print(*resource.getrlimit(resource.RLIMIT_NOFILE))",
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    assert out.split() == [b"700", b"700"]
