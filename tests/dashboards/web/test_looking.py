"""A request that shows the picture has the heads told first; signs of life and files need none."""

from typing import Any

import pytest

from dashboards.web.looking import Looking


@pytest.mark.parametrize(
    ("kind", "path", "looks"),
    [
        ("http", "/", True),
        ("http", "/api/v1/state", True),
        ("http", "/metrics", True),
        ("websocket", "/api/v1/live", True),
        ("http", "/health", False),
        ("http", "/static/live.js", False),
        ("lifespan", "/", False),
    ],
)
async def test_whoever_shows_the_picture_looks_first(kind: str, path: str, looks: bool) -> None:
    told: list[str] = []

    async def look() -> None:
        told.append("look")

    async def app(scope: Any, receive: Any, send: Any) -> None:
        told.append("app")

    async def nothing(*_: Any) -> Any:
        raise AssertionError("nobody speaks here")

    await Looking(app, look)({"type": kind, "path": path}, nothing, nothing)
    assert told == (["look", "app"] if looks else ["app"])
