"""A depot.toml as a whole: what it becomes, and every mistake in it with its line and its cure."""

import os
import re
from datetime import date
from pathlib import Path

import pytest
from depot_text import BASE, loaded, problems, replaced

from alerts.effects import usual
from alerts.policy import Levels
from gateway.configuration.loading import load
from gateway.configuration.problems import ConfigError
from gateway.depot import ConsoleChannel, MqttChannel, OnBroker, OnLine, Output, Web, WebhookChannel
from sensors.stamps import MILLISECOND, SECOND
from sensors.wire.outputs import coil

CONTRACT = Path(__file__).parents[1] / "contract.toml"


def line_of(text: str, part: str, *, last: bool = False) -> int:
    """The line on which a part stands, counted from 1."""
    at = text.rindex(part) if last else text.index(part)
    return text.count("\n", 0, at) + 1


# --- what is right -------------------------------------------------------------------------------


def test_the_contracts_example_loads_into_frozen_objects(tmp_path: Path) -> None:
    text = CONTRACT.read_text("utf-8")
    result = loaded(tmp_path, text, VIGIA_HOOK_SECRET="hush")  # noqa: S106 - a secret made up for the test
    depot = result.depot

    assert (depot.id, depot.name, depot.timezone) == ("deposito-centro", "Depósito Centro", "America/Sao_Paulo")
    assert depot.data == tmp_path / "var"
    assert [detector.id for detector in depot.detectors] == ["GD-101", "GD-102", "GD-201"]
    first = depot.detectors[0]
    assert (first.area, first.source, first.profile) == ("patio", "detectores", "honeywell-sensepoint-xcd")
    assert first.calibrated_on == date(2026, 8, 1)
    assert first.line == line_of(text, '[[detector]]\nid = "GD-101"')
    assert [head.unit for head in depot.buses[0].heads] == [1, 7]
    assert depot.buses[0].settings.period_ns == 500 * MILLISECOND
    assert depot.buses[0].settings.timeout_ns == 200 * MILLISECOND
    assert depot.buses[0].settings.line_baud == 9600
    assert depot.buses[1].heads == ()
    assert depot.mqtt is not None
    assert (depot.mqtt.host, depot.mqtt.port) == ("127.0.0.1", 1883)
    assert depot.mqtt_heads[0].topic == "depot/GD-201"
    assert depot.mqtt_heads[0].max_age_ns == 2500 * MILLISECOND
    assert depot.levels == Levels(10, 20, 40, 2)
    assert depot.web == Web("127.0.0.1", 8080)
    assert depot.outputs == (Output("sirene", usual("siren"), OnLine("saidas", 1, coil(0)), "sirene"),)
    assert WebhookChannel("hook", "http://127.0.0.1:9000/vigia", "hush") in depot.channels
    assert depot.within_s == 3
    assert depot.areas[0].audible_within_s == 3
    assert [step.recipients for step in depot.escalation] == [("central-de-monitoramento",)]
    assert depot.influx is not None
    assert (depot.influx.target.url, depot.influx.target.database) == ("http://127.0.0.1:8086", "vigia")
    assert depot.influx.changes is None
    assert depot.keeping.minutes_s >= 5 * 365 * 86_400
    assert result.warnings == ()


def test_a_broker_brings_a_channel_that_hears_everything(tmp_path: Path) -> None:
    depot = loaded(tmp_path, BASE).depot

    assert MqttChannel("mqtt") in depot.channels
    assert depot.recipients[-1].channels == ("mqtt",)
    assert depot.recipients[-1].role == "operator"
    assert depot.recipients[-1].alarms == {"A1", "A2", "A3", "BLIND", "SYSTEM", "COMPLIANCE"}


def test_a_broker_channel_of_the_file_replaces_the_implicit_one(tmp_path: Path) -> None:
    depot = loaded(tmp_path, BASE + '[[channel]]\nid = "painel"\nkind = "mqtt"\n').depot

    assert [channel for channel in depot.channels if isinstance(channel, MqttChannel)] == [MqttChannel("painel")]
    assert [recipient.id for recipient in depot.recipients] == ["dona"]


