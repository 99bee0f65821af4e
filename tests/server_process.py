"""A real server of a test, from Debian's packages: started, stopped, killed, frozen. Knows no protocol."""

import os
import shutil
import signal
import subprocess
from abc import ABC, abstractmethod
from pathlib import Path

import pytest
from patience import wait_until
from ports import HOST, held_port

START_S = 20.0
STOP_S = 10.0


def binary(name: str) -> str:
    """Return the path of a program of Debian's."""
    root = Path(os.environ.get("VIGIA_DEBIAN_ROOT", "/"))
    places = [os.environ.get("PATH", ""), "/usr/sbin", *(str(root / place) for place in ("usr/bin", "usr/sbin"))]
    found = shutil.which(name, path=os.pathsep.join(places))
    if found is None:
        pytest.fail(f"no {name} on PATH, in /usr/sbin or under VIGIA_DEBIAN_ROOT; `make test` brings it")
    return found


class ServerProcess(ABC):
    """A server on loopback, on a port of its own, with everything in a test's folder."""

    name = ""
    host = HOST

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = held_port(self)
        self._process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def command(self) -> list[str]:
        """Return its program and arguments."""

    @abstractmethod
    def answers(self) -> bool:
        """Whether it can be used."""

    @property
    def log(self) -> str:
        file = self.folder / "log"
        return file.read_text(errors="replace") if file.exists() else ""

    def start(self) -> None:
        """Start it and wait until it answers."""
        assert self._process is None, "it is running"
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(self.command(), stdout=log, stderr=log)
        wait_until(self._usable, START_S, f"{self.name} on port {self.port}")

    def stop(self) -> None:
        """Stop it as an operator would; what it keeps is there at the next start."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        process.send_signal(signal.SIGCONT)  # a frozen one would not hear
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(STOP_S)

    def kill(self) -> None:
        """End it as a power cut does, with nothing said to anybody."""
        process, self._process = self._process, None
        assert process is not None
        process.kill()
        process.wait(STOP_S)

    def freeze(self) -> None:
        """Hold it still with its sockets open; `thaw` lets it go on."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    @property
    def runs(self) -> bool:
        return self._process is not None

    def _usable(self) -> bool:
        assert self._process is not None
        if (code := self._process.poll()) is not None:
            pytest.fail(f"{self.name} ended with {code}: {self.log[-600:]}")
        return self.answers()
