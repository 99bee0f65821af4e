"""The doors of the web child: how many may be inside, and how long a request may take to be said."""

import asyncio
import errno
import os
import socket
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS: Final = 200
"""Connections at once, pages' live channels included. The next one is closed at once."""

REQUEST_WITHIN_S: Final = 10.0
"""A request, head and body, must be said in such a time, and so must the first of a connection."""

NO_ROOM: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


class SpareSocket(socket.socket):
    """A listening socket that can still say no when the process may open no more files.

    Without it a caller stays in the queue, the loop is woken for it again and again, and each time complains.
    """

    _spare: int = -1

    def listen(self, backlog: int = socket.SOMAXCONN, /) -> None:
        """Listen, with one descriptor kept back for the day there is no other."""
        super().listen(backlog)
        self._keep_spare()

    def accept(self) -> tuple[socket.socket, Any]:
        """Take the next caller; where there is no room for one, hang up on whoever waits.

        Raises:
            BlockingIOError: nobody waits, or there was no room.
            OSError: as `socket.socket.accept`, for other reasons.
        """
        try:
            return super().accept()
        except OSError as error:
            if error.errno not in NO_ROOM:
                raise
        self._drop_spare()
        try:
            caller, _ = super().accept()
            caller.close()
        except OSError as error:
            if error.errno not in NO_ROOM:
                raise
        finally:
            self._keep_spare()
        raise BlockingIOError(errno.EAGAIN, "no room for another connection")

    def close(self) -> None:
        """Close it and its spare."""
        self._drop_spare()
        super().close()

    def _keep_spare(self) -> None:
        if self._spare < 0:
            try:
                self._spare = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                return  # another took the room: at the next call there may be some

    def _drop_spare(self) -> None:
        spare, self._spare = self._spare, -1
        if spare >= 0:
            os.close(spare)


class BoundedProtocol(H11Protocol):
    """Uvicorn's HTTP connection, with a bound on their number and on the time a request may take to be said."""

    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn does
        """Let a caller in, or turn it away."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
            return
        self._wait_for_request()

    def data_received(self, data: bytes) -> None:
        """Take what was said. The first word after an answer begins a new request, and its time."""
        if self._patience is None:
            self._wait_for_request()
        super().data_received(data)
        if self._is_said():
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """The caller has gone."""
        self._stop_waiting()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """The connection is another protocol's from now on."""
        self._stop_waiting()
        super().handle_websocket_upgrade(event)

    def _is_said(self) -> bool:
        return self.conn.their_state not in (h11.IDLE, h11.SEND_BODY)

    def _wait_for_request(self) -> None:
        self._patience = self.loop.call_later(REQUEST_WITHIN_S, self._lose_patience)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _lose_patience(self) -> None:
        self._patience = None
        if not self._is_said():
            self.transport.abort()
