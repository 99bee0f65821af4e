"""One connection of a Modbus bus, over TCP or a serial port: requests go out as frames, bytes come into an inbox."""

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final, Protocol, TypeAlias, cast

from sensors.drivers.names import Address, Names
from sensors.drivers.ports import Port, PortError
from sensors.drivers.settings import BusSettings, SerialSettings
from sensors.wire.modbus import Ask, Inbox, request
from sensors.wire.rtu import RtuInbox, rtu_request

CONNECT_S: Final = 1.0
"""How long a connection may take to come about. On one line of cable it takes milliseconds."""

READS_AT_ONCE: Final = 4
"""Buffers taken from a serial port in one step of the loop; a port that babbles must not hold up the others."""

AnyInbox: TypeAlias = Inbox | RtuInbox


class NoConnectionError(Exception):
    """A connection did not come about; its text is a short reason."""


class Owner(Protocol):
    """The bus, as its connection knows it."""

    def is_current(self, wire: "Wire") -> bool:
        """Tell whether this is the connection in use; an abandoned one may still have a word to say."""

    def received(self, wire: "Wire", now: float) -> None:
        """Bytes came into this connection's inbox; of one that is not in use they are to be forgotten."""

    def lost(self, reason: str, now: float) -> None:
        """The connection is over by the peer's doing."""

    def crashed(self, error: BaseException) -> None:
        """Handling what came in failed: a fault of ours."""


class Wire(ABC):
    """What both kinds have in common."""

    inbox: AnyInbox

    def send(self, ask: Ask, key: int) -> None:
        """Send a request; `key` is its transaction id, where frames have one."""
        if isinstance(self.inbox, RtuInbox):
            frame = rtu_request(ask)
            self.inbox.expect(ask, frame)
        else:
            frame = request(ask, key)
        self.put(frame)

    @abstractmethod
    def put(self, frame: bytes) -> None:
        """Hand a frame to the system."""

    def stands(self) -> bool:
        """Whether the way it was opened by still leads to it."""
        return True

    @abstractmethod
    def abort(self) -> None:
        """Drop the connection without waiting for what was not sent: the next one must not wait for the dead."""


class SocketWire(asyncio.BufferedProtocol, Wire):
    """A connection over TCP."""

    def __init__(self, owner: Owner, inbox: AnyInbox, loop: asyncio.AbstractEventLoop) -> None:
        self._owner = owner
        self._time = loop.time
        self.inbox = inbox
        self._rtu = isinstance(inbox, RtuInbox)
        self._transport: asyncio.Transport | None = None

    def send(self, ask: Ask, key: int) -> None:
        """Send a request."""
        if not self._rtu and self._transport is not None:  # nearly every one of them, and every step costs
            self._transport.write(key.to_bytes(2, "big") + ask.tail)
        else:
            super().send(ask, key)

    def put(self, frame: bytes) -> None:
        """Hand a frame to the system."""
        if self._transport is not None:
            self._transport.write(frame)

    def abort(self) -> None:
        """Drop the connection."""
        if self._transport is not None:
            self._transport.abort()

    @property
    def is_open(self) -> bool:
        """Whether it did not end while it came about."""
        return self._transport is not None and not self._transport.is_closing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It came about."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's own is no heir of asyncio's

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - the room is ours, whatever the hint
        """Say where the next bytes go."""
        return self.inbox.room()

    def buffer_updated(self, nbytes: int) -> None:
        """Bytes came."""
        self.inbox.filled(nbytes)
        try:
            self._owner.received(self, self._time())
        except BaseException as error:
            self._owner.crashed(error)
            raise

    def connection_lost(self, exc: Exception | None) -> None:
        """It ended."""
        if self._owner.is_current(self):
            self._owner.lost("closed" if exc is None else "reset", self._time())


class PortWire(Wire):
    """A serial port."""

    def __init__(self, owner: Owner, inbox: AnyInbox, serial: SerialSettings, loop: asyncio.AbstractEventLoop) -> None:
        self._owner = owner
        self._time = loop.time
        self.inbox = inbox
        self._port = Port(serial, loop, self._lost)
        self._port.listen(self._readable)

    def put(self, frame: bytes) -> None:
        """Hand a frame to the system."""
        self._port.write(frame)

    def stands(self) -> bool:
        """Whether the port's name still leads to it: an adapter that came back may stand under a new number."""
        return self._port.is_the_same()

    def abort(self) -> None:
        """Close the port."""
        self._port.close()

    def _readable(self) -> None:
        try:
            for _ in range(READS_AT_ONCE):
                room = self.inbox.room()
                count = self._port.read_into(room)
                if not count:
                    return
                self.inbox.filled(count)
                self._owner.received(self, self._time())
                if count < len(room) or not self._owner.is_current(self):
                    return
        except BaseException as error:
            self._owner.crashed(error)
            raise

    def _lost(self, reason: str) -> None:
        if self._owner.is_current(self):
            self._owner.lost(reason, self._time())


async def connect(settings: BusSettings, owner: Owner, names: Names) -> Wire:
    """Connect, or open the port. A name server that hangs costs a second for a name it never told, and else nothing.

    Raises:
        NoConnectionError: if that cannot be done now.
    """
    loop = asyncio.get_running_loop()
    inbox: AnyInbox = RtuInbox(echoes=settings.echo) if settings.rtu else Inbox()
    if settings.serial is not None:
        try:
            return PortWire(owner, inbox, settings.serial, loop)
        except PortError as error:
            raise NoConnectionError(str(error)) from error
    wire = SocketWire(owner, inbox, loop)
    try:
        places = await names.find(settings.host, settings.port)
        async with asyncio.timeout(CONNECT_S):
            await _connected(loop, wire, places)
    except ConnectionRefusedError as error:
        raise NoConnectionError("refused") from error
    except (TimeoutError, OSError) as error:
        raise NoConnectionError("unreachable") from error
    if not wire.is_open:
        raise NoConnectionError("closed")
    return wire


async def _connected(loop: asyncio.AbstractEventLoop, wire: SocketWire, places: Sequence[Address]) -> None:
    """Connect to the first of these that takes us; raise what the last of them did."""
    *others, last = places
    for place in others:
        with contextlib.suppress(OSError):
            await loop.create_connection(lambda: wire, place.host, place.port)
            return
    await loop.create_connection(lambda: wire, last.host, last.port)
