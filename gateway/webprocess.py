"""The web child as the watch sees it: a process that is started, ended, and missed when it goes."""

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from gateway.depot import Depot

END_WITHIN_S = 0.8

LONGEST_PAUSE_S = 30.0
"""Between two tries to start a child that ends by itself, as while its port is taken: each is a whole Python."""


@dataclass(frozen=True, slots=True)
class WebProcess:
    """How to run the pages in a process of their own. Stop or overload it: no alarm is later for it.

    Attributes:
        called: a host name besides loopback's by which the page is called, through a proxy; None where there is none.
    """

    host: str
    port: int
    socket: Path
    journal: Path
    language: str
    timezone: str
    called: str | None = None

    def arguments(self) -> list[str]:
        """Return the child's arguments."""
        return [
            *("--socket", str(self.socket)),
            *("--journal", str(self.journal)),
            *("--listen", f"{self.host}:{self.port}"),
            *("--language", self.language),
            *("--timezone", self.timezone),
            *(() if self.called is None else ("--host", self.called)),
        ]

    async def run(self) -> None:
        """Run the child until it ends or we are cancelled; then end it, by force after `END_WITHIN_S`.

        Its standard input is a pipe that closes with us, so that it does not outlive a killed watch.
        """
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "gateway.webchild",
            *self.arguments(),
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


def web_process(depot: Depot) -> WebProcess | None:
    """Return how a depot's pages are run; None where it has none."""
    if depot.web is None:
        return None
    return WebProcess(
        host=depot.web.host,
        port=depot.web.port,
        socket=depot.socket,
        journal=depot.journal,
        language=depot.language,
        timezone=depot.timezone,
        called=None if depot.public_url is None else host_of(depot.public_url),
    )


def host_of(url: str) -> str | None:
    """Return the host a browser names when it is sent to `url`: without a port, in the letters of the wire."""
    host = urlsplit(url).hostname
    if not host:
        return None
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        return host