def test_no_console_is_added_that_the_file_does_not_ask_for(tmp_path: Path) -> None:
    assert not any(isinstance(channel, ConsoleChannel) for channel in loaded(tmp_path, BASE).depot.channels)


def test_who_lists_no_alarms_hears_gas_unless_called_in_by_escalation(tmp_path: Path) -> None:
    people = """
[[recipient]]
id = "vizinho"
role = "neighbour"
channels = ["hook"]

[[recipient]]
id = "central"
role = "centre"
channels = ["hook"]

[[escalation]]
after_s = 60
recipients = ["central"]
"""
    heard = {person.id: person.alarms for person in loaded(tmp_path, BASE + people).depot.recipients}

    assert heard["vizinho"] == {"A1", "A2", "A3"}
    assert heard["central"] == frozenset()


@pytest.mark.parametrize(
    ("owner_hears", "channel", "centre_hears", "called"),
    [
        ('["A1", "A2"]', "hook", '["A1"]', True),
        ('["A2"]', "hook", '["A1", "A2"]', False),
        ('["BLIND"]', "hook", '["A1"]', False),
        ('["A1", "A2"]', "tela", '["A1"]', False),
    ],
)
def test_a_centre_is_called_for_sure_gas_where_others_hear_the_same_at_once(
    tmp_path: Path, owner_hears: str, channel: str, centre_hears: str, called: bool
) -> None:
    people = f"""
[[channel]]
id = "tela"
kind = "console"

[[recipient]]
id = "central"
role = "centre"
channels = ["hook"]
alarms = {centre_hears}

[[recipient]]
id = "vizinho"
role = "neighbour"
channels = ["{channel}"]
alarms = {owner_hears}
"""
    without_owner = re.sub(r"\[\[recipient\]\]\n(?:.+\n)+", "", BASE)
    depot = loaded(tmp_path, without_owner + people).depot
    assert {person.id for person in depot.recipients if person.called} == ({"central"} if called else set())


def test_timing_and_dead_band_are_the_files_own(tmp_path: Path) -> None:
    text = replaced("A3 = 40\n", "A3 = 40\ndead_band = 1.5\n") + "[timing]\nrepeat_s = 30\nsilence_s = 60\n"
    depot = loaded(tmp_path, text).depot

    assert (depot.timing.repeat, depot.timing.silence) == (30 * SECOND, 60 * SECOND)
    assert depot.levels.dead_band == 1.5


@pytest.mark.parametrize(("basis", "factor"), [("0.5", "1.0"), ("1.4", "1.2"), ("2.1", "0.5"), ("5", "1")])
def test_any_true_lel_basis_is_taken_to_the_head(tmp_path: Path, basis: str, factor: str) -> None:
    text = replaced("unit = 1\nprofile", f"unit = 1\nlel_vol_pct = {basis}\nfactor = {factor}\nprofile")
    head = loaded(tmp_path, text).depot.buses[0].heads[0]

    assert head.basis.head_vol_pct == float(basis)
    assert head.basis.factor == float(factor)
    assert head.basis.reference_vol_pct == 1.4


def test_a_slow_bus_gives_its_heads_longer_before_they_count_as_blind(tmp_path: Path) -> None:
    text = replaced("port = 5020", "port = 5020\nperiod_ms = 2000\ntimeout_ms = 500")

    assert loaded(tmp_path, BASE).depot.detectors[0].blind_after_s == 2.5
    assert loaded(tmp_path, text).depot.detectors[0].blind_after_s == 5.0


def test_heads_alike_share_one_profile_and_others_have_their_own(tmp_path: Path) -> None:
    head = 'profile = "generic-modbus"\nregister = 0\ntype = "uint16"\n'
    more = "".join(
        f'\n[[detector]]\nid = "GD-{unit}"\narea = "patio"\nbus = "detectores"\nunit = {unit}\n{said}'
        for unit, said in ((21, head), (22, head), (23, head.replace("0", "4")))
    )
    heads = {head.unit: head.profile for head in loaded(tmp_path, BASE + more).depot.buses[0].heads}
    assert heads[21] is heads[22]
    assert [heads[unit].points.register for unit in (21, 22, 23)] == [0, 0, 4]  # type: ignore[union-attr]


