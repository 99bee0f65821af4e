"""The webhook against a real HTTP server: what is sent, how it is signed, and what each answer means."""

import asyncio
import hashlib
import hmac
import json
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from alerts.alarms import Kind, Notice, Outcome, Verdict
from alerts.channels import webhook
from alerts.channels.addresses import RememberedAddresses
from alerts.channels.webhook import GAS_WAITS_S, WAIT_MAX_S, Webhook, judge
from alerts.messages.body import body

Make = Callable[..., Any]
SECRET = "segredo-do-depósito"  # noqa: S105 - the receiver's half of the signature test


@dataclass
class Post:
    headers: dict[str, str]
    content: bytes
    path: str


class Receiver:
    """A real HTTP server on loopback that keeps what it gets and answers by script (status, headers)."""

    def __init__(self) -> None:
        self.posts: list[Post] = []
        self.answers: list[tuple[int, dict[str, str]]] = []
        self.hang = False
        self.released = asyncio.Event()
        self.came = asyncio.Event()
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.posts.append(Post(dict(request.headers), await request.read(), request.path))
        self.came.set()
        if self.hang:
            await self.released.wait()
        status, headers = self.answers.pop(0) if self.answers else (200, {})
        return web.Response(status=status, headers=headers, text="x" * 100)


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    it = Receiver()
    app = web.Application()
    app.router.add_route("*", "/{any:.*}", it.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    it.url = f"http://127.0.0.1:{runner.addresses[0][1]}/vigia"
    yield it
    it.released.set()
    await runner.cleanup()


@asynccontextmanager
async def running(hook: Webhook) -> AsyncIterator[Webhook]:
    task = asyncio.create_task(hook.run())
    try:
        yield hook
    finally:
        task.cancel()
        await asyncio.wait([task])


async def test_the_receiver_gets_the_body_of_the_contract(receiver: Receiver, make_notice: Make) -> None:
    notice: Notice = make_notice(text="ALARME DE GÁS - portão 2")
    async with running(Webhook("hook", receiver.url, None)) as hook:
        assert await hook.deliver(notice) == Outcome(Verdict.ACCEPTED, "HTTP 200")
    (post,) = receiver.posts
    assert json.loads(post.content) == body(notice)
    assert "portão" in post.content.decode()
    assert post.headers["Content-Type"] == "application/json; charset=utf-8"
    assert "X-Vigia-Signature" not in post.headers


async def test_the_signature_is_the_hmac_of_the_bytes_received(receiver: Receiver, make_notice: Make) -> None:
    async with running(Webhook("hook", receiver.url, SECRET)) as hook:
        await hook.deliver(make_notice())
    (post,) = receiver.posts
    expected = hmac.digest(SECRET.encode(), post.content, hashlib.sha256).hex()
    assert post.headers["X-Vigia-Signature"] == expected
    forged = hmac.digest(SECRET.encode(), post.content.replace(b"A1", b"A3"), hashlib.sha256).hex()
    assert post.headers["X-Vigia-Signature"] != forged


async def test_every_repeat_carries_the_same_key_and_id(receiver: Receiver, make_notice: Make) -> None:
    receiver.answers = [(500, {}), (500, {}), (200, {})]
    async with running(Webhook("hook", receiver.url, SECRET)) as hook:
        verdicts = [(await hook.deliver(make_notice(attempt=n))).verdict for n in (1, 2, 3)]
    assert verdicts == [Verdict.RETRY, Verdict.RETRY, Verdict.ACCEPTED]
    assert {post.headers["Idempotency-Key"] for post in receiver.posts} == {"deposito-centro-ab12-7:hook:dona"}
    assert {json.loads(post.content)["id"] for post in receiver.posts} == {"deposito-centro-ab12-7"}


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        (200, Verdict.ACCEPTED),
        (202, Verdict.ACCEPTED),
        (204, Verdict.ACCEPTED),
        (400, Verdict.REFUSED),
        (401, Verdict.REFUSED),
        (404, Verdict.REFUSED),
        (408, Verdict.RETRY),
        (410, Verdict.REFUSED),
        (425, Verdict.RETRY),
        (429, Verdict.RETRY),
        (500, Verdict.RETRY),
        (503, Verdict.RETRY),
        (599, Verdict.RETRY),
    ],
)
async def test_each_status_has_its_verdict(
    status: int, verdict: Verdict, receiver: Receiver, make_notice: Make
) -> None:
    receiver.answers = [(status, {})]
    async with running(Webhook("hook", receiver.url, None)) as hook:
        assert await hook.deliver(make_notice()) == Outcome(verdict, f"HTTP {status}")


