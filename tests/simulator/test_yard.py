"""A yard played on its own: gas comes, passes the levels and goes, the same every time."""

from dataclasses import replace

from simulator.happenings import Happening, What
from simulator.scenario import load
from simulator.yard import TICK_S, Course, Crossing, Watcher, crossings

SET_POINTS = (10.0, 20.0, 40.0)


def test_the_leak_rises_past_all_three_levels_after_fifteen_seconds_and_ends():
    scenario = load("leak")
    truth = crossings(scenario, SET_POINTS)
    near = [crossing.set_point for crossing in truth if crossing.head == "GD-103"]
    assert near == [10.0, 20.0, 40.0]
    assert 15.0 < truth[0].t_s < 22.0
    assert any(crossing.head == "GD-201" for crossing in truth), "an MQTT head sees it too"
    course = Course(scenario)
    for _ in range(int(150 / TICK_S)):
        course.step()
    assert all(shown.lel_pct < 2.0 for shown in course.shown.values())


def test_on_a_calm_day_nothing_comes_near_a_set_point():
    assert crossings(load("calm"), (2.0,)) == []


def test_the_same_scenario_runs_the_same_every_time_and_another_seed_differs():
    scenario = load("leak")

    def shown(chosen, ticks=300):
        course = Course(chosen)
        for _ in range(ticks):
            course.step()
        return course.shown

    assert shown(scenario) == shown(scenario)
    assert shown(scenario) != shown(replace(scenario, seed=scenario.seed + 1))


def test_a_restarted_head_warms_up_again_and_then_shows_the_gas():
    scenario = replace(load("leak"), happenings=(Happening(What.RESTART, "GD-103", 30.0),))
    course, warm = Course(scenario), {}
    for _ in range(int(95 / TICK_S)):
        course.step()
        warm[round(course.t_s, 1)] = course.shown["GD-103"].warm_up
    assert (warm[29.9], warm[30.0], warm[89.9], warm[90.0]) == (False, True, True, False)


def test_a_crossing_is_told_once_until_the_value_has_halved():
    watcher = Watcher((10.0,))
    values = [9.9, 10.0, 11.0, 9.5, 10.1, 4.9, 10.0]
    told = [bool(list(watcher.crossed("GD-101", tick, value))) for tick, value in enumerate(values)]
    assert told == [False, True, False, False, False, False, True]


def test_a_jump_crosses_every_set_point_on_its_way():
    told = list(Watcher(SET_POINTS).crossed("GD-101", 7, 55.0))
    assert told == [Crossing("GD-101", level, 7, 55.0) for level in SET_POINTS]