def test_a_site_profile_is_found_beside_the_file(tmp_path: Path) -> None:
    site = 'format = 1\nid = "minha-cabeca"\nwire = "modbus"\n[points]\nregister = 7\ntype = "uint16"\n'
    (tmp_path / "minha.toml").write_text(site, "utf-8")
    text = replaced('profile = "generic-modbus"\nregister = 0\ntype = "uint16"', 'profile = "./minha.toml"')

    assert loaded(tmp_path, text).depot.detectors[0].profile == "minha-cabeca"


# --- secrets and the environment -----------------------------------------------------------------

HOOK = 'url = "http://127.0.0.1:9000/vigia"\n'


def test_a_secret_comes_from_a_file_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "hook.secret").write_text("hush\n", "utf-8")
    depot = loaded(tmp_path, replaced(HOOK, HOOK + 'secret_file = "hook.secret"\n')).depot

    assert WebhookChannel("hook", "http://127.0.0.1:9000/vigia", "hush") in depot.channels
    assert "hush" not in repr(depot)


def test_b58_an_unset_variable_is_named(tmp_path: Path) -> None:
    text = replaced(HOOK, HOOK + 'secret_env = "VIGIA_HOOK_SECRET"\n')
    (found,) = problems(tmp_path, text)

    assert found.line == line_of(text, "secret_env")
    assert found.where == "channel hook / secret_env"
    assert "VIGIA_HOOK_SECRET" in found.wrong
    assert "VIGIA_HOOK_SECRET" in found.right


def test_a_variable_lies_over_the_file(tmp_path: Path) -> None:
    depot = loaded(
        tmp_path,
        BASE,
        VIGIA_WEB__LISTEN="127.0.0.1:9999",
        VIGIA_LEVELS__A1="5.5",
        VIGIA_BUS__DETECTORES__PORT="7777",
        VIGIA_DEPOT__NAME="123",
        VIGIA_DEPOT__LAWS="[]",
        VIGIA_DETECTOR__GD_101__REGISTER="9",
    ).depot

    assert depot.web == Web("127.0.0.1", 9999)
    assert depot.levels.a1 == 5.5
    assert depot.buses[0].settings.port == 7777
    assert depot.name == "123"
    assert depot.laws == ()
    assert depot.buses[0].heads[0].profile.points.register == 9  # type: ignore[union-attr]  # a Modbus head


def test_a_problem_in_a_variable_names_the_variable(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, BASE, VIGIA_LEVELS__A1="10,5")

    assert str(found).startswith("VIGIA_LEVELS__A1: levels / A1: ")
    assert "10.5" in found.right


@pytest.mark.parametrize(
    ("variable", "cure"),
    [
        ("VIGIA_WEBB__LISTEN", "web"),
        ("VIGIA_WEB__LISTN", "listen"),
        ("VIGIA_BUS__DETECTOR__PORT", "detectores"),
        ("VIGIA_BUS__DETECTORES__PROT", "port"),
        ("VIGIA_DETECTOR__GD_101__REGISTR", "register"),
    ],
)
def test_b58_a_misspelt_variable_is_refused_with_the_near_one(tmp_path: Path, variable: str, cure: str) -> None:
    (found,) = problems(tmp_path, BASE, **{variable: "1"})

    assert found.file == variable
    assert cure in found.right


def test_variables_that_lie_over_nothing_are_left_alone(tmp_path: Path) -> None:
    text = replaced(HOOK, HOOK + 'secret_env = "VIGIA_HOOK__SECRET"\n')

    depot = loaded(tmp_path, text, VIGIA_HOOK__SECRET="hush", VIGIA_SOAK="1", OTHER__THING="1").depot  # noqa: S106 - made up

    assert [each.secret for each in depot.channels if isinstance(each, WebhookChannel)] == ["hush"]


# --- every problem at once -----------------------------------------------------------------------


