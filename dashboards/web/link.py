"""The web child's line to the gateway: connects for ever, keeps the picture, knows when it no longer does.

No task of its own: a socket watched by the loop and one timer. Whatever is wrong with the line ends in one place,
`_end`, and the next try starts from a fresh snapshot, so that an old value is never taken for a new one: a child that
was stopped for a minute throws away what piled up meanwhile.
"""

import asyncio
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol, assert_never

import msgspec

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
from dashboards.speaking import Speaker
from dashboards.web.picture import Picture
from sensors.stamps import SECOND, parse_rfc3339

FIRST_RETRY_S = 0.2
LAST_RETRY_S = 1.0
SILENCE_S = 2.0
"""The gateway speaks at least once a second; after this long it counts as lost (a page has 3 s to say so)."""

REST_AFTER_S = 10.0
"""When nobody has looked for so long, the gateway is asked for no more than a sign of life and what stands."""

TICK_S = 0.25
ANSWER_TIMEOUT_S = 2.0
MAX_MESSAGE_BYTES = 16 * 1024 * 1024
MAX_REQUESTS = 64
READ_BYTES = 256 * 1024


class LinkLostError(ConnectionError):
    """The gateway is not heard, or did not answer in time."""


class LinkListener(Protocol):
    """Who wants to know what the line brings."""

    def renewed(self, snapshot: Snapshot) -> None:
        """Hear of a whole new picture."""
        ...

    def changed(self, change: Change) -> None:
        """Hear of one change, right after the last one or after a whole picture."""
        ...

    def lost(self, age_s: float | None) -> None:
        """Hear that the gateway is no longer heard."""
        ...


