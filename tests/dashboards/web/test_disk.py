"""A disk that hangs under the screens: whoever reads the record is told so in time, and the live part goes on."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from dashboards.web.app import WebScreens, application
from dashboards.web.disk import MOST_READS, MOST_THREADS, Disk, SilentDiskError
from dashboards.web.server import WebServer, listening

pytestmark = pytest.mark.asyncio
WITHIN_S = 0.05


@pytest.fixture
def answers() -> Iterator[threading.Event]:
    """Unset, the disk hangs; it answers at the end, so that no thread outlives the test."""
    event = threading.Event()
    yield event
    event.set()


class HangingFiles:
    """Journal, readings, ledger and kept files on a disk that hangs."""

    def __init__(self, answers: threading.Event) -> None:
        self._answers = answers

    def _hang(self, *_: object) -> Any:
        self._answers.wait()

    events = latest = trend = ledger = load = _hang


@pytest.fixture
async def url(gateway: Any, answers: threading.Event, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    """The real application before a scripted gateway, its files on the hanging disk, its bounds short."""
    monkeypatch.setattr("dashboards.web.watched.LEDGER_WITHIN_S", WITHIN_S)
    monkeypatch.setattr("dashboards.web.brigade.RECORD_S", WITHIN_S)
    files = HangingFiles(answers)
    screens = WebScreens(Path(gateway.path), files, trends=files, watched=files, attachments=files, disk=Disk(WITHIN_S))
    server = WebServer(application(screens, language="pt-BR", version="0"), closing=screens.close)
    listener = listening("127.0.0.1", 0)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    answers.set()
    server.should_exit = True
    screens.close()
    await serving


async def test_what_reads_the_record_says_that_it_does_not_answer_and_when_to_ask_again(
    url: str, session: aiohttp.ClientSession
) -> None:
    for path in ("events", "readings/GD-101", "ledger", f"attachments/{'a' * 64}"):
        async with session.get(f"{url}/api/v1/{path}", headers={"accept-language": "pt-BR"}) as answer:
            body = await answer.json()
            assert (answer.status, body["error"]) == (503, "record-silent"), path
            assert "O registro não responde" in body["detail"]
            assert int(answer.headers["retry-after"]) > 0


async def test_the_live_part_and_the_brigades_page_need_no_disk(
    gateway: Any, url: str, session: aiohttp.ClientSession
) -> None:
    async def live() -> bool:
        async with session.get(f"{url}/api/v1/state") as answer:
            return answer.status == 200

    async with asyncio.timeout(5):
        while True:
            if await live():
                break
            await asyncio.sleep(0.01)
    async with asyncio.TaskGroup() as group:
        for _ in range(MOST_READS):
            group.create_task(_get(session, f"{url}/api/v1/events"))
    assert await live()
    async with session.get(f"{url}/bombeiros?lang=pt-BR") as answer:
        page = await answer.text()
    assert answer.status == 200 and "O registro não responde" in page and "GD-101" in page
    assert "Nada registrado" not in page


async def _get(session: aiohttp.ClientSession, url: str) -> None:
    async with session.get(url) as answer:
        assert answer.status == 503


async def test_reads_that_hang_take_no_more_than_their_threads_and_the_disk_is_read_again_once_it_answers(
    answers: threading.Event,
) -> None:
    disk = Disk(WITHIN_S)
    before = threading.active_count()

    async def silent(work: Callable[[], object]) -> None:
        with pytest.raises(SilentDiskError):
            await disk.read(work)

    await asyncio.gather(*(silent(answers.wait) for _ in range(3 * MOST_READS)))
    assert threading.active_count() - before <= MOST_THREADS
    answers.set()
    assert await disk.read(lambda: "there", 5.0) == "there"
    disk.close()


async def test_an_error_of_the_file_is_no_silence() -> None:
    disk = Disk()

    def torn() -> None:
        raise FileNotFoundError("gone")

    with pytest.raises(FileNotFoundError):
        await disk.read(torn)
    disk.close()
