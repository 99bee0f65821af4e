"""One database as HTTP sees it: which way it takes lines, what its answers mean, whether it gives back what it took.

InfluxDB 1 to 3 and VictoriaMetrics. Every wait is bounded; no secret is ever in an answer that leaves here.
"""

import gzip
import json
import ssl
from dataclasses import dataclass
from enum import Enum
from types import TracebackType
from typing import Self

import aiohttp

from gateway.store.settings import Target

CONNECT_S = 3.0
DETAIL = 200
"""Characters of a base's own words that are kept."""

MOST_ANSWER_BYTES = 64 * 1024


class Verdict(Enum):
    """What an answer means for the lines that were sent."""

    ACCEPTED = "accepted"
    LINES = "lines"  # some or all of these lines are not wanted, whenever they come
    TOO_LARGE = "too-large"
    CREDENTIALS = "credentials"
    NO_DATABASE = "no-database"
    BUSY = "busy"
    NO_ANSWER = "no-answer"
    STRANGE = "strange"


@dataclass(frozen=True, slots=True)
class Answer:
    """A base's answer. `too_old`: points that it dropped by itself for their age, the others being kept."""

    verdict: Verdict
    detail: str = ""
    retry_after_s: float | None = None
    too_old: int = 0


class Way(Enum):
    """How a base takes lines: its path and the names of its parameters."""

    V2 = "/api/v2/write"
    V1 = "/write"


