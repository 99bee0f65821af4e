"""Whatever comes through the control socket is carried out or refused in words; watch and journal stay whole."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patience import until

from alerts.alarms import AlarmKey, Kind
from dashboards.office import Breach, File, Judged, Paper, paper
from dashboards.ports import Act, Answer, Ask, DepotView, Drill, Snapshot, Window
from gateway.control import MAX_CLIENTS, MAX_REQUEST_BYTES, ControlServer
from gateway.deeds import understood
from gateway.engine.events import Effect, Event, Record
from gateway.filing import Filing
from gateway.journal.batches import prepare
from simulator.room import Room, orders

LINE = {"id": "e1", "register": "document", "subject": "alvara", "act": "record", "values": {}, "effective_ms": 1}
SOUND = (
    Act(7, "acknowledge", "a1", "Ana"),
    Act(7, "shelve", "a1", "Ana", note="obra", minutes=5.0),
    Window(7, "test", "GD-1", "Ana", minutes=5.0),
    Window(7, "out-of-service", "GD-1", "Ana", note="obra", minutes=5.0),
    Drill(7, "Ana", ("siren",)),
    Ask(7, "metrics"),
    File(7, "Ana", (paper("register", {"at_ms": 1, "entries": [{**LINE, "source": "person"}]}),)),
    Judged(7, (Breach("house-1/depot:depot", "violated", "uma\nduas\ntrês", "danger"),)),
)
LAST = Ask(424242, "metrics")

words = st.text(max_size=12) | st.sampled_from(["", "x" * 2000, "\x00", "\ud800".encode("utf-8", "replace").decode()])
scalars = st.none() | st.booleans() | st.integers() | st.floats() | words | st.sampled_from([2**80, -1, 1e308, "test"])
trees = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3))


@st.composite
def mutants(draw: st.DrawFn) -> bytes:
    """A sound request with something else in one or more of its places."""
    tree = json.loads(msgspec.json.encode(draw(st.sampled_from(SOUND))))
    for _ in range(draw(st.integers(1, 3))):
        place: Any = tree
        while True:
            key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
            if not isinstance(place[key], dict | list | tuple) or not place[key] or draw(st.booleans()):
                break
            if isinstance(place[key], tuple):
                place[key] = list(place[key])
            place = place[key]
        if draw(st.booleans()) and isinstance(place, dict) and len(place) > 1:
            del place[key]
        else:
            place[key] = draw(trees)
    return json.dumps(tree).encode()


lines = (
    mutants()
    | st.binary(max_size=60).map(lambda raw: raw.replace(b"\n", b""))
    | trees.map(lambda tree: json.dumps(tree).encode())
    | st.sampled_from([b"[" * 100_000, b'{"type":"file","papers":' * 20_000, b"{}", b'{"type":"act"}', b'"'])
)


class Watch:
    """A control socket before a real engine. What the engine wants written must be writable, and nothing may raise."""

    def __init__(self, path: Path) -> None:
        self.room = Room(orders("GD-1", "GD-2"))
        self.room.read("GD-1", 12.0)
        self.faults: list[dict[str, Any]] = []
        filing = Filing(SimpleNamespace(now=self.room.now), self.hear, asyncio.get_running_loop().call_soon)
        depot = DepotView("d", "Depósito", "", "UTC", "pt-BR", "0", "2026-11-30T11:10:59.123Z")
        picture = Snapshot(1, depot.started, depot, (), (), (), (), None, 1.0, alive=True, silence_s=1.0)
        self.server = ControlServer(path, picture=lambda: picture, act=self.act, office=filing.take, metrics=lambda: ())

    def act(self, ask: Act | Window | Drill) -> Answer:
        known = SimpleNamespace(key_of=lambda _: AlarmKey("GD-1", Kind.GAS))
        event = understood(ask, self.room.engine, cast("Any", known), self.room.now())
        if isinstance(event, str):
            return Answer(ask.ref, ok=False, error=event)
        return Answer(ask.ref, ok=bool(self.hear(event)))

    def hear(self, event: Event) -> list[Effect]:
        effects = self.room.give(event)
        for effect in effects:
            if isinstance(effect, Record):
                prepare(effect)
        return effects


async def played(play: Callable[[Path, Watch], Any]) -> Watch:
    """Serve, play against it, and see that nothing has raised and that it still answers."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "control.sock"
        watch = Watch(path)
        asyncio.get_running_loop().set_exception_handler(lambda _, context: watch.faults.append(context))
        serving = asyncio.ensure_future(watch.server.run())
        try:
            await until(path.exists)
            await play(path, watch)
            assert not watch.faults
            assert (await said(path, msgspec.json.encode(LAST)))[-1].ok
        finally:
            serving.cancel()
            await asyncio.wait([serving])
    return watch


