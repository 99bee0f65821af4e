"""The watch's children: programs of their own that are started, ended, and missed when they go. No alarm waits for one.

The web child shows the pages; the office keeps the registers and judges the law. Each shows once a second that its
loop turns (`gateway.children.tie`); one that falls silent is ended and missed like one that ended by itself.
"""

import asyncio
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from gateway.children.tie import EXIT_NO_ADDRESS, UNWELL
from gateway.depot import Depot

END_WITHIN_S = 0.8

LONGEST_PAUSE_S = 30.0
"""Between two tries to start a child that ends by itself, as while its port is taken: each is a whole Python."""

SILENT_AFTER_S = 5.0
"""A child that shows no sign of life for so long is hung or stopped; it shows one each second."""

FIRST_SIGN_WITHIN_S = 30.0
"""How long a start may take: a whole Python, on a machine that has just been switched on."""

OFFICE_AFTER_S = 3.0
"""The office opens so long after the watch: reading years of registers must not slow the start of what matters more."""


WE_SLEPT_S = 1.0
"""A silence that we notice later than this was ours: the whole machine stood still, and the child is heard anew."""


class SilentError(OSError):
    """A child lives and shows no sign of it."""


@dataclass(frozen=True, slots=True)
class Child:
    """How to run a part of Vigia as a process of its own.

    Attributes:
        after_s: it is started so long after it is asked for.
    """

    module: str
    arguments: tuple[str, ...]
    after_s: float = 0.0

    async def run(self, tell: Callable[[bool], None] = lambda _: None) -> None:
        """Run the child until it ends, falls silent, or we are cancelled; then end it, by force after `END_WITHIN_S`.

        Its standard input is a socket that closes with us, so that it does not outlive a killed watch. `tell` hears
        with every sign of life whether a part of the child fails again and again.

        Raises:
            ChildProcessError: it ended by itself.
            SilentError: it lives and does nothing.
        """
        await asyncio.sleep(self.after_s)
        ours, its = socket.socketpair()
        with ours:
            with its:
                child = await asyncio.create_subprocess_exec(
                    sys.executable, "-m", self.module, *self.arguments, stdin=its.fileno()
                )
            try:
                await self._watch(child, ours, tell)
            finally:
                if child.returncode is None:
                    await _end(child)

    async def _watch(
        self, child: asyncio.subprocess.Process, line: socket.socket, tell: Callable[[bool], None]
    ) -> None:
        """Wait for its end, or for too long a silence."""
        loop = asyncio.get_running_loop()
        patience = FIRST_SIGN_WITHIN_S
        while True:
            silence = asyncio.timeout(patience)
            try:
                async with silence:
                    loop.add_reader(line, _hear, line, silence, tell)
                    code = await child.wait()
                why = ": its address cannot be had" if code == EXIT_NO_ADDRESS else ""
                raise ChildProcessError(f"{self.module} ended with exit code {code}{why}")
            except TimeoutError:
                patience = SILENT_AFTER_S
                until = silence.when()
                if until is None or loop.time() - until < WE_SLEPT_S:
                    raise SilentError(f"{self.module} lives and shows no sign of it") from None
            finally:
                loop.remove_reader(line)


def _hear(line: socket.socket, silence: asyncio.Timeout, tell: Callable[[bool], None]) -> None:
    """Take a sign of life. The line's end says nothing: whoever closed it has ended, or will be found silent."""
    loop = asyncio.get_running_loop()
    if signs := line.recv(4096):
        tell(signs.endswith(UNWELL))
        silence.reschedule(loop.time() + SILENT_AFTER_S)
    else:
        loop.remove_reader(line)


async def _end(child: asyncio.subprocess.Process) -> None:
    child.terminate()
    try:
        async with asyncio.timeout(END_WITHIN_S):
            await child.wait()
    except TimeoutError:
        child.kill()
        await child.wait()


def web_child(depot: Depot) -> Child | None:
    """Return how a depot's pages are run; None where it has none."""
    if depot.web is None:
        return None
    called = None if depot.public_url is None else host_of(depot.public_url)
    return Child(
        "gateway.children.webchild",
        (
            *("--socket", str(depot.socket)),
            *("--office", str(depot.office)),
            *("--journal", str(depot.journal)),
            *("--listen", f"{depot.web.host}:{depot.web.port}"),
            *("--language", depot.language),
            *("--timezone", depot.timezone),
            *(() if called is None else ("--host", called)),
        ),
    )


def office_child(depot: Depot) -> Child:
    """Return how a depot's office is run. It reads the configuration itself: a changed file is a new office."""
    return Child("gateway.office.child", (str(depot.file),), after_s=OFFICE_AFTER_S)


def host_of(url: str) -> str | None:
    """Return the host a browser names when it is sent to `url`: without a port, in the letters of the wire."""
    host = urlsplit(url).hostname
    if not host:
        return None
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        return host
