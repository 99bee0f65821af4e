"""An HTTP receiver of anyone's: one signed, idempotent POST for each attempt. Decides no repeats."""

import asyncio
import hashlib
import hmac
import json
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import aiohttp

from alerts.alarms import Kind, Notice, Outcome, Verdict
from alerts.channels.addresses import RememberedAddresses
from alerts.messages.body import body

PARALLEL = 4
"""Attempts, and connections, at once to one receiver."""

KEPT_OPEN_S = 5.0
"""How long an idle connection is kept: long enough for a burst, too short for a firewall to have forgotten it."""

WAIT_MAX_S = 60.0
"""The longest Retry-After that is honoured; a receiver may ask for quiet, not for hours of silence."""

GAS_WAITS_S = 1.0
"""How long gas keeps such a quiet: what a receiver asked because of other notices must not hide gas."""

_AGAIN = frozenset(
    {
        HTTPStatus.REQUEST_TIMEOUT,
        HTTPStatus.TOO_EARLY,
        HTTPStatus.TOO_MANY_REQUESTS,
    }
)
"""The 4xx that time heals."""


class Webhook:
    """Hands notices to one URL as JSON (contract: ``alerts.messages.body``).

    Each attempt carries ``Idempotency-Key`` (the delivery's id, the same on every repeat) and, with a secret,
    ``X-Vigia-Signature``: the hex HMAC-SHA-256 of exactly the bytes of the body. Redirects are not followed: where an
    alarm goes is the installer's word, not a server's. Reasons name neither URL nor secret, so they may be shown.
    """

    counts = True
    parallel = PARALLEL

    def __init__(self, id: str, url: str, secret: str | None, timeout_s: float = 3.0) -> None:  # noqa: A002 - the noun
        """`timeout_s` bounds one attempt from the name's lookup to the status line."""
        self.id = id
        self.attempt_timeout_s = timeout_s
        self._url = url
        self._secret = None if secret is None else secret.encode()
        self._session: aiohttp.ClientSession | None = None
        self._opened = asyncio.Event()
        self._quiet_since = self._quiet_until = 0.0

    async def run(self) -> None:
        """Hold this channel's own connections until cancelled; no other channel shares them or waits for them."""
        connector = aiohttp.TCPConnector(
            limit=self.parallel, keepalive_timeout=KEPT_OPEN_S, use_dns_cache=False, resolver=RememberedAddresses()
        )
        async with aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=self.attempt_timeout_s),
            auto_decompress=False,
        ) as session:
            self._session = session
            self._opened.set()
            try:
                await asyncio.Event().wait()
            finally:
                self._opened.clear()
                self._session = None

    async def deliver(self, notice: Notice) -> Outcome:
        """Make one attempt; waits for `run` to have opened the session."""
        if self._kept_quiet(notice):
            return Outcome(Verdict.RETRY, "receiver asked to wait")
        await self._opened.wait()
        session = self._session
        if session is None:
            return Outcome(Verdict.RETRY, "closing")
        content = json.dumps(body(notice), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        try:
            try:
                return await self._post(session, notice, content)
            except aiohttp.ServerDisconnectedError:
                # The receiver closed a kept connection as we used it. It did not answer, and repeats are harmless by
                # their key: once more at once, on a new connection, rather than half a second later.
                return await self._post(session, notice, content)
        except aiohttp.InvalidURL:
            return Outcome(Verdict.REFUSED, "URL unusable")
        except (aiohttp.ClientError, OSError) as fault:
            return Outcome(Verdict.RETRY, _reason(fault))

    def _kept_quiet(self, notice: Notice) -> bool:
        """Tell whether the receiver's wish for quiet holds for this notice."""
        until = self._quiet_until
        if notice.event.key.kind is Kind.GAS:
            until = min(until, self._quiet_since + GAS_WAITS_S)
        return asyncio.get_running_loop().time() < until

    def _keep_quiet(self, wait_s: float) -> None:
        """Take the receiver's wish. One that is repeated to gas prolongs the quiet, not the second that gas keeps."""
        now = asyncio.get_running_loop().time()
        if now >= self._quiet_until:
            self._quiet_since = now
        self._quiet_until = max(self._quiet_until, now + wait_s)

    async def _post(self, session: aiohttp.ClientSession, notice: Notice, content: bytes) -> Outcome:
        headers = {"Content-Type": "application/json; charset=utf-8", "Idempotency-Key": notice.delivery.id}
        if self._secret is not None:
            headers["X-Vigia-Signature"] = hmac.new(self._secret, content, hashlib.sha256).hexdigest()
        # The status line is the answer. The body is never read: what has not come yet is cut off with the connection.
        async with session.post(self._url, data=content, headers=headers, allow_redirects=False) as response:
            if response.status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE):
                wait = min(_wait_s(response.headers.get("Retry-After"), response.headers.get("Date")), WAIT_MAX_S)
                self._keep_quiet(wait)
            return judge(response.status)


def judge(status: int) -> Outcome:
    """Say what an HTTP status means for the delivery: taken, try again, or never."""
    if 200 <= status < 300:
        return Outcome(Verdict.ACCEPTED, f"HTTP {status}")
    if status >= 500 or status in _AGAIN:
        return Outcome(Verdict.RETRY, f"HTTP {status}")
    if 300 <= status < 400:
        return Outcome(Verdict.REFUSED, f"HTTP {status}, redirects are not followed")
    return Outcome(Verdict.REFUSED, f"HTTP {status}")


def _wait_s(retry_after: str | None, date: str | None) -> float:
    """Read Retry-After, seconds or a date, as seconds from now; 0 when absent or nonsense.

    A date is held against the receiver's own Date where it sent one: its clock may differ from ours.
    """
    if retry_after is None:
        return 0.0
    if retry_after.strip().isdecimal():
        return float(retry_after[:6])
    until, now = _date(retry_after), _date(date) or datetime.now(UTC)
    return 0.0 if until is None else max((until - now).total_seconds(), 0.0)


def _date(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


_FAULTS: tuple[tuple[type[BaseException], str], ...] = (
    (TimeoutError, "timeout"),
    (aiohttp.ClientConnectorDNSError, "name not found"),
    (aiohttp.ClientSSLError, "TLS failed"),
    (aiohttp.ClientConnectorError, "not reachable"),
    (aiohttp.ServerDisconnectedError, "connection lost"),
    (ConnectionError, "connection lost"),
    (aiohttp.ClientResponseError, "answer unreadable"),
)
"""What a fault is called, most particular first. None of these words carries an address."""


_DATES = {9: "certificate not valid yet: check the clocks", 10: "certificate expired: check the clocks"}
"""OpenSSL's verify codes for a date that does not fit: the receiver's certificate, or this machine's clock."""


def _reason(fault: BaseException) -> str:
    if isinstance(fault, aiohttp.ClientConnectorCertificateError):
        return _DATES.get(getattr(fault.certificate_error, "verify_code", 0), "TLS failed")
    if isinstance(fault, aiohttp.ClientConnectorError) and isinstance(fault.os_error, ConnectionRefusedError):
        return "connection refused"
    return next((name for kind, name in _FAULTS if isinstance(fault, kind)), "network fault")
