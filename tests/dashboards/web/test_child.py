"""The web child as a process: its API, its live channels, its honesty without a gateway, and its end."""

import asyncio
import re
import signal
import socket
import time
from typing import Any

import aiohttp
import msgspec
import pytest
from prometheus_text import parsed

from dashboards.ports import Act, Answer, Drill, Figure, Window

pytestmark = pytest.mark.measured

JSON = "application/json"


async def get(session: aiohttp.ClientSession, url: str, **headers: str) -> tuple[int, Any]:
    async with session.get(url, headers=headers) as answer:
        is_json = answer.content_type == "application/json"
        return answer.status, await (answer.json() if is_json else answer.text())


async def post(session: aiohttp.ClientSession, url: str, body: Any, **headers: str) -> tuple[int, Any]:
    async with session.post(url, json=body, headers=headers) as answer:
        return answer.status, await answer.json()


async def hear(live: aiohttp.ClientWebSocketResponse, kind: str, within_s: float = 5.0) -> dict[str, Any]:
    async with asyncio.timeout(within_s):
        while True:
            message: dict[str, Any] = await live.receive_json()
            if message["type"] == kind:
                return message


async def test_state_and_alarms_are_the_gateways_picture(gateway: Any, child: Any, session: Any) -> None:
    gateway.push(gateway.head("GD-101", 23.4), alarms=(gateway.gas(),))
    live = await session.ws_connect(f"{child.url}/api/v1/live")
    await hear(live, "snapshot")
    await live.close()
    status, state = await get(session, f"{child.url}/api/v1/state")
    assert status == 200
    assert state["depot"]["name"] == "Depósito Centro"
    assert state["detectors"][0]["lel_pct"] == 23.4
    status, alarms = await get(session, f"{child.url}/api/v1/alarms")
    assert set(alarms["alarms"][0]) >= {
        "id", "subject", "kind", "level", "state", "latched", "lel_pct", "peak", "quality", "since", "sampled",
        "decided", "first_output", "acknowledged_by", "text",
    }  # fmt: skip


async def test_a_named_persons_action_reaches_the_gateway(gateway: Any, child: Any, session: Any) -> None:
    for action in ("acknowledge", "silence", "reset"):
        url = f"{child.url}/api/v1/alarms/centro-7f3a-1/{action}"
        assert await post(session, url, {"by": " Maria ", "note": "a caminho"}) == (200, {"ok": True})
    assert [(act.action, act.alarm, act.by, act.note) for act in gateway.acts] == [
        (action, "centro-7f3a-1", "Maria", "a caminho") for action in ("acknowledge", "silence", "reset")
    ]


@pytest.mark.parametrize(
    ("body", "error", "about"),
    [
        ({}, "needs-name", "by"),
        ({"by": ""}, "needs-name", "by"),
        ({"by": "   "}, "needs-name", "by"),
        ({"by": "x" * 81}, "needs-name", "by"),
        ({"by": 7}, "needs-name", "by"),
        ({"by": " ", "note": "x" * 501}, "needs-name", "note"),
        ({"by": "Ana", "note": "x" * 501}, "bad-request", "note"),
        ([], "bad-request", "body"),
        ("Ana", "bad-request", "body"),
    ],
)
async def test_a_body_without_a_proper_name_says_so_and_goes_no_further(
    gateway: Any, child: Any, session: Any, body: Any, error: str, about: str
) -> None:
    status, answer = await post(session, f"{child.url}/api/v1/alarms/a/acknowledge", body)
    assert (status, answer["error"]) == (422, error)
    assert about in answer["detail"]
    assert gateway.acts == []