def test_all_problems_are_told_at_once_in_the_files_order(tmp_path: Path) -> None:
    text = BASE
    for old, new in (
        ('id = "patio"\n', 'id = "patio"\nlicensd_kg = 1\n'),
        ("A1 = 10\n", "A1 = 11\n"),
        ("port = 5020", 'port = "5020"'),
        ('"generic-modbus"', '"generic-modbuss"'),
        ("coil = 0", "coil = -1"),
        ('["hook"]', '["hok"]'),
    ):
        text = replaced(old, new, text)
    found = problems(tmp_path, text)

    assert [problem.line for problem in found] == sorted(problem.line for problem in found)
    wanted = ["licensd_kg", "A1 = 11", 'port = "5020"', "generic-modbuss", "coil = -1", '"hok"']
    assert [problem.line for problem in found] == [line_of(text, part) for part in wanted]


def test_a_message_reads_file_line_place_fault_and_cure(tmp_path: Path) -> None:
    text = replaced("register = 0", "registr = 0")
    found = problems(tmp_path, text)
    line = line_of(text, "registr")

    assert str(found[-1]) == (
        f"{tmp_path}/depot.toml:{line}: detector GD-101 / registr: there is no key registr here; perhaps: register"
    )


def test_messages_are_portuguese_unless_english_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "depot.toml"
    file.write_text(replaced("A1 = 10\n", "A1 = 11\n"), "utf-8")
    with pytest.raises(ConfigError, match=r"passa do limite de 10 % LIE; no máximo A1 = 10 \(Lei 3\.190/2013"):
        load(file, {"LANG": "C.UTF-8"})
    with pytest.raises(ConfigError, match="is above the limit of 10 % LEL"):
        load(file, {"LANG": "en_US.UTF-8"})


RELAY = 'profile = "tasmota-relay"\noutput = "relay"'


# --- warnings ------------------------------------------------------------------------------------


def test_a_siren_on_the_detectors_own_line_is_a_warning(tmp_path: Path) -> None:
    text = replaced('bus = "saidas"', 'bus = "detectores"')
    (warning,) = loaded(tmp_path, text).warnings

    assert warning.line == line_of(text, 'bus = "detectores"', last=True)
    assert warning.where == "channel sirene / bus"
    assert "line of their own" in warning.right


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[depot]\nid = "x"\n[levels]\nA1 = 10\nA2 = 20\nA3 = 40\n', "nothing is watched"),
        ('[depot]\nid = "x"\n[levels]\nA1 = 10\nA2 = 20\nA3 = 40\n', "nobody hears the alarm"),
        ('[depot]\nid = "x"\n[levels]\nA1 = 10\nA2 = 20\nA3 = 40\n', "nobody is told when a detector stops"),
        (replaced("port = 5021", "port = 5020"), "the same address 127.0.0.1:5020"),
    ],
)
def test_what_may_stand_but_should_be_known_is_a_warning(tmp_path: Path, text: str, expected: str) -> None:
    assert any(expected in warning.wrong for warning in loaded(tmp_path, text).warnings)


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("VIGIA_LEVELS", "VIGIA_LEVELS__<KEY>"),
        ("VIGIA_LEVELS_A1", "VIGIA_LEVELS__A1"),
        ("vigia_levels__a1", "VIGIA_LEVELS__A1"),
        ("Vigia_Web_Listen", "VIGIA_WEB__LISTEN"),
        ("VIGIA_DETECTOR", "VIGIA_DETECTOR__<ID>__<KEY>"),
    ],
)
def test_a_variable_that_looks_like_a_setting_and_sets_nothing_is_warned_of(
    tmp_path: Path, variable: str, meant: str
) -> None:
    result = loaded(tmp_path, BASE, **{variable: "3"})

    (warning,) = [warning for warning in result.warnings if warning.file == variable]
    assert meant in warning.right
    assert result.depot.levels == loaded(tmp_path, BASE).depot.levels


