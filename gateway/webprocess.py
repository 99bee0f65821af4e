"""The web child as the watch sees it: a process that is started, ended, and missed when it goes."""

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path

END_WITHIN_S = 0.8


@dataclass(frozen=True, slots=True)
class WebProcess:
    """How to run the pages in a process of their own. Stop or overload it: no alarm is later for it."""

    host: str
    port: int
    socket: Path
    journal: Path
    language: str
    timezone: str

    async def run(self) -> None:
        """Run the child until it ends or we are cancelled; then end it, by force after `END_WITHIN_S`.

        Its standard input is a pipe that closes with us, so that it does not outlive a killed watch.
        """
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "gateway.webchild",
            "--socket",
            str(self.socket),
            "--journal",
            str(self.journal),
            "--listen",
            f"{self.host}:{self.port}",
            "--language",
            self.language,
            "--timezone",
            self.timezone,
            stdin=asyncio.subprocess.PIPE,
        )
        try:
            code = await child.wait()
            raise ChildProcessError(f"web child ended with exit code {code}")
        finally:
            if child.returncode is None:
                child.terminate()
                try:
                    async with asyncio.timeout(END_WITHIN_S):
                        await child.wait()
                except TimeoutError:
                    child.kill()
                    await child.wait()
