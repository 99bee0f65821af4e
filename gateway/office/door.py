"""The office's door: one Unix socket, one line of JSON for each ask and each answer. Knows no register.

Asks of one connection are answered in their order, so that a caller who sent two hears of them as it sent them. While
one is worked at an empty line goes out every second: who hears none knows that nobody works at it.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from socket import AF_UNIX, SOCK_STREAM, socket

import msgspec

from dashboards.office import SIGN_EVERY_S, SILENT_AFTER_S, Attach, Enter, Import, Look, Reply, ToOffice
from gateway.machine.sockets import ControlError, claim, remove_own, removed

MAX_ASK_BYTES = 12 * 1024 * 1024
"""A spreadsheet of 8 MiB in base64, and what stands around it."""

MAX_CALLERS = 32
MAX_ANSWER_BYTES = 64 * 1024 * 1024


class UnansweredError(ControlError):
    """The office was asked and does not answer: whether it does what was asked is not known."""


class Door:
    """Lets callers in.

    Args:
        path: where the socket stands; owner only (0600).
        answer: the clerk.
    """

    def __init__(self, path: Path, answer: Callable[[ToOffice], Awaitable[Reply]]) -> None:
        self._path = path
        self._answer = answer
        self._callers = 0

    async def run(self) -> None:
        """Serve until cancelled; then remove the socket.

        Raises:
            ControlError: another live process answers there, the socket cannot be had, or it was removed.
        """
        listener = claim(self._path)
        inode = self._path.stat().st_ino
        try:
            server = await asyncio.start_unix_server(self._serve, sock=listener, limit=MAX_ASK_BYTES)
            async with server:
                await removed(self._path, inode)
        finally:
            listener.close()
            remove_own(self._path, inode)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._callers += 1
        try:
            if self._callers <= MAX_CALLERS:
                await self._talk(reader, writer)
        except (OSError, ValueError):  # gone, or a line without an end
            return
        finally:
            self._callers -= 1
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            try:
                ask = msgspec.json.decode(line, type=ToOffice)
            except (msgspec.DecodeError, RecursionError) as error:
                reply = Reply(0, ok=False, error="bad-request", data=str(error))
            else:
                with _signs_of_life(writer):
                    reply = await self._answer(ask)
            writer.write(msgspec.json.encode(reply) + b"\n")
            await writer.drain()


@contextlib.contextmanager
def _signs_of_life(writer: asyncio.StreamWriter) -> Iterator[None]:
    """Send an empty line every second while an ask is worked at."""
    loop = asyncio.get_running_loop()

    timer: asyncio.TimerHandle

    def show() -> None:
        nonlocal timer
        writer.write(b"\n")
        timer = loop.call_later(SIGN_EVERY_S, show)

    timer = loop.call_later(SIGN_EVERY_S, show)
    try:
        yield
    finally:
        timer.cancel()


def ask_office(path: Path, ask: Enter | Import | Attach | Look, timeout_s: float = SILENT_AFTER_S) -> Reply:
    """Ask the office behind `path` one thing; wait for the answer as long as it shows signs of life (it blocks).

    Raises:
        UnansweredError: it was asked and falls silent or goes away.
        ControlError: nobody answers there.
    """
    with socket(AF_UNIX, SOCK_STREAM) as line:
        line.settimeout(timeout_s)
        try:
            line.connect(str(path))
        except OSError as error:
            raise ControlError(f"{path}: no office answers ({error})") from error
        try:
            line.sendall(msgspec.json.encode(ask) + b"\n")
            with line.makefile("rb") as answers_in:
                while (text := answers_in.readline(MAX_ANSWER_BYTES)) == b"\n":
                    pass
            return msgspec.json.decode(text, type=Reply)
        except (OSError, msgspec.DecodeError) as error:
            raise UnansweredError(f"{path}: the office does not answer ({error})") from error


async def ask_watch(path: Path, request: msgspec.Struct, within_s: float) -> msgspec.Raw:
    """Ask the watch one thing over its control socket; return its answer as it came.

    Raises:
        ControlError: nobody answers there in time.
    """
    try:
        async with asyncio.timeout(within_s):
            reader, writer = await asyncio.open_unix_connection(str(path), limit=MAX_ASK_BYTES)
            try:
                writer.write(msgspec.json.encode(request) + b"\n")
                return msgspec.Raw(await reader.readline())
            finally:
                writer.close()
    except (OSError, TimeoutError, ValueError) as error:
        raise ControlError(f"{path}: the watch does not answer ({error})") from error
