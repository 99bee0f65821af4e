"""An MQTT broker for the demo, in its own process: ``python -m simulator.broker [PORT]``. Not for a real depot.

It prints one line of JSON once it listens, ``{"ready": {"mqtt": PORT}}``, and stops at SIGTERM or SIGINT. It speaks
MQTT 3.1.1 on the loopback interface, to anybody.
"""

import asyncio
import json
import logging
import signal
import sys
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from amqtt.adapters import ReaderAdapter

HOST = "127.0.0.1"
CLIENT_GRACE_S = 0.5
"""Clients still connected at the end have this long to be let go."""


CONNECT_S = 2.0
LONGEST_NAME = 16
MQTT_3_1_1 = 4
CONNACK_WRONG_VERSION = bytes([0x20, 2, 0, 1])


def missing() -> str | None:
    """Return the name of the package that is missing, or None where the broker can run."""
    try:
        import amqtt.broker  # noqa: F401 - only whether it is there
    except ImportError as error:
        return error.name
    return None


class _Peeked:
    """A stream of which the first bytes were read already, as amqtt reads one."""

    def __init__(self, reader: asyncio.StreamReader, opening: bytes) -> None:
        self._reader = reader
        self._opening = opening

    async def read(self, n: int = -1) -> bytes:
        """Read exactly n bytes, or all there will be."""
        first, self._opening = (self._opening, b"") if n < 0 else (self._opening[:n], self._opening[n:])
        rest = n - len(first)
        if n < 0:
            return first + await self._reader.read()
        return first + await self._reader.readexactly(rest) if rest else first

    def feed_eof(self) -> None:
        """Take it that nothing more comes."""
        self._reader.feed_eof()


async def _opening(reader: asyncio.StreamReader) -> bytes:
    """Read a CONNECT up to its protocol level, the last byte returned.

    Raises:
        IncompleteReadError: if the connection ends before that.
        TimeoutError: if it takes longer than `CONNECT_S`.
    """
    async with asyncio.timeout(CONNECT_S):
        opening = await reader.readexactly(2)
        while opening[-1] & 0x80 and len(opening) < 5:  # the length of the packet, seven bits at a time
            opening += await reader.readexactly(1)
        name_bytes = await reader.readexactly(2)
        name = await reader.readexactly(min(int.from_bytes(name_bytes, "big"), LONGEST_NAME))
        return opening + name_bytes + name + await reader.readexactly(1)


async def serve(port: int) -> None:
    """Serve on `port`, or on a free one where it is 0 or taken, until told to stop."""
    from amqtt.adapters import StreamWriterAdapter
    from amqtt.broker import Broker

    settings = {
        "listeners": {"default": {"type": "external"}},
        "plugins": {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}},
    }
    broker = Broker(settings)
    await broker.start()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            opening = await _opening(reader)
            if opening[-1] != MQTT_3_1_1:
                # amqtt would take the properties of an MQTT 5 client for its name, and wait for the rest for ever.
                writer.write(CONNACK_WRONG_VERSION)
                writer.close()
                return
            peeked = cast("ReaderAdapter", _Peeked(reader, opening))
            await broker.external_connected(peeked, StreamWriterAdapter(writer), "default")
        except (OSError, asyncio.IncompleteReadError):
            writer.close()  # the client left, or never said who it is

    try:
        server = await asyncio.start_server(connected, HOST, port)
    except OSError:
        server = await asyncio.start_server(connected, HOST, 0)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    print(json.dumps({"ready": {"mqtt": server.sockets[0].getsockname()[1]}}), flush=True)  # noqa: T201 - the contract
    await stop.wait()
    server.close()
    try:
        async with asyncio.timeout(CLIENT_GRACE_S):
            await broker.shutdown()
    except TimeoutError:
        logging.getLogger(__name__).warning("clients were still connected at the end")


def main(arguments: list[str]) -> None:
    """Run until SIGTERM."""
    logging.basicConfig(level=logging.ERROR)
    asyncio.run(serve(int(arguments[0]) if arguments else 0))


if __name__ == "__main__":
    main(sys.argv[1:])
