"""A whole depot for tests: scripted Modbus lines, a webhook receiver and the real gateway process, all on loopback."""

import asyncio
import hashlib
import hmac
import json
import os
import signal
import socket
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
from patience import WITHIN_S, until
from ports import held_port

from gateway.journal import check
from gateway.journal.reader import JournalReader
from simulator.scripted import ScriptedServer, ScriptedUnit

SECRET = "segredo"  # noqa: S105 - a test's own


@dataclass
class Received:
    """One webhook call. `at` is on the monotonic clock."""

    at: float
    body: dict[str, Any]
    headers: dict[str, str]


@dataclass
class Hook:
    """A webhook receiver that answers as `status` says; None leaves the caller waiting until the test is `over`."""

    port: int = 0
    status: int | None = 200
    calls: list[Received] = field(default_factory=list)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, request: web.Request) -> web.Response:
        content = await request.read()
        at = time.monotonic()
        signature = hmac.new(SECRET.encode(), content, hashlib.sha256).hexdigest()
        assert request.headers["X-Vigia-Signature"] == signature
        self.calls.append(Received(at, json.loads(content), dict(request.headers)))
        if self.status is None:
            await self.over.wait()
        return web.Response(status=self.status or 200)

    def gas(self, event: str = "raised") -> list[Received]:
        return [c for c in self.calls if c.body["kind"] == "GAS" and c.body["event"] == event]

    def of(self, kind: str, event: str, subject: str | None = None) -> list[Received]:
        return [
            c
            for c in self.calls
            if (c.body["kind"], c.body["event"]) == (kind, event) and subject in (None, c.body["subject"])
        ]


class Whole:
    """One depot under test. Heads are GD-1 .. GD-n, unit n, register 0 = %LEL x 10; the siren is coil 0 of unit 1."""

    def __init__(self, folder: Path, heads: int) -> None:
        self.folder = folder
        self.line = ScriptedServer({n: ScriptedUnit(holding={0: 0}) for n in range(1, heads + 1)})
        self.siren = ScriptedServer({1: ScriptedUnit(coils={0: False})})
        self.hook = Hook()
        self.web_port = held_port(self)
        self.extra = ""
        self.process: asyncio.subprocess.Process | None = None
        self.heads = heads
        self.changes: dict[str, str] = {}

    # --- the field -------------------------------------------------------------------------------

    def gas(self, head: int, lel: float) -> float:
        """Set a head's register; return when, on the monotonic clock."""
        self.line.units[head].holding[0] = round(lel * 10)
        return time.monotonic()

    @property
    def siren_on(self) -> bool:
        return self.siren.units[1].coils[0]

    # --- the gateway -----------------------------------------------------------------------------

    @property
    def file(self) -> Path:
        return self.folder / "depot.toml"

    @property
    def journal(self) -> Path:
        return self.folder / "var" / "journal.db"

    def write(self) -> None:
        text = HEADER.format(web=self.web_port, line=self.line.port, siren=self.siren.port, hook=self.hook.port)
        text += "".join(HEAD.format(n=n) for n in range(1, self.heads + 1)) + self.extra
        for old, new in self.changes.items():
            assert old in text
            text = text.replace(old, new)
        self.file.write_text(text, encoding="utf-8")

    async def start(self, *, ready: bool = True, output: int | None = None, within: tuple[str, ...] = ()) -> None:
        """Start the real process. `output`: where it talks, if not into its log; `within`: run by this command."""
        self.write()
        environ = os.environ | {"VIGIA_HOOK_SECRET": SECRET, "VIGIA_LANG": "en"}
        command = (*within, sys.executable, "-m", "gateway.cli", "run", str(self.file))
        with (self.folder / "gateway.log").open("ab") as log:
            to = log if output is None else output
            self.process = await asyncio.create_subprocess_exec(*command, stdout=to, stderr=to, env=environ)
        if ready:
            await until(self._answers, what=f"control socket; see {self.log()[-2000:]}")

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(str(self.folder / "var" / "control.sock"))
            except OSError:
                return False
        return True

    async def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        await self.process.wait()

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        assert self.process is not None
        self.process.send_signal(number)
        async with asyncio.timeout(WITHIN_S):
            return await self.process.wait()

    def log(self) -> str:
        return (self.folder / "gateway.log").read_text(encoding="utf-8")

    # --- what it says ----------------------------------------------------------------------------

    async def get(self, path: str) -> Any:
        url = f"http://127.0.0.1:{self.web_port}{path}"
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            return await answer.json() if "json" in answer.content_type else await answer.text()

    async def post(self, path: str, **body: str | int) -> tuple[int, Any]:
        url = f"http://127.0.0.1:{self.web_port}{path}"
        async with aiohttp.ClientSession() as session, session.post(url, json=body) as answer:
            return answer.status, await answer.json()

    async def shown(self, subject: str) -> Any:
        """Wait until the page's API shows an alarm of this subject with its first output; return it."""
        deadline = time.monotonic() + WITHIN_S
        while True:
            for alarm in (await self.get("/api/v1/alarms"))["alarms"]:
                if alarm["subject"] == subject and alarm["first_output"]:
                    return alarm
            assert time.monotonic() < deadline, "the page does not show the alarm"
            await asyncio.sleep(0.01)

    async def web_up(self) -> None:
        deadline = time.monotonic() + WITHIN_S
        while True:
            try:
                await self.get("/api/v1/state")
            except aiohttp.ClientError:
                assert time.monotonic() < deadline, self.log()[-2000:]
                await asyncio.sleep(0.02)
            else:
                return

    async def all_watching(self) -> None:
        """Wait until the page shows every head as watching."""
        await self.web_up()
        async with asyncio.timeout(WITHIN_S):
            while True:
                heads = (await self.get("/api/v1/state")).get("detectors", [])
                if heads and all(head["watching"] for head in heads):
                    return
                await asyncio.sleep(0.02)

    def events(self) -> list[Any]:
        with JournalReader(self.journal, words=lambda _: "") as reader:
            found: list[Any] = []
            while some := reader.events(found[-1].seq if found else 0, 10_000):
                found += some
            return found

    def sound(self) -> None:
        assert check(self.journal) == []


