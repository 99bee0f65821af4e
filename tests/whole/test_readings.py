"""The whole gateway recording: into its own file, to the real InfluxDB, through outages, kills and commands."""

import asyncio
import csv
import io
import json
import os
import signal
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from databases import Influx1
from patience import until
from whole_depot import Whole

from simulator.bases import ScriptedBase

INFLUX = """
[influx]
url = "{url}"
database = "vigia"
"""


async def vigia(*arguments: str) -> tuple[int, str, str]:
    """Run a command beside the watch."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "gateway.cli",
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"VIGIA_HOOK_SECRET": "segredo", "VIGIA_LANG": "en", "VIGIA_INFLUX": "segredo-do-banco"},
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def trend(depot: Whole, detector: str, ago_s: float = 20.0) -> list[float | None]:
    start = datetime.fromtimestamp(time.time() - ago_s, UTC).isoformat().replace("+00:00", "Z")
    answer = await depot.get(f"/api/v1/readings/{detector}?from={start}&step=1")
    return list(answer.get("high", []))  # before the first second is written nobody knows the detector


async def test_readings_are_on_the_page_within_seconds_and_a_kill_leaves_a_gap_and_nothing_else(depot: Whole):
    depot.gas(2, 4.2)
    await depot.start()
    await depot.web_up()
    deadline = time.monotonic() + 10
    while 4.2 not in await trend(depot, "GD-2"):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.1)
    await depot.kill()
    await asyncio.sleep(2.1)  # the gap itself
    depot.gas(2, 5.1)
    await depot.start()
    await depot.web_up()
    while 5.1 not in (seen := await trend(depot, "GD-2")):
        assert time.monotonic() < deadline + 15
        await asyncio.sleep(0.1)
    middle = seen[seen.index(4.2) : seen.index(5.1)]
    assert None in middle, "never filled from the neighbours"
    assert set(middle) <= {4.2, None}
    unknown = await depot.get("/api/v1/readings/GD-99")
    assert unknown["error"] == "unknown-detector"
    assert (await depot.get("/api/v1/readings/GD-2?from=yesterday"))["error"] == "bad-time"
    assert await depot.stop() == 0


def _greatest(base: Influx1) -> float:
    return base.ask("SELECT max(lel_pct) FROM gas WHERE detector = 'GD-1'")[0]["values"][0][1]


def _has_every_second(base: Influx1) -> bool:
    (series,) = base.ask("SELECT count(quality) FROM gas WHERE detector = 'GD-3' GROUP BY time(1s)")
    return all(count > 0 for _, count in series["values"][1:-3])  # the last ones are still on their way


@pytest.mark.servers
async def test_an_outage_of_the_base_delays_no_alarm_and_loses_no_reading(depot: Whole, tmp_path: Path):
    base = Influx1(tmp_path / "influx")
    await asyncio.to_thread(base.start)
    try:
        await asyncio.to_thread(base.create)
        depot.extra = INFLUX.format(url=base.url)
        await depot.start()
        await depot.web_up()
        await until(lambda: base.count() > 10)
        await asyncio.to_thread(base.freeze)
        began = depot.gas(1, 30.0)
        await until(depot.hook.gas, what="the alarm")
        assert depot.hook.gas()[0].at - began < 3.0
        await asyncio.sleep(2.0)  # time for readings to wait
        await asyncio.to_thread(base.thaw)
        await until(lambda: _greatest(base) == 30 and _has_every_second(base), 20.0)
        assert await depot.stop() == 0
        assert base.count("decided_ms", "latency") == 1
        assert base.count("accepted_ms", "latency") == 1
        assert base.count("journal_entries", "health") >= 1
        assert base.count("detectors_watching", "health") >= 1
    finally:
        base.stop()


@pytest.mark.trial("B36")
async def test_b36_a_refused_token_is_told_as_a_system_alarm_and_is_in_no_log(depot: Whole):
    secret = "segredo-do-banco"  # noqa: S105 - a test's own
    async with ScriptedBase(token="another") as base:  # noqa: S106 - likewise
        depot.extra = INFLUX.format(url=base.url) + 'token_env = "VIGIA_INFLUX"\n'
        os.environ["VIGIA_INFLUX"] = secret
        try:
            await depot.start()
        finally:
            del os.environ["VIGIA_INFLUX"]
        await until(lambda: depot.hook.of("SYSTEM", "raised", "influx"))
        text = depot.hook.of("SYSTEM", "raised", "influx")[0].body["text"]
        assert "recusado: credenciais" in text
        assert all(request.authorization == f"Token {secret}" for request in base.requests)
        assert len(base.requests) <= 2, "no hammering"
        await depot.stop()
    assert secret not in depot.log()
    assert secret.encode() not in b"".join(file.read_bytes() for file in (depot.folder / "var").glob("*.db*"))


async def test_a_reload_turns_the_base_on_and_off(depot: Whole):
    async with ScriptedBase() as base:
        await depot.start()
        depot.extra = INFLUX.format(url=base.url)
        depot.write()
        assert depot.process is not None
        depot.process.send_signal(signal.SIGHUP)
        await until(lambda: len(base.points) > 10)
        depot.extra = ""
        depot.write()
        depot.process.send_signal(signal.SIGHUP)
        await until(lambda: "following" in depot.log().rsplit("following", 1)[0])
        await asyncio.sleep(0.5)  # what was under way
        before = len(base.points)
        await asyncio.sleep(1.5)  # nothing may come
        assert len(base.points) == before
        assert await depot.stop() == 0


async def test_a_base_that_a_reload_turns_off_takes_its_trouble_along(depot: Whole):
    async with ScriptedBase(token="another") as base:  # noqa: S106 - a test's own
        depot.extra = INFLUX.format(url=base.url)
        await depot.start()
        await until(lambda: depot.hook.of("SYSTEM", "raised", "influx"))
        depot.extra = ""
        depot.write()
        assert depot.process is not None
        depot.process.send_signal(signal.SIGHUP)
        await until(lambda: depot.hook.of("SYSTEM", "cleared", "influx"))
        assert await depot.stop() == 0


async def test_export_and_backfill_work_beside_the_running_watch(depot: Whole):
    async with ScriptedBase() as base:
        base.mood = (503, {"message": "away"})
        depot.extra = INFLUX.format(url=base.url)
        depot.gas(1, 3.3)
        await depot.start()
        await depot.web_up()
        deadline = time.monotonic() + 15
        while (await trend(depot, "GD-1")).count(3.3) < 3:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.1)
        day = datetime.fromtimestamp(time.time() - 86_400, UTC).date().isoformat()
        code, out, err = await vigia("export", str(depot.file), "--from", day, "--detector", "GD-1")
        assert code == 0, err
        rows = list(csv.DictReader(io.StringIO(out)))
        assert [row["lel_pct"] for row in rows if row["lel_pct"]].count("3.3") >= 3
        assert {row["resolution_s"] for row in rows} == {"1"}
        code, out, err = await vigia("export", str(depot.file), "--from", day, "--format", "jsonl")
        assert code == 0, err
        objects = [json.loads(line) for line in out.splitlines()]
        assert {each["detector"] for each in objects} == {"GD-1", "GD-2", "GD-3"}
        assert f"{len(objects)} rows" in err
        assert (await vigia("export", str(depot.file), "--from", day, "--detector", "GD-9"))[0] == 2
        assert (await vigia("export", str(depot.file), "--from", "ontem"))[0] == 2
        code, _, err = await vigia("backfill", str(depot.file), "--from", day, "--dry-run")
        assert code == 0 and "would be sent" in err
        code, _, err = await vigia("backfill", str(depot.file))
        assert code == 0 and "Nothing is on record as lost" in err
        base.mood = (401, {"message": "no"})
        code, _, err = await vigia("backfill", str(depot.file), "--from", day)
        assert code == 1 and "credentials" in err
        base.mood = None
        await depot.stop()
        base.points.clear()
        code, _, err = await vigia("backfill", str(depot.file), "--from", day)
        assert code == 0, err
        assert [point.fields["lel_pct"] for point in base.points if point.tags["detector"] == "GD-1"].count(3.3) >= 3
        assert [point.ms for point in base.points] == sorted(point.ms for point in base.points)
