"""The control socket: the picture and its changes out, a person's actions in. Knows no engine, no browser.

One Unix socket, one line of JSON per message (`dashboards.ports`). Nothing here waits: a message goes into the
client's socket buffer or, up to a bound, into ours; a client that does not read is dropped and must start again with a
fresh snapshot. So a stopped screen costs the alarm loop one comparison.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import assert_never, cast

import msgspec

from dashboards.office import File, Judged
from dashboards.ports import (
    Act,
    Answer,
    Ask,
    Change,
    Drill,
    Figure,
    Rest,
    Snapshot,
    Subscribe,
    ToGateway,
    ToScreen,
    Window,
)
from gateway.machine.sockets import claim, remove_own, removed

MAX_CLIENTS = 16
MAX_BACKLOG_BYTES = 4 * 1024 * 1024
"""What one client may leave unread in our memory, or twice the longest line where that is more: a snapshot of 1,000
heads is about 0.4 MB, and so is the change of each second."""

MAX_LINE_BYTES = 16 * 1024 * 1024
"""The longest line that goes out, and that whoever reads it takes; some 35,000 heads."""

MAX_REQUEST_BYTES = 1024 * 1024
"""What the office files at once; a person's act is a hundred bytes."""

MAX_NAME_CHARS = 80
MAX_NOTE_CHARS = 500
MAX_DETAIL_CHARS = 300


