"""The three seconds computed from a configuration: their parts, their sum and what stands in the way."""

from pathlib import Path

import pytest

from gateway.budget import ADAPTER_S, DECIDE_S, ETHERNET_S, FIRST_OUTPUT_S, SERIAL_TURNAROUND_S, Budget, budget, budgets
from gateway.configuration.loading import load
from gateway.depot import Depot

HEAD = """
[[detector]]
id = "GD-{unit}"
area = "patio"
bus = "linha"
unit = {unit}
profile = "generic-modbus"
register = 0
"""

SIREN = '[[channel]]\nid = "sirene"\nkind = "siren"\nunit = 1\ncoil = 0\n'
HOOK = '[[channel]]\nid = "hook"\nkind = "webhook"\nurl = "http://127.0.0.1:9/"\n'
OUTPUTS = '[[bus]]\nid = "saidas"\nhost = "127.0.0.1"\nport = 2\n'
MQTT = '[mqtt]\nhost = "127.0.0.1"\n'
MQTT_HEAD = '[[detector]]\nid = "M"\narea = "patio"\nmqtt = "a/b"\nprofile = "mqtt-json"\nvalue = "/lel"\n'


def depot(folder: Path, *extra: str, heads: int = 1, bus: str = "", law: str = "", kg: int = 6240) -> Depot:
    text = f"""
[depot]
id = "x"
laws = [{f'"{law}"' if law else ""}]
[levels]
A1 = 10
A2 = 20
A3 = 40
[[area]]
id = "patio"
licensed_kg = {kg}
[[bus]]
id = "linha"
host = "127.0.0.1"
port = 1
{bus}
"""
    file = folder / "depot.toml"
    file.write_text(text + "".join(HEAD.format(unit=unit) for unit in range(1, heads + 1)) + "\n".join(extra), "utf-8")
    return load(file, {}).depot


def first(found: Depot) -> Budget:
    return budget(found, found.detectors[0])


def test_where_ids_are_ignored_a_lost_poll_costs_a_whole_slot(tmp_path: Path) -> None:
    bus = 'period_ms = 2000\ntransaction_id = "{ids}"'
    strict, ignored = (first(depot(tmp_path, bus=bus.format(ids=ids))) for ids in ("strict", "ignore"))

    assert dict(strict.parts)["lost-poll"] == 0.2 + ETHERNET_S
    assert dict(ignored.parts)["lost-poll"] == 2.0 + ETHERNET_S, "there is no retry in the slot"


def test_the_parts_of_a_plain_line_add_up(tmp_path: Path) -> None:
    found = first(depot(tmp_path, OUTPUTS, SIREN + 'bus = "saidas"\n'))

    assert found.parts == (
        ("poll", 0.5),
        ("line", ETHERNET_S),
        ("lost-poll", pytest.approx(0.2 + ETHERNET_S)),
        ("decide", DECIDE_S),
        ("output", FIRST_OUTPUT_S),
    )
    assert found.total_s == pytest.approx(sum(seconds for _, seconds in found.parts))
    assert found.audible_s == found.total_s
    assert found.certified
    assert found.slowest == "poll"
    assert found.objections == ()


def test_heads_of_one_serial_line_wait_for_each_other(tmp_path: Path) -> None:
    alone, many = (
        dict(first(depot(tmp_path, OUTPUTS, HOOK, heads=heads, bus="line_baud = 9600")).parts) for heads in (1, 12)
    )

    assert many["line"] == pytest.approx(12 * alone["line"])
    assert alone["poll"] == 0.5


def test_a_line_slower_than_its_period_is_polled_as_fast_as_it_goes_and_named(tmp_path: Path) -> None:
    found = first(depot(tmp_path, HOOK, heads=60, bus="line_baud = 1200"))
    parts = dict(found.parts)

    assert parts["poll"] == parts["line"] > 3
    assert not found.certified
    assert found.objections == ("too-slow",)
    assert found.slowest in ("poll", "line")


