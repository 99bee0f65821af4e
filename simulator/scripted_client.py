"""One client of a scripted Modbus device: requests cut out of its bytes; answers sent whole, in pieces, or glued.

Knows no unit and no register: what is answered is the server's.
"""

import asyncio
import socket
import struct
from typing import Final, Protocol

from sensors.wire.rtu import crc16
from simulator.answers import IdFault, Request

MIN_RTU_REQUEST: Final = 8
LONG_WRITES: Final = (15, 16)
MBAP: Final = 6
"""Bytes before what a frame's length counts."""
LENGTHS: Final = range(2, 255)
PLAIN_REQUEST: Final = 6
"""Unit, function, address and count."""
GLUE_S: Final = 0.05
"""How long a reply waits at most for another to be glued to."""


class Server(Protocol):
    """What a connection must know of the device behind it."""

    connections: int
    rtu: bool
    echo: bool
    glue: int

    @property
    def frozen(self) -> bool:
        """Whether it has stopped to read."""
        ...

    @property
    def severed(self) -> bool:
        """Whether the line is cut."""
        ...

    def opened(self, connection: "Client") -> None:
        """A connection was taken."""
        ...

    def closed(self, connection: "Client") -> None:
        """A connection ended."""
        ...

    def take(self, connection: "Client", request: Request) -> None:
        """A request came in."""
        ...


class Client(asyncio.Protocol):
    """One connection, from the device's side."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._bytes = bytearray()
        self._transport: asyncio.Transport | None = None
        self._number = 0
        self._previous = 0
        self._last = 0
        self._glued = bytearray()
        self._glued_count = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin as the device is now: reading, frozen, or cut off."""
        if isinstance(transport, asyncio.Transport):
            self._transport = transport
        self._server.opened(self)
        self._number = self._server.connections
        if self._server.frozen:
            self.freeze(True)
        if self._server.severed:
            self.reset()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - of the protocol
        """Tell the device that nobody is there to be answered."""
        self._transport = None
        self._server.closed(self)

    def data_received(self, data: bytes) -> None:
        """Hand every whole request to the device."""
        if self._server.echo:
            self._write(data)
        self._bytes += data
        if self._server.rtu:
            self._rtu_requests()
            return
        now = asyncio.get_running_loop().time()
        while len(self._bytes) >= MBAP:
            transaction, protocol, length = struct.unpack_from(">HHH", self._bytes)
            if protocol or length not in LENGTHS:
                self.abort()  # no frame of Modbus can be found in this stream again
                return
            if len(self._bytes) < MBAP + length:
                return
            frame = bytes(self._bytes[MBAP : MBAP + length]).ljust(PLAIN_REQUEST, b"\0")
            del self._bytes[: MBAP + length]
            unit, function, address, count = struct.unpack_from(">BBHH", frame)
            self._previous, self._last = self._last, transaction
            self._server.take(
                self, Request(now, self._number, transaction, unit, function, address, count, frame[PLAIN_REQUEST:])
            )

    def _rtu_requests(self) -> None:
        now = asyncio.get_running_loop().time()
        held = self._bytes
        while len(held) >= MIN_RTU_REQUEST:
            size = 9 + held[6] if held[1] in LONG_WRITES else MIN_RTU_REQUEST
            if len(held) < size:
                return
            if crc16(held[:size]):
                del held[:1]
                continue
            unit, function, address, count = struct.unpack_from(">BBHH", held)
            data = bytes(held[6 : size - 2])
            del held[:size]
            self._server.take(self, Request(now, self._number, 0, unit, function, address, count, data))

    def abort(self) -> None:
        """Drop the connection."""
        if self._transport is not None:
            self._transport.abort()

    def reset(self) -> None:
        """Drop it with RST."""
        if self._transport is not None:
            sock = self._transport.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._transport.abort()

    def freeze(self, frozen: bool) -> None:
        """Stop or go on reading."""
        if self._transport is None:
            return
        if frozen:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def forged_id(self, request: Request, fault: IdFault | None) -> int:
        """Return the transaction id to answer with."""
        match fault:
            case None:
                return request.transaction
            case IdFault.WRONG:
                return (request.transaction + 1) & 0xFFFF
            case IdFault.PREVIOUS:
                return self._previous
            case IdFault.SWAPPED:
                return request.transaction >> 8 | (request.transaction & 0xFF) << 8
            case IdFault.ZERO:
                return 0

    def send(self, frame: bytes) -> None:
        """Send one answer, or keep it for glueing."""
        if self._server.glue <= 1:
            self._write(frame)
            return
        self._glued += frame
        self._glued_count += 1
        if self._glued_count >= self._server.glue:
            self._flush()
        elif self._glued_count == 1:
            asyncio.get_running_loop().call_later(GLUE_S, self._flush)

    def send_cut(self, frame: bytes, apart_s: float) -> None:
        """Send one answer byte by byte."""
        loop = asyncio.get_running_loop()
        for index in range(len(frame)):
            loop.call_later(index * apart_s, self._write, frame[index : index + 1])

    def _flush(self) -> None:
        self._write(bytes(self._glued))
        self._glued.clear()
        self._glued_count = 0

    def _write(self, data: bytes) -> None:
        if self._transport is not None and data:
            self._transport.write(data)
