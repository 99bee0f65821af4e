"""The control socket: who may have it, what comes over it in which order, and that nobody can hold up the caller."""

import asyncio
import contextlib
import errno
import signal
import socket
import stat
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from patience import until

from dashboards.office import File, Judged
from dashboards.ports import (
    Act,
    Answer,
    Ask,
    Change,
    DepotView,
    DetectorView,
    Figure,
    Rest,
    Snapshot,
    Subscribe,
    ToScreen,
)
from gateway.asking import ask
from gateway.control import MAX_BACKLOG_BYTES, MAX_CLIENTS, MAX_LINE_BYTES, MAX_REQUEST_BYTES, ControlServer
from gateway.machine.sockets import ControlError, claim
from sensors.stamps import UtcNanos, rfc3339

NOW = "2026-11-30T11:10:59.123Z"
HEAD = DetectorView(
    "GD-101",
    "patio",
    "detectores",
    1.2,
    None,
    "good",
    "measuring",
    "",
    NOW,
    0.1,
    10,
    20,
    40,
    True,
    1.2,
    True,
)
PICTURE = Snapshot(
    7,
    NOW,
    DepotView("d", "Depósito", "", "UTC", "pt-BR", "0", NOW),
    (HEAD,),
    (),
    (),
    (),
    None,
    1.2,
    alive=True,
    silence_s=120.0,
)
POLLS = Figure("bus_polls_total", "requests sent", 5.0, {"bus": "linha 1"})


class Served:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.picture = PICTURE
        self.live = False
        self.acts: list[Act] = []
        self.filed: list[File | Judged] = []
        self.answer: Callable[[Act], Answer] = lambda act: Answer(act.ref, ok=True)
        self.server = ControlServer(
            path, picture=self._sent_now, act=self._act, office=self._office, metrics=lambda: (POLLS,)
        )

    def _office(self, ask: File | Judged, reply: Callable[[Answer], None]) -> None:
        self.filed.append(ask)
        reply(Answer(ask.ref, ok=True))

    def _sent_now(self) -> Snapshot:
        """A child takes no picture that was sent a while ago, so this one must say when it really is sent."""
        return (
            msgspec.structs.replace(self.picture, at=rfc3339(UtcNanos(time.time_ns()))) if self.live else self.picture
        )

    def _act(self, act: Act) -> Answer:
        self.acts.append(act)
        return self.answer(act)

    def push(self, **changed: Any) -> None:
        self.picture = msgspec.structs.replace(self.picture, seq=self.picture.seq + 1)
        self.server.push(Change(self.picture.seq, NOW, **changed))


class Screen:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def say(self, message: Any) -> None:
        self.writer.write(msgspec.json.encode(message) + b"\n")

    async def hear(self) -> ToScreen:
        async with asyncio.timeout(5):
            return msgspec.json.decode(await self.reader.readline(), type=ToScreen)

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    served = Served(tmp_path / "control.sock")
    task = asyncio.create_task(served.server.run())
    await until(served.path.exists)
    yield served
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
async def screen(served: Served) -> AsyncIterator[Screen]:
    made = await join(served.path)
    yield made
    await made.close()


def count(server: ControlServer) -> dict[str, float]:
    return {figure.name: figure.value for figure in server.figures()}


async def join(path: Path) -> Screen:
    return Screen(*await asyncio.open_unix_connection(str(path), limit=2**24))


async def test_a_renewed_picture_reaches_every_subscriber_whatever_its_number(served: Served, screen: Screen) -> None:
    screen.say(Subscribe())
    assert (await screen.hear()).seq == 7
    served.picture = msgspec.structs.replace(PICTURE, seq=0, silence_s=30.0)
    served.server.renew()
    renewed = await screen.hear()
    assert isinstance(renewed, Snapshot)
    assert (renewed.seq, renewed.silence_s) == (0, 30.0)
    served.push()
    assert (await screen.hear()).seq == 1


async def test_whoever_rests_gets_only_what_is_made_for_it_until_it_subscribes_again(
    served: Served, screen: Screen
) -> None:
    assert not served.server.watched
    screen.say(Subscribe())
    await screen.hear()
    assert served.server.watched
    screen.say(Rest())
    await until(lambda: not served.server.watched)
    served.push(detectors=(HEAD,))
    served.server.push_resting(lambda: Change(8, NOW, alarms=()))
    assert await screen.hear() == Change(8, NOW, alarms=())
    screen.say(Subscribe())
    again = await screen.hear()
    assert isinstance(again, Snapshot)
    assert again.seq == 8
    served.push(detectors=(HEAD,))
    change = await screen.hear()
    assert isinstance(change, Change)
    assert change.detectors == (HEAD,)


