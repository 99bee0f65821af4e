"""The one socket that paho and we both write to, neither into the middle of the other's packet. Knows no packet."""

import asyncio
import socket
from contextlib import suppress
from typing import Any, Final

from paho.mqtt.client import Client as PahoClient

MOST_UNSENT: Final = 16 * 1024 * 1024
"""Bytes that wait for a socket that takes nothing; beyond it nothing more is published at QoS 0."""


class SharedSocket:
    """What of ours waits for paho's socket, and whose turn it is to write."""

    def __init__(self, client: PahoClient, loop: asyncio.AbstractEventLoop) -> None:
        self._client = client
        self._loop = loop
        self._unsent = b""
        self._begun = False

    @property
    def full(self) -> bool:
        """Whether so much waits that nothing may be added that nobody waits for."""
        return len(self._unsent) > MOST_UNSENT

    def send(self, packets: bytes) -> None:
        """Write packets of ours at once; only what the socket does not take now is left to the loop."""
        if packets:
            self._unsent += packets
            if len(self._unsent) == len(packets) and not self._client.want_write():
                self._write_ours()
            self.watch_writable(self._client.socket())

    def watch_writable(self, sock: Any) -> None:  # noqa: ANN401  # paho's own protocol of sockets
        """Have the rest written when the socket takes it, unless all is written or the socket closed by now."""
        if self._client.socket() is sock and sock is not None and (self._unsent or self._client.want_write()):
            self._loop.add_writer(sock.fileno(), self._write_on)

    def released(self, sock: Any) -> None:  # noqa: ANN401  # paho's own protocol of sockets
        """Go on watching for what waits of ours, as paho has written all of its own."""
        if self._unsent:
            self._loop.call_soon_threadsafe(self.watch_writable, sock)

    def ask_for_each_answer(self) -> None:
        """Confirm what comes next at once, where the system can."""
        sock: Any = self._client.socket()
        if sock is not None and hasattr(socket, "TCP_QUICKACK"):
            with suppress(OSError):  # closed meanwhile: whoever waits for an answer hears of it
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)

    def _write_ours(self) -> None:
        """Write of our packets what the socket takes. `_begun` keeps paho from writing into the middle of one."""
        sock = self._client.socket()
        if sock is not None and self._unsent:
            with suppress(OSError):  # it takes nothing now, or has failed, which whoever reads from it is told
                self._unsent = self._unsent[sock.send(self._unsent) :]
                self._begun = bool(self._unsent)

    def _write_on(self) -> None:
        """Go on writing now that the socket takes more: first what was begun."""
        if self._begun:
            self._write_ours()
        if not self._begun:
            self._client.loop_write()
            if not self._client.want_write():
                self._write_ours()
        sock = self._client.socket()
        if sock is not None and not (self._unsent or self._client.want_write()):
            self._loop.remove_writer(sock.fileno())