async def test_every_no_has_one_shape(gateway: Any, child: Any, session: Any) -> None:
    url = f"{child.url}/api/v1"
    long = {"by": "Ana", "note": "x" * 9000}
    gateway.answer = lambda act: Answer(act.ref, ok=False, error="not-possible")
    for method, path, extra, status, error in (
        ("GET", "/nowhere", {}, 404, "not-found"),
        ("DELETE", "/state", {}, 405, "method-not-allowed"),
        ("GET", "/events?after=-1", {}, 422, "bad-request"),
        ("GET", "/events?limit=many", {}, 422, "bad-request"),
        ("POST", "/alarms/a/shout", {"json": {"by": "Ana"}}, 422, "bad-request"),
        (
            "POST",
            "/alarms/a/reset",
            {"data": b"{", "headers": {"content-type": "application/json"}},
            422,
            "bad-request",
        ),
        ("POST", "/alarms/a/reset", {"json": {"by": "Ana"}}, 409, "not-possible"),
        ("POST", "/alarms/a/reset", {"json": long}, 413, "too-long"),
        ("POST", "/alarms/a/reset", {"json": {}, "headers": {"origin": "http://evil.example"}}, 403, "foreign-origin"),
        ("GET", "/state", {"headers": {"host": "evil.example"}}, 421, "foreign-host"),
        ("GET", "/events", {}, 503, "no-journal"),
    ):
        async with session.request(method, url + path, **extra) as answer:
            body = await answer.json()
            assert (answer.status, body["error"]) == (status, error), path
            assert set(body) <= {"error", "detail", "age_s"}
            assert len(body.get("detail", "")) <= 300


async def test_a_proxy_on_the_machine_may_call_the_page_by_its_public_name(
    gateway: Any, start: Any, session: Any, health: Any
) -> None:
    child = await start("--host", "vigia.example.org")
    await health(child, 200)
    public = {"host": "vigia.example.org", "origin": "https://vigia.example.org"}
    assert (await get(session, f"{child.url}/", **public))[0] == 200
    assert (await post(session, f"{child.url}/api/v1/alarms/a/reset", {"by": "Ana"}, **public))[0] == 200
    async with session.ws_connect(f"{child.url}/api/v1/live", headers=public) as live:
        await hear(live, "snapshot")
    bare = {"origin": "https://vigia.example.org"}  # a proxy that does not hand the name on
    assert (await post(session, f"{child.url}/api/v1/alarms/a/reset", {"by": "Ana"}, **bare))[0] == 403


async def test_the_gateways_no_becomes_a_status(gateway: Any, child: Any, session: Any) -> None:
    url = f"{child.url}/api/v1/alarms/a/reset"
    for error, status in (("unknown-alarm", 404), ("not-possible", 409), ("busy", 503)):
        gateway.answer = lambda act, error=error: Answer(act.ref, ok=False, error=error)
        answer = await post(session, url, {"by": "Ana"})
        assert (answer[0], answer[1]["error"]) == (status, error)
    assert (await post(session, f"{child.url}/api/v1/alarms/a/shout", {"by": "Ana"}))[0] == 422


async def test_a_shelf_and_a_head_out_of_service_need_person_reason_and_end(
    gateway: Any, child: Any, session: Any
) -> None:
    alarm, head = f"{child.url}/api/v1/alarms/a", f"{child.url}/api/v1/detectors/GD-101"
    for body in ({"by": "Ana"}, {"by": "Ana", "note": "  "}, {"by": "Ana", "note": "x", "minutes": 481}):
        assert (await post(session, f"{alarm}/shelve", body))[0] == 422
    assert (await post(session, f"{alarm}/shelve", {"by": "Ana"}))[1]["error"] == "needs-reason"
    for body in ({"by": "Ana", "note": "x"}, {"by": "Ana", "minutes": 60}, {"by": "A", "note": "x", "minutes": 43201}):
        assert (await post(session, f"{head}/out-of-service", body))[0] == 422
    assert gateway.acts == []
    assert (await post(session, f"{alarm}/shelve", {"by": "Ana", "note": "peça", "minutes": 60}))[0] == 200
    assert (await post(session, f"{alarm}/unshelve", {"by": "Ana"}))[0] == 200
    assert (await post(session, f"{head}/out-of-service", {"by": "Ana", "note": "peça", "minutes": 1440}))[0] == 200
    assert (await post(session, f"{head}/return", {"by": "Ana"}))[0] == 200
    shelved, unshelved, out, back = gateway.acts
    assert (shelved.action, shelved.note, shelved.minutes) == ("shelve", "peça", 60.0)
    assert unshelved.action == "unshelve"
    assert (out.kind, out.note, out.minutes) == ("out-of-service", "peça", 1440.0)
    assert back.kind == "close"


