"""The demo as a whole, with its real processes: alarms in time, and no orphan whatever ends it."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from simulator.lines import HOST
from simulator.summary import summarise

pytestmark = pytest.mark.measured  # whole demos live in real time, several processes each

VIGIA = Path(sys.executable).with_name("vigia")
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
PROMISE_S = 3.0


def demo(*arguments: str, **environ: str) -> "subprocess.Popen[str]":
    environ = {**os.environ, "VIGIA_LANG": "en", **environ}
    return subprocess.Popen(
        [str(VIGIA), "demo", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ
    )


def truth(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines()]


def moment(line: dict[str, object]) -> float:
    return datetime.fromisoformat(str(line["utc"])).timestamp()


def descendants(pid: int) -> list[int]:
    found = [
        int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()
    ]
    return found + [deeper for child in found for deeper in descendants(child)]


def alive(pid: int) -> bool:
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def until_page(process: "subprocess.Popen[str]") -> str:
    """Read on standard error until the page is announced; return its address."""
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if found := re.search(r"The page: (http://\S+)", line):
            return found[1]
    raise AssertionError("".join(said))


@pytest.mark.servers
def test_a_leak_sounds_within_three_seconds_of_the_truth_and_all_is_left_in_order(tmp_path):
    process = demo("--for", "30", "--scenario", "leak", "--port", "0", "--data", str(tmp_path))
    told, said = process.communicate(timeout=55)
    assert process.returncode == 0, said

    lines = truth(tmp_path)
    first = next(line for line in lines if line["what"] == "shows")
    assert (first["detector"], first["set_point"]) == ("GD-103", 10.0)
    sounded = next(line for line in lines if line["what"] == "siren" and line["on"])
    assert 0 <= moment(sounded) - moment(first) <= PROMISE_S

    notices = summarise(tmp_path / "var" / "journal.db", LONG_AGO).alarms
    shown = [line for line in lines if line["what"] == "shows" and float(str(line["t_s"])) <= 30 - PROMISE_S]
    levels = {10.0: "A1", 20.0: "A2", 40.0: "A3"}
    for line in shown:
        level = levels[float(str(line["set_point"]))]
        notice = next(one for one in notices if one.subject == line["detector"] and one.level >= level)
        assert notice.first_ms is not None, line
        assert -0.01 <= notice.first_ms / 1000 - moment(line) <= PROMISE_S, line
    assert {(line["detector"], line["set_point"]) for line in shown} >= {
        ("GD-103", 10.0), ("GD-103", 20.0), ("GD-103", 40.0), ("GD-201", 10.0),
    }  # fmt: skip
    assert "GD-103" in told, "the console channel prints the alarm"
    assert re.search(r"Slowest from sample to first output: \d+ ms", said)
    assert str(tmp_path) in said


@pytest.mark.servers
def test_a_second_run_in_the_same_folder_keeps_the_file_and_adds_to_the_journal(tmp_path):
    for run in (1, 2):
        process = demo("--scenario", "calm", "--port", "0", "--data", str(tmp_path))
        until_page(process)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=10)
        assert process.returncode == 0, said
        if run == 1:
            file = tmp_path / "depot.toml"
            file.write_text(file.read_text(encoding="utf-8").replace("A2 = 20", "A2 = 25  # mine"), encoding="utf-8")
            size = (tmp_path / "var" / "journal.db").stat().st_size
    assert "A2 = 25  # mine" in (tmp_path / "depot.toml").read_text(encoding="utf-8")
    assert (tmp_path / "var" / "journal.db").stat().st_size >= size
    assert sum(line["what"] == "start" for line in truth(tmp_path)) == 2


@pytest.mark.servers
def test_a_dead_child_ends_the_demo_with_a_message_and_no_orphan(tmp_path):
    process = demo("--scenario", "calm", "--port", "0", "--data", str(tmp_path))
    until_page(process)
    family = descendants(process.pid)
    assert len(family) >= 4, "broker, plant, gateway and its web child"
    plant = next(pid for pid in family if b"simulator.plant" in Path(f"/proc/{pid}/cmdline").read_bytes())
    os.kill(plant, signal.SIGKILL)
    _, said = process.communicate(timeout=15)
    assert process.returncode == 1
    assert "the simulated depot ended by itself (signal SIGKILL)" in said
    assert not [pid for pid in family if alive(pid)]


@pytest.mark.servers
def test_a_demo_killed_with_nine_leaves_no_orphan(tmp_path):
    process = demo("--scenario", "calm", "--port", "0", "--data", str(tmp_path))
    until_page(process)
    family = descendants(process.pid)
    process.kill()
    process.communicate(timeout=10)
    end = time.monotonic() + 8
    while [pid for pid in family if alive(pid)] and time.monotonic() < end:
        time.sleep(0.05)
    assert not [pid for pid in family if alive(pid)]


TROUBLE = """
yard = "patio"
seed = 3
lasts_s = 30
[title]
pt-BR = "Um teste"
en = "A test"
[description]
pt-BR = "Falta de energia e broker fora do ar."
en = "A power cut and a broker gone."
[air]
wind_m_s = 0
towards_deg = 0
[[leak]]
x_m = 12.5
y_m = 3.5
rate_kg_h = [[0, 0], [0.5, 60]]
[[person]]
name = "Ana"
acknowledges_after_s = 1
[[event]]
what = "power-cut"
at_s = 6
until_s = 8
[[event]]
what = "broker-gone"
at_s = 6
until_s = 8
"""


@pytest.mark.servers
def test_a_power_cut_a_lost_broker_and_a_person_are_played_and_what_stands_is_told_at_the_next_start(tmp_path):
    scenario, data = tmp_path / "trouble.toml", tmp_path / "data"
    scenario.write_text(TROUBLE, encoding="utf-8")
    process = demo("--for", "16", "--scenario", str(scenario), "--port", "0", "--data", str(data))
    told, said = process.communicate(timeout=50)
    assert process.returncode == 0, said
    assert [line for line in said.splitlines() if line.startswith(("Now", "Over"))] == [
        "Now: the broker is gone",
        "Now: the watch's machine loses power",
        "Over: the broker is gone",
        "Over: the watch's machine loses power",
    ]
    assert sum('"event": "watching"' in line for line in said.splitlines()) == 2, "it started twice"
    assert "GD-103" in told
    assert "Ana" in told, "somebody acknowledged"
    again = demo("--for", "1", "--scenario", "calm", "--port", "0", "--data", str(data))
    _, said = again.communicate(timeout=40)
    assert "Taken up again from the journal" in said
    assert re.search(r"^  .*GD-103", said, re.MULTILINE)


def test_a_scenario_that_needs_the_machines_own_clock_or_disk_is_refused(tmp_path):
    process = demo("--scenario", "disk-full", "--data", str(tmp_path))
    _, said = process.communicate(timeout=15)
    assert process.returncode == 2
    assert "the disk of the watch is full" in said


def test_a_taken_port_is_refused_with_the_cure(tmp_path):
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = demo("--port", str(port), "--data", str(tmp_path))
        _, said = process.communicate(timeout=15)
    assert process.returncode == 1
    assert f"port {port} is taken" in said
    assert "--port 0" in said
    assert not (tmp_path / "depot.toml").exists()


def test_an_unknown_scenario_is_a_usage_error_that_lists_the_known(tmp_path):
    process = demo("--scenario", "leek", "--data", str(tmp_path))
    _, said = process.communicate(timeout=15)
    assert process.returncode == 2
    assert "did you mean 'leak'" in said
    assert "calm" in said


def test_a_depot_file_that_is_not_the_demos_is_left_alone(tmp_path):
    file = tmp_path / "depot.toml"
    file.write_text('[depot]\nid = "meu"\n', encoding="utf-8")
    process = demo("--port", "0", "--data", str(tmp_path))
    _, said = process.communicate(timeout=15)
    assert process.returncode == 1
    assert "--data" in said
    assert file.read_text(encoding="utf-8") == '[depot]\nid = "meu"\n'


def test_without_the_brokers_package_the_cure_is_named(tmp_path):
    hidden = tmp_path / "amqtt"
    hidden.mkdir()
    (hidden / "__init__.py").write_text("raise ImportError('hidden', name='amqtt')", encoding="utf-8")
    process = demo("--data", str(tmp_path / "data"), PYTHONPATH=str(tmp_path))
    _, said = process.communicate(timeout=15)
    assert process.returncode == 1
    assert "pip install 'vigia-glp[demo]'" in said
