"""Modbus TCP lines served by pymodbus: a peer of another hand for the driver. Knows no scenario."""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Any, cast

from pymodbus.pdu import ModbusPDU
from pymodbus.server import ModbusTcpServer
from pymodbus.server.requesthandler import ServerRequestHandler
from pymodbus.simulator import SimDevice

HOST = "127.0.0.1"
MAX_HELD = 4096
"""Bytes of unanswered requests a connection may hold before it is dropped: garbage, or a client that never reads."""


class _Connection(ServerRequestHandler):
    """One client. Answers every request of a segment, in order; pymodbus alone answers the first and waits for more."""

    def __init__(self, owner: ModbusTcpServer) -> None:
        super().__init__(owner, None, None, None)  # type: ignore[no-untyped-call]  # pymodbus leaves it untyped
        self._held = b""
        self._asked: deque[tuple[ModbusPDU, tuple[Any, ...] | None]] = deque()

    def datagram_received(self, data: bytes, addr: tuple[str, int] | None) -> None:
        """Cut the stream into requests; an unfinished one waits for its rest."""
        self._held += data
        while self._held:
            used = self.callback_data(self._held, addr)
            if not used:
                break
            self._held = self._held[used:]
            if self.last_pdu:
                self._asked.append((self.last_pdu, self.last_addr))
        if len(self._held) > MAX_HELD:
            self.close()

    async def handle_request(self) -> None:
        """Answer the oldest request; called once for each."""
        if self._asked:
            self.last_pdu, self.last_addr = self._asked.popleft()
            await super().handle_request()  # type: ignore[no-untyped-call]  # pymodbus leaves it untyped


class LineServer(ModbusTcpServer):
    """A line behind a TCP port."""

    def callback_new_connection(self) -> _Connection:
        """Serve a new client."""
        return _Connection(self)

    @property
    def port(self) -> int:
        """The port it listens on."""
        listener = cast("asyncio.Server", self.transport)  # pymodbus declares a transport, but keeps the server there
        return int(listener.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Close the port and every connection."""
        await self.shutdown()  # type: ignore[no-untyped-call]  # pymodbus leaves it untyped


async def listen(units: Sequence[SimDevice], wanted: int = 0) -> LineServer:
    """Serve these units on the wanted port if it is free, else on any free one.

    Raises:
        OSError: if no port can be had.
    """
    for port in (wanted, 0):
        server = LineServer(list(units), address=(HOST, port))
        if await server.listen():
            return server
    raise OSError(f"no port of {HOST} can be listened on")
