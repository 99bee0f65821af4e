"""The real processes of the bench: the watch on its core, and a Mosquitto on the other."""

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import sys
import time
from asyncio.subprocess import Process
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from bench.machine import FIELD_CORE, WATCH_CORE, children, command, cpu_seconds, pin, resident_mib
from dashboards.ports import Act, Ask, Snapshot
from gateway.asking import ask
from gateway.machine.sockets import ControlError

WEB, OFFICE = "gateway.children.webchild", "gateway.office.child"
READY_S = 60.0
STOP_S = 10.0
LOOK_S = 0.005


class BenchError(Exception):
    """The bench itself could not do what it is for; no figure comes of it."""


def free_port() -> int:
    """A loopback port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def until(holds: Callable[[], bool], within_s: float, what: str) -> None:
    """Wait for a condition, looking every 5 ms.

    Raises:
        BenchError: if it does not come within the time.
    """
    deadline = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > deadline:
            raise BenchError(f"{what}: not within {within_s:g} s")
        await asyncio.sleep(LOOK_S)


async def end(process: Process) -> float:
    """End a process by SIGTERM; return how long it took (s). One that does not go is killed."""
    began = time.monotonic()
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    try:
        async with asyncio.timeout(STOP_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
    return time.monotonic() - began


class Watch:
    """The gateway as its own process on its own core; its children live on the core of the field."""

    def __init__(self, folder: Path, depot: str, *, program: Sequence[str] = ("gateway.cli", "run")) -> None:
        self._file = folder / "depot.toml"
        self._file.write_text(depot, encoding="utf-8")
        self._socket = folder / "var" / "control.sock"
        self._log = folder / "watch.log"
        self._program = program
        self._process: Process | None = None
        self.start_s = 0.0

    @property
    def pid(self) -> int:
        """The watch process."""
        if self._process is None:
            raise BenchError("the watch does not run")
        return self._process.pid

    @property
    def web(self) -> int:
        """The web child."""
        return self._children()[WEB]

    async def start(self) -> None:
        """Start it and wait until the control socket answers; `start_s` tells how long that took."""
        core = WATCH_CORE % (os.cpu_count() or 1)
        began = time.monotonic()
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                *self._program,
                str(self._file),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=lambda: os.sched_setaffinity(0, {core}),
            )
        await until(self._answers, READY_S, f"the watch's control socket; {self.log()}")
        self.start_s = time.monotonic() - began
        await until(lambda: self._children().keys() == {WEB, OFFICE}, READY_S, "the web child and the office")
        for child in self._children().values():
            pin(child, FIELD_CORE)

    async def stop(self) -> float:
        """End it in order; return how long it took (s)."""
        process, self._process = self._process, None
        return 0.0 if process is None else await end(process)

    def snapshot(self) -> Snapshot:
        """The picture as the screens get it."""
        answer = ask(self._socket, Ask(1, "snapshot"), timeout_s=10.0)
        if answer.snapshot is None:
            raise BenchError("the watch answered without a picture")
        return answer.snapshot

    def act(self, action: Literal["acknowledge", "reset"], alarm: str, by: str) -> None:
        """Do to an alarm what a person does on the page; an alarm that cannot bear it now is left as it is."""
        ask(self._socket, Act(1, action, alarm, by), timeout_s=10.0)

    def watching(self) -> int:
        """How many detectors it watches now."""
        return sum(detector.watching and detector.quality == "good" for detector in self.snapshot().detectors)

    def cpu_seconds(self) -> float:
        """What the watch process has used so far; without the web child."""
        return cpu_seconds(self.pid)

    def resident_mib(self) -> float:
        """Its resident memory."""
        return resident_mib(self.pid)

    def log(self) -> str:
        """The end of what it said."""
        return self._log.read_text(encoding="utf-8")[-1500:]

    def _children(self) -> dict[str, int]:
        """The watch's children that run by now, by their program."""
        said = {command(child): child for child in children(self.pid)}
        return {each: child for text, child in said.items() for each in (WEB, OFFICE) if each in text}

    def _answers(self) -> bool:
        if self._process is not None and self._process.returncode is not None:
            raise BenchError(f"the watch ended with {self._process.returncode}: {self.log()}")
        try:
            ask(self._socket, Ask(1, "metrics"), timeout_s=1.0)
        except ControlError:
            return False
        return True


class Broker:
    """A Mosquitto from Debian's package on the field's core, which keeps nothing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: Process | None = None
        self.port = free_port()

    async def start(self) -> None:
        """Start it and wait until it listens."""
        root = os.environ.get("VIGIA_DEBIAN_ROOT", "/")
        path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", str(Path(root) / "usr/sbin")])
        program = shutil.which("mosquitto", path=path)
        if program is None:
            raise BenchError("no mosquitto on PATH, in /usr/sbin or under VIGIA_DEBIAN_ROOT; `make bench` brings it")
        config = self._folder / "mosquitto.conf"
        config.write_text(f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence false\nsys_interval 0\n")
        with (self._folder / "mosquitto.log").open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(program, "-c", str(config), stdout=log, stderr=log)
        pin(self._process.pid, FIELD_CORE)
        await until(self._listens, READY_S, "Mosquitto")

    async def stop(self) -> None:
        """End it."""
        process, self._process = self._process, None
        if process is not None:
            await end(process)

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0
