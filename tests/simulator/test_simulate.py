"""`vigia simulate` and the real gateway on its wires: what scenarios say must come of them comes on real sockets."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import apsw
import pytest

from simulator.expectations import Expectation, Told, failures
from simulator.scenario import load, names
from simulator.staging import is_free

SIMULATE = "from simulator.simulate import simulate; simulate()"
VIGIA = "from gateway.cli import main; main()"
READY_S = 20.0

ON_WIRES = {"babble": 16.0, "one-at-a-time": 26.0, "cut-cable": 25.0, "swapped-words": 16.0}
"""Scenarios that are played on real sockets, and for how long: those whose faults are frames."""
SLACK_S = 0.6
"""The plant's second 0 is the first request; a gateway's first polls come within this time after it."""


def run(code: str, *arguments: str, folder: Path) -> "subprocess.Popen[str]":
    environ = {**os.environ, "VIGIA_LANG": "en"}
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ, cwd=folder,
    )  # fmt: skip


def simulate(*arguments: str, folder: Path) -> tuple[int, str, str]:
    process = run(SIMULATE, *arguments, folder=folder)
    told, said = process.communicate(timeout=30)
    return process.returncode, told, said


@dataclass
class Played:
    """One scenario on real wires, with a gateway on them."""

    name: str
    folder: Path
    lasts_s: float
    processes: "list[subprocess.Popen[str]]" = field(default_factory=list)
    truth: Path = Path()

    def begin(self) -> None:
        served = run(SIMULATE, self.name, "--data", str(self.folder), "--json", folder=self.folder)
        self.processes.append(served)
        assert served.stdout is not None
        told = json.loads(served.stdout.readline())
        file = Path(told["depot"])
        file.write_text(re.sub(r"\[web\]\nlisten = .*\n", "", file.read_text(encoding="utf-8")), encoding="utf-8")
        self.truth = Path(told["truth"])
        self.processes.append(run(VIGIA, "run", str(file), folder=self.folder))

    def end(self) -> None:
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=15)

    def told(self) -> list[Told]:
        """What the gateway's journal says, by seconds of the scenario."""
        start = next(line for line in self.lines() if line["what"] == "start")
        began_ms = datetime.fromisoformat(str(start["utc"])).timestamp() * 1000
        db = apsw.Connection(str(self.folder / "var" / "journal.db"), flags=apsw.SQLITE_OPEN_READONLY)
        entries = [json.loads(data) for (data,) in db.execute("SELECT bytes FROM entry ORDER BY idx")]
        db.close()
        return [
            Told((body["at_ms"] - began_ms) / 1000, body["subject"], body["kind"], body["event"], body["level"] or "")
            for body in (entry["body"] for entry in entries if entry["kind"] == "alarm")
        ]

    def lines(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.truth.read_text(encoding="utf-8").splitlines()]

    def began(self) -> bool:
        return self.truth.exists() and any(line["what"] == "start" for line in self.lines())


def within(expected: Expectation, until_s: float) -> Expectation | None:
    """What can be held against the first seconds of a scenario: with slack for the sockets, or nothing."""
    if expected.event == "never":
        return Expectation("never", expected.subject, expected.kind, expected.level, expected.from_s, until_s)
    if expected.by_s + SLACK_S > until_s:
        return None
    by_s = expected.by_s + SLACK_S
    return Expectation(expected.event, expected.subject, expected.kind, expected.level, expected.from_s, by_s)


@pytest.mark.servers
@pytest.mark.measured
def test_frames_that_are_late_false_or_missing_come_to_what_their_scenarios_say(tmp_path):
    played = []
    for name, lasts_s in ON_WIRES.items():
        folder = tmp_path / name
        folder.mkdir()
        played.append(Played(name, folder, lasts_s))
    try:
        for each in played:
            each.begin()
        end = time.monotonic() + READY_S
        while not all(each.began() for each in played):
            assert time.monotonic() < end, [each.name for each in played if not each.began()]
            time.sleep(0.1)
        time.sleep(max(ON_WIRES.values()))
    finally:
        for each in played:
            each.end()
    for each in played:
        wanted = [found for one in load(each.name).expected if (found := within(one, each.lasts_s)) is not None]
        assert len(wanted) >= 1
        assert not failures(wanted, each.told()), each.name


def test_the_list_names_every_scenario_with_its_title(tmp_path):
    code, told, _ = simulate("--list", folder=tmp_path)
    assert code == 0
    assert [line.split()[0] for line in told.splitlines()] == names()
    code, told, _ = simulate("--list", "--json", folder=tmp_path)
    found = json.loads(told)
    assert [each["name"] for each in found] == names()
    assert all(each["title"]["pt-BR"] and each["description"]["en"] and each["expected"] for each in found)


def test_it_serves_the_ports_that_were_asked_for_and_ends_cleanly(tmp_path):
    port = next(port for port in range(21000, 30000, 7) if all(is_free(port + at) for at in range(4)))
    code, told, said = simulate(
        "calm", "--for", "1", "--port", str(port), "--data", str(tmp_path), "--json", folder=tmp_path
    )
    assert code == 0, said
    facts = json.loads(told)
    assert [line["address"] for line in facts["lines"]] == [f"127.0.0.1:{port + at}" for at in range(3)]
    assert facts["mqtt"] == f"127.0.0.1:{port + 3}"
    assert Path(facts["depot"]).exists()


def test_nothing_begins_until_somebody_asks(tmp_path):
    _, told, said = simulate("leak", "--for", "1.5", "--data", str(tmp_path), "--json", folder=tmp_path)
    assert Path(json.loads(told)["truth"]).read_text() == ""
    assert "begins with the first request" in said


def test_a_depot_file_of_ones_own_is_left_alone(tmp_path):
    file = tmp_path / "depot.toml"
    file.write_text('[depot]\nid = "meu"\n', encoding="utf-8")
    code, _, said = simulate("calm", "--for", "1", "--data", str(tmp_path), folder=tmp_path)
    assert code == 1
    assert "choose another folder" in said
    assert file.read_text(encoding="utf-8") == '[depot]\nid = "meu"\n'


def test_an_unknown_scenario_is_a_usage_error_with_the_nearest_name(tmp_path):
    code, _, said = simulate("leek", folder=tmp_path)
    assert code == 2
    assert "did you mean 'leak'" in said
    code, _, said = simulate(folder=tmp_path)
    assert code == 2
    assert "which scenario?" in said