async def test_a_named_person_has_outputs_tested_by_a_program_or_with_a_tap_on_the_page(
    gateway: Any, child: Any, session: Any
) -> None:
    url = f"{child.url}/api/v1/drill"
    for wrong in ({}, {"by": " "}, {"by": "Ana", "outputs": "sirene"}, {"by": "Ana", "outputs": ["s"] * 201}):
        assert (await post(session, url, wrong))[0] == 422
    assert gateway.acts == []
    assert (await post(session, url, {"by": " Ana ", "note": "mensal", "outputs": ["sirene"], "tell": True}))[0] == 200
    assert gateway.acts == [Drill(gateway.acts[0].ref, "Ana", ("sirene",), "mensal", tell=True)]
    for form, outputs in (({"by": "Bia", "output": ""}, ()), ({"by": "Bia", "output": "sirene"}, ("sirene",))):
        async with session.post(f"{child.url}/drill", data=form, allow_redirects=False) as answer:
            assert (answer.status, answer.headers["location"]) == (303, "/?lang=pt-BR&act=done")
        assert (gateway.acts[-1].by, gateway.acts[-1].outputs) == ("Bia", outputs)
    async with session.post(f"{child.url}/drill", data={"output": ""}, allow_redirects=False) as answer:
        assert answer.headers["location"].endswith("act=needs-name")
    for error, status in (("not-possible", 409), ("unknown-output", 404)):
        gateway.answer = lambda act, error=error: Answer(act.ref, ok=False, error=error)
        assert (await post(session, url, {"by": "Ana"}))[0] == status
    async with session.get(f"{child.url}/?lang=en") as answer:
        page = await answer.text()
    assert "Test of the outputs" in page and '<option value="sirene">' in page


async def test_a_named_person_opens_and_closes_a_window_over_one_head(gateway: Any, child: Any, session: Any) -> None:
    url = f"{child.url}/api/v1/detectors/GD-101/window"
    opening = {"kind": "test", "by": " Ana ", "note": "bump", "minutes": 5}
    assert (await post(session, url, opening))[0] == 200
    assert (await post(session, url, {"kind": "close", "by": "Ana"}))[0] == 200
    opened, closed = gateway.acts
    assert opened == Window(opened.ref, "test", "GD-101", "Ana", "bump", 5.0)
    assert (closed.kind, closed.minutes) == ("close", 0.0)
    gateway.answer = lambda act: Answer(act.ref, ok=False, error="unknown-detector")
    assert (await post(session, url, opening))[0] == 404


@pytest.mark.parametrize(
    "wrong", [{"kind": "nap"}, {"minutes": 0}, {"minutes": 481}, {"minutes": "ten"}, {"by": " "}, {"kind": None}]
)
async def test_a_window_of_a_wrong_shape_is_422_and_goes_no_further(
    gateway: Any, child: Any, session: Any, wrong: dict[str, Any]
) -> None:
    body = {"kind": "inhibit", "by": "Ana", "minutes": 10} | wrong
    status, _ = await post(session, f"{child.url}/api/v1/detectors/GD-101/window", body)
    assert status == 422
    assert gateway.acts == []


async def test_a_foreign_origin_gets_neither_an_action_nor_a_stream(gateway: Any, child: Any, session: Any) -> None:
    foreign = {"origin": "http://evil.example"}
    status, _ = await post(session, f"{child.url}/api/v1/alarms/a/acknowledge", {"by": "Mallory"}, **foreign)
    assert status == 403
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await session.ws_connect(f"{child.url}/api/v1/live", headers=foreign)
    assert refused.value.status == 403
    assert gateway.acts == []
    assert (await get(session, f"{child.url}/api/v1/state", host="evil.example"))[0] == 421
    own = {"origin": child.url}
    assert (await post(session, f"{child.url}/api/v1/alarms/a/acknowledge", {"by": "Ana"}, **own))[0] == 200


