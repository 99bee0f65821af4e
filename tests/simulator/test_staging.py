"""The stage of the demo: which acts are due when, and which a demo cannot play."""

from dataclasses import replace

from simulator.happenings import Happening, What
from simulator.scenario import load, names
from simulator.staging import Acts, free_port, is_free, unfit

CALM = load("calm")
GONE = Happening(What.BROKER_GONE, "", 0.0, 1e6)
SOON = Happening(What.POWER_CUT, "", 1e5)
HEAD = Happening(What.FAULT, "GD-101", 0.0)


def test_nothing_is_due_before_the_scenario_begins():
    acts = Acts(replace(CALM, happenings=(GONE,)))
    assert list(acts.due()) == []
    acts.begin()
    assert list(acts.due()) == [(GONE, True)]


def test_each_act_is_told_once_and_those_of_heads_never():
    acts = Acts(replace(CALM, happenings=(GONE, SOON, HEAD)))
    acts.begin()
    assert list(acts.due()) == [(GONE, True)]
    assert list(acts.due()) == []


def test_the_time_of_the_scenario_may_run_faster():
    acts = Acts(replace(CALM, happenings=(SOON,)), speed=1e13)
    acts.begin()
    assert (SOON, True) in list(acts.due())


def test_only_clock_and_disk_of_the_machine_are_beyond_the_demo():
    beyond = {name: unfit(load(name), frozenset({What.POWER_CUT})) for name in names()}
    assert {name: found for name, found in beyond.items() if found} == {
        "clock-step": ["clock-step"],
        "disk-full": ["disk-full"],
    }


def test_a_free_port_is_free():
    assert is_free(free_port())
