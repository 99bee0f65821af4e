"""The whole gateway where its disk or its terminal fails it: it watches all the same, and says what it cannot keep."""

import os
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from full_pipe import fill
from patience import until
from whole_depot import Whole


def condition(depot: Whole) -> str:
    """The text of the notice on the journal, once it has come."""
    (call,) = depot.hook.of("SYSTEM", "raised", "journal") or (None,)
    return "" if call is None else str(call.body["text"])


async def alarms_in_time(depot: Whole, head: int = 1) -> bool:
    """Let gas come; return whether its message said that it is on record."""
    began = depot.gas(head, 30.0)
    await until(lambda: depot.siren_on, what="the siren")
    calls = await until(depot.hook.gas, what="the hook")
    assert calls[-1].at - began < 3.0
    return bool(calls[-1].body["recorded"])


def _garbage(path: Path) -> None:
    path.write_bytes(b"garbage" * 1000)


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _zeroed_page(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:8192] = bytes(4096)
    path.write_bytes(content)


def _newer(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()


def _nonsense_in_a_row(path: Path) -> None:
    db = sqlite3.connect(path)
    with db:
        db.execute("UPDATE alarm_state SET body = CAST(replace(CAST(body AS TEXT), 'phase', 'qhase') AS BLOB)")
    db.close()


@pytest.mark.parametrize(
    "spoil",
    [_garbage, _emptied, _half, _zeroed_page, _newer, _nonsense_in_a_row],
    ids=["garbage", "empty beside its log", "half a file", "zeroed page", "newer format", "nonsense in a row"],
)
async def test_a_damaged_journal_is_set_aside_and_the_watch_goes_on_with_a_new_one(
    depot: Whole, spoil: Callable[[Path], None]
) -> None:
    await depot.start()
    depot.gas(2, 15.0)
    await until(lambda: depot.siren_on)
    await until(depot.hook.gas)
    if spoil is _emptied:
        await depot.kill()  # all of it stands in its log, nothing in the file
    else:
        assert await depot.stop() == 0
    spoil(depot.journal)
    spoilt = depot.journal.read_bytes()
    depot.hook.calls.clear()
    depot.gas(2, 0.0)

    await depot.start()
    text = await until(lambda: condition(depot), what="the notice on the journal")
    assert "guardado à parte" in text
    assert await alarms_in_time(depot)
    (aside,) = depot.journal.parent.glob("journal.db.damaged-*Z")
    assert aside.read_bytes() == spoilt
    assert await depot.stop() == 0
    depot.sound()
    assert "GD-1" in {event.subject for event in depot.events()}


async def test_alarms_of_a_damaged_journal_that_can_still_be_read_stand_on_over_two_restarts(depot: Whole) -> None:
    await depot.start()
    depot.gas(2, 15.0)
    await until(lambda: depot.siren_on)
    depot.gas(2, 0.0)
    await until(lambda: depot.hook.gas("cleared"))  # latched: it stands until it is reset
    assert await depot.stop() == 0
    db = sqlite3.connect(depot.journal)
    with db:
        db.execute("DELETE FROM entry WHERE idx = (SELECT max(idx) FROM entry)")
    db.close()
    for _ in range(2):
        await depot.start()
        await depot.web_up()
        alarms = (await depot.get("/api/v1/alarms"))["alarms"]
        assert [alarm["latched"] for alarm in alarms if alarm["subject"] == "GD-2"] == [True]
        assert await depot.stop() == 0
    assert len(list(depot.journal.parent.glob("journal.db.damaged-*Z"))) == 1


async def test_where_a_folder_stands_in_the_journals_place_it_watches_without(depot: Whole) -> None:
    depot.journal.mkdir(parents=True)
    await depot.start()
    assert "nada fica registrado" in await until(lambda: condition(depot))
    assert not await alarms_in_time(depot)
    assert await depot.stop() == 0
    assert depot.journal.is_dir()


async def test_where_no_data_folder_can_be_made_it_watches_without(depot: Whole) -> None:
    depot.changes = {'data = "var"': 'data = "depot.toml/var"'}
    await depot.start(ready=False)
    assert "nada fica registrado" in await until(lambda: condition(depot))
    assert not await alarms_in_time(depot)
    assert await depot.stop() == 0


async def test_on_a_full_disk_it_starts_knows_its_alarms_and_watches_without_a_record(depot: Whole) -> None:
    await depot.start()
    depot.gas(2, 15.0)
    await until(lambda: depot.siren_on)
    await until(depot.hook.gas)
    await depot.kill()
    before = depot.journal.read_bytes()
    depot.hook.calls.clear()

    reads, writes = os.pipe()
    try:  # no byte can be added to any file, as on a full disk
        await depot.start(output=writes, within=("prlimit", "--fsize=0"))
        assert "nada fica registrado" in await until(lambda: condition(depot))
        depot.gas(2, 0.0)
        assert (await until(lambda: depot.hook.gas("cleared")))[0].body["subject"] == "GD-2"
        assert not await alarms_in_time(depot)
        assert await depot.stop() == 0
    finally:
        os.close(reads)
        os.close(writes)
    assert depot.journal.read_bytes() == before

    await depot.start()
    depot.gas(3, 15.0)
    assert (await until(lambda: [c for c in depot.hook.gas() if c.body["subject"] == "GD-3"]))[0].body["recorded"]
    assert await depot.stop() == 0
    depot.sound()


async def test_a_second_gateway_and_a_strangers_journal_are_still_refused(depot: Whole) -> None:
    await depot.start()
    first = depot.process
    await depot.start(ready=False)
    assert depot.process is not None and await depot.process.wait() == 1
    assert "another program is writing it" in depot.log()
    depot.process = first
    assert await depot.stop() == 0

    depot.changes = {'id = "deposito"': 'id = "outro"'}
    await depot.start(ready=False)
    assert await depot.process.wait() == 1
    assert "belongs to the depot 'deposito'" in depot.log()
    assert list(depot.journal.parent.glob("journal.db.damaged-*")) == []


@pytest.mark.parametrize("full_at_start", [True, False])
async def test_an_output_that_nobody_reads_holds_up_no_alarm_no_page_and_no_end(
    depot: Whole, full_at_start: bool
) -> None:
    depot.extra = '[[channel]]\nid = "tela"\nkind = "console"\n'
    depot.changes = {'channels = ["hook"]': 'channels = ["hook", "tela"]'}
    reads, writes = os.pipe()
    try:
        if full_at_start:
            fill(writes)
        await depot.start(output=writes)
        await depot.web_up()
        if not full_at_start:
            fill(writes)
        assert depot.process is not None
        good = depot.file.read_text(encoding="utf-8")
        depot.file.write_text(good + "[[detector]]\nfoo = 1\n" * 60, encoding="utf-8")
        for refused in range(12):
            depot.process.send_signal(signal.SIGHUP)
            await until(lambda refused=refused: refusals(depot) or refused, what="a refused reload")
        assert await alarms_in_time(depot)
        assert (await depot.get("/health"))["alive"]
        assert await depot.stop() == 0
    finally:
        os.close(reads)
        os.close(writes)


def refusals(depot: Whole) -> list[object]:
    return list(depot.hook.of("SYSTEM", "raised", "configuration"))