async def test_live_begins_with_the_picture_then_changes_in_order_and_a_heartbeat_each_second(
    gateway: Any, child: Any, session: Any
) -> None:
    async with session.ws_connect(f"{child.url}/api/v1/live") as live:
        first = await live.receive_json()
        assert first["type"] == "snapshot"
        seq, beats, began = first["seq"], 0, time.monotonic()
        while beats < 2:
            message = await live.receive_json()
            if message["type"] == "change":
                seq += 1
            else:
                assert message["type"] == "heartbeat"
                assert message["age_s"] < 2
                beats += 1
            assert message["seq"] == seq
        assert time.monotonic() - began < 4


async def test_the_event_stream_says_the_same(child: Any, session: Any) -> None:
    kinds: list[str] = []
    async with session.get(f"{child.url}/api/v1/stream") as answer:
        assert answer.content_type == "text/event-stream"
        async with asyncio.timeout(5):
            async for line in answer.content:
                if line.startswith(b"data: "):
                    kinds.append(msgspec.json.decode(line[6:])["type"])
                if "heartbeat" in kinds and "change" in kinds:
                    break
    assert kinds[0] == "snapshot"


async def test_without_a_gateway_nothing_is_shown_as_present(
    gateway: Any, child: Any, session: Any, health: Any
) -> None:
    async with session.ws_connect(f"{child.url}/api/v1/live") as live:
        await hear(live, "snapshot")
        await gateway.stop()
        lost = await hear(live, "lost", 2.0)
        assert lost["age_s"] is not None
        await health(child, 503)
        for path in ("state", "alarms"):
            status, body = await get(session, f"{child.url}/api/v1/{path}")
            assert (status, body["error"]) == (503, "no-contact")
            assert body["age_s"] > 0
            assert "detectors" not in body
        status, body = await post(session, f"{child.url}/api/v1/alarms/a/acknowledge", {"by": "Ana"})
        assert (status, body["error"]) == (503, "no-contact")
        status, page = await get(session, f"{child.url}/")
        assert status == 503
        assert "Sem contato com o vigia há" in page
        assert page.count('class="card struck"') == 4
        status, figures = await get(session, f"{child.url}/metrics")
        assert "vigia_gateway_up 0.0" in figures
        assert "vigia_detector_lel_pct" not in figures
        await gateway.start()
        assert (await hear(live, "snapshot"))["seq"] == gateway.picture.seq
    await health(child, 200)


async def test_a_silent_gateway_is_lost_within_three_seconds(gateway: Any, child: Any, session: Any) -> None:
    async with session.ws_connect(f"{child.url}/api/v1/live") as live:
        await hear(live, "snapshot")
        gateway.fall_silent()
        began = time.monotonic()
        await hear(live, "lost")
        assert time.monotonic() - began < 3.0


async def test_health_is_that_of_the_alarm_loop(gateway: Any, child: Any, session: Any, health: Any) -> None:
    assert (await health(child, 200))["alive"] is True
    change = gateway.push()
    gateway.fall_silent()
    gateway.server.push(msgspec.structs.replace(change, seq=change.seq + 1, alive=False))
    assert (await health(child, 503, 1.5))["alive"] is False
    assert (await get(session, f"{child.url}/api/v1/state"))[0] == 503