def test_nothing_is_made_for_those_who_rest_where_nobody_does(tmp_path: Path) -> None:
    made: list[Change] = []
    Served(tmp_path / "control.sock").server.push_resting(lambda: made.append(Change(8, NOW)) or made[0])
    assert not made


async def test_the_socket_is_the_owners_alone_and_goes_with_the_gateway(tmp_path: Path) -> None:
    served = Served(tmp_path / "control.sock")
    task = asyncio.create_task(served.server.run())
    await until(served.path.exists)
    assert stat.S_IMODE(served.path.stat().st_mode) == 0o600
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()
    assert not served.path.exists()


async def test_a_dead_socket_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "control.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    served = Served(path)
    task = asyncio.create_task(served.server.run())
    async with asyncio.timeout(5):
        while True:
            with contextlib.suppress(ControlError):
                answer = await asyncio.to_thread(ask, path, Ask(3, "snapshot"))
                break
    assert answer.snapshot == PICTURE
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_second_gateway_is_refused_and_the_first_keeps_its_socket(served: Served) -> None:
    with pytest.raises(ControlError, match="another gateway is running"):
        await Served(served.path).server.run()
    answer = await asyncio.to_thread(ask, served.path, Ask(1, "metrics"))
    assert answer.ok


async def test_a_socket_that_the_disk_does_not_let_go_keeps_nobody_from_ending(tmp_path: Path, monkeypatch) -> None:
    served = Served(tmp_path / "control.sock")
    task = asyncio.create_task(served.server.run())
    await until(served.path.exists)

    def refused(_path: Path, **_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "unlink", refused)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ControlError, match="Read-only"):
        claim(served.path)


async def test_where_the_folder_was_removed_it_is_made_anew_for_the_socket(tmp_path: Path) -> None:
    path = tmp_path / "var" / "control.sock"
    claim(path).close()
    assert path.is_socket()


async def test_a_file_that_is_no_socket_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "control.sock"
    path.write_text("notes")
    with pytest.raises(ControlError, match="not a socket"):
        await Served(path).server.run()
    assert path.read_text() == "notes"


async def test_a_subscriber_gets_the_snapshot_and_then_each_change_once_in_order(
    served: Served, screen: Screen
) -> None:
    served.push()
    screen.say(Subscribe())
    first = await screen.hear()
    for _ in range(50):
        served.push(detectors=(HEAD,))
    changes = [await screen.hear() for _ in range(50)]
    assert isinstance(first, Snapshot)
    assert [change.seq for change in changes if isinstance(change, Change)] == list(
        range(first.seq + 1, first.seq + 51)
    )


async def test_a_change_that_the_snapshot_already_holds_is_not_sent_again(served: Served, screen: Screen) -> None:
    screen.say(Subscribe())
    await screen.hear()
    served.server.push(Change(PICTURE.seq, NOW))
    served.push()
    following = await screen.hear()
    assert isinstance(following, Change)
    assert following.seq == PICTURE.seq + 1


async def test_who_did_not_subscribe_hears_no_change(served: Served, screen: Screen) -> None:
    screen.say(Ask(9, "snapshot"))
    await screen.hear()
    served.push()
    screen.say(Ask(10, "metrics"))
    answer = await screen.hear()
    assert isinstance(answer, Answer)
    assert answer.ref == 10
    assert answer.metrics is not None
    assert POLLS in answer.metrics
    assert {figure.name: figure.value for figure in answer.metrics}["control_clients"] == 1.0


async def test_an_action_reaches_the_gateway_and_its_answer_carries_the_reference(
    served: Served, screen: Screen
) -> None:
    served.answer = lambda _: Answer(0, ok=False, error="not-possible")
    screen.say(Act(41, "reset", "centro-1", " Maria "))
    answer = await screen.hear()
    assert answer == Answer(41, ok=False, error="not-possible")
    assert [(act.by, act.action, act.alarm) for act in served.acts] == [("Maria", "reset", "centro-1")]


@pytest.mark.parametrize("name", ["", "   ", "x" * 81])
async def test_an_action_without_a_proper_name_never_reaches_the_gateway(
    served: Served, screen: Screen, name: str
) -> None:
    screen.say(Act(1, "acknowledge", "centro-1", name))
    answer = await screen.hear()
    assert isinstance(answer, Answer)
    assert answer.error == "needs-name"
    assert served.acts == []


@pytest.mark.parametrize(
    "line",
    [b"{", b"\xff\xfe", b'{"type":"act"}', b'{"type":"act","ref":1,"action":"open","alarm":"a","by":"b"}', b"[" * 9000],
)
async def test_garbage_is_answered_and_counted_and_the_line_goes_on(
    served: Served, screen: Screen, line: bytes
) -> None:
    screen.writer.write(line + b"\n")
    answer = await screen.hear()
    assert isinstance(answer, Answer)
    assert answer.error == "bad-request"
    assert count(served.server)["control_requests_garbled_total"] == 1
    screen.say(Subscribe())
    assert isinstance(await screen.hear(), Snapshot)


