"""The record of a real gateway: signed while it runs, verified from outside, kept elsewhere, copied and put back."""

import asyncio
import csv
import io
import json
import os
import sys
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import aiomqtt
import pytest
from patience import WITHIN_S, until
from whole_depot import SECRET, Whole

from gateway.journal import JournalReader, notes
from gateway.ledger.ledger import fold
from gateway.ledger.watchbook import lines


async def vigia(*arguments: object) -> tuple[int, str, str]:
    environ = os.environ | {"VIGIA_HOOK_SECRET": SECRET, "VIGIA_LANG": "en"}
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "gateway.cli",
        *(str(argument) for argument in arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environ,
    )
    async with asyncio.timeout(60):
        out, talk = await child.communicate()
    assert child.returncode is not None
    return child.returncode, out.decode(), talk.decode()


def signed(depot: Whole) -> notes.Checkpoint | None:
    with JournalReader(depot.journal) as reader:
        note = reader.checkpoint()
        keys = [notes.parse_vkey(text) for text in reader.vkeys()]
    return None if note is None else notes.opened(note, keys, alone=True)


async def test_an_alarm_is_signed_at_once_and_the_running_journal_verifies_proves_and_copies_itself(
    depot: Whole,
) -> None:
    await depot.start()
    await depot.web_up()
    before = signed(depot)
    assert before is not None and before.size >= 1
    depot.gas(1, 12.0)
    await until(depot.hook.gas, what="the alarm")
    await until(lambda: (after := signed(depot)) is not None and after.size > before.size, 3.0, "its checkpoint")

    code, out, _ = await vigia("status", depot.file, "--json")
    status = json.loads(out)
    vkey = status["depot"]["vkey"]
    assert code == 0 and vkey.startswith("vigia/")
    assert {month["detector"] for month in status["months"]} == {"GD-1", "GD-2", "GD-3"}
    assert all(month["watched_pct"] > 50 for month in status["months"])

    kept, proof, copy = depot.folder / "kept", depot.folder / "proof.jsonl", depot.folder / "copy"
    with JournalReader(depot.journal) as reader:
        kept.write_text(reader.checkpoint() or "", "utf-8")
    code, out, talk = await vigia("verify", depot.journal, "--vkey", vkey, "--checkpoint", kept)
    assert (code, talk) == (0, "") and vkey in out
    assert (await vigia("proof", depot.file, "-o", proof))[0] == 0
    assert (await vigia("verify", proof, "--vkey", vkey))[0] == 0
    assert (await vigia("backup", depot.file, copy))[0] == 0
    assert (await vigia("verify", copy / "data" / "journal.db", "--checkpoint", kept))[0] == 0

    whole = proof.read_bytes()
    proof.write_bytes(whole.replace(b'"raised"', b'"still"', 1))
    code, out, talk = await vigia("verify", proof)
    assert code == 1 and "was changed" in out and "1 problem" in talk

    assert (await vigia("restore", copy, depot.file))[0] == 1  # it runs
    assert await depot.stop() == 0
    code, _, talk = await vigia("restore", copy, depot.file, "--checkpoint", kept)
    assert code == 1 and "would be lost" in talk  # what came after the copy: the journal in place is longer
    assert (await vigia("restore", copy, depot.file, "--yes-shorter"))[0] == 0
    await depot.start()
    await until(lambda: signed(depot).size > 1)  # type: ignore[union-attr]
    depot.sound()
    await depot.stop()


