"""A scripted gateway behind the real control socket, the real web child in its own process, and a browser."""

import asyncio
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
from browsers import launched
from patience import until

from dashboards.ports import (
    Act,
    AlarmView,
    Answer,
    Change,
    DepotView,
    DetectorView,
    Figure,
    LinkView,
    OutputView,
    Snapshot,
    Window,
)
from gateway.control import ControlServer
from sensors.stamps import UtcNanos, rfc3339

ROOT = Path(__file__).parents[3]


def utc(ago_s: float = 0.0) -> str:
    return rfc3339(UtcNanos(time.time_ns() - int(ago_s * 1e9)))


def head(head_id: str, lel: float | None = 1.2, **different: Any) -> DetectorView:
    values: dict[str, Any] = {
        "id": head_id,
        "area": "patio",
        "source": "detectores",
        "lel_pct": lel,
        "at_least": None,
        "quality": "good",
        "status": "measuring",
        "reason": "",
        "taken": utc(),
        "age_s": 0.2,
        "a1": 10.0,
        "a2": 20.0,
        "a3": 40.0,
        "watching": True,
        "worst_case_s": 1.2,
        "certified": True,
    }
    return DetectorView(**(values | different))


def dead(head_id: str, **different: Any) -> DetectorView:
    silent = {
        "quality": "bad",
        "status": "no-contact",
        "reason": "timeout",
        "age_s": 14.0,
        "watching": False,
    }
    return head(head_id, 3.4, **(silent | different))


def gas(subject: str = "GD-101", level: str = "A2", **different: Any) -> AlarmView:
    values: dict[str, Any] = {
        "id": f"centro-7f3a-{subject}",
        "subject": subject,
        "kind": "GAS",
        "level": level,
        "state": "unacknowledged",
        "present": True,
        "latched": False,
        "lel_pct": 23.4,
        "peak": 25.1,
        "quality": "good",
        "since": utc(65),
        "sampled": utc(65),
        "decided": utc(64.999),
        "first_output": utc(64.788),
        "acknowledged_by": None,
        "muted": False,
        "reason": "",
        "detail": "",
        "area": "patio",
        "text": f"ALARME DE GÁS nível {level} - Depósito Centro, área patio, detector {subject}: 23,4 % LIE. "
        "EVACUE a área, não acione interruptores nem motores, ligue 193.",
    }
    values |= different
    english = {"en": values["text"].replace("ALARME DE GÁS nível", "GAS ALARM level")}
    return AlarmView(**({"texts": {"pt-BR": values["text"]} | english} | values))


def blind(subject: str, **different: Any) -> AlarmView:
    about = {
        "id": f"centro-7f3a-b-{subject}",
        "kind": "BLIND",
        "level": None,
        "lel_pct": None,
        "peak": None,
        "quality": "bad",
        "reason": "timeout",
        "text": f"Detector {subject} sem monitoramento: sem comunicação (não responde) - Depósito Centro, área patio.",
    }
    return gas(subject, **(about | different))


def depot(*detectors: DetectorView, **different: Any) -> Snapshot:
    values: dict[str, Any] = {
        "seq": 1,
        "at": utc(),
        "depot": DepotView(
            "deposito-centro",
            "Depósito Centro",
            "Rua das Acácias 120, portão 2",
            "America/Sao_Paulo",
            "pt-BR",
            "0.1.0",
            utc(7200),
        ),
        "detectors": detectors or tuple(head(f"GD-{100 + n}", 0.4 * n) for n in range(1, 5)),
        "alarms": (),
        "outputs": (OutputView("sirene", wanted=False, confirmed=False, reason="", age_s=0.4),),
        "links": (
            LinkView("detectores", up=True, reason="", age_s=7200.0),
            LinkView("mqtt", up=True, reason="", age_s=7100.0),
        ),
        "worst_ms": None,
        "worst_case_s": 1.2,
        "alive": True,
        "silence_s": 120.0,
    }
    return Snapshot(**(values | different))