def test_every_possible_status_is_judged() -> None:
    for status in range(200, 1000):
        assert judge(status).reason.startswith(f"HTTP {status}")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_refused_and_not_followed(status: int, receiver: Receiver, make_notice: Make) -> None:
    receiver.answers = [(status, {"Location": receiver.url + "/elsewhere"})]
    async with running(Webhook("hook", receiver.url, SECRET)) as hook:
        assert await hook.deliver(make_notice()) == Outcome(
            Verdict.REFUSED, f"HTTP {status}, redirects are not followed"
        )
    assert [post.path for post in receiver.posts] == ["/vigia"]


@pytest.mark.measured
async def test_a_hung_receiver_is_given_up_in_time(receiver: Receiver, make_notice: Make) -> None:
    receiver.hang = True
    loop = asyncio.get_running_loop()
    async with running(Webhook("hook", receiver.url, None, timeout_s=0.2)) as hook:
        began = loop.time()
        # More than the channel holds connections for: none waits for another's connection longer than its own limit.
        outcomes = await asyncio.gather(*(hook.deliver(make_notice()) for _ in range(3 * hook.parallel)))
        assert loop.time() - began < 2.0
    assert set(outcomes) == {Outcome(Verdict.RETRY, "timeout")}
    assert len(receiver.posts) <= hook.parallel


@pytest.mark.measured
async def test_a_hung_receiver_leaves_another_channel_alone(receiver: Receiver, make_notice: Make) -> None:
    receiver.hang = True
    other = Receiver()
    app = web.Application()
    app.router.add_post("/ok", other.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/ok"
    async with running(Webhook("hung", receiver.url, None)) as hung, running(Webhook("ok", url, None)) as ok:
        stuck = [asyncio.create_task(hung.deliver(make_notice())) for _ in range(20)]
        await receiver.came.wait()
        for _ in range(20):
            async with asyncio.timeout(1.0):
                assert (await ok.deliver(make_notice())).verdict is Verdict.ACCEPTED
        assert not any(task.done() for task in stuck)
        receiver.released.set()
        assert {outcome.verdict for outcome in await asyncio.gather(*stuck)} == {Verdict.ACCEPTED}
    await runner.cleanup()


async def test_a_receiver_that_streams_without_end_is_not_read(make_notice: Make) -> None:
    sent = 0
    gone = asyncio.Event()

    async def pour(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while sent < 200_000_000:
                await response.write(b"x" * 65536)
                sent += 65536
        except ConnectionError:
            gone.set()
        return response

    app = web.Application()
    app.router.add_post("/vigia", pour)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/vigia"
    async with running(Webhook("hook", url, None)) as hook:
        assert (await hook.deliver(make_notice())).verdict is Verdict.ACCEPTED
        async with asyncio.timeout(5):
            await gone.wait()
    assert sent < 50_000_000
    await runner.cleanup()


async def raw_server(
    handle: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Any], **options: Any
) -> tuple[asyncio.Server, int]:
    server = await asyncio.start_server(handle, "127.0.0.1", 0, **options)
    return server, server.sockets[0].getsockname()[1]


async def test_a_closed_port_is_a_retry_that_names_no_address(make_notice: Make) -> None:
    server, port = await raw_server(lambda _r, w: w.close())
    server.close()
    await server.wait_closed()
    async with running(Webhook("hook", f"http://user:token@127.0.0.1:{port}/key-1234", SECRET)) as hook:
        assert await hook.deliver(make_notice()) == Outcome(Verdict.RETRY, "connection refused")


async def test_an_unknown_name_is_a_retry(make_notice: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_args: object, **_options: object) -> list[tuple[Any, ...]]:
        raise socket.gaierror(socket.EAI_NONAME, "name not known")

    monkeypatch.setattr(webhook, "RememberedAddresses", lambda: RememberedAddresses(unknown))
    async with running(Webhook("hook", "http://nowhere.invalid/vigia", None)) as hook:
        assert await hook.deliver(make_notice()) == Outcome(Verdict.RETRY, "name not found")


async def test_garbage_in_place_of_http_is_a_retry(make_notice: Make) -> None:
    async def garble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"\x00\x01 SSH-2.0 nonsense\r\n\r\n")
        await writer.drain()
        writer.close()

    server, port = await raw_server(garble)
    async with server, running(Webhook("hook", f"http://127.0.0.1:{port}/", None)) as hook:
        assert await hook.deliver(make_notice()) == Outcome(Verdict.RETRY, "answer unreadable")


