"""The office's line to the watch: files papers, one filing at a time, and knows of each what became of it.

A journal that is slow may take a filing after its caller was told that it is not known. Nothing else is filed before
that is settled, so that nobody is let in on a stock that is about to change, and a repeat is known for one. What an
office before this one had filed counts too: an empty filing, the first of all, is answered once that is settled.
"""

import asyncio
from pathlib import Path

import msgspec

from dashboards.office import Breach, File, Judged, Paper
from dashboards.ports import Answer
from gateway.machine.sockets import ControlError
from gateway.office.door import ask_watch


class UnsettledError(ControlError):
    """The watch has heard it and has not said yet that the journal holds it: it may still come to be entered."""


class WatchLine:
    """Files with the watch behind a socket.

    Args:
        path: the watch's control socket.
        within_s: how long the journal may take.
    """

    def __init__(self, path: Path, within_s: float) -> None:
        self._path = path
        self._within_s = within_s
        self._open: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._begun = False

    async def settle(self) -> None:
        """Wait for what became of the last filing. A watch that is gone has taken what the journal holds by then.

        Raises:
            ControlError: it is still not known; nothing may be filed yet.
        """
        if self._open is None:
            if self._begun:
                return
            await self._send("", ())
        try:
            answer = await self._answer()
        except UnsettledError as error:
            if self._open is not None:
                raise ControlError(f"the filing before this one is not settled yet ({error})") from error
            return
        self._begun = self._begun or answer.ok
        if not self._begun:
            raise ControlError(f"the watch is not ready: {answer.error}")

    async def file(self, by: str, papers: tuple[Paper, ...]) -> None:
        """Have papers written in one transaction.

        Raises:
            UnsettledError: it may still come to be entered.
            ControlError: it is not entered.
        """
        await self.settle()
        await self._send(by, papers)
        answer = await self._answer()
        if not answer.ok:
            raise ControlError(f"the watch did not take it: {answer.error} {answer.detail}".strip())

    async def judged(self, breaches: tuple[Breach, ...]) -> bool:
        """Tell the watch which conditions of the law stand; return whether it took that: it hears one in 2 s.

        Raises:
            ControlError: it does not answer.
        """
        raw = await ask_watch(self._path, Judged(1, breaches), self._within_s)
        return msgspec.json.decode(raw, type=Answer).ok

    async def _send(self, by: str, papers: tuple[Paper, ...]) -> None:
        try:
            async with asyncio.timeout(self._within_s):
                self._open = await asyncio.open_unix_connection(str(self._path))
        except (OSError, TimeoutError) as error:
            raise ControlError(f"{self._path}: the watch does not answer ({error})") from error
        self._open[1].write(msgspec.json.encode(File(1, by, papers)) + b"\n")

    async def _answer(self) -> Answer:
        assert self._open is not None
        reader, writer = self._open
        try:
            async with asyncio.timeout(self._within_s):
                raw = await reader.readline()
        except TimeoutError:
            raise UnsettledError(f"the journal has not confirmed within {self._within_s:.0f} s") from None
        except (OSError, ValueError) as error:
            self._close(writer)
            raise UnsettledError(f"the watch went away ({error})") from error
        self._close(writer)
        try:
            return msgspec.json.decode(raw, type=Answer)
        except msgspec.DecodeError as error:
            raise UnsettledError("the watch went away") from error

    def _close(self, writer: asyncio.StreamWriter) -> None:
        self._open = None
        writer.close()
