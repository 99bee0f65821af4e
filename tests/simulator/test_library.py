"""Every scenario of the library in virtual time: what its file says must come of it comes."""

from dataclasses import replace

import pytest

from simulator.dry_run import outcome
from simulator.expectations import Expectation, failures
from simulator.scenario import load, names

FIELDS = {
    "slow-seep", "hose-burst", "truck-unloading", "cut-cable", "mute-unit", "panel-in-menu", "broker-gone",
    "swapped-words", "power-cut", "clock-step", "disk-full", "nuisance", "bump-test", "cylinder-valve-open",
    "poisoned-head", "rich-gas", "one-at-a-time", "leak", "calm",
}  # fmt: skip


def test_the_library_has_what_it_promises():
    assert set(names()) >= FIELDS


@pytest.mark.parametrize("name", names())
def test_what_a_scenario_says_must_come_of_it_comes(name):
    scenario = load(name)
    told = outcome(scenario)
    assert not failures(scenario.expected, told)


def test_a_watch_that_misses_its_time_would_be_caught():
    scenario = load("leak")
    hurried = replace(scenario, expected=(Expectation("raised", "GD-103", level="A1", by_s=15.5),))
    assert failures(hurried.expected, outcome(hurried))


def test_the_same_scenario_has_the_same_outcome():
    scenario = load("cut-cable")
    assert outcome(scenario) == outcome(scenario)