class ScriptedGateway:
    """The gateway's side of the control socket, with a picture that the test moves by hand."""

    head = staticmethod(head)
    dead = staticmethod(dead)
    gas = staticmethod(gas)
    blind = staticmethod(blind)
    depot = staticmethod(depot)
    utc = staticmethod(utc)

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stalled = False
        self.picture = depot()
        self.figures: tuple[Figure, ...] = ()
        self.acts: list[Act | Window] = []
        self.answer: Callable[[Act | Window], Answer] = lambda act: Answer(act.ref, ok=True)
        self.server = self._server()
        self._tasks: list[asyncio.Task[None]] = []

    def _server(self) -> ControlServer:
        server = ControlServer(
            self.path,
            picture=self._now,
            act=self._act,
            office=lambda ask, reply: reply(Answer(ask.ref, ok=True)),
            metrics=lambda: self.figures,
        )
        welcome = server.joined

        def joined(client: Any) -> None:
            welcome(client)
            if self._stalled:
                asyncio.get_running_loop().call_soon(client.transport.pause_reading)

        server.joined = joined  # type: ignore[method-assign]
        return server

    def _now(self) -> Snapshot:
        return msgspec.structs.replace(self.picture, at=utc())

    def _act(self, act: Act | Window) -> Answer:
        self.acts.append(act)
        return self.answer(act)

    def push(self, *detectors: DetectorView, **changed: Any) -> Change:
        """Change the picture and tell the screens."""
        self.picture = msgspec.structs.replace(
            self.picture,
            seq=self.picture.seq + 1,
            detectors=tuple({view.id: view for view in detectors}.get(old.id, old) for old in self.picture.detectors),
            **changed,
        )
        change = Change(self.picture.seq, utc(), detectors, **changed)
        self.server.push(change)
        self.server.push_resting(lambda: msgspec.structs.replace(change, detectors=(), alarms=self.picture.alarms))
        return change

    async def start(self) -> None:
        self._tasks.append(asyncio.create_task(self.server.run()))
        await until(self.path.exists)
        self.resume()

    def resume(self) -> None:
        self._stalled = False
        for client in self.server._clients:
            client.transport.resume_reading()
        self._beating = asyncio.create_task(self._beat())
        self._tasks.append(self._beating)

    def fall_silent(self) -> None:
        """Neither speak nor answer, with the socket open, as a stalled loop would."""
        self._beating.cancel()
        self._stalled = True
        for client in self.server._clients:
            client.transport.pause_reading()

    async def until(self, condition: Callable[[], Any], within_s: float = 5.0) -> None:
        await until(condition, within_s)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(0.5)
            self.push(*self.picture.detectors)

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()
        self.server = self._server()


class Child:
    """The web child in a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process, url: str) -> None:
        self.process = process
        self.url = url.rstrip("/")
        self.host = self.url.removeprefix("http://")

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    async def stop(self) -> float:
        """Ask it to end; return how long it took (s)."""
        began = time.monotonic()
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
        async with asyncio.timeout(10):
            await self.process.wait()
        return time.monotonic() - began


async def start_child(socket: Path, journal: Path, *extra: str) -> Child:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "gateway.children.webchild", "--socket", str(socket), "--journal", str(journal)),
        *("--listen", "127.0.0.1:0", "--language", "pt-BR", "--announce", *extra),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    async with asyncio.timeout(20):
        line = await process.stdout.readline()
    return Child(process, msgspec.json.decode(line)["listening"])


Starter = Callable[..., Awaitable[Child]]


async def until_health(session: aiohttp.ClientSession, url: str, status: int, within_s: float = 5.0) -> dict[str, Any]:
    async with asyncio.timeout(within_s):
        while True:
            async with session.get(f"{url}/health") as answer:
                if answer.status == status:
                    body: dict[str, Any] = await answer.json()
                    return body
            await asyncio.sleep(0.02)


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[ScriptedGateway]:
    scripted = ScriptedGateway(tmp_path / "control.sock")
    await scripted.start()
    yield scripted
    await scripted.stop()


@pytest.fixture
async def start(gateway: ScriptedGateway, tmp_path: Path) -> AsyncIterator[Starter]:
    """Start web children; they end with the test."""
    running: list[Child] = []

    async def started(*extra: str) -> Child:
        running.append(await start_child(gateway.path, tmp_path / "journal.sqlite", *extra))
        return running[-1]

    yield started
    for each in running:
        await each.stop()


@pytest.fixture
async def child(start: Starter, session: aiohttp.ClientSession) -> Child:
    """One web child that has heard the gateway."""
    running = await start()
    await until_health(session, running.url, 200)
    return running


@pytest.fixture
def health(session: aiohttp.ClientSession) -> Callable[..., Awaitable[dict[str, Any]]]:
    """Wait until a child's health is as wanted."""

    async def wait(child: Child, status: int, within_s: float = 5.0) -> dict[str, Any]:
        return await until_health(session, child.url, status, within_s)

    return wait


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(
        timeout=aiohttp.ClientTimeout(10),
        cookie_jar=aiohttp.CookieJar(unsafe=True),  # an IP address has cookies too
    ) as made:
        yield made


@pytest.fixture
async def browser() -> AsyncIterator[Any]:
    async with launched() as opened:
        yield opened