class ControlServer:
    """Serves the control socket.

    Args:
        path: where the socket stands; owner only (0600).
        picture: the present snapshot; its `seq` is that of the last pushed change.
        act: carries out a person's action, at once.
        office: keeps what the office files and takes what it judged; it answers when that is done.
        metrics: the figures of ``/metrics``; the server adds its own (``control_...``).
    """

    def __init__(
        self,
        path: Path,
        *,
        picture: Callable[[], Snapshot],
        act: Callable[[Act | Window | Drill], Answer],
        office: Callable[[File | Judged, Callable[[Answer], None]], None],
        metrics: Callable[[], tuple[Figure, ...]],
    ) -> None:
        self._path = path
        self._picture = picture
        self._act = act
        self._office = office
        self._metrics = metrics
        self._clients: set[_Client] = set()
        self._encoder = msgspec.json.Encoder()
        self._longest = 0
        self._dropped = 0
        self._turned_away = 0
        self._garbled = 0

    async def run(self) -> None:
        """Serve until cancelled; then close every client and remove the socket.

        Raises:
            ControlError: another live process answers at the path, the path is not a socket, or it was removed.
        """
        listener = claim(self._path)
        inode = self._path.stat().st_ino
        loop = asyncio.get_running_loop()
        try:
            server = await loop.create_unix_server(lambda: _Client(self), sock=listener)
            try:
                await removed(self._path, inode)
            finally:
                server.close()
        finally:
            for client in tuple(self._clients):
                client.transport.abort()
            listener.close()
            remove_own(self._path, inode)

    @property
    def watched(self) -> bool:
        """Whether anybody wants every change."""
        return any(client.sent_seq is not None and not client.rests for client in self._clients)

    def push(self, change: Change) -> None:
        """Send one change to every subscriber who does not rest. Never blocks, never raises for a client's sake."""
        line: bytes | None = None
        for client in tuple(self._clients):
            if client.sent_seq is None or client.rests or change.seq <= client.sent_seq:
                continue
            if line is None:
                line = self._line(change)
            client.sent_seq = change.seq
            self._write(client, line)

    def push_resting(self, change: Callable[[], Change]) -> None:
        """Send those who rest their one change of the second, which is made only where there are any."""
        resting = [client for client in self._clients if client.rests]
        if resting:
            line = self._line(change())
            for client in resting:
                self._write(client, line)

    def renew(self) -> None:
        """Send every subscriber the whole picture: it is another one, and its changes are numbered anew."""
        subscribers = [client for client in self._clients if client.sent_seq is not None]
        if not subscribers:
            return
        picture = self._picture()
        line = self._line(picture)
        for client in subscribers:
            client.sent_seq = picture.seq
            client.rests = False
            self._write(client, line)

    def figures(self) -> tuple[Figure, ...]:
        """Clients now, and what was dropped since start."""
        return (
            Figure("control_clients", "connections to the control socket", float(len(self._clients))),
            Figure("control_clients_dropped_total", "clients that did not read or sent no line", float(self._dropped)),
            Figure("control_clients_turned_away_total", "clients beyond the bound", float(self._turned_away)),
            Figure("control_requests_garbled_total", "requests that are none", float(self._garbled)),
        )

    # --- what a client connection calls ---------------------------------------------------------

    def joined(self, client: "_Client") -> None:
        """Take a new client in, or turn it away when there are too many."""
        if len(self._clients) >= MAX_CLIENTS:
            self._turned_away += 1
            client.transport.abort()
            return
        self._clients.add(client)

    def left(self, client: "_Client") -> None:
        """Forget a client whose connection ended."""
        self._clients.discard(client)

    def heard(self, client: "_Client", line: bytes) -> None:
        """Answer one request line."""
        try:
            request = msgspec.json.decode(line, type=ToGateway)
        except (msgspec.DecodeError, RecursionError) as error:
            self._garbled += 1
            detail = str(error)[:MAX_DETAIL_CHARS]
            self._write(client, self._line(Answer(_ref_of(line), ok=False, error="bad-request", detail=detail)))
            return
        match request:
            case Subscribe():
                picture = self._picture()
                client.rests = False
                if self._write(client, self._line(picture)):
                    client.sent_seq = picture.seq
            case Rest():
                client.rests = client.sent_seq is not None
            case Ask(ref=ref, what="snapshot"):
                self._write(client, self._line(Answer(ref, ok=True, snapshot=self._picture())), ref)
            case Ask(ref=ref):
                figures = self._metrics() + self.figures()
                self._write(client, self._line(Answer(ref, ok=True, metrics=figures)))
            case Act() | Window() | Drill():
                self._write(client, self._line(self._acted(request)))
            case File() | Judged():
                self._office(request, lambda answer: self._reply(client, answer))
            case _:
                assert_never(request)

    def overran(self, client: "_Client") -> None:
        """Drop a client whose request line has no end."""
        self._garbled += 1
        self._drop(client)

    # --- details --------------------------------------------------------------------------------

    def _acted(self, act: Act | Window | Drill) -> Answer:
        name = act.by.strip()
        if not name or len(name) > MAX_NAME_CHARS:
            return Answer(act.ref, ok=False, error="needs-name")
        if not name.isprintable():
            return Answer(
                act.ref, ok=False, error="bad-request", detail="by: a name in printable characters on one line"
            )
        if len(act.note) > MAX_NOTE_CHARS:
            return Answer(act.ref, ok=False, error="bad-request", detail="note too long")
        answer = self._act(msgspec.structs.replace(act, by=name))
        return msgspec.structs.replace(answer, ref=act.ref)

    def _line(self, message: ToScreen) -> bytes:
        return self._encoder.encode(message) + b"\n"

    def _reply(self, client: "_Client", answer: Answer) -> None:
        self._write(client, self._line(answer), answer.ref)

    def _write(self, client: "_Client", line: bytes, ref: int = 0) -> bool:
        """Send a line; False where it could not be. One that is too long is never cut: the client is told instead."""
        if client.transport.is_closing():
            return False
        if len(line) > MAX_LINE_BYTES:
            detail = f"{len(line)} bytes, at most {MAX_LINE_BYTES}"
            self._write(client, self._line(Answer(ref, ok=False, error="too-large", detail=detail)))
            return False
        self._longest = max(self._longest, len(line))
        if client.transport.get_write_buffer_size() + len(line) > max(MAX_BACKLOG_BYTES, 2 * self._longest):
            self._drop(client)
            return False
        client.transport.write(line)
        return True

    def _drop(self, client: "_Client") -> None:
        self._dropped += 1
        self._clients.discard(client)
        client.transport.abort()


class _Client(asyncio.Protocol):
    """One connection: cuts the stream into lines. `sent_seq` is None until it subscribes; then it may rest."""

    transport: asyncio.Transport

    def __init__(self, server: ControlServer) -> None:
        self._server = server
        self._rest = b""
        self.sent_seq: int | None = None
        self.rests = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # uvloop's own is no heir of asyncio's
        self._server.joined(self)

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if self.transport.is_closing():
                return
            if len(line) > MAX_REQUEST_BYTES:
                self._server.overran(self)
            elif line.strip():
                self._server.heard(self, line)
        if len(self._rest) > MAX_REQUEST_BYTES:
            self._server.overran(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the protocol's signature
        self._server.left(self)


class _Referring(msgspec.Struct):
    """What every request that is answered has."""

    ref: int = 0


def _ref_of(line: bytes) -> int:
    """Return the reference of a request that is otherwise none, so that whoever asked knows its answer."""
    try:
        return msgspec.json.decode(line, type=_Referring).ref
    except (msgspec.DecodeError, RecursionError):
        return 0
