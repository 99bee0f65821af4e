"""A network in memory for the virtual loop: connections of two ends, each byte on its way for a while, none lost.

What a real one also does (segments cut anywhere, full send buffers) is for tests on real wires.
"""

import asyncio
import struct
from collections.abc import Callable
from typing import Any, TypeVar

from simulator.virtual import VirtualLoop

HOST = "127.0.0.1"
FIRST_PORT = 20_000
TRAVEL_S = 0.001
"""How long a segment is on its way."""

P = TypeVar("P", bound=asyncio.BaseProtocol)
Factory = Callable[[], asyncio.BaseProtocol]


class NetLoop(VirtualLoop):
    """A virtual loop with a net: whoever connects or listens through it does so in memory.

    Attributes:
        dead_ports: where a connection is neither taken nor refused.
    """

    def __init__(self, start_s: float = 1000.0) -> None:
        super().__init__(start_s)
        self._listening: dict[int, Factory] = {}
        self._next_port = FIRST_PORT
        self.dead_ports: set[int] = set()

    async def create_server(  # type: ignore[override]
        self,
        protocol_factory: Factory,
        host: str | None = None,  # noqa: ARG002 - one host is all
        port: int | None = None,
        **_: object,
    ) -> "Listener":
        """Listen; port 0 or none is a free one."""
        if not port:
            self._next_port += 1
            port = self._next_port
        if port in self._listening:
            raise OSError(f"port {port} is taken")
        self._listening[port] = protocol_factory
        return Listener(self._listening, port)

    async def create_connection(  # type: ignore[override]
        self,
        protocol_factory: Callable[[], P],
        host: str | None = None,  # noqa: ARG002
        port: int = 0,
        **_: object,
    ) -> tuple[asyncio.Transport, P]:
        """Connect.

        Raises:
            ConnectionRefusedError: nobody listens.
        """
        while port in self.dead_ports:  # noqa: ASYNC110 - an attempt that nobody answers, until it is given up
            await asyncio.sleep(0.5)
        await asyncio.sleep(TRAVEL_S)
        answering = self._listening.get(port)
        if answering is None:
            raise ConnectionRefusedError(f"nobody listens on {port}")
        mine = protocol_factory()
        ours, theirs = Pipe(self, mine), Pipe(self, answering())
        ours.peer, theirs.peer = theirs, ours
        theirs.protocol.connection_made(theirs)
        mine.connection_made(ours)
        return ours, mine


class Listener:
    """What `create_server` gives, as far as it is used."""

    def __init__(self, listening: dict[int, Factory], port: int) -> None:
        self._listening = listening
        self._port = port

    @property
    def sockets(self) -> "tuple[Listener, ...]":
        """Its one socket."""
        return (self,)

    def getsockname(self) -> tuple[str, int]:
        """Where it listens."""
        return HOST, self._port

    def close(self) -> None:
        """Take no more connections."""
        self._listening.pop(self._port, None)


class Pipe(asyncio.Transport):
    """One end of a connection."""

    def __init__(self, loop: VirtualLoop, protocol: asyncio.BaseProtocol) -> None:
        super().__init__()
        self._loop = loop
        self.protocol = protocol
        self.peer: Pipe | None = None
        self._closing = self._held = self._hard = False
        self._kept: list[bytes] = []
        self._feed = _feeder(protocol)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send."""
        if not self._closing and self.peer is not None and len(data):
            self._loop.post(TRAVEL_S, self.peer.arrive, bytes(data))

    def arrive(self, data: bytes) -> None:
        """Bytes of the other end have come."""
        if self._closing:
            return
        if self._held:
            self._kept.append(data)
        else:
            self._feed(data)

    def pause_reading(self) -> None:
        """Take nothing in for now."""
        self._held = True

    def resume_reading(self) -> None:
        """Take in what has come meanwhile, and go on."""
        self._held = False
        kept, self._kept = self._kept, []
        for data in kept:
            self._loop.call_soon(self.arrive, data)

    def is_closing(self) -> bool:
        """Whether it has ended, or is about to."""
        return self._closing

    def close(self) -> None:
        """End it."""
        self.abort()

    def abort(self) -> None:
        """End it at once; the other end hears of it after a while."""
        if self._closing:
            return
        self._end(None)
        if self.peer is not None:
            self._loop.call_later(TRAVEL_S, self.peer.hung_up, ConnectionResetError() if self._hard else None)

    def hung_up(self, error: Exception | None) -> None:
        """The other end has gone."""
        if not self._closing:
            self._end(error)

    def get_extra_info(self, name: str, default: Any = None) -> Any:  # noqa: ANN401
        """Its socket, as far as anybody asks one for anything: itself."""
        return self if name == "socket" else default

    def setsockopt(self, level: int, option: int, value: bytes) -> None:  # noqa: ARG002 - a socket's
        """To linger for no time is to end with a reset."""
        self._hard = value == struct.pack("ii", 1, 0)

    def _end(self, error: Exception | None) -> None:
        self._closing = True
        self._kept.clear()
        self._loop.call_soon(self.protocol.connection_lost, error)


def _feeder(protocol: asyncio.BaseProtocol) -> Callable[[bytes], None]:
    if isinstance(protocol, asyncio.BufferedProtocol):
        buffered = protocol

        def fill(data: bytes) -> None:
            left = memoryview(data)
            while left:
                room = memoryview(buffered.get_buffer(-1))
                count = min(len(room), len(left))
                room[:count] = left[:count]
                buffered.buffer_updated(count)
                left = left[count:]

        return fill
    assert isinstance(protocol, asyncio.Protocol)
    return protocol.data_received