async def test_the_ledger_shows_a_crash_from_the_last_sign_of_life_and_who_was_blind(depot: Whole) -> None:
    await depot.start()
    await depot.web_up()
    depot.line.units[2].silent = True
    await until(lambda: depot.hook.of("BLIND", "raised", "GD-2"), what="the notice that GD-2 is blind")
    depot.line.units[2].silent = False
    await until(lambda: depot.hook.of("BLIND", "cleared", "GD-2"), what="the notice that it is back")
    depot.gas(3, 12.0)
    await until(depot.hook.gas, what="the alarm, the last sign of life")
    await depot.kill()
    await depot.start()
    await depot.web_up()
    view = await depot.get("/api/v1/ledger")
    states = {name: [one["state"] for one in view["stretches"] if one["detector"] == name] for name in ("GD-1", "GD-2")}
    assert states["GD-1"] == ["watched", "off", "watched"]
    assert states["GD-2"] == ["watched", "blind", "watched", "off", "watched"]
    (off,) = (one for one in view["stretches"] if one["detector"] == "GD-1" and one["state"] == "off")
    assert off["cause"] == "crash"
    assert view["timezone"] == "America/Sao_Paulo"
    assert {month["detector"] for month in view["months"]} == {"GD-1", "GD-2", "GD-3"}

    text = await depot.get("/api/v1/ledger?format=csv")
    assert text.startswith("\ufeffdetector;estado;de;até;segundos;causa;pessoa;fuso horário\r\n")
    rows = list(csv.reader(io.StringIO(text.lstrip("\ufeff")), delimiter=";"))
    assert {row[-1] for row in rows[1:]} == {"America/Sao_Paulo"}
    assert sum(row[1] == "sem monitoramento" for row in rows) == 1
    months = await depot.get("/api/v1/ledger?format=csv&table=months")
    assert len(months.splitlines()) == 4
    code, out, _ = await vigia("ledger", depot.file, "--json")
    assert code == 0 and json.loads(out)["stretches"][0]["start"] == view["stretches"][0]["start"]
    today = datetime.now(ZoneInfo("America/Sao_Paulo")).date()
    code, out, _ = await vigia("ledger", depot.file, "--to", today)
    assert code == 0 and "GD-2" in out and "blind" in out, "a day given is watched to its end"
    assert (await depot.get("/api/v1/ledger?from=yesterday"))["error"] == "bad-time"
    await depot.stop()
    with JournalReader(depot.journal) as reader:
        assert [one.cause for one in fold(lines(reader), 10**14) if one.detector == "GD-3"][-1] == "signal"


async def test_a_key_that_cannot_be_read_is_told_and_holds_up_no_alarm(depot: Whole) -> None:
    depot.journal.parent.mkdir()
    (depot.journal.parent / "signing-key.pem").write_text("rubbish")
    (depot.journal.parent / "signing-key.pem").chmod(0o600)
    await depot.start()
    await until(lambda: depot.hook.of("SYSTEM", "raised", "checkpoints"), what="the notice that nothing is signed")
    depot.gas(1, 12.0)
    await until(depot.hook.gas, what="the alarm")
    assert await depot.stop() == 0
    assert signed(depot) is None
    depot.sound()
    code, _, talk = await vigia("proof", depot.file)
    assert code == 1 and "no signed checkpoint" in talk


async def test_verify_names_what_is_no_record_of_ours(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("rubbish")
    code, out, _ = await vigia("verify", tmp_path / "x")
    assert code == 1 and "neither a journal nor a proof" in out
    code, out, _ = await vigia("verify", tmp_path / "y", "--json")
    assert code == 1 and json.loads(out)["ok"] is False and "No such file" in json.loads(out)["problems"][0]


@pytest.mark.servers
async def test_each_checkpoint_hangs_on_the_broker_and_lies_where_the_configuration_says(
    depot: Whole, mosquitto
) -> None:
    kept = depot.folder / "elsewhere" / "kept"
    kept.parent.mkdir()
    depot.extra = f'[mqtt]\nhost = "127.0.0.1"\nport = {mosquitto.port}\n[journal]\ncheckpoint_copy = "{kept}"\n'
    await depot.start()
    found: dict[str, bytes] = {}

    async def listen() -> None:
        async with aiomqtt.Client("127.0.0.1", mosquitto.port) as client:
            await client.subscribe("vigia/#")
            async for message in client.messages:
                found[str(message.topic)] = bytes(message.payload)  # type: ignore[arg-type]

    listening = asyncio.create_task(listen())
    try:
        base = f"vigia/{depot_of(depot)}"
        await until(lambda: f"{base}/checkpoint" in found, WITHIN_S, "the checkpoint on the broker")
        first = read(depot, found[f"{base}/checkpoint"])
        depot.gas(1, 12.0)
        await until(lambda: read(depot, found[f"{base}/checkpoint"]).size > first.size, what="the alarm's checkpoint")
        await until(lambda: json.loads(found[f"{base}/health"]).get("journal_size", 0) > first.size, what="health")
        await until(lambda: kept.exists() and read(depot, kept.read_bytes()).size > first.size, what="the copy")
    finally:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
    await depot.stop()
    code, _, talk = await vigia("verify", depot.journal, "--checkpoint", kept)
    assert (code, talk) == (0, "")


def depot_of(depot: Whole) -> str:
    with JournalReader(depot.journal) as reader:
        return reader.head()[0]


def read(depot: Whole, note: bytes) -> notes.Checkpoint:
    with JournalReader(depot.journal) as reader:
        return notes.opened(note.decode(), [notes.parse_vkey(text) for text in reader.vkeys()], alone=True)