def test_pipelining_shares_the_line_but_not_a_serial_one_behind_it(tmp_path: Path) -> None:
    one = dict(first(depot(tmp_path, HOOK, heads=16)).parts)["line"]
    four = dict(first(depot(tmp_path, HOOK, heads=16, bus="in_flight = 4")).parts)["line"]
    serial = dict(first(depot(tmp_path, HOOK, heads=16, bus="line_baud = 9600")).parts)["line"]
    serial_four = dict(first(depot(tmp_path, HOOK, heads=16, bus="line_baud = 9600\nin_flight = 4")).parts)["line"]

    assert four == pytest.approx(one / 4)
    assert serial_four == serial


def test_neighbouring_registers_of_one_unit_are_one_request(tmp_path: Path) -> None:
    def with_second(register: int) -> float:
        second = HEAD.format(unit=1).replace("GD-1", "GD-B").replace("register = 0", f"register = {register}")
        return dict(first(depot(tmp_path, HOOK, second)).parts)["line"]

    assert with_second(4) == ETHERNET_S
    assert with_second(400) == 2 * ETHERNET_S


def test_an_output_on_the_detectors_line_waits_for_the_poll_in_flight(tmp_path: Path) -> None:
    own = first(depot(tmp_path, OUTPUTS, SIREN + 'bus = "saidas"\n'))
    shared = first(depot(tmp_path, SIREN + 'bus = "linha"\n'))

    assert ("output-line", 0.2) in shared.parts
    assert shared.total_s == pytest.approx(own.total_s + 0.2)


def test_the_fastest_counting_output_makes_the_total_the_siren_the_audible_time(tmp_path: Path) -> None:
    found = first(depot(tmp_path, HOOK, SIREN + 'bus = "linha"\n'))

    assert found.audible_s == pytest.approx(found.total_s + 0.2)


def test_without_a_counting_output_nothing_is_promised(tmp_path: Path) -> None:
    found = first(depot(tmp_path, '[[channel]]\nid = "c"\nkind = "console"\n'))

    assert found.objections == ("no-output",)
    assert not found.certified


FERRAZ = "ferraz-de-vasconcelos-3190-2013"


def test_where_a_statute_asks_for_the_alarm_only_the_siren_counts(tmp_path: Path) -> None:
    assert first(depot(tmp_path, HOOK)).certified
    assert first(depot(tmp_path, HOOK, law=FERRAZ)).objections == ("no-siren",)
    assert first(depot(tmp_path, OUTPUTS, HOOK, SIREN + 'bus = "saidas"\n', law=FERRAZ)).certified
    relay = (SIREN + 'bus = "saidas"\n').replace('"siren"', '"relay"')
    assert first(depot(tmp_path, OUTPUTS, relay, law=FERRAZ)).objections == ("no-siren",)


def test_an_area_below_the_statutes_size_is_not_bound_by_it(tmp_path: Path) -> None:
    assert first(depot(tmp_path, HOOK, law=FERRAZ, kg=1560)).certified
    assert not first(depot(tmp_path, HOOK, law=FERRAZ, kg=1561)).certified


def test_a_siren_that_is_too_late_for_the_law_is_named(tmp_path: Path) -> None:
    outputs = OUTPUTS + "timeout_ms = 2400\nperiod_ms = 3000\n"
    found = first(depot(tmp_path, outputs, HOOK, SIREN + 'bus = "saidas"\n', law=FERRAZ))

    assert found.objections == ("audible-too-slow",)
    assert found.total_s < 3 < (found.audible_s or 0)


def test_an_mqtt_head_has_a_broker_in_its_way_and_no_poll(tmp_path: Path) -> None:
    found = depot(tmp_path, MQTT, MQTT_HEAD)
    mqtt = budgets(found)[1]

    assert [name for name, _ in mqtt.parts] == ["broker", "decide", "output"]
    assert mqtt.certified


