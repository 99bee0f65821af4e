"""Modbus TCP lines of simulated heads and sirens, served by pymodbus. Knows no scenario."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, cast

from pymodbus.constants import ExcCodes
from pymodbus.pdu import ModbusPDU
from pymodbus.server import ModbusTcpServer
from pymodbus.server.requesthandler import ServerRequestHandler
from pymodbus.simulator import DataType, SimData, SimDevice

HOST = "127.0.0.1"
VALUE, STATUS = 0, 1
"""A head's registers, holding and input alike: tenths of a %LEL, and its status bits."""
FAULT_BIT, WARM_UP_BIT, OVER_RANGE_BIT = 0, 1, 2
MAX_HELD = 4096
"""Bytes of unanswered requests a connection may hold before it is dropped: garbage, or a client that never reads."""

ReadHead = Callable[[], tuple[int, int]]
"""Returns the value register and the status register as they are now."""


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


def head_unit(unit: int, read: ReadHead) -> SimDevice:
    """Return a head at this unit address; `read` is asked anew for every request."""

    async def refresh(*request: Any) -> ExcCodes | None:  # noqa: ANN401 - six positional ones of pymodbus
        *_, registers, written = request
        if written is not None:
            return ExcCodes.ILLEGAL_FUNCTION
        registers[VALUE], registers[STATUS] = read()
        return None

    return SimDevice(unit, SimData(0, values=[0, 0], datatype=DataType.REGISTERS), action=refresh)


def coil_unit(unit: int, coil: int, told: Callable[[bool], None]) -> SimDevice:
    """Return sixteen coils at this unit address; `told` hears each value written to one of them."""

    async def hear(*request: Any) -> ExcCodes | None:  # noqa: ANN401 - six positional ones of pymodbus
        _function, _start, address, *_, written = request
        if written is not None and 0 <= coil - address < len(written):
            told(bool(written[coil - address]))
        return None

    memory = SimData(0, values=[0], datatype=DataType.REGISTERS)
    return SimDevice(unit, memory, use_bit_addressing=True, action=hear)


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
