"""The guided bump test on a running gateway: timed, recorded in the journal, kept signed, and due again."""

import asyncio
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from patience import WITHIN_S, until
from whole_depot import SECRET, Whole


class Commands:
    """`vigia` commands beside the gateway, each in a process of its own; what a failed test leaves is ended."""

    def __init__(self) -> None:
        self._running: list[asyncio.subprocess.Process] = []

    async def start(self, *args: str) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gateway.cli"),
            *args,
            env=os.environ | {"VIGIA_HOOK_SECRET": SECRET, "VIGIA_LANG": "en"},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        self._running.append(process)
        return process

    async def __call__(self, *args: str) -> tuple[int, str, str]:
        return await ended(await self.start(*args))

    async def end(self) -> None:
        for process in self._running:
            if process.returncode is None:
                process.kill()
                await process.communicate()


@pytest.fixture
async def vigia() -> AsyncIterator[Commands]:
    commands = Commands()
    yield commands
    await commands.end()


async def ended(process: asyncio.subprocess.Process) -> tuple[int, str, str]:
    async with asyncio.timeout(30):
        out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


async def said(process: asyncio.subprocess.Process, word: str) -> str:
    """Wait for a line of the command's talk that holds this word."""
    assert process.stderr is not None
    async with asyncio.timeout(15):
        while line := (await process.stderr.readline()).decode():
            if word in line:
                return line
    raise AssertionError(f"it ended without saying {word!r}")


async def window_of(depot: Whole, name: str, kind: str | None) -> Any:
    """Wait until the page's API shows this window over the head (None: no window); return it."""
    async with asyncio.timeout(WITHIN_S):
        while True:
            heads = (await depot.get("/api/v1/state"))["detectors"]
            window = next(head["window"] for head in heads if head["id"] == name)
            if (window and window["kind"]) == kind:
                return window
            await asyncio.sleep(0.02)


async def test_a_bump_is_guided_timed_and_kept_signed(depot: Whole, vigia: Commands) -> None:
    await depot.start()
    await depot.all_watching()
    test = await vigia.start(
        "bump", str(depot.file), "GD-2", "--by", "Ana", "--minutes", "2", "--note", "mensal", "--json"
    )
    await said(test, "put test gas on GD-2")
    assert (await window_of(depot, "GD-2", "test"))["by"] == "Ana"
    await window_of(depot, "GD-1", None)
    depot.gas(2, 35.0)
    await until(lambda: depot.siren_on, what="the siren sounds for the test gas")
    await until(depot.hook.gas, what="the owner is told")
    assert depot.hook.gas()[0].body["drill"] is True
    depot.gas(2, 0.0)
    code, out, err = await ended(test)
    record = json.loads(out)

    assert code == 0, err
    assert (record["passed"], record["objections"], record["detector"], record["by"]) == (True, [], "GD-2", "Ana")
    assert record["peak_lel_pct"] == pytest.approx(35.0)
    assert 0 <= record["until_first_output_ms"] < 3000 and 0 <= record["until_siren_ms"] < 3000
    assert record["until_a1_ms"] > 0 and 0 < record["until_told_ms"]["dona"] < 3000
    assert record["next_due"]["calibration"] is None and record["next_due"]["bump"] is not None
    await window_of(depot, "GD-2", None)
    assert not depot.siren_on
    left = (await depot.get("/api/v1/alarms"))["alarms"]
    assert [alarm["subject"] for alarm in left if alarm["kind"] == "GAS" or alarm["present"]] == []
    _openssl_agrees(record)
    _ties_to_the_journal(depot, record)

    code, out, _ = await vigia("status", str(depot.file))
    assert code == 0 and f"GD-2  calibration never noted, bump test by {record['next_due']['bump']}" in out
    assert "GD-1  calibration never noted, bump test never noted" in out
    code, out, _ = await vigia("check", str(depot.file), "--json")
    due = {one["detector"]: one["due"] for one in json.loads(out)["upkeep"]}
    closed = datetime.fromisoformat(record["closed"]).astimezone(ZoneInfo("America/Sao_Paulo")).date()
    assert due["GD-2"]["bump"] == {"last": closed.isoformat(), "next": record["next_due"]["bump"], "overdue": False}
    assert due["GD-1"]["bump"] == {"last": None, "next": None, "overdue": True}
    assert await depot.stop() == 0
    depot.sound()


