"""The swarm: a hundred depot-hours on every commit, the same trace from the same seed, and how a failure is told."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest
from click.testing import CliRunner

from simulator import draws, swarm, timelines
from simulator.swarming import swarm_command
from simulator.timelines import Happening

HOURS = 4.0
SEEDS = 5


@pytest.mark.parametrize("first", [1, 6, 11, 16, 21])
def test_a_hundred_depot_hours_keep_every_promise(first: int) -> None:
    """Twenty of the hundred at a time."""
    kept: dict[str, int] = {}
    for seed in range(first, first + SEEDS):
        verdict = swarm.judge(seed, HOURS)
        befell = [each for each in verdict.timeline if each.what not in timelines.PEOPLE]
        assert len(befell) >= 10 * HOURS, "leaks and faults an hour"
        assert not verdict.broken, f"vigia swarm --seed {seed} --seeds 1 --hours {HOURS:g}: {verdict.broken[0]}"
        for promise, count in verdict.kept.items():
            kept[promise] = kept.get(promise, 0) + count
    assert kept["alarm-in-time"] > 100 and kept["blind-in-time"] > 40, "they were put to the test"
    assert kept["siren-follows"] > 1000 and kept["blind-is-told"] > 500, "and gone round for"
    assert kept["no-false-clear"] > 40 and kept["latched"] > 20 and kept["messages accepted"] > 400


def test_the_same_seed_leaves_the_same_trace_whatever_the_hashes_of_the_process() -> None:
    ask = "from simulator import swarm; print(*(swarm.judge(seed, 0.5).trace for seed in (3, 8)))"
    traces = {
        subprocess.run(
            [sys.executable, "-c", ask], env=os.environ | {"PYTHONHASHSEED": hashes}, capture_output=True, check=True
        ).stdout
        for hashes in ("0", "1", "77")
    }
    assert len(traces) == 1 and len(traces.pop().split()) == 2
    assert swarm.judge(3, 0.5).trace == swarm.judge(3, 0.5).trace


def test_another_timeline_leaves_another_trace() -> None:
    drawn = draws.depot(3)
    quiet = swarm.play(3, drawn, (), 0.2)
    leaky = swarm.play(3, drawn, (Happening(200.0, "leak", drawn.heads[0].id, 60.0, 50.0),), 0.2)
    assert not quiet.broken and not leaky.broken
    assert quiet.trace != leaky.trace and leaky.events > quiet.events


def test_a_failure_is_cut_down_to_what_it_takes(monkeypatch) -> None:
    real = swarm.rules_of

    def impatient(depot):
        rules = real(depot)
        heads = {name: replace(rule, blind_s=0.001) for name, rule in rules.heads.items()}
        return replace(rules, heads=heads)

    monkeypatch.setattr(swarm, "rules_of", impatient)  # a promise that nobody could keep
    seed, verdict = next((seed, verdict) for seed in range(1, 20) if (verdict := swarm.judge(seed, 0.5)).broken)
    shortest = swarm.shortest(verdict)
    assert len(shortest.timeline) == 1 < len(verdict.timeline)
    assert shortest.broken[0].promise == verdict.broken[0].promise == "blind-in-time"
    again = swarm.play(seed, draws.depot(seed), shortest.timeline, 0.5)
    assert again.broken == shortest.broken and again.trace == shortest.trace


def test_what_drawn_depots_log_is_kept_off_the_command_s_answer() -> None:
    seed = next(seed for seed in range(1, 99) if any(gate.act == "out" for gate in draws.depot(seed).gates))
    found = CliRunner().invoke(swarm_command, ["--seed", str(seed), "--seeds", "1", "--hours", "0.2", "--json"])
    assert found.exit_code == 0 and json.loads(found.output)["failed"] == 0
