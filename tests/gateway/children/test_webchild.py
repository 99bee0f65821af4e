"""The web child's view of the journal, and what it makes of its arguments."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from alerts.alarms import AlarmEvent, AlarmKey, Cause, EventId, Kind, Level, Phase
from dashboards.web.api import HistoryError
from gateway.children.webchild import EXIT_CONFIG, JournalHistory, main
from gateway.engine.events import Entry, Record
from gateway.engine.records import event_body
from gateway.journal import Journal
from sensors.stamps import Instant, Stamp, UtcNanos

ROOT = Path(__file__).parents[3]


def event(seq: int, cause: Cause, by: str | None = None) -> AlarmEvent:
    at = Stamp(Instant(seq), UtcNanos(1_790_000_000_000_000_000 + seq))
    return AlarmEvent(
        seq, EventId(f"d-b00t-{seq}"), AlarmKey("GD-101", Kind.GAS), cause, Phase.NORMAL, Phase.UNACKNOWLEDGED,
        Level.A1, None, 12.3, 12.5, at, at, at, by,
    )  # fmt: skip


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """A journal with an alarm that Maria acknowledged."""
    path = tmp_path / "journal.sqlite"
    writing = Journal.open(path, depot="d")
    writing.start(committed=lambda _: None, trouble=lambda *_: None)
    for given in (event(1, Cause.RAISED), event(2, Cause.ACKNOWLEDGED, "Maria")):
        assert writing.submit(Record(given.seq, (Entry("alarm", event_body(given), given.by),)))
    assert writing.close(20.0)
    return path


async def test_events_come_out_of_the_real_journal_with_the_persons_name_and_in_words(
    journal: Path, tmp_path: Path
) -> None:
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "gateway.children.webchild", "--socket", str(tmp_path / "none.sock"), "--journal", str(journal)),
        *("--listen", "127.0.0.1:0", "--announce", "--language", "pt-BR"),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert child.stdout is not None
        url = msgspec.json.decode(await child.stdout.readline())["listening"]
        async with aiohttp.ClientSession() as session:
            async with session.get(f"{url}api/v1/events?after=0&limit=1") as answer:
                first = await answer.json()
            async with session.get(f"{url}api/v1/events?after={first['last']}") as answer:
                second = await answer.json()
            async with session.get(f"{url}api/v1/events?after={second['last']}") as answer:
                assert await answer.json() == {"events": [], "last": 2}
    finally:
        child.terminate()
        await child.communicate()
    assert [(e["seq"], e["event"], e["lel_pct"]) for e in first["events"]] == [(1, "raised", 12.3)]
    assert (second["events"][0]["event"], second["events"][0]["by"]) == ("acknowledged", "Maria")
    assert "reconhecido por Maria" in second["events"][0]["text"]


def test_a_journal_that_is_not_there_yet_says_so(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="no journal is there"):
        JournalHistory(tmp_path / "none", lambda _: "").events(0, 10)


@pytest.mark.parametrize("listen", ["0.0.0.0:8080", "192.0.2.7:80", "[::]:80"])
def test_an_address_that_others_can_reach_is_refused(listen: str, capsys: Any) -> None:
    assert main(["--socket", "s", "--journal", "j", "--listen", listen]) == EXIT_CONFIG
    assert "only loopback" in capsys.readouterr().err


@pytest.mark.parametrize("listen", ["8080", "here:80", "127.0.0.1:http", "127.0.0.1:70000"])
def test_an_address_that_is_none_is_a_usage_error(listen: str, capsys: Any) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--socket", "s", "--journal", "j", "--listen", listen])
    assert ended.value.code == 2
    assert "--listen" in capsys.readouterr().err
