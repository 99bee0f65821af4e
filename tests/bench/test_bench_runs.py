"""The bench itself, in short: it starts the real processes, measures, and keeps what earlier runs found."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WITHIN_S = 60.0


async def bench(results: Path, *arguments: str) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bench",
        *arguments,
        "--results",
        str(results),
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(WITHIN_S):
            said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGINT)  # not killed: it ends what it has started itself
            await process.wait()
    assert process.returncode is not None
    return process.returncode, said.decode()


def values(results: Path, case: str) -> dict[str, str]:
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in results.read_text().splitlines()]
    return {row[1]: row[2] for row in rows if len(row) == 6 and row[0] == case}


@pytest.mark.servers
async def test_a_short_run_of_the_whole_job_measures_every_crossing(tmp_path: Path) -> None:
    code, said = await bench(tmp_path / "r.md", "job-100", "--quick")
    assert code == 0, said
    figures = values(tmp_path / "r.md", "job-100")
    assert figures["crossings"] == "2"
    for name in (
        "polls per CPU second",
        "read to subscriber p99",
        "read to first output (siren read back) p99",
        "bare pymodbus loop: reads per CPU second",
    ):
        assert float(figures[name].replace(",", "")) > 0, said


async def test_a_later_run_keeps_the_rows_of_earlier_ones(tmp_path: Path) -> None:
    results = tmp_path / "r.md"
    for case in ("decode", "engine", "decode"):
        code, said = await bench(results, case, "--quick")
        assert code == 0, said
    assert list(values(results, "decode")) == ["10 registers to a judged reading"]
    assert len(values(results, "engine")) == 3
    past = results.read_text().partition("## Earlier runs")[2]
    assert past.count("| decode (quick, ") == 2 and past.count("| engine (quick, ") == 1


async def test_a_case_that_does_not_exist_is_refused_with_the_names_of_those_that_do(tmp_path: Path) -> None:
    code, said = await bench(tmp_path / "r.md", "jobs")
    assert code == 2 and "job-1000" in said
    assert not (tmp_path / "r.md").exists()


@pytest.mark.servers
async def test_a_short_run_of_the_stores_drains_an_outage_to_the_last_point(tmp_path: Path) -> None:
    code, said = await bench(tmp_path / "r.md", "store", "outage", "writer", "--quick")
    assert code == 0, said
    assert values(tmp_path / "r.md", "outage")["points in the base afterwards, missing"] == "0"
    assert float(values(tmp_path / "r.md", "store")["last hour of a head, by the second"]) > 0
    assert float(values(tmp_path / "r.md", "writer")["the same through the spool on disk"]) > 0


@pytest.mark.servers
async def test_a_short_run_of_growth_tells_the_largest_depot_and_what_a_poll_costs(tmp_path: Path) -> None:
    code, said = await bench(tmp_path / "r.md", "largest", "fast", "--quick")
    assert code == 0, said
    figures = values(tmp_path / "r.md", "largest")
    assert float(figures["largest depot that holds its rate on half a core"]) == 64, said
    assert float(figures["what stops it: a poll in all"]) > 0
    assert values(tmp_path / "r.md", "fast")["crossings"] == "20"


async def test_each_run_is_kept_with_its_commit(tmp_path: Path) -> None:
    results = tmp_path / "r.md"
    process = await asyncio.create_subprocess_exec(
        "git",
        "rev-parse",
        "--short",
        "HEAD",
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    commit = (await process.communicate())[0].decode().strip() or "unknown"
    code, said = await bench(results, "decode", "--quick")
    assert code == 0, said
    past = results.read_text().partition("## Earlier runs")[2]
    assert f"| decode (quick, {commit}" in past