async def said(path: Path, *sent: bytes) -> list[Answer]:
    """Send lines and the sound one; return every answer up to that one's."""
    reader, writer = await asyncio.open_unix_connection(str(path), limit=2**24)
    try:
        writer.write(b"".join(line + b"\n" for line in (*sent, msgspec.json.encode(LAST))))
        answers: list[Answer] = []
        async with asyncio.timeout(5):
            while not answers or answers[-1].ref != LAST.ref:
                answers.append(msgspec.json.decode(await reader.readline(), type=Answer))
        return answers
    finally:
        writer.close()


@given(st.lists(lines.filter(lambda line: b'"subscribe"' not in line), min_size=1, max_size=12))
@settings(max_examples=60)
def test_whatever_a_client_says_the_watch_answers_the_next_one(sent: list[bytes]) -> None:
    async def play(path: Path, _: Watch) -> None:
        await said(path, *sent)

    asyncio.run(played(play))


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        (paper("register", {"at_ms": 1}), "entries"),
        (paper("register", {"at_ms": "1", "entries": []}), "$.at_ms"),
        (paper("register", {"at_ms": 1, "entries": [LINE]}), "source"),
        (paper("register", {"at_ms": 1, "entries": [{**LINE, "source": "person", "act": "sell"}]}), "$.entries[0].act"),
        (paper("finding", {"at_ms": 1, "changes": [{"rule": "r"}]}), "$.changes[0]"),
        (paper("finding", {"changes": "none"}), "$.changes"),
    ],
)
def test_a_paper_that_no_reader_could_take_is_refused_at_the_door_and_says_where(wrong: Paper, where: str) -> None:
    async def play(path: Path, watch: Watch) -> None:
        answer, _ = await said(path, msgspec.json.encode(File(9, "Ana", (wrong,))))
        assert (answer.ref, answer.ok, answer.error) == (9, False, "bad-request")
        assert "paper 0" in answer.detail and where in answer.detail
        assert not [entry for entry in watch.room.entries if entry.kind in ("register", "finding")]

    asyncio.run(played(play))


def test_a_judgement_that_is_none_moves_no_alarm() -> None:
    found = Breach("house-1/depot:depot", "violated", "", "danger")

    async def play(path: Path, watch: Watch) -> None:
        for breaches in (
            [msgspec.to_builtins(found) | {"reason": "because"}],
            [msgspec.to_builtins(found) | {"subject": ""}],
            [msgspec.to_builtins(found) | {"detail": "x" * 300_000}],
            [msgspec.to_builtins(found)] * 2,
        ):
            line = json.dumps({"type": "judged", "ref": 9, "breaches": breaches}).encode()
            answer, _ = await said(path, line)
            assert (answer.ref, answer.ok, answer.error) == (9, False, "bad-request"), breaches
        assert watch.room.alarm("house-1/depot:depot", Kind.COMPLIANCE) is None

    asyncio.run(played(play))


def test_half_messages_and_too_many_clients_keep_no_sound_one_out_for_long() -> None:
    async def play(path: Path, watch: Watch) -> None:
        opened = [await asyncio.open_unix_connection(str(path)) for _ in range(2 * MAX_CLIENTS)]
        for number, (_, writer) in enumerate(opened):
            writer.write(b'{"type":"act","ref":1,' if number % 2 else b"x" * (MAX_REQUEST_BYTES + 1))
        for _, writer in opened:
            writer.close()
        await until(lambda: watch.server.figures()[0].value == 0, what="they are gone")

    asyncio.run(played(play))