def test_variables_of_others_and_secrets_that_the_file_names_are_not_warned_of(tmp_path: Path) -> None:
    text = replaced(HOOK, HOOK + 'secret_env = "VIGIA_WEB_SECRET"\n')
    result = loaded(tmp_path, text, VIGIA_WEB_SECRET="hush", VIGIA_SOAK="1", vigia_soak="1", WEB="1")  # noqa: S106 - made up

    assert [str(warning) for warning in result.warnings if "VIGIA" in str(warning).upper()] == []


def test_a_data_folder_whose_path_leaves_no_room_for_a_socket_is_refused_with_the_cure(tmp_path: Path) -> None:
    room = 107 - len(os.fsencode(tmp_path)) - len("//control.sock")
    assert loaded(tmp_path, replaced("[depot]\n", f'[depot]\ndata = "{"x" * room}"\n')).depot.data.name == "x" * room

    (found,) = problems(tmp_path, replaced("[depot]\n", f'[depot]\ndata = "{"x" * (room + 1)}"\n'))
    assert found.where == "depot / data"
    assert "95 bytes" in found.wrong
    assert "/var/lib/vigia" in found.right


@pytest.mark.parametrize(
    ("output", "where", "expected"),
    [
        ('kind = "valve"\nbus = "saidas"\nunit = 1\ncoil = 4', "channel extra / energised", "stays open"),
        ('kind = "heartbeat"\nbus = "saidas"\nunit = 1\ncoil = 4', "channel extra / kind", "lets go"),
        (
            f'kind = "siren"\n{RELAY}\nnames = {{ device = "x" }}\nenergised = "normal"',
            "channel extra / energised",
            "stays as it is",
        ),
        ('kind = "horn"\nbus = "saidas"\nunit = 1\ncoil = 4\nlevel = "A2"', "channel extra / level", "A2"),
        (
            'kind = "siren"\nbus = "saidas"\nunit = 1\ncoil = 4\nvotes = { heads = 2 }',
            "channel extra / votes",
            "never waits",
        ),
    ],
)
def test_an_output_that_cannot_fail_safe_as_installed_is_warned_of(
    tmp_path: Path, output: str, where: str, expected: str
) -> None:
    warnings = loaded(tmp_path, f'{BASE}\n[[channel]]\nid = "extra"\n{output}\n').warnings
    (warning,) = [warning for warning in warnings if warning.where == where]
    assert expected in warning.wrong


def test_a_valve_that_closes_without_power_is_turned_round_and_not_warned_of(tmp_path: Path) -> None:
    valve = (
        'kind = "valve"\nbus = "saidas"\nunit = 1\ncoil = 4\nenergised = "normal"\nvotes = { heads = 3, samples = 4 }'
    )
    result = loaded(tmp_path, f'{BASE}\n[[channel]]\nid = "valvula"\n{valve}\n')
    output = result.depot.outputs[-1]
    assert result.warnings == ()
    assert output.wire == OnLine("saidas", 1, coil(4).inverted())
    assert output.row.gate is not None and (output.row.gate.heads, output.row.gate.samples) == (3, 4)


def test_outputs_of_profiles_and_topics_load_as_their_profile_says(tmp_path: Path) -> None:
    board = 'kind = "horn"\nbus = "saidas"\nunit = 1\nprofile = "waveshare-relay"\nchannel = 3'
    relay = f'kind = "beacon"\n{RELAY}\nnames = {{ device = "portaria" }}'
    own = 'kind = "relay"\nmqtt = { command = { topic = "a/set", on = "1", off = "0" }, confirm = { topic = "a" } }'
    text = BASE + "".join(
        f'\n[[channel]]\nid = "o{number}"\n{table}\n' for number, table in enumerate((board, relay, own))
    )
    first, second, third = loaded(tmp_path, text).depot.outputs[1:]
    assert first.wire == OnLine("saidas", 1, coil(2))
    assert isinstance(second.wire, OnBroker)
    assert second.wire.point.message(second.wire.names, on=True) == ("cmnd/portaria/POWER", b"ON")
    assert isinstance(third.wire, OnBroker) and third.wire.point.state(b"1") is True
    assert (first.check_s, second.check_s) == (2, 30)
