"""One question at a time on a Modbus line, for commissioning: waits its turn, and never asks twice by itself."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from sensors.drivers.connections import Wire, connect
from sensors.drivers.names import Names
from sensors.drivers.settings import BusSettings
from sensors.stamps import SECOND
from sensors.wire.modbus import Ask, BrokenStreamError, Head, Match, match, next_transaction
from sensors.wire.rtu import RtuInbox

PAUSE_S: Final = 0.01
"""Rest of the line between two questions where its settings ask for none: others live on it too."""

DATA_AT: Final = 9
"""Where the data of a read's answer begin in its frame: after the header, unit, function and count."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of one question.

    Attributes:
        data: the registers or bits of a right answer; None without one.
        refusal: the exception code of a refusal; None without one.
        reason: short code for why there is neither: ``timeout``, ``garbled``, or why the connection ended.
        by: the unit that answered in another's stead; None where none did.
    """

    data: bytes | None = None
    refusal: int | None = None
    reason: str = ""
    by: int | None = None


class Asker:
    """A line that is open for questions; made by `asking`."""

    def __init__(self, settings: BusSettings) -> None:
        self._settings = settings
        self._names = Names()
        self._strict = settings.strict_ids and not settings.rtu
        self._pause_s = max(settings.gap_s, settings.turnaround_ns / SECOND, PAUSE_S)
        self._wire: Wire | None = None
        self._id = 0
        self._ask: Ask | None = None
        self._waiting: asyncio.Future[Reply] | None = None
        self._by: int | None = None
        self._given_up = (-1, 0.0)
        self._free_at = self._sent = 0.0
        self.late_s = 0.0
        """The longest that an answer took which came after its time was out: whoever asks should wait so long."""

    async def ask(self, ask: Ask, timeout_s: float) -> Reply:
        """Ask once, after the pause that the line needs; reconnects first where the line was lost.

        Raises:
            NoConnectionError: the line cannot be had.
        """
        loop = asyncio.get_running_loop()
        await asyncio.sleep(max(0.0, self._free_at - loop.time()))
        if self._wire is None:
            self._wire = await connect(self._settings, self, self._names)
        self._ask, self._waiting, self._by = ask, loop.create_future(), None
        self._id = next_transaction(self._id)
        self._sent = loop.time()
        self._wire.send(ask, self._id)
        try:
            async with asyncio.timeout(timeout_s):
                return await self._waiting
        except TimeoutError:
            return self._silent()
        finally:
            self._ask = self._waiting = None
            self._free_at = loop.time() + self._pause_s

    def close(self) -> None:
        """Let the line go."""
        wire, self._wire = self._wire, None
        if wire is not None:
            wire.abort()

    # --- called by the connection

    def is_current(self, wire: Wire) -> bool:
        """Tell whether this is the connection in use."""
        return wire is self._wire

    def received(self, wire: Wire, now: float) -> None:
        """Bytes came in: take the whole frames out of them."""
        if wire is not self._wire:
            wire.inbox.clear()
            return
        try:
            self._take(wire)
        except BrokenStreamError:
            self.lost("garbled", now)

    def lost(self, reason: str, now: float) -> None:  # noqa: ARG002 - of the protocol of connections
        """The connection is over; the next question makes a new one."""
        self.close()
        self._tell(Reply(reason=reason))

    def crashed(self, error: BaseException) -> None:
        """A fault of ours: the question raises it."""
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(error)

    # --- details

    def _take(self, wire: Wire) -> None:
        inbox = wire.inbox
        while (head := inbox.frame()) is not None:
            self._judge(head, inbox.buffer, inbox.start)
            inbox.drop(head)

    def _judge(self, head: Head, buffer: bytearray, start: int) -> None:
        ask = self._ask
        if self._strict and head[0] != self._id:
            if head[0] == self._given_up[0]:
                self.late_s = max(self.late_s, asyncio.get_running_loop().time() - self._given_up[1])
            return  # of a question that is over
        if ask is None:
            return
        match match(ask, head, buffer, start):
            case Match.ANSWER:
                self._tell(Reply(data=bytes(buffer[start + DATA_AT : start + DATA_AT + head[5]])))
            case Match.EXCEPTION:
                self._tell(Reply(refusal=head[5]))
            case Match.FOREIGN:
                self._by = head[3]
            case Match.GARBLED | Match.OUT_OF_STEP:
                self._tell(Reply(reason="garbled"))

    def _tell(self, told: Reply) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(told)

    def _silent(self) -> Reply:
        """The time is out. Without ids a late answer would pass for the next: a network line is opened anew."""
        wire = self._wire
        self._given_up = self._id, self._sent
        if wire is not None and isinstance(wire.inbox, RtuInbox):
            while wire.inbox.give_up():
                self._take(wire)
        if not self._strict and self._settings.serial is None:
            self.close()
        return Reply(reason="timeout", by=self._by)


@asynccontextmanager
async def asking(settings: BusSettings) -> AsyncIterator[Asker]:
    """Hold a line for questions during the body; the first question opens it."""
    asker = Asker(settings)
    try:
        yield asker
    finally:
        asker.close()
