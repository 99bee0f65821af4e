from importlib import resources

import pytest

from simulator.scenario import ScenarioError, load, names, parse, parse_yard

GOOD = """
yard = "patio"
seed = 3
[title]
pt-BR = "Um teste"
en = "A test"
[air]
wind_m_s = 1
towards_deg = 90
[[leak]]
x_m = 1
y_m = 2
rate_kg_h = [[5, 0], [6, 10]]
[[restart]]
head = "GD-101"
at_s = 4
"""
YARD = (resources.files("simulator") / "yards" / "patio.toml").read_text(encoding="utf-8")


def test_every_scenario_that_comes_with_the_simulator_loads():
    assert names() == ["calm", "leak"]
    for name in names():
        assert load(name).name == name


def test_a_scenario_file_of_ones_own_loads(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(GOOD, encoding="utf-8")
    scenario = load(str(path))
    assert (scenario.name, scenario.seed, scenario.restarts[0].head) == ("mine", 3, "GD-101")
    assert scenario.world.leaks[0].rate_kg_h == ((5.0, 0.0), (6.0, 10.0))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("seed = 3", "sead = 3", ["seed", "is missing"]),
        ("seed = 3", "seed = 3\nwid = 1", ["wid", "unknown key"]),
        ("wind_m_s = 1", "wind_m_s = 1\nwind_ms = 2", ["[air].wind_ms", "did you mean 'wind_m_s'"]),
        ("wind_m_s = 1", 'wind_m_s = "1,5"', ["[air].wind_m_s", "must be a number", "'1,5'"]),
        ("wind_m_s = 1", "wind_m_s = nan", ["[air].wind_m_s", "must be a number"]),
        ("wind_m_s = 1", "wind_m_s = true", ["[air].wind_m_s", "must be a number", "True"]),
        ("wind_m_s = 1", "wind_m_s = -2", ["[air].wind_m_s", "from 0 to 40", "-2"]),
        ("wind_m_s = 1", "wind_m_s = 1\nrelative_density = 0.9", ["relative_density", "from 1.05"]),
        ("[[5, 0], [6, 10]]", "[[5, 0], [5, 10]]", ["[[leak]] 1.rate_kg_h", "times must rise", "5 follows 5"]),
        ("[[5, 0], [6, 10]]", "[[5, 0], [6, -1]]", ["rate_kg_h", "negative"]),
        ("[[5, 0], [6, 10]]", "[5, 0]", ["rate_kg_h", "[seconds, kg/h]"]),
        ("[[5, 0], [6, 10]]", "[]", ["rate_kg_h", "must be a list"]),
        ("[[leak]]", "[leak]", ["leak", "written as [[leak]]"]),
        ('head = "GD-101"', 'head = "GD-999"', ["[[restart]] 1.head", "'GD-999' hangs nowhere in yard 'patio'"]),
        ('yard = "patio"', 'yard = "../../secret"', ["yard", "there is no yard"]),
        ('en = "A test"', "en = 5", ["[title].en", "text in quotes", "5"]),
        ('en = "A test"', "", ["[title].en", "is missing"]),
        ("seed = 3", "seed =", ["line 3"]),
    ],
)
def test_a_scenario_error_names_file_and_key_and_what_would_be_right(old, new, said):
    assert old in GOOD
    with pytest.raises(ScenarioError) as caught:
        parse("x", "x.toml", GOOD.replace(old, new, 1))
    assert str(caught.value).startswith("x.toml: ")
    for part in said:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('line = "linha-1"\nunit = 2', 'line = "linha-1"\nunit = 1', ["GD-102", "already taken by GD-101"]),
        ('id = "GD-102"', 'id = "GD-101"', ["GD-101", "already taken by GD-101"]),
        ('topic = "depot/GD-202"', 'topic = "depot/GD-201"', ["depot/GD-201", "already taken by GD-201"]),
        ('line = "saidas"', 'line = "saida"', ["[siren].line", "'saida' is not among the yard's lines"]),
        ('topic = "depot/GD-201"', 'topic = "a"\nline = "linha-1"', ["GD-201", "either `topic`"]),
        ("t90_s = 10.0", "t_90 = 10.0", ["[[head]] 1.t90_s", "is missing"]),
        ("unit = 1\ncoil = 0", "unit = 248\ncoil = 0", ["[siren].unit", "whole number from 1 to 247", "248"]),
    ],
)
def test_a_yard_error_names_file_and_key_and_what_would_be_right(old, new, said):
    assert old in YARD
    with pytest.raises(ScenarioError) as caught:
        parse_yard("patio", "patio.toml", YARD.replace(old, new, 1))
    for part in ["patio.toml: ", *said]:
        assert part in str(caught.value)


def test_an_unknown_scenario_is_refused_with_the_nearest_name():
    with pytest.raises(ScenarioError, match="did you mean 'leak'"):
        load("leek")
    with pytest.raises(ScenarioError, match=r"nowhere\.toml: no such file"):
        load("nowhere.toml")