class Base:
    """A connection to one database; use it as an async context manager."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._url = target.url.rstrip("/")
        # only the first generation knows user names; it has no v2 path before 1.8
        self.way: Way | None = Way.V1 if target.username else None
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        target = self._target
        headers = {"Authorization": f"Token {target.token}"} if target.token else {}
        if target.username:
            headers["Authorization"] = aiohttp.encode_basic_auth(target.username, target.password or "", "utf-8")
        context: ssl.SSLContext | bool = True
        if target.ca is not None:
            context = ssl.create_default_context(cafile=str(target.ca))
        self._session = aiohttp.ClientSession(
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=target.timeout_s, connect=min(CONNECT_S, target.timeout_s)),
            connector=aiohttp.TCPConnector(limit=1, ssl=context),
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def write(self, text: bytes) -> Answer:
        """Send lines; never raises for what the base or the network does."""
        if self.way is not None:
            answer, _ = await self._post(self.way, text)
            if answer.verdict is Verdict.NO_DATABASE and not self._target.username:
                self.way = None  # it may have become another base meanwhile: find out anew next time
            return answer
        answer, foreign = await self._post(Way.V2, text)
        if foreign:
            answer, _ = await self._post(Way.V1, text)
            self.way = Way.V1 if answer.verdict is not Verdict.NO_DATABASE else None
        elif answer.verdict in (Verdict.ACCEPTED, Verdict.LINES, Verdict.TOO_LARGE):
            self.way = Way.V2
        return answer

    async def reads_back(self, measurement: str, field_: str, depot: str, value: int) -> bool | None:
        """Tell whether the base gives back this number as the latest of this field; None: it lets nobody ask."""
        asks = (self._ask_influxql, self._ask_export, self._ask_flux)
        answered = False
        for ask in asks:
            status, text = await ask(measurement, field_, depot)
            if status == 200:
                answered = True
                if str(value) in text:
                    return True
        return False if answered else None

    # --- asking -----------------------------------------------------------------------------------

    async def _ask_influxql(self, measurement: str, field_: str, depot: str) -> tuple[int, str]:
        # VictoriaMetrics answers any such question with 200 and a list of databases: only the number itself counts
        question = f'SELECT last("{field_}") FROM "{measurement}" WHERE "depot" = \'{depot}\''  # noqa: S608 - names of ours
        return await self._get("/query", {"db": self._target.database, "q": question})

    async def _ask_export(self, measurement: str, field_: str, depot: str) -> tuple[int, str]:
        match = f'{measurement}_{field_}{{depot="{depot}"}}'
        return await self._get("/api/v1/export", {"match[]": match, "start": "-5m"})

    async def _ask_flux(self, measurement: str, field_: str, depot: str) -> tuple[int, str]:
        if self._target.org is None or self._session is None:
            return 0, ""
        flux = (
            f'from(bucket: "{self._target.database}") |> range(start: -5m) |> filter(fn: (r) => r._measurement == '
            f'"{measurement}" and r._field == "{field_}" and r.depot == "{depot}") |> last()'
        )
        try:
            async with self._session.post(
                f"{self._url}/api/v2/query",
                params={"org": self._target.org},
                json={"query": flux, "type": "flux"},
                allow_redirects=False,
            ) as response:
                return response.status, await _text(response)
        except (aiohttp.ClientError, TimeoutError, OSError):
            return 0, ""

    async def _get(self, path: str, params: dict[str, str]) -> tuple[int, str]:
        assert self._session is not None
        try:
            async with self._session.get(self._url + path, params=params, allow_redirects=False) as response:
                return response.status, await _text(response)
        except (aiohttp.ClientError, TimeoutError, OSError):
            return 0, ""

    # --- writing ----------------------------------------------------------------------------------

    async def _post(self, way: Way, text: bytes) -> tuple[Answer, bool]:
        """Send, and return the answer and whether this way is none the base knows."""
        assert self._session is not None
        target = self._target
        params = {"precision": "ms"}
        match way:
            case Way.V2:
                params |= {"bucket": target.database} | ({"org": target.org} if target.org else {})
            case Way.V1:
                params |= {"db": target.database}
        headers = {"Content-Type": "text/plain; charset=utf-8"}
        if target.compress:
            text, headers["Content-Encoding"] = gzip.compress(text, 1), "gzip"
        try:
            async with self._session.post(
                self._url + way.value, params=params, data=text, headers=headers, allow_redirects=False
            ) as response:
                said = await _text(response)
                return self._judged(response, said), _is_foreign(way, response, said)
        except TimeoutError:
            return Answer(Verdict.NO_ANSWER, "timeout"), False
        except (aiohttp.ClientError, OSError) as error:
            return Answer(Verdict.NO_ANSWER, self._clean(str(error) or type(error).__name__)), False

    def _judged(self, response: aiohttp.ClientResponse, said: str) -> Answer:  # noqa: PLR0911 - a table of answers
        detail = self._clean(f"{response.status} {_words(said)}".strip())
        match response.status:
            case 200 | 204:
                return Answer(Verdict.ACCEPTED)
            case 400 | 422:
                old = _dropped_for_age(said)
                return Answer(Verdict.ACCEPTED, detail, too_old=old) if old else Answer(Verdict.LINES, detail)
            case 413:
                return Answer(Verdict.TOO_LARGE, detail)
            case 401 | 403:
                return Answer(Verdict.CREDENTIALS, detail)
            case 404:
                return Answer(Verdict.NO_DATABASE, detail)
            case 408 | 425 | 429:
                return Answer(Verdict.BUSY, detail, _seconds(response.headers.get("Retry-After")))
            case status if status >= 500:
                return Answer(Verdict.BUSY, detail, _seconds(response.headers.get("Retry-After")))
            case _:
                return Answer(Verdict.STRANGE, detail)

    def _clean(self, text: str) -> str:
        for secret in (self._target.token, self._target.password):
            if secret:
                text = text.replace(secret, "***")
        return " ".join(text.split())[:DETAIL]


async def _text(response: aiohttp.ClientResponse) -> str:
    return (await response.content.read(MOST_ANSWER_BYTES)).decode("utf-8", "replace")


def _is_foreign(way: Way, response: aiohttp.ClientResponse, said: str) -> bool:
    """Tell a path that is not there (InfluxDB 1 before 1.8) from a missing bucket: that comes as JSON with a code."""
    if way is not Way.V2 or response.status not in (404, 405):
        return False
    try:
        told = json.loads(said)
    except ValueError:
        return True
    return not (isinstance(told, dict) and "code" in told)


def _words(said: str) -> str:
    """A base's own words: the text of its JSON, or the text as it is."""
    try:
        told = json.loads(said)
    except ValueError:
        return said
    if isinstance(told, dict):
        return str(told.get("error") or told.get("message") or said)
    return said


def _dropped_for_age(said: str) -> int:
    """How many points InfluxDB 1 dropped for being older than it keeps; it has kept the others."""
    if "beyond retention policy" not in said:
        return 0
    count = said.partition("dropped=")[2]
    digits = count[: len(count) - len(count.lstrip("0123456789"))]
    return int(digits) if digits else 0


def _seconds(header: str | None) -> float | None:
    """``Retry-After`` in seconds; dates are not heeded."""
    return float(header) if header is not None and header.isdigit() else None
