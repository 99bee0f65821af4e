"""A database that is not there: a real HTTP server that reads line protocol strictly and answers as it is told to.

It stands in for InfluxDB 2 and 3, which Debian does not have, and for moods that no real server has on demand.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Self

from aiohttp import web

Generation = Literal[1, 2, 3]
MOST_BODY_BYTES = 64 * 1024 * 1024


class LineError(ValueError):
    """A line that no database would read."""


@dataclass(frozen=True, slots=True)
class Point:
    """One line, read."""

    measurement: str
    tags: Mapping[str, str]
    fields: Mapping[str, float | int]
    ms: int


def parse(line: str) -> Point:
    """Read a line character by character, as the databases' own manuals describe it.

    Raises:
        LineError: it is none, or holds what we never send (text fields, empty tags).
    """
    head, rest = _until(line, " ")
    fields, time = _until(rest, " ")
    if not fields or not time.lstrip("-").isdigit():
        raise LineError(f"no fields or no time: {line!r}")
    measurement, tags = _until(head, ",")
    return Point(
        _plain(measurement),
        {_plain(key): _plain(value) for key, value in _pairs(tags)},
        {_plain(key): _number(value) for key, value in _pairs(fields)},
        int(time),
    )


def _until(text: str, mark: str) -> tuple[str, str]:
    """Split at the first mark that no backslash stands before."""
    at = 0
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text[at] == mark:
            return text[:at], text[at + 1 :]
        else:
            at += 1
    return text, ""


def _pairs(text: str) -> list[tuple[str, str]]:
    pairs = []
    while text:
        pair, text = _until(text, ",")
        key, value = _until(pair, "=")
        if not key or not value:
            raise LineError(f"{pair!r} is no pair")
        pairs.append((key, value))
    return pairs


def _plain(text: str) -> str:
    for mark in ",= ":
        text = text.replace("\\" + mark, mark)
    if not text or any(ord(char) < ord(" ") for char in text):
        raise LineError(f"{text!r} is no name")
    return text


def _number(text: str) -> float | int:
    return int(text[:-1]) if text.endswith("i") else float(text)


@dataclass(slots=True)
class Request:
    """One write that came. `at` is on the loop's clock."""

    at: float
    lines: list[str]
    authorization: str


@dataclass(slots=True)
class ScriptedBase:
    """A base of this generation.

    Attributes:
        mood: None answers as a healthy base; else a status and a JSON body for every write.
        delay_s: how long a write takes; None: it is never answered.
        refuses: tells which points it does not want (400 or 422, the others being kept or not as `keeps_good` says).
        most_bytes: bodies longer than this are answered 413.
        token: what a write must carry; None asks for nothing.
        forgets: takes everything and keeps nothing.
    """

    generation: Generation = 2
    database: str = "vigia"
    token: str | None = None
    mood: tuple[int, Mapping[str, str]] | None = None
    retry_after_s: int | None = None
    delay_s: float | None = 0.0
    refuses: Callable[[Point], bool] = lambda _: False
    keeps_good: bool = True
    most_bytes: int = MOST_BODY_BYTES
    forgets: bool = False
    port: int = 0
    requests: list[Request] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    _runner: web.AppRunner | None = None
    _held: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def deliveries(self) -> list[Request]:
        """The requests that carried readings."""
        return [request for request in self.requests if request.lines[0].startswith("gas,")]

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=MOST_BODY_BYTES)
        if self.generation == 1:
            app.router.add_post("/write", self._write)
        else:
            app.router.add_post("/api/v2/write", self._write)
            app.router.add_post("/api/v2/query", self._query)
        app.router.add_get("/query", self._query)
        self._runner = web.AppRunner(app, shutdown_timeout=0.2)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port).start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.set()
        if self._runner is not None:
            await self._runner.cleanup()

    async def _write(self, request: web.Request) -> web.Response:
        body = await request.read()  # unpacked already where it came packed
        authorization = request.headers.get("Authorization", "")
        lines = body.decode().split("\n")
        self.requests.append(Request(asyncio.get_running_loop().time(), lines, authorization))
        if self.delay_s is None:
            await self._held.wait()
        elif self.delay_s:
            await asyncio.sleep(self.delay_s)
        if self.mood is not None:
            headers = {} if self.retry_after_s is None else {"Retry-After": str(self.retry_after_s)}
            return web.json_response(dict(self.mood[1]), status=self.mood[0], headers=headers)
        if self.token is not None and authorization != f"Token {self.token}":
            return web.json_response({"code": "unauthorized", "message": "unauthorized access"}, status=401)
        if request.query.get("db" if self.generation == 1 else "bucket") != self.database:
            return web.json_response({"code": "not found", "message": "bucket not found"}, status=404)
        if len(body) > self.most_bytes:
            return web.json_response({"code": "request too large", "message": "too large"}, status=413)
        return self._keep([parse(line) for line in lines])

    def _keep(self, points: list[Point]) -> web.Response:
        wanted = [point for point in points if not self.refuses(point)]
        if len(wanted) == len(points) or self.keeps_good:
            self.points += [] if self.forgets else wanted
        if len(wanted) == len(points):
            return web.Response(status=204)
        said = f"partial write: field type conflict dropped={len(points) - len(wanted)}"
        if self.generation == 1:
            return web.json_response({"error": said}, status=400)
        return web.json_response({"code": "unprocessable entity", "message": said}, status=422)

    async def _query(self, request: web.Request) -> web.Response:
        del request
        last = next((point for point in reversed(self.points) if "probe" in point.fields), None)
        return web.Response(text="" if last is None else f"probe,{last.fields['probe']}\n")
