"""Has the heads told again before a request is served, where the line to the gateway rests because nobody looked."""

from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Receive, Scope, Send

BLIND = ("/health", "/static/")
"""How the paths begin that show nothing of the picture."""


class Looking:
    """ASGI wrapper. `look` is called, and waited for, before each request that may show the picture."""

    def __init__(self, app: ASGIApp, look: Callable[[], Awaitable[None]]) -> None:
        self._app = app
        self._look = look

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through, once the picture is whole."""
        if scope["type"] in {"http", "websocket"} and not scope["path"].startswith(BLIND):
            await self._look()
        await self._app(scope, receive, send)