def _openssl_agrees(record: dict[str, Any]) -> None:
    """The check that the operator guide prints, by a program that is not ours."""
    openssl = shutil.which("openssl")
    assert openssl, "openssl is needed to check the printed way"
    command = [openssl, "pkeyutl", "-verify", "-pubin", "-inkey", record["public_key"], "-rawin"]
    command += ["-in", record["file"], "-sigfile", record["signature"]]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    kept = Path(record["file"])
    assert json.loads(kept.read_text("utf-8"))["peak_lel_pct"] == record["peak_lel_pct"]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(Path(record["public_key"]).with_name("signing-key.pem").stat().st_mode) == 0o600
    kept.write_text(kept.read_text("utf-8").replace('"passed": true', '"passed": null'), "utf-8")
    assert subprocess.run(command, capture_output=True, check=False).returncode != 0


def _ties_to_the_journal(depot: Whole, record: dict[str, Any]) -> None:
    from hashlib import sha256

    from gateway.journal.reader import JournalReader

    with JournalReader(depot.journal) as reader:
        assert sha256(b"\x00" + reader.entry(record["journal"]["entry"])).hexdigest() == record["journal"]["leaf"]
        assert reader.root(record["journal"]["size"]).hex() == record["journal"]["root"]


async def test_a_bump_without_gas_fails_when_the_person_ends_it_and_is_kept_all_the_same(
    depot: Whole, vigia: Commands
) -> None:
    await depot.start()
    await depot.all_watching()
    test = await vigia.start("bump", str(depot.file), "GD-1", "--by", "Ana")
    await said(test, "put test gas on GD-1")
    test.send_signal(signal.SIGINT)
    code, out, err = await ended(test)

    assert (code, "GD-1  FAILED: no gas reached A1" in out) == (1, True), err
    (kept,) = (depot.folder / "var" / "bumps").glob("*.json")
    assert json.loads(kept.read_text("utf-8"))["objections"] == ["no-gas"]
    await window_of(depot, "GD-1", None)
    _, out, _ = await vigia("status", str(depot.file))
    assert "bump test never noted" in out


async def test_a_bump_ends_with_its_time_and_gas_that_stays_is_a_real_alarm(depot: Whole, vigia: Commands) -> None:
    await depot.start()
    await depot.all_watching()
    test = await vigia.start("bump", str(depot.file), "GD-1", "--by", "Ana", "--minutes", "0.05", "--json")
    await said(test, "put test gas on GD-1")
    depot.gas(1, 35.0)
    code, out, err = await ended(test)

    assert (code, json.loads(out)["passed"]) == (0, True), err
    await until(lambda: any(not call.body["drill"] for call in depot.hook.gas()), what="a real alarm after the test")


async def test_no_bump_over_a_gas_alarm_nor_over_another_window(depot: Whole, vigia: Commands) -> None:
    await depot.start()
    await depot.all_watching()
    url = "/api/v1/detectors/GD-1/window"
    assert (await depot.post(url, kind="inhibit", by="Rui"))[0] == 200
    assert (await depot.post("/api/v1/detectors/GD-9/window", kind="test", by="Rui"))[0] == 404
    assert (await window_of(depot, "GD-1", "inhibit"))["by"] == "Rui"
    depot.gas(2, 30.0)
    await until(depot.hook.gas, what="the real alarm")
    for head in ("GD-1", "GD-2"):
        code, out, err = await vigia("bump", str(depot.file), head, "--by", "Ana")
        assert (code, out) == (1, "")
        assert f"No test of {head} now" in err
    assert not list((depot.folder / "var" / "bumps").glob("*"))
    assert (await depot.post(url, kind="close", by="Rui"))[0] == 200
    await window_of(depot, "GD-1", None)


async def test_a_bump_needs_a_running_watch_and_a_key_that_nobody_else_reads(depot: Whole, vigia: Commands) -> None:
    await depot.start()
    await depot.all_watching()
    key = depot.folder / "var" / "signing-key.pem"
    key.write_text("copied about", "utf-8")
    key.chmod(0o644)
    code, _, err = await vigia("bump", str(depot.file), "GD-1", "--by", "Ana")
    assert (code, "others may read it" in err) == (1, True)
    key.unlink()
    await depot.stop()
    code, _, err = await vigia("bump", str(depot.file), "GD-1", "--by", "Ana")
    assert (code, "The watch is not running" in err) == (1, True)
    code, _, err = await vigia("bump", str(depot.file), "GD-9", "--by", "Ana")
    assert (code, "there are: GD-1, GD-2, GD-3" in err) == (2, True)
