"""The depot.toml that the simulator writes: the gateway takes it, and it is kept when it is there."""

import tomllib
from dataclasses import replace
from datetime import date

import pytest

from gateway.configuration.loading import load as load_depot
from simulator.depot_file import ForeignDepotError, Ports, read_ports, render, with_ports
from simulator.plant import SET_POINTS
from simulator.scenario import load

YARD = load("leak").yard
PORTS = Ports({"linha-1": 5021, "linha-2": 5022, "saidas": 5023}, 1884, 8081)
OTHERS = Ports({"linha-1": 6021, "linha-2": 6022, "saidas": 6023}, 2884, 9081)
TEXT = render(YARD, PORTS, date(2026, 8, 1), "en")


def test_the_gateway_takes_the_file_and_sees_the_yard(tmp_path):
    file = tmp_path / "depot.toml"
    file.write_text(TEXT, encoding="utf-8")
    depot = load_depot(file, {}).depot
    assert [detector.id for detector in depot.detectors] == [head.id for head in YARD.heads]
    assert [(bus.settings.id, len(bus.heads)) for bus in depot.buses] == [("linha-1", 4), ("linha-2", 4), ("saidas", 0)]
    assert len(depot.mqtt_heads) == 4
    assert [(output.id, output.row.kind.value) for output in depot.outputs] == [
        ("sirene", "siren"),
        ("sinalizador", "beacon"),
    ]
    assert (depot.levels.a1, depot.levels.a2, depot.levels.a3) == SET_POINTS


def test_what_was_written_is_read_back():
    assert read_ports(TEXT, YARD) == PORTS


def test_new_ports_leave_everything_else_as_it_was():
    edited = TEXT.replace("A1 = 10", "A1 = 8  # mine, port = 1", 1) + "\n# port = 5021 in a comment at the end\n"
    renewed = with_ports(edited, OTHERS)
    assert read_ports(renewed, YARD) == OTHERS
    assert with_ports(renewed, PORTS) == edited
    assert tomllib.loads(renewed)["levels"]["A1"] == 8


def test_a_line_of_ones_own_keeps_its_port():
    extra = TEXT + '\n[[bus]]\nid = "minha"\nport = 7777\nhost = "127.0.0.1"\n'
    assert tomllib.loads(with_ports(extra, OTHERS))["bus"][-1]["port"] == 7777


def test_a_value_over_several_lines_is_left_alone():
    long = TEXT + '\n[[escalation]]\nafter_s = 60\nrecipients = [\n["dona"][0],\n]\n'.replace('["dona"][0]', '"dona"')
    assert with_ports(with_ports(long, OTHERS), PORTS) == long


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not toml",
        TEXT.replace('"saidas"', '"outra"'),
        TEXT.replace("[web]", "[page]"),
        TEXT.replace('listen = "127.0.0.1:8081"', "listen = 8081"),
    ],
)
def test_a_file_without_the_demos_ports_is_foreign(text):
    with pytest.raises(ForeignDepotError):
        read_ports(text, YARD)


def test_ports_compare_by_value():
    assert replace(PORTS, web=1) != PORTS
    assert Ports(dict(PORTS.lines), 1884, 8081) == PORTS
