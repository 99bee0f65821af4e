"""MB-SIM: a scripted Modbus device or gateway that answers well, or as badly as it is told, and logs every request.

It stands on loopback, takes any number of connections, and makes no task: all is callbacks of the running loop. With
`serial=True` it is a gateway to a serial line: one request at a time whatever the connections, each taking the unit's
service time, and a mute unit holding the whole line for `mute_wait_s`; what a connection asked ends with it. With
`rtu=True` its frames are those of RTU, over TCP or, by `plug`, over a pseudo-terminal.
"""

import asyncio
from collections import deque
from pathlib import Path
from typing import Final, Self

from simulator.answers import (
    CountFault,
    IdFault,
    Request,
    ScriptedUnit,
    answer_to,
    exception_to,
    forged_count,
    frame_of,
    rtu_frame_of,
)
from simulator.scripted_client import Client
from simulator.serial import Cable, CableTransport

__all__ = ["CountFault", "IdFault", "Request", "ScriptedServer", "ScriptedUnit"]

MAX_LOG: Final = 1_000_000
BACKLOG: Final = 1024
WIRE_BYTES: Final = 8 + 7
"""Bytes of a register request and its answer, for the time that they take on the line."""


class ScriptedServer:
    """The device: units by number, and what goes wrong with the connection as a whole.

    Attributes:
        log: every request, oldest first, bounded.
        mute: takes connections and requests, says nothing: accept, then silence.
        frozen: does not even read.
        glue: sends so many answers in one segment.
        all_closed: set when the last connection has ended.
        serial, service_s, mute_wait_s, mute_exception: the gateway to a serial line; see the module.
        rtu: whether frames are those of RTU.
        echo: sends every request back before its answer, as some two-wire adapters do.
        byte_s: time that one byte of request or answer takes on the line.
    """

    def __init__(
        self,
        units: dict[int, ScriptedUnit] | None = None,
        *,
        serial: bool = False,
        service_s: float = 0.01,
        mute_wait_s: float = 1.0,
        mute_exception: int | None = None,
        rtu: bool = False,
    ) -> None:
        self.units = {} if units is None else units
        self.log: deque[Request] = deque(maxlen=MAX_LOG)
        self.connections = 0
        self.port = 0
        self.mute = False
        self.glue = 1
        self.serial = serial
        self.service_s = service_s
        self.mute_wait_s = mute_wait_s
        self.mute_exception = mute_exception
        self.rtu = rtu
        self.echo = False
        self.byte_s = 0.0
        self.cable: Cable | None = None
        self._frozen = False
        self._severed = False
        self._server: asyncio.Server | None = None
        self._open: set[Client] = set()
        self.all_closed = asyncio.Event()
        self._line: deque[tuple[Client, Request]] = deque()
        self._line_busy = False

    # --- life

    async def start(self) -> int:
        """Listen on loopback, on the port of last time if there was one; return it."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Client(self), "127.0.0.1", self.port, backlog=BACKLOG)
        self.port = self._server.sockets[0].getsockname()[1]
        return self.port

    def plug(self, link: Path) -> str:
        """Appear as a serial device under this link, with a new number each time; return the device's own name."""
        if self.cable is None:
            line = Client(self)
            self.cable = Cable(link, line.data_received)
            line.connection_made(CableTransport(self.cable))
        return self.cable.plug()

    def unplug(self) -> None:
        """Pull the serial device out."""
        if self.cable is not None:
            self.cable.unplug()

    async def stop(self) -> None:
        """Stop listening and drop every connection."""
        self.unplug()
        self.refuse()
        for connection in tuple(self._open):
            connection.abort()
        await asyncio.sleep(0)  # an abort closes its socket in the next step of the loop

    async def __aenter__(self) -> Self:
        if self.cable is None:
            await self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()

    def refuse(self) -> None:
        """Refuse new connections from now on; the port stays free for `start`."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def sever(self, *, severed: bool) -> None:
        """Cut the line or mend it: while it is cut every connection is reset at once, or the serial device is gone."""
        if severed is self._severed:
            return
        self._severed = severed
        if self.cable is None:
            self.reset()
        elif severed:
            self.cable.unplug()
        else:
            self.cable.plug()

    def reset(self) -> None:
        """Send RST on every connection."""
        for connection in tuple(self._open):
            connection.reset()

    @property
    def severed(self) -> bool:
        """Whether the line is cut."""
        return self._severed

    @property
    def frozen(self) -> bool:
        """Whether it has stopped to read."""
        return self._frozen

    @frozen.setter
    def frozen(self, frozen: bool) -> None:
        self._frozen = frozen
        for connection in self._open:
            connection.freeze(frozen)

    def requests(self, unit: int | None = None, function: int | None = None) -> list[Request]:
        """Return the logged requests of one unit or function."""
        return [
            each
            for each in self.log
            if (unit is None or each.unit == unit) and (function is None or each.function == function)
        ]

    # --- requests, from the connections

    def opened(self, connection: Client) -> None:
        """A connection was taken."""
        self.connections += 1
        self._open.add(connection)
        self.all_closed.clear()

    def closed(self, connection: Client) -> None:
        """A connection ended."""
        self._open.discard(connection)
        if not self._open:
            self.all_closed.set()

    def take(self, connection: Client, request: Request) -> None:
        """A request came in."""
        self.log.append(request)
        if self.mute:
            return
        if self.serial:
            self._line.append((connection, request))
            self._serve_line()
            return
        unit = self.units.get(request.unit)
        if unit is None or self._mute_now(unit):
            return
        delay_s = unit.delay_s + self.byte_s * WIRE_BYTES
        if delay_s:
            asyncio.get_running_loop().call_later(delay_s, self._reply, connection, request, unit)
        else:
            self._reply(connection, request, unit)

    def _serve_line(self) -> None:
        """Begin the next request of the serial line, if it is free."""
        while self._line and self._line[0][0] not in self._open:
            self._line.popleft()  # whoever asked has hung up
        if self._line_busy or not self._line:
            return
        self._line_busy = True
        connection, request = self._line.popleft()
        unit = self.units.get(request.unit)
        loop = asyncio.get_running_loop()
        if unit is None or self._mute_now(unit):
            loop.call_later(self.mute_wait_s, self._line_gave_up, connection, request)
        else:
            loop.call_later(self.service_s + unit.delay_s, self._line_served, connection, request, unit)

    def _line_gave_up(self, connection: Client, request: Request) -> None:
        if self.mute_exception is not None:
            pdu = exception_to(request, self.mute_exception)
            frame = rtu_frame_of(request.unit, pdu) if self.rtu else frame_of(request.transaction, request.unit, pdu)
            connection.send(frame)
        self._line_busy = False
        self._serve_line()

    def _line_served(self, connection: Client, request: Request, unit: ScriptedUnit) -> None:
        self._reply(connection, request, unit)
        self._line_busy = False
        self._serve_line()

    @staticmethod
    def _mute_now(unit: ScriptedUnit) -> bool:
        if unit.answers_left is not None:
            unit.answers_left -= 1
            if unit.answers_left < 0:
                unit.silent, unit.answers_left = True, None
        return unit.silent

    def _reply(self, connection: Client, request: Request, unit: ScriptedUnit) -> None:
        if unit.garbage is not None:
            connection.send(unit.garbage)
            return
        pdu = forged_count(answer_to(request, unit), unit.count_fault)
        number = request.unit if unit.wrong_unit is None else unit.wrong_unit
        if self.rtu:
            frame = rtu_frame_of(number, pdu, unit)
        else:
            frame = frame_of(connection.forged_id(request, unit.id_fault), number, pdu, unit.length_error)
        frame *= unit.repeat
        if unit.cut_s:
            connection.send_cut(frame, unit.cut_s)
        else:
            connection.send(frame)