async def test_a_receiver_without_tls_is_a_retry(receiver: Receiver, make_notice: Make) -> None:
    async with running(Webhook("hook", receiver.url.replace("http:", "https:"), None)) as hook:
        outcome = await hook.deliver(make_notice())
    assert outcome == Outcome(Verdict.RETRY, "TLS failed")


async def test_a_url_that_is_none_is_refused(make_notice: Make) -> None:
    async with running(Webhook("hook", "http://", None)) as hook:
        assert await hook.deliver(make_notice()) == Outcome(Verdict.REFUSED, "URL unusable")


async def test_a_kept_connection_that_the_receiver_closed_is_replaced_within_the_attempt(make_notice: Make) -> None:
    posts = 0
    connections = 0

    async def once_each(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the first request of a connection as if it stayed open; hang up on the second."""
        nonlocal posts, connections
        connections += 1
        for turn in range(2):
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-l")
            )
            await reader.readexactly(length)
            if turn == 1:
                break
            posts += 1
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
        writer.close()

    server, port = await raw_server(once_each)
    async with server, running(Webhook("hook", f"http://127.0.0.1:{port}/", None)) as hook:
        for _ in range(3):
            assert (await hook.deliver(make_notice())).verdict is Verdict.ACCEPTED
    assert (posts, connections) == (3, 3)


async def test_a_receiver_that_always_hangs_up_is_a_retry(make_notice: Make) -> None:
    connections = 0

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    server, port = await raw_server(hang_up)
    async with server, running(Webhook("hook", f"http://127.0.0.1:{port}/", None)) as hook:
        assert await hook.deliver(make_notice()) == Outcome(Verdict.RETRY, "connection lost")
    assert connections == 2


@pytest.mark.trial("B54")
@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("form", ["seconds", "date"])
async def test_b54_the_receiver_is_left_alone_for_as_long_as_it_asked(
    status: int, form: str, receiver: Receiver, make_notice: Make
) -> None:
    wait_s = 1
    now = datetime.now(UTC) - timedelta(hours=5)  # the receiver's clock is five hours slow
    asked = str(wait_s) if form == "seconds" else format_datetime(now + timedelta(seconds=wait_s), usegmt=True)
    receiver.answers = [(status, {"Retry-After": asked, "Date": format_datetime(now, usegmt=True)})]
    loop = asyncio.get_running_loop()
    async with running(Webhook("hook", receiver.url, None)) as hook:
        assert await hook.deliver(make_notice()) == Outcome(Verdict.RETRY, f"HTTP {status}")
        told = loop.time()
        while (outcome := await hook.deliver(make_notice())).verdict is Verdict.RETRY:
            assert outcome.reason == "receiver asked to wait"
            await asyncio.sleep(0.05)
        waited = loop.time() - told
    assert outcome.verdict is Verdict.ACCEPTED
    assert wait_s - 0.1 < waited < wait_s + 1.0
    assert len(receiver.posts) == 2


@pytest.mark.parametrize("asked", ["soon", "-5", "Wed, 99 Foo 2026", "1.5", ""])
async def test_a_retry_after_that_means_nothing_is_no_wait(asked: str, receiver: Receiver, make_notice: Make) -> None:
    receiver.answers = [(429, {"Retry-After": asked})]
    async with running(Webhook("hook", receiver.url, None)) as hook:
        await hook.deliver(make_notice())
        assert (await hook.deliver(make_notice())).verdict is Verdict.ACCEPTED


async def test_nobody_can_ask_for_more_than_a_minute_of_silence(receiver: Receiver, make_notice: Make) -> None:
    receiver.answers = [(503, {"Retry-After": "9" * 400})]
    async with running(Webhook("hook", receiver.url, None)) as hook:
        await hook.deliver(make_notice())
        assert hook._quiet_until <= asyncio.get_running_loop().time() + WAIT_MAX_S


async def test_a_delivery_before_the_session_is_open_waits_for_it(receiver: Receiver, make_notice: Make) -> None:
    hook = Webhook("hook", receiver.url, None)
    early = asyncio.create_task(hook.deliver(make_notice()))
    await asyncio.sleep(0)
    async with running(hook):
        assert (await early).verdict is Verdict.ACCEPTED


async def test_the_channel_works_again_after_its_run_was_restarted(receiver: Receiver, make_notice: Make) -> None:
    hook = Webhook("hook", receiver.url, None)
    for _ in range(2):
        async with running(hook):
            assert (await hook.deliver(make_notice())).verdict is Verdict.ACCEPTED


def test_a_webhook_counts_as_a_first_output() -> None:
    assert Webhook("hook", "http://127.0.0.1:1/", None).counts


@pytest.fixture
def own_certificate(tmp_path: Path) -> ssl.SSLContext:
    """A certificate for 127.0.0.1 that nobody vouches for."""
    return dated_certificate(tmp_path, -1, 1)[0]


async def test_a_receiver_nobody_vouches_for_gets_nothing(own_certificate: ssl.SSLContext, make_notice: Make) -> None:
    heard = bytearray()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.extend(await reader.read(1000))
        writer.close()

    server, port = await raw_server(listen, ssl=own_certificate)
    async with server, running(Webhook("hook", f"https://127.0.0.1:{port}/vigia", SECRET)) as hook:
        assert await hook.deliver(make_notice()) == Outcome(Verdict.RETRY, "TLS failed")
    assert not heard


@pytest.mark.trial("B29")
@pytest.mark.parametrize(("begins", "ends", "said"), [(1, 2, "not valid yet"), (-2, -1, "expired")])
async def test_b29_a_certificate_refused_for_its_date_is_told_as_such(
    tmp_path: Path, make_notice: Make, monkeypatch: pytest.MonkeyPatch, begins: int, ends: int, said: str
) -> None:
    server_side, trust = dated_certificate(tmp_path, begins, ends)

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server, port = await raw_server(listen, ssl=server_side)
    connector = aiohttp.TCPConnector
    monkeypatch.setattr(aiohttp, "TCPConnector", lambda **more: connector(ssl=trust, **more))
    async with server, running(Webhook("hook", f"https://127.0.0.1:{port}/", None)) as hook:
        outcome = await hook.deliver(make_notice())
    assert outcome.verdict is Verdict.RETRY and said in outcome.reason and "clocks" in outcome.reason


def dated_certificate(folder: Path, begins: int, ends: int) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A certificate for 127.0.0.1 that is valid from so many days from now until so many, and who trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(7)
        .not_valid_before(now + timedelta(days=begins))
        .not_valid_after(now + timedelta(days=ends))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    file = folder / "dated.pem"
    pkcs8, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    file.write_bytes(key.private_bytes(pem, pkcs8, plain) + certificate.public_bytes(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context, ssl.create_default_context(cafile=str(file))


async def test_gas_keeps_a_quiet_that_was_asked_of_another_notice_for_one_second_only(
    receiver: Receiver, make_notice: Make, make_event: Make
) -> None:
    gas, blind = make_notice(make_event(Kind.GAS)), make_notice(make_event(Kind.BLIND))
    receiver.answers = [(429, {"Retry-After": "60"}), (429, {"Retry-After": "60"})]
    loop = asyncio.get_running_loop()
    async with running(Webhook("hook", receiver.url, None)) as hook:
        await hook.deliver(blind)
        told = loop.time()
        while (outcome := await hook.deliver(gas)).reason == "receiver asked to wait":  # noqa: ASYNC110 - as the outbox
            await asyncio.sleep(0.02)
        assert outcome == Outcome(Verdict.RETRY, "HTTP 429")  # it was asked all the same, and says no once more
        assert GAS_WAITS_S - 0.1 < loop.time() - told < GAS_WAITS_S + 0.5
        assert (await hook.deliver(gas)).verdict is Verdict.ACCEPTED
        assert (await hook.deliver(blind)).reason == "receiver asked to wait"