@pytest.mark.parametrize(("key", "objection"), [("refresh_s = 15", "slow-head"), ("max_age_ms = 60000", "slow-age")])
def test_a_head_too_slow_in_itself_cannot_promise(tmp_path: Path, key: str, objection: str) -> None:
    found = budgets(depot(tmp_path, MQTT, MQTT_HEAD + key))[1]

    assert found.objections == (objection,)
    assert not found.certified


def test_a_heartbeat_too_slow_cannot_promise(tmp_path: Path) -> None:
    site = 'format = 1\nid = "lenta"\nwire = "mqtt"\n[timing]\ndetects_silence_s = 300\n[points]\nvalue = "/x"\n'
    (tmp_path / "lenta.toml").write_text(site, "utf-8")
    head = '[[detector]]\nid = "M"\narea = "patio"\nmqtt = "a/b"\nprofile = "lenta.toml"\n'

    assert budgets(depot(tmp_path, MQTT, head))[1].objections == ("slow-silence", "slow-age")


RTU = 'transport = "rtu"\ndevice = "/dev/serial/by-id/a"\nbaud = {baud}\n'


def on_a_port(folder: Path, *extra: str, baud: int = 9600, heads: int = 1, more: str = "") -> Depot:
    """A depot whose line is a serial port of this machine."""
    made = depot(folder, *extra, heads=heads)
    text = made.file.read_text("utf-8").replace('host = "127.0.0.1"\nport = 1\n', RTU.format(baud=baud) + more)
    made.file.write_text(text, "utf-8")
    return load(made.file, {}).depot


def test_a_serial_port_counts_its_speed_its_silences_and_its_adapter(tmp_path: Path) -> None:
    line = {baud: dict(first(on_a_port(tmp_path, HOOK, baud=baud)).parts)["line"] for baud in (9600, 19200, 115200)}
    # 8 bytes of request, 7 of answer; 10 bits each without parity
    assert line[9600] == pytest.approx(ADAPTER_S + SERIAL_TURNAROUND_S + 3.5 * 11 / 9600 + 15 * 10 / 9600)
    assert line[115200] == pytest.approx(ADAPTER_S + SERIAL_TURNAROUND_S + 0.00175 + 15 * 10 / 115200)
    assert line[9600] > line[19200] > line[115200]
    parity = dict(first(on_a_port(tmp_path, HOOK, more='parity = "even"\n')).parts)["line"]
    assert parity == pytest.approx(line[9600] + 15 / 9600)


def test_a_lost_poll_on_a_serial_line_waits_out_the_late_answer(tmp_path: Path) -> None:
    found = dict(first(on_a_port(tmp_path, HOOK)).parts)
    short = dict(first(on_a_port(tmp_path, HOOK, more="late_ms = 300\n")).parts)
    assert found["lost-poll"] == pytest.approx(1.0 + found["line"])
    assert short["lost-poll"] == pytest.approx(0.3 + short["line"])


def test_twelve_heads_on_9600_bit_keep_the_three_seconds_and_forty_do_not(tmp_path: Path) -> None:
    assert first(on_a_port(tmp_path, OUTPUTS, SIREN + 'bus = "saidas"\n', heads=12)).certified
    assert "too-slow" in first(on_a_port(tmp_path, OUTPUTS, SIREN + 'bus = "saidas"\n', heads=40)).objections


def test_the_rest_that_a_device_needs_is_counted(tmp_path: Path) -> None:
    plain = dict(first(on_a_port(tmp_path, HOOK, heads=4)).parts)["line"]
    rest = dict(first(on_a_port(tmp_path, HOOK, heads=4, more="turnaround_ms = 50\n")).parts)["line"]
    assert rest == pytest.approx(plain + 4 * (0.05 - 3.5 * 11 / 9600))
    made = on_a_port(tmp_path, HOOK, heads=4)
    text = made.file.read_text("utf-8").replace("unit = 2\n", "unit = 2\nturnaround_ms = 50\n")
    made.file.write_text(text, "utf-8")
    one = dict(first(load(made.file, {}).depot).parts)["line"]
    assert one == pytest.approx(plain + 2 * 0.05 - 3.5 * 11 / 9600)
