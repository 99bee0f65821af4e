"""What stands between the network and the app: whose address it is, who sent the form, how long it may be.

Without sign-in the page trusts the machine it runs on; these checks keep another site in the same browser from using
that trust (foreign Origin, a name rebound to loopback), and tell the browser to load nothing from elsewhere.
"""

import ipaddress
import re
from collections.abc import Mapping
from http import HTTPStatus

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_BYTES = 8 * 1024
MAX_REGISTER_BYTES = 256 * 1024
MAX_SHEET_BYTES = 8 * 1024 * 1024
MAX_FORM_BYTES = MAX_SHEET_BYTES + 256 * 1024
"""A form with a file in it, and what stands around it."""

LONGER = (
    (re.compile(r"/conformidade/vistoria"), MAX_REGISTER_BYTES),
    (re.compile(r"/conformidade/lancar/[^/]+"), MAX_FORM_BYTES),
    (re.compile(r"/api/v1/attachments"), MAX_SHEET_BYTES),
    (re.compile(r"/api/v1/registers/[^/]+/import"), MAX_SHEET_BYTES),
    (re.compile(r"/api/v1/registers/[^/]+"), MAX_REGISTER_BYTES),
)
"""Bodies that may be longer than a form's, by path."""

_HOST = re.compile(r"(?P<name>\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(?::(?P<port>[0-9]{1,5}))?")
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})

HEADERS: Mapping[str, str] = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}
"""On every answer. The referrer stays within the origin: browsers send no Origin with a form when it is withheld."""


class Guard:
    """ASGI wrapper.

    Args:
        app: what is guarded.
        hosts: names by which the page may be called besides those of loopback (the host of ``public_url``).
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = frozenset(name.lower().strip("[]") for name in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through with safe headers on its answer, or refuse it with a reason."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        refusal = self._refusal(scope, headers, host)
        if refusal is not None:
            status, code = refusal
            answer = JSONResponse({"error": code}, status, dict(HEADERS))
            await answer(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] in {"http.response.start", "websocket.http.response.start"}:
                out = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    out.setdefault(name, value)
                out.setdefault("content-security-policy", content_policy(host))
                out.setdefault("cache-control", "no-store")
            await send(message)

        await self._app(scope, receive, with_headers)

    def _refusal(self, scope: Scope, headers: Headers, host: str) -> tuple[int, str] | None:
        named = _HOST.fullmatch(host)
        if named is None or not self._serves(named["name"]):
            return HTTPStatus.MISDIRECTED_REQUEST, "foreign-host"
        acting = scope["type"] == "websocket" or scope["method"] not in _SAFE
        if not acting:
            return None
        if not _same_origin(headers, host):
            return HTTPStatus.FORBIDDEN, "foreign-origin"
        if scope["type"] == "websocket":
            return None
        return _length_refusal(headers.get("content-length", ""), longest(scope["path"]))

    def _serves(self, name: str) -> bool:
        name = name.lower().rstrip(".").strip("[]")
        if name == "localhost" or name in self._hosts:
            return True
        try:
            return ipaddress.ip_address(name).is_loopback
        except ValueError:
            return False


def content_policy(host: str) -> str:
    """Return the Content-Security-Policy. `host` has been checked; older Safari does not count ws: as 'self'."""
    return (
        f"default-src 'self'; connect-src 'self' ws://{host} wss://{host}; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
    )


def longest(path: str) -> int:
    """Return how long a body may be that is sent to a path, bytes."""
    return next((most for pattern, most in LONGER if pattern.fullmatch(path)), MAX_BODY_BYTES)


def _length_refusal(length: str, most: int) -> tuple[int, str] | None:
    if not (length.isascii() and length.isdigit()):
        return HTTPStatus.LENGTH_REQUIRED, "length-required"
    if len(length) > 9 or int(length) > most:
        return HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-long"
    return None


def _same_origin(headers: Headers, host: str) -> bool:
    """Whether the sender is our own page, or no browser at all (which sends neither header)."""
    if headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
        return False
    origins = headers.getlist("origin")
    if not origins:
        return True
    scheme, separator, rest = origins[0].partition("://")
    return len(origins) == 1 and separator == "://" and scheme in {"http", "https"} and rest.lower() == host.lower()