async def test_metrics_give_each_detector_and_the_gateways_counters(gateway: Any, child: Any, session: Any) -> None:
    gateway.figures = (
        Figure("bus_polls_total", "requests sent", 42.0, {"bus": "linha 1"}),
        Figure("bus_polls_total", "requests sent", 7.0, {"bus": "linha 2"}),
    )
    gateway.push(gateway.head("GD-101", 23.4), gateway.dead("GD-102"), alarms=(gateway.gas(),), worst_ms=211.4)
    async with session.ws_connect(f"{child.url}/api/v1/live") as live:
        await hear(live, "snapshot")
    _, figures = await get(session, f"{child.url}/metrics")
    for line in (
        'vigia_detector_lel_pct{detector="GD-101",area="patio"} 23.4',
        'vigia_detector_quality{detector="GD-102",area="patio"} 0.0',
        'vigia_detector_watching{detector="GD-102",area="patio"} 0.0',
        'vigia_alarm_active{subject="GD-101",kind="GAS",level="A2",state="unacknowledged"} 1.0',
        "vigia_gateway_up 1.0",
        'vigia_bus_polls_total{bus="linha 1"} 42.0',
        "vigia_first_output_worst_seconds 0.2114",
    ):
        assert line in figures.splitlines()
    assert re.search(r'vigia_detector_age_seconds\{detector="GD-102",area="patio"\} 1[45]\.', figures)
    assert all(name.startswith("vigia_") for name, _ in parsed(figures))


async def test_without_a_journal_events_say_so_and_a_bad_place_is_422(child: Any, session: Any) -> None:
    status, body = await get(session, f"{child.url}/api/v1/events?after=0")
    assert (status, body["error"]) == (503, "no-journal")
    assert (await get(session, f"{child.url}/api/v1/events?after=-1"))[0] == 422


async def test_the_page_is_whole_without_a_script_in_both_languages(gateway: Any, child: Any, session: Any) -> None:
    status, page = await get(session, f"{child.url}/", **{"accept-language": "en-GB,en;q=0.9,pt;q=0.2"})
    assert status == 200
    assert "All normal" in page
    assert "0.4 % LEL" in page
    _, page = await get(session, f"{child.url}/?lang=pt-BR", **{"accept-language": "en"})
    assert "Tudo normal" in page
    assert "0,4 % LIE" in page
    assert 'http-equiv="refresh"' in page
    assert "Silenciar 2 min" in page
    assert "segundo vigia" in page
    assert not re.search(r"<script(?![^>]*src=)|style=|onclick|https?://(?!www\.w3\.org)", page)


async def test_a_form_without_a_script_acts_and_comes_back_to_the_page(gateway: Any, child: Any, session: Any) -> None:
    url = f"{child.url}/alarms/centro-1/acknowledge"
    async with session.post(url, data={"by": "João da Silva", "note": "já vi"}) as answer:
        assert answer.status == 200
        page = await answer.text()
    assert gateway.acts == [Act(gateway.acts[0].ref, "acknowledge", "centro-1", "João da Silva", "já vi")]
    assert "Registrado." in page
    assert 'value="João da Silva"' in page
    async with session.post(url, data={"by": " "}) as answer:
        assert "Escreva o seu nome primeiro." in await answer.text()
    assert len(gateway.acts) == 1


async def test_names_from_the_field_are_text_and_never_markup(gateway: Any, child: Any, session: Any) -> None:
    nasty = '"><script>alert(1)</script>'
    gateway.push(alarms=(gateway.gas(text=nasty, acknowledged_by=nasty, state="acknowledged"),))
    async with session.ws_connect(f"{child.url}/api/v1/live") as live:
        await hear(live, "snapshot")
    _, page = await get(session, f"{child.url}/")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


