"""Filing with a slow journal: what is not known is said to be so, and nothing is filed before it is settled."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from dashboards.office import File, paper
from dashboards.ports import Answer
from gateway.machine.sockets import ControlError
from gateway.office.watchline import UnsettledError, WatchLine

pytestmark = pytest.mark.asyncio
PAPERS = (paper("register", {"at_ms": 1}),)


class Watch:
    """A watch whose journal confirms when it is told to."""

    def __init__(self) -> None:
        self.heard: list[File] = []
        self.commits = asyncio.Event()
        self.settled = True
        self.goes = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = msgspec.json.decode(await reader.readline(), type=File)
        if asked.papers:
            self.heard.append(asked)
        if not self.goes:
            if asked.papers or not self.settled:
                await self.commits.wait()
            writer.write(msgspec.json.encode(Answer(1, ok=True)) + b"\n")
            await writer.drain()
        writer.close()


@pytest.fixture
async def watch(tmp_path: Path) -> AsyncIterator[tuple[Watch, WatchLine]]:
    served = Watch()
    server = await asyncio.start_unix_server(served.serve, tmp_path / "s")
    async with server:
        yield served, WatchLine(tmp_path / "s", 0.2)
        served.commits.set()


async def test_nothing_is_filed_before_the_last_filing_is_settled(watch: tuple[Watch, WatchLine]) -> None:
    served, line = watch
    with pytest.raises(UnsettledError):
        await line.file("Ana", PAPERS)
    with pytest.raises(ControlError) as busy:
        await line.file("Ana", PAPERS)
    assert not isinstance(busy.value, UnsettledError), "the second is surely not entered"
    assert len(served.heard) == 1
    served.commits.set()
    await line.settle()
    await line.file("Ana", PAPERS)
    assert len(served.heard) == 2


async def test_a_new_office_files_nothing_before_what_another_filed_is_settled(watch: tuple[Watch, WatchLine]) -> None:
    served, line = watch
    served.settled = False
    with pytest.raises(ControlError) as busy:
        await line.file("Ana", PAPERS)
    assert not isinstance(busy.value, UnsettledError)
    assert not served.heard
    served.commits.set()
    await line.settle()
    await line.file("Ana", PAPERS)
    assert len(served.heard) == 1


async def test_a_watch_that_goes_while_it_files_leaves_it_unknown_and_the_line_free(
    watch: tuple[Watch, WatchLine],
) -> None:
    served, line = watch
    served.goes = True
    with pytest.raises(UnsettledError):
        await line.file("Ana", PAPERS)
    served.goes = False
    served.commits.set()
    await line.file("Ana", PAPERS)


async def test_where_no_watch_answers_nothing_is_entered(tmp_path: Path) -> None:
    with pytest.raises(ControlError) as refused:
        await WatchLine(tmp_path / "nobody", 0.2).file("Ana", PAPERS)
    assert not isinstance(refused.value, UnsettledError)