async def test_a_request_without_end_is_cut_off(served: Served, screen: Screen) -> None:
    screen.writer.write(b"x" * (MAX_REQUEST_BYTES * 3))
    async with asyncio.timeout(5):
        with contextlib.suppress(ConnectionError):  # cut off while it still speaks
            assert await screen.reader.read() == b""
    assert count(served.server)["control_clients"] == 0


async def test_more_clients_than_the_bound_are_turned_away(served: Served) -> None:
    screens = [await join(served.path) for _ in range(MAX_CLIENTS)]
    await until(lambda: count(served.server)["control_clients"] == MAX_CLIENTS)
    extra = await join(served.path)
    async with asyncio.timeout(5):
        assert await extra.reader.read() == b""
    assert count(served.server)["control_clients_turned_away_total"] == 1
    for screen in [*screens, extra]:
        await screen.close()


async def test_a_client_that_does_not_read_is_dropped_counted_and_the_others_miss_nothing(served: Served) -> None:
    slow = await join(served.path)
    slow.writer.transport.pause_reading()  # type: ignore[attr-defined]
    quick = await join(served.path)
    for screen in (slow, quick):
        screen.say(Subscribe())
    assert isinstance(await quick.hear(), Snapshot)
    many = (HEAD,) * 500
    size = len(msgspec.json.encode(Change(1, NOW, many)))
    for _ in range(MAX_BACKLOG_BYTES // size + 40):
        served.push(detectors=many)
        assert isinstance(await quick.hear(), Change)
    counters = count(served.server)
    assert counters["control_clients_dropped_total"] == 1
    assert counters["control_clients"] == 1
    await slow.close()
    await quick.close()


@pytest.mark.measured
async def test_a_stopped_web_child_never_holds_up_the_caller(served: Served, tmp_path: Path) -> None:
    served.live = True
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "gateway.children.webchild", "--socket", str(served.path), "--journal", str(tmp_path / "j")),
        *("--listen", "127.0.0.1:0", "--announce"),
        cwd=Path(__file__).parents[2],
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        await until(lambda: any(client.sent_seq is not None for client in served.server._clients), 20)  # it subscribed
        child.send_signal(signal.SIGSTOP)
        many = (HEAD,) * 200
        slowest = 0.0
        for _ in range(400):
            began = time.perf_counter()
            served.push(detectors=many)
            slowest = max(slowest, time.perf_counter() - began)
            await asyncio.sleep(0)
        assert count(served.server)["control_clients_dropped_total"] >= 1
        assert slowest < 0.25  # a write that waits would wait for ever
    finally:
        child.kill()
        await child.communicate()


async def test_a_picture_of_thousands_of_heads_is_sent_whole_and_its_changes_follow(served: Served) -> None:
    heads = (HEAD,) * 16_000
    served.picture = msgspec.structs.replace(PICTURE, detectors=heads)
    answer = await asyncio.to_thread(ask, served.path, Ask(1, "snapshot"), 10.0)
    assert answer.snapshot is not None and len(answer.snapshot.detectors) == 16_000
    assert len(msgspec.json.encode(answer)) > MAX_BACKLOG_BYTES
    screen = await join(served.path)
    screen.say(Subscribe())
    served.push(detectors=heads)
    assert isinstance(await screen.hear(), Snapshot)
    served.push(detectors=heads)
    assert isinstance(await screen.hear(), Change)
    await screen.close()


async def test_a_picture_that_is_too_long_is_said_to_be_so_and_never_cut(served: Served) -> None:
    served.picture = msgspec.structs.replace(PICTURE, detectors=(HEAD,) * (MAX_LINE_BYTES // 100))
    answer = await asyncio.to_thread(ask, served.path, Ask(3, "snapshot"), 10.0)
    assert (answer.ref, answer.ok, answer.error) == (3, False, "too-large")
    assert str(MAX_LINE_BYTES) in answer.detail


async def test_an_answer_that_breaks_off_is_said_to(tmp_path: Path) -> None:
    path = tmp_path / "control.sock"

    async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b'{"type":"answer","ref":1')
        writer.close()

    server = await asyncio.start_unix_server(half, path)
    with pytest.raises(ControlError, match="breaks off after 24 bytes"):
        await asyncio.to_thread(ask, path, Ask(1, "snapshot"))
    server.close()
    await server.wait_closed()
    await asyncio.sleep(0.05)


async def test_asking_where_nobody_answers_says_so(tmp_path: Path) -> None:
    with pytest.raises(ControlError, match="no gateway answers"):
        ask(tmp_path / "control.sock", Ask(1, "snapshot"))