class GatewayLink:
    """One subscriber of the control socket, reconnecting for ever.

    While nobody looks it rests: it goes on hearing of alarms and outputs, and once a second that the gateway lives, but
    not of the heads, whose views cost the alarm loop most.

    Attributes:
        resting: whether it does, so that the heads of the picture are not the present ones.

    Args:
        path: the control socket.
        listener: told of every picture, change and loss.
        watched: whether somebody looks all the time; then the line never rests.
        monotonic: seconds; the clock of all ages here.
        civil: seconds since 1970; only to tell how long a message was under way.
    """

    def __init__(
        self,
        path: Path,
        listener: LinkListener,
        *,
        watched: Callable[[], bool] = lambda: True,
        monotonic: Callable[[], float] = time.monotonic,
        civil: Callable[[], float] = time.time,
    ) -> None:
        self._path = path
        self._listener = listener
        self._watched = watched
        self._monotonic = monotonic
        self._civil = civil
        self._decoder = msgspec.json.Decoder(ToScreen)
        self._socket: socket.socket | None = None
        self._partial = bytearray()
        self._speaker = Speaker()
        self._picture: Picture | None = None
        self._current = False
        self._looked = 0.0
        self._awaited: asyncio.Future[None] | None = None
        self._heard: float | None = None
        self._waiting: dict[int, asyncio.Future[Answer]] = {}
        self._last_ref = 0
        self._tries = 0
        self._retry_at = 0.0
        self._last_active = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self.resting = False
        self.reconnects = 0

    def start(self) -> None:
        """Begin; the first try is made at once."""
        self._looked = self._monotonic()
        self._tick()

    def close(self) -> None:
        """End for good."""
        if self._timer is not None:
            self._timer.cancel()
        self._drop_socket()

    @property
    def age_s(self) -> float | None:
        """Seconds since the gateway was last heard; None when it never was."""
        return None if self._heard is None else self._monotonic() - self._heard

    @property
    def current(self) -> bool:
        """Whether the gateway is heard, and the picture the present one, but for the heads while `resting`."""
        age = self.age_s
        return self._current and age is not None and age <= SILENCE_S

    @property
    def picture(self) -> Picture | None:
        """The last known picture, present or not; None before the first."""
        return self._picture

    def snapshot(self) -> Snapshot | None:
        """Return the last known picture with its ages brought up to now."""
        return None if self._picture is None else self._picture.as_at(self._monotonic())

    async def look(self) -> None:
        """Somebody looks: have the heads told again, and wait until they are here or it is too late for that."""
        self._looked = self._monotonic()
        if not self.resting:
            return
        if self._awaited is None:
            self._awaited = asyncio.get_running_loop().create_future()
            try:
                self._send(Subscribe())
            except LinkLostError:
                return
        await asyncio.wait([self._awaited], timeout=ANSWER_TIMEOUT_S)

    async def act(self, act: Act | Window | Drill) -> Answer:
        """Carry a person's action to the gateway.

        Raises:
            LinkLostError: no contact, or no answer in time.
        """
        return await self._request(lambda ref: msgspec.structs.replace(act, ref=ref))

    async def metrics(self) -> tuple[Figure, ...]:
        """Fetch the gateway's figures.

        Raises:
            LinkLostError: no contact, or no answer in time.
        """
        answer = await self._request(lambda ref: Ask(ref, "metrics"))
        return answer.metrics or ()

    # --- requests -------------------------------------------------------------------------------

    async def _request(self, numbered: Callable[[int], ToGateway]) -> Answer:
        if not self.current or len(self._waiting) >= MAX_REQUESTS:
            raise LinkLostError("no contact with the gateway")
        self._last_ref += 1
        ref = self._last_ref
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[ref] = future
        try:
            self._send(numbered(ref))
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                return await future
        except TimeoutError as error:
            raise LinkLostError("the gateway did not answer in time") from error
        finally:
            del self._waiting[ref]

    def _send(self, message: ToGateway) -> None:
        line = msgspec.json.encode(message) + b"\n"
        try:
            sent = 0 if self._socket is None else self._socket.send(line)
        except OSError:
            sent = 0
        if sent != len(line):  # the gateway reads every request at once; if it does not, the line is as good as dead
            self._end()
            raise LinkLostError("the gateway does not take requests")

    # --- the line -------------------------------------------------------------------------------

    def _tick(self) -> None:
        now = self._monotonic()
        if self._socket is None:
            if now >= self._retry_at:
                self._connect()
        elif now - self._last_active > SILENCE_S:
            self._end()
        elif self._watched():
            self._looked = now
        elif self._current and not self.resting and now - self._looked > REST_AFTER_S:
            self._rest()
        self._timer = asyncio.get_running_loop().call_later(TICK_S, self._tick)

    def _connect(self) -> None:
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        line.settimeout(0)
        try:
            line.connect(str(self._path))
        except OSError:
            line.close()
            self._schedule_retry()
            return
        self._socket = line
        self._last_active = self._monotonic()
        asyncio.get_running_loop().add_reader(line, self._readable)
        try:
            self._send(Subscribe())
        except LinkLostError:
            return  # _send has ended the line and planned the next try

    def _rest(self) -> None:
        self.resting = True
        with suppress(LinkLostError):  # _send has ended the line, and with it the rest
            self._send(Rest())

    def _wake(self) -> None:
        """The heads are here, or there is no line to ask for them."""
        self.resting = False
        awaited, self._awaited = self._awaited, None
        if awaited is not None and not awaited.done():
            awaited.set_result(None)

    def _schedule_retry(self) -> None:
        self._retry_at = self._monotonic() + min(FIRST_RETRY_S * 2**self._tries, LAST_RETRY_S)
        self._tries = min(self._tries + 1, 8)

    def _readable(self) -> None:
        if self._socket is None:
            return
        if self._monotonic() - self._last_active > SILENCE_S:
            self._end()  # we slept, or it did: what waits in the buffer is old
            return
        try:
            data = self._socket.recv(READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._end()
            return
        self._partial += data
        if b"\n" not in data:
            if len(self._partial) > MAX_MESSAGE_BYTES:
                self._end()
            return
        *lines, rest = bytes(self._partial).split(b"\n")
        self._partial = bytearray(rest)
        for line in lines:
            if not self._take(line):
                return

    def _take(self, line: bytes) -> bool:
        """Take one message in; False when the line was given up over it."""
        try:
            message = self._decoder.decode(line)
        except msgspec.DecodeError:
            self._end()
            return False
        if isinstance(message, Answer):
            self._answered(message)
            return True
        transit = self._transit_s(message.at)
        if transit > SILENCE_S:
            self._end()
            return False
        self._last_active = self._monotonic()
        heard = self._last_active - transit
        match message:
            case Snapshot():
                message = self._speaker.snapshot(message)
                self._heard = heard
                self._picture = Picture(message, heard)
                self._current = True
                self._tries = 0
                self._wake()
                self._listener.renewed(message)
            case Change():
                return self._changed(message, heard)
            case _:
                assert_never(message)
        return True

    def _changed(self, change: Change, heard: float) -> bool:
        if self.resting and self._picture is not None and self._current:
            self._heard = heard
            self._picture.fold(self._speaker.change(change), heard)
            return True
        if self._picture is None or not self._current or change.seq <= self._picture.seq:
            return True
        if change.seq != self._picture.seq + 1:
            self._current = False  # one was missed: nothing counts until the fresh snapshot
            try:
                self._send(Subscribe())
            except LinkLostError:
                return False
            return True
        self._heard = heard
        change = self._speaker.change(change)
        self._picture.fold(change, heard)
        self._listener.changed(change)
        return True

    def _answered(self, answer: Answer) -> None:
        future = self._waiting.get(answer.ref)
        if future is not None and not future.done():
            future.set_result(answer)

    def _transit_s(self, sent: str) -> float:
        """Seconds a message was under way, by the one civil clock that both processes share; never negative."""
        try:
            return max(0.0, self._civil() - parse_rfc3339(sent) / SECOND)
        except ValueError:
            return SILENCE_S * 2

    def _end(self) -> None:
        self._drop_socket()
        self.reconnects += 1
        self._schedule_retry()
        if self._current:
            self._current = False
            self._listener.lost(self.age_s)

    def _drop_socket(self) -> None:
        if self._socket is not None:
            asyncio.get_running_loop().remove_reader(self._socket)
            self._socket.close()
            self._socket = None
        self._partial.clear()
        self._wake()
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(LinkLostError("the line to the gateway broke"))
