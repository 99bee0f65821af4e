"""The web child's line to the office: one ask, one answer, each over a connection of its own."""

import asyncio
from pathlib import Path

import msgspec

from dashboards.office import Attach, Enter, Import, Look, Reply

ANSWERED_WITHIN_S = 30.0
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
                reader, writer = await asyncio.open_unix_connection(str(self._path), limit=MAX_ANSWER_BYTES)
                try:
                    writer.write(msgspec.json.encode(ask) + b"\n")
                    await writer.drain()
                    return msgspec.json.decode(await reader.readline(), type=Reply)
                finally:
                    writer.close()
        except (OSError, TimeoutError, ValueError, msgspec.DecodeError) as error:
            raise NoOfficeError(str(error) or "no answer in time") from error
