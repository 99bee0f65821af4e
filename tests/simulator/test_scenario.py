"""Scenario and yard files: those that are shipped load, and a mistake is named with its cure."""

from importlib import resources

import pytest

from simulator.scenario import ScenarioError, load, names, parse
from simulator.sources import Hole, Phase, Rates
from simulator.yard_file import parse_yard

GOOD = """
yard = "patio"
seed = 3
lasts_s = 60
[title]
pt-BR = "Um teste"
en = "A test"
[description]
pt-BR = "Só um teste."
en = "Only a test."
[air]
wind_m_s = 1
towards_deg = 90
[[leak]]
x_m = 1
y_m = 2
rate_kg_h = [[5, 0], [6, 10]]
[[event]]
what = "restart"
head = "GD-101"
at_s = 4
[[person]]
name = "Ana"
acknowledges_after_s = 20
[[stock]]
at_s = 10
area = "patio"
container = "P-13"
pieces = -12
[[expect]]
event = "raised"
subject = "GD-101"
level = "A1"
by_s = 30
"""
HOLE = 'phase = "vapour"\nhole_mm = 2\ncontents_kg = 13\nopens_s = 5\ncloses_s = 50'
YARD = (resources.files("simulator") / "yards" / "patio.toml").read_text(encoding="utf-8")


def test_every_scenario_that_comes_with_the_simulator_loads():
    assert len(names()) >= 15
    for name in names():
        scenario = load(name)
        assert scenario.name == name
        assert scenario.expected, f"{name} says nothing of what must come of it"
        for words in (scenario.title, scenario.description):
            assert all(words.values())
        assert all(len(title) <= 60 for title in scenario.title.values())


def test_a_scenario_file_of_ones_own_loads(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(GOOD, encoding="utf-8")
    scenario = load(str(path))
    assert (scenario.name, scenario.seed, scenario.happenings[0].target) == ("mine", 3, "GD-101")
    assert scenario.world.leaks[0].source == Rates(((5.0, 0.0), (6.0, 10.0)))
    assert (scenario.people[0].acknowledges_after_s, scenario.people[0].resets_after_s) == (20.0, None)
    assert (scenario.stock[0].container, scenario.stock[0].pieces) == ("P-13", -12)
    assert scenario.expected[0].by_s == 30.0


def test_a_leak_may_be_a_hole_in_something_that_empties():
    text = GOOD.replace("rate_kg_h = [[5, 0], [6, 10]]", HOLE)
    assert parse("x", "x.toml", text).world.leaks[0].source == Hole(Phase.VAPOUR, 2.0, 13.0, 5.0, 50.0)


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
        ('head = "GD-101"', 'head = "GD-999"', ["[[event]] 1.head", "'GD-999' is nowhere in yard 'patio'"]),
        ('"restart"', '"restrat"', ["[[event]] 1.what", "must be one of", "did you mean 'restart'"]),
        ('"restart"', '"slow"', ["[[event]] 1.by_s", "is missing"]),
        ('"restart"', '"says"\nword = "gas!"', ["[[event]] 1.word", "must be one of", "'gas!'"]),
        ('"restart"\nhead = "GD-101"', '"cut"\nline = "linha-9"', ["[[event]] 1.line", "did you mean"]),
        ('"restart"\nhead = "GD-101"', '"wrong-id"\nhead = "GD-201"', ["[[event]] 1.what", "cannot befall", "mqtt"]),
        ("at_s = 4", "at_s = 4\nuntil_s = 5", ["[[event]] 1.until_s", "unknown key"]),
        ('"restart"\nhead', '"fault"\nuntil_s = 2\nhead', ["[[event]] 1.until_s", "must lie after at_s = 4", "2"]),
        ("pieces = -12", "pieces = 0", ["[[stock]] 1.pieces", "got 0"]),
        ('area = "patio"', 'area = "pateo"', ["[[stock]] 1.area", "did you mean 'patio'"]),
        ('event = "raised"', 'event = "rised"', ["[[expect]] 1.event", "did you mean 'raised'"]),
        ('subject = "GD-101"', 'subject = "GD-1"', ["[[expect]] 1.subject", "must be one of", "'GD-1'"]),
        ("by_s = 30", "by_s = 30\nfrom_s = 31", ["[[expect]] 1.by_s", "must not lie before from_s = 31"]),
        ("x_m = 1", "x_m = 99", ["[[leak]] 1.x_m", "from 0 to 24", "99"]),
        ("[[5, 0], [6, 10]]", "[[5, 0]]\nhole_mm = 2", ["rate_kg_h", "either `rate_kg_h` or `hole_mm`"]),
        ("rate_kg_h = [[5, 0], [6, 10]]", HOLE.replace("50", "4"), ["closes_s", "must lie after opens_s = 5", "4"]),
        (
            "rate_kg_h = [[5, 0], [6, 10]]",
            HOLE.replace("vapour", "gas"),
            ["[[leak]] 1.phase", "vapour, liquid", "'gas'"],
        ),
        ("lasts_s = 60", "", ["lasts_s", "is missing"]),
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
        ("east_m = 24", "east_m = 24.5", ["[ground].east_m", "whole number from 2 to 100", "24.5"]),
        ("north_m = 12", 'north_m = 12\nwalled = ["up"]', ["[ground].walled", "north, south, east, west", "'up'"]),
        ("[siren]", "[[wall]]\nfrom = [1, 2]\nto = [3, 4]\n[siren]", ["[[wall]] 1.to", "straight east or north"]),
        ("[siren]", "[[wall]]\nfrom = [1, 2.5]\nto = [3, 4]\n[siren]", ["[[wall]] 1.from", "2 whole numbers"]),
        ('id = "linha-1"', 'id = "linha-1"\ntransport = "udp"', ["[[line]] 1.transport", "tcp, rtu", "'udp'"]),
        ("t90_s = 10.0", "t90_s = 10.0\ncatalytic = 1", ["[[head]] 1.catalytic", "true or false", "1"]),
        ("t90_s = 10.0", 't90_s = 10.0\nprofile = "oldham-mx44"', ["[[head]] 1.profile", "did you mean 'oldham-mx43'"]),
        ("t90_s = 10.0", 't90_s = 10.0\nprofile = "shelly-gas"', ["[[head]] 1.profile", "speaks mqtt"]),
        ("t90_s = 10.0", 't90_s = 10.0\nprofile = "waveshare-8ai"', ["[[head]] 1.settings", "'waveshare-8ai'"]),
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
