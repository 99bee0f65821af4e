"""A real Mosquitto of a test's own: loopback, a port of its own, everything it keeps in the test's folder."""

import contextlib
import os
import shutil
import socket

from server_process import ServerProcess, binary


class Mosquitto(ServerProcess):
    """Mosquitto 2; `start` takes lines that are added to its configuration."""

    name = "mosquitto"

    def start(self, *lines: str) -> None:
        state = self.folder / "state"
        state.mkdir(parents=True, exist_ok=True)
        configuration = [
            f"listener {self.port} {self.host}",
            "allow_anonymous true",
            "persistence true",
            f"persistence_location {state}/",
            "sys_interval 0",
            *([f"user {os.environ.get('USER', 'root')}"] if os.geteuid() == 0 else []),
            *lines,
        ]
        (self.folder / "mosquitto.conf").write_text("\n".join(configuration) + "\n")
        super().start()

    def command(self) -> list[str]:
        return [binary("mosquitto"), "-c", str(self.folder / "mosquitto.conf"), "-v"]

    def wipe(self) -> None:
        """Forget every session and retained message, as a recreated broker has; only when stopped."""
        assert not self.runs
        shutil.rmtree(self.folder / "state", ignore_errors=True)

    def answers(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection((self.host, self.port), timeout=0.2):
            return True
        return False
