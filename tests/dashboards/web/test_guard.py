"""The guard: whose address, whose form, how long; and what it tells the browser."""

from typing import Any

import pytest
from starlette.responses import PlainTextResponse

from dashboards.web.guard import Guard

GUARD = Guard(PlainTextResponse("in"), frozenset({"vigia.example.org", "2001:db8::7"}))


async def ask(method: str = "GET", kind: str = "http", **headers: str) -> tuple[int, dict[str, str]]:
    pairs = [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()]
    scope: dict[str, Any] = {
        "type": kind, "method": method, "path": "/", "headers": pairs, "extensions": {"websocket.http.response": {}},
    }  # fmt: skip
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    await GUARD(scope, receive, send)
    return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:8080",
        "localhost",
        "LOCALHOST:9",
        "[::1]:8080",
        "127.8.0.1",
        "vigia.example.org",
        "localhost.:80",
        "[2001:db8::7]:80",
    ],
)
async def test_loopback_and_configured_names_are_served(host: str) -> None:
    assert (await ask(host=host))[0] == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "",
        "10.0.0.7",
        "a b",
        "127.0.0.1:x",
        "x@localhost",
    ],
)
async def test_a_name_that_was_bound_to_us_by_others_is_refused(host: str) -> None:
    assert (await ask(host=host))[0] == 421


async def test_a_request_without_a_host_is_refused() -> None:
    assert (await ask())[0] == 421


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "http://127.0.0.1:9999",
        "http://127.0.0.1:8080.evil.example",
        "",
        "file://127.0.0.1:8080",
    ],
)
async def test_a_foreign_origin_may_neither_post_nor_listen(origin: str) -> None:
    assert (await ask("POST", host="127.0.0.1:8080", origin=origin, content_length="2"))[0] == 403
    assert (await ask(kind="websocket", host="127.0.0.1:8080", origin=origin))[0] == 403


async def test_our_own_page_and_programs_without_an_origin_may_post() -> None:
    assert (await ask("POST", host="127.0.0.1:8080", origin="http://127.0.0.1:8080", content_length="2"))[0] == 200
    assert (await ask("POST", host="127.0.0.1:8080", content_length="2"))[0] == 200


async def test_a_cross_site_form_without_an_origin_is_refused() -> None:
    answer = await ask("POST", host="127.0.0.1:8080", sec_fetch_site="cross-site", content_length="2")
    assert answer[0] == 403


@pytest.mark.parametrize(
    ("length", "status"), [("", 411), ("-1", 411), ("²", 411), ("8193", 413), ("9" * 40, 413), ("8192", 200)]
)
async def test_a_body_has_a_stated_and_bounded_length(length: str, status: int) -> None:
    assert (await ask("POST", host="localhost", content_length=length))[0] == status


async def test_every_answer_tells_the_browser_to_load_nothing_from_elsewhere() -> None:
    _, headers = await ask(host="127.0.0.1:8080")
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'self'; connect-src 'self' ws://127.0.0.1:8080")
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cache-control"] == "no-store"
