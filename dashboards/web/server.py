"""The HTTP server of the web child: one listener with bounded buffers, and a stop that no open stream delays."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import Callable, Iterator

import uvicorn
from starlette.types import ASGIApp

from dashboards.web.doors import BoundedProtocol, SpareSocket

UNREAD_MS = 10_000
"""A browser that takes nothing for this long is cut off by the kernel: stopped, asleep, or out of reach."""

SEND_BUFFER_BYTES = 128 * 1024
BACKLOG = 256
STOP_WITHIN_S = 1
HANDLED = (signal.SIGTERM, signal.SIGINT)


def listening(host: str, port: int) -> socket.socket:
    """Return a listening socket; connections inherit its bounds.

    Raises:
        OSError: the address cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = SpareSocket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_MS)
        listener.settimeout(0)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


class WebServer(uvicorn.Server):
    """Uvicorn with its end arranged: `closing` runs as soon as a signal asks for it, before connections are awaited."""

    def __init__(self, app: ASGIApp, closing: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=BoundedProtocol,
                backlog=BACKLOG,
                ws="wsproto",
                ws_max_size=4096,
                ws_per_message_deflate=False,
                ws_ping_interval=None,  # the hub's heartbeat finds dead browsers
                lifespan="on",
                proxy_headers=False,
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=STOP_WITHIN_S,
            )
        )
        self._closing = closing

    def end(self) -> None:
        """Stop serving: end every stream now, then let the server close."""
        self._closing()
        self.should_exit = True

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Hear signals through the loop, so that streams are closed on it and the process ends with exit status 0."""
        loop = asyncio.get_running_loop()
        for number in HANDLED:
            loop.add_signal_handler(number, self.end)
        try:
            yield
        finally:
            for number in HANDLED:
                loop.remove_signal_handler(number)
