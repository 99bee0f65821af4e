"""The real InfluxDB 1 of Debian's packages, on a free port and the field's core."""

import asyncio
import os
import shutil
from pathlib import Path
from types import TracebackType
from typing import Self

import aiohttp

from bench.machine import FIELD_CORE, pin
from bench.processes import READY_S, BenchError, free_port

CONFIG = """\
reporting-disabled = true
bind-address = "127.0.0.1:{rpc}"
[meta]
  dir = "{folder}/meta"
[data]
  dir = "{folder}/data"
  wal-dir = "{folder}/wal"
[monitor]
  store-enabled = false
[http]
  bind-address = "127.0.0.1:{port}"
  log-enabled = false
"""


class Influx:
    """InfluxDB 1 with the database ``vigia``; use it as an async context manager."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self._process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._port}"

    async def __aenter__(self) -> Self:
        binary = shutil.which("influxd", path=os.environ.get("PATH", "") + os.pathsep + "/usr/bin")
        if binary is None:
            raise BenchError("no influxd; `make bench` brings it")
        self._folder.mkdir(parents=True, exist_ok=True)
        config = self._folder / "influxdb.conf"
        config.write_text(CONFIG.format(folder=self._folder, port=self._port, rpc=free_port()), encoding="utf-8")
        with (self._folder / "log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(binary, "-config", str(config), stdout=log, stderr=log)
        pin(self._process.pid, FIELD_CORE)
        async with asyncio.timeout(READY_S):
            while not await self._asked("CREATE DATABASE vigia"):  # noqa: ASYNC110 - it is another process
                await asyncio.sleep(0.1)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.kill()
            await self._process.wait()

    async def count(self) -> int:
        """How many points of ``gas`` it holds."""
        answer = await self._asked('SELECT count("quality") FROM "gas"')
        return int(answer["results"][0]["series"][0]["values"][0][1]) if answer else 0

    async def _asked(self, question: str) -> dict[str, list[dict[str, list[dict[str, list[list[int]]]]]]]:
        try:
            async with (
                aiohttp.ClientSession() as session,
                session.post(f"{self.url}/query", params={"db": "vigia", "q": question}) as answer,
            ):
                found: dict[str, list[dict[str, list[dict[str, list[list[int]]]]]]] = await answer.json()
                return found
        except aiohttp.ClientError:
            return {}