async def test_the_api_describes_itself_and_loads_no_page_from_elsewhere(child: Any, session: Any) -> None:
    status, document = await get(session, f"{child.url}/api/v1/openapi.json")
    assert status == 200
    assert {"/api/v1/state", "/api/v1/alarms/{alarm}/{action}", "/health"} <= set(document["paths"])
    names = set(document["components"]["schemas"])
    assert "Refused" in names
    assert not {name for name in names if "Validation" in name}, "a shape that no answer has"
    assert set(re.findall(r"#/components/schemas/(\w+)", str(document))) <= names
    drill = document["paths"]["/api/v1/drill"]["post"]["responses"]
    async with session.post(f"{child.url}/api/v1/drill", data=b"\xff", headers={"content-type": JSON}) as answer:
        assert str(answer.status) in drill, "a body that is no text"
    for sheet in ("ledger", "reports", "stock/movements/{month}"):
        kinds = document["paths"][f"/api/v1/{sheet}"]["get"]["responses"]["200"]["content"]
        assert set(kinds) == {JSON, "text/csv"}
    for path in ("docs", "redoc"):
        assert (await get(session, f"{child.url}/{path}"))[0] == 404


async def test_twenty_streams_of_each_kind_live_at_once_and_the_child_stops_within_two_seconds(
    gateway: Any, child: Any, session: Any
) -> None:
    sockets = [await session.ws_connect(f"{child.url}/api/v1/live") for _ in range(20)]
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as many:
        streams = [await many.get(f"{child.url}/api/v1/stream") for _ in range(20)]
        change = gateway.push(alarms=(gateway.gas(),))
        for live in sockets:
            while (await hear(live, "change"))["seq"] != change.seq:
                pass
        for stream in streams:
            assert (await stream.content.readline()).startswith(b'data: {"type":"snapshot"')
        took = await child.stop()
        assert took < 2.0
        assert child.process.returncode == 0
        for live in sockets:
            async with asyncio.timeout(2):
                while (await live.receive()).type not in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED):
                    pass
            await live.close()
        for stream in streams:
            stream.close()


async def test_a_browser_that_does_not_read_is_dropped_and_holds_up_neither_the_others_nor_the_end(
    gateway: Any, child: Any, session: Any, request: pytest.FixtureRequest
) -> None:
    deaf = socket.create_connection(child.host.split(":"), timeout=5)
    request.addfinalizer(deaf.close)
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.sendall(
        f"GET /api/v1/live HTTP/1.1\r\nHost: {child.host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
    )
    many = tuple(gateway.head(f"GD-{n}") for n in range(200))
    gateway.picture = msgspec.structs.replace(gateway.picture, detectors=many)
    async with session.ws_connect(f"{child.url}/api/v1/live") as live:
        await hear(live, "snapshot")

        async def dropped() -> bool:
            _, figures = await get(session, f"{child.url}/metrics")
            return "vigia_web_browsers_dropped_total 1.0" in figures

        async with asyncio.timeout(20):
            while not await dropped():
                for _ in range(10):
                    seq = gateway.push(*many).seq
                    while (await hear(live, "change"))["seq"] != seq:
                        pass
    assert await child.stop() < 2.0


async def test_the_child_ends_when_its_parents_pipe_ends(child: Any) -> None:
    child.process.stdin.close()
    async with asyncio.timeout(3):
        assert await child.process.wait() == 0


async def test_a_child_that_was_stopped_shows_fresh_values_when_it_goes_on(
    gateway: Any, child: Any, session: Any, health: Any
) -> None:
    child.signal(signal.SIGSTOP)
    await asyncio.sleep(2.5)  # longer than the link's patience: it must notice that it slept
    gateway.push(gateway.head("GD-101", 31.0))
    child.signal(signal.SIGCONT)
    await health(child, 503)
    await health(child, 200)
    _, state = await get(session, f"{child.url}/api/v1/state")
    assert state["detectors"][0]["lel_pct"] == 31.0


async def test_an_address_that_is_not_loopback_or_taken_is_refused(child: Any, tmp_path: Any) -> None:
    from gateway.children.tie import EXIT_NO_ADDRESS
    from gateway.children.webchild import EXIT_CONFIG, main

    base = ["--socket", str(tmp_path / "s"), "--journal", str(tmp_path / "j"), "--listen"]
    assert await asyncio.to_thread(main, [*base, "0.0.0.0:0"]) == EXIT_CONFIG
    assert await asyncio.to_thread(main, [*base, child.host]) == EXIT_NO_ADDRESS
