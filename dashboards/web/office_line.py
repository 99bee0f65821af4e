"""The web child's line to the office: one ask, one answer, each over a connection of its own."""

import asyncio
from pathlib import Path

import msgspec

from dashboards.office import SILENT_AFTER_S, Attach, Enter, Import, Look, Reply

ANSWERED_WITHIN_S = 30.0
"""However many signs of life it shows meanwhile."""

MAX_ANSWER_BYTES = 64 * 1024 * 1024


class NoOfficeError(ConnectionError):
    """The office is not heard, or did not answer in time."""


class OfficeLine:
    """Asks the office behind a socket."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def ask(self, ask: Enter | Import | Attach | Look) -> Reply:
        """Ask one thing.

        Raises:
            NoOfficeError: nobody answers there in time, or what answers is no office.
        """
        try:
            async with asyncio.timeout(ANSWERED_WITHIN_S):
                return await self._asked(ask)
        except (OSError, TimeoutError, ValueError, msgspec.DecodeError) as error:
            raise NoOfficeError(str(error) or "no answer in time") from error

    async def _asked(self, ask: Enter | Import | Attach | Look) -> Reply:
        async with asyncio.timeout(SILENT_AFTER_S):
            reader, writer = await asyncio.open_unix_connection(str(self._path), limit=MAX_ANSWER_BYTES)
        try:
            async with asyncio.timeout(SILENT_AFTER_S) as silence:
                writer.write(msgspec.json.encode(ask) + b"\n")
                await writer.drain()
                while (text := await reader.readline()) == b"\n":
                    silence.reschedule(asyncio.get_running_loop().time() + SILENT_AFTER_S)
            return msgspec.json.decode(text, type=Reply)
        finally:
            writer.close()