HEADER = """
[depot]
id = "deposito"
name = "Depósito"
address = "Rua 1"
timezone = "America/Sao_Paulo"
laws = ["ferraz-de-vasconcelos-3190-2013"]
data = "var"

[[area]]
id = "patio"
licensed_kg = 6240
use = "resale"

[levels]
A1 = 10
A2 = 20
A3 = 40

[web]
listen = "127.0.0.1:{web}"

[[bus]]
id = "linha"
transport = "tcp"
host = "127.0.0.1"
port = {line}
period_ms = 250
timeout_ms = 100

[[bus]]
id = "saidas"
transport = "tcp"
host = "127.0.0.1"
port = {siren}
period_ms = 500
timeout_ms = 200

[[channel]]
id = "hook"
kind = "webhook"
url = "http://127.0.0.1:{hook}/vigia"
secret_env = "VIGIA_HOOK_SECRET"

[[channel]]
id = "sirene"
kind = "siren"
bus = "saidas"
unit = 1
coil = 0

[[recipient]]
id = "dona"
name = "Dona"
role = "owner"
channels = ["hook"]
alarms = ["A1", "A2", "A3", "BLIND", "SYSTEM"]
"""

HEAD = """
[[detector]]
id = "GD-{n}"
area = "patio"
bus = "linha"
unit = {n}
profile = "generic-modbus"
register = 0
type = "uint16"
scale = 0.1
unit_of_value = "lel_pct"
lel_vol_pct = 1.4
"""

MQTT = """
[mqtt]
host = "127.0.0.1"
port = {port}
"""
MQTT_HEAD = """
[[detector]]
id = "GD-{n}"
area = "patio"
mqtt = "depot/GD-{n}"
profile = "mqtt-json"
value = "/lel"
unit_of_value = "lel_pct"
lel_vol_pct = 1.4
max_age_ms = 2500
"""
