"""The format's points, each as a technician would write it: registers or messages in, reading out."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from sensors import profiles
from sensors.profiles import ProfileError
from sensors.profiles.keys import SECTIONS, TOP
from sensors.profiles.schema import FILE, schema, written
from sensors.readings import Quality, Reading, Status
from sensors.rehearsal import Given, Message, readings
from sensors.wire.places import Function
from sensors.wire.points import ModbusPoints
from sensors.wire.units import Basis

SAME = Basis(1.4, 1.4)
HEAD = 'format = 1\nid = "x"\nwire = "modbus"\n'
MQTT = 'format = 1\nid = "x"\nwire = "mqtt"\n'


def load(folder: Path, text: str) -> profiles.Profile:
    file = folder / "x.toml"
    file.write_text(text, encoding="utf-8")
    return profiles.load(str(file))


def said(folder: Path, points: str, cells: dict[int, Any], *, unit: int = 1, **settings: object) -> Reading:
    """What a Modbus profile with these points makes of these registers, whichever table it reads."""
    profile = load(folder, HEAD + points).installed(settings)
    assert isinstance(profile.points, ModbusPoints)
    tables = {place.function: cells for place in profile.points.places()}
    (reading,) = readings(profile, Given(tables, unit=unit), SAME)
    return reading


def heard(folder: Path, points: str, *payloads: str, topic: str = "", basis: Basis = SAME) -> list[Reading]:
    profile = load(folder, MQTT + points).installed({})
    return list(readings(profile, Given(messages=[Message(each.encode()) for each in payloads], topic=topic), basis))


# --- the schema and the errors


def test_the_schema_in_the_folder_is_the_one_of_the_code():
    assert FILE.read_text(encoding="utf-8") == written(), "run: python -m sensors.profiles.schema"


def fits(value: Any, rule: Any, root: dict[str, Any]) -> bool:  # noqa: PLR0911, PLR0912 - a branch for each keyword
    """As much of JSON Schema as ours uses."""
    if "$ref" in rule:
        return fits(value, root["$defs"][rule["$ref"].rpartition("/")[2]], root)
    if "anyOf" in rule and not any(fits(value, each, root) for each in rule["anyOf"]):
        return False
    if "if" in rule and not fits(value, rule["then" if fits(value, rule["if"], root) else "else"], root):
        return False
    if "const" in rule and value != rule["const"]:
        return False
    if "enum" in rule and value not in rule["enum"]:
        return False
    if "not" in rule and fits(value, rule["not"], root):
        return False
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool}
    wanted = rule.get("type", [])
    wanted = [wanted] if isinstance(wanted, str) else wanted
    if wanted and not any(
        isinstance(value, kinds[kind]) and (kind == "boolean" or not isinstance(value, bool)) for kind in wanted
    ):
        return False
    if isinstance(value, dict):
        properties, others = rule.get("properties", {}), rule.get("additionalProperties", True)
        if any(name not in value for name in rule.get("required", ())):
            return False
        for name, inner in value.items():
            if name in properties:
                if not fits(inner, properties[name], root):
                    return False
            elif others is False or (isinstance(others, dict) and not fits(inner, others, root)):
                return False
    if isinstance(value, list) and "items" in rule:
        if not rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", len(value)):
            return False
        return all(fits(inner, rule["items"], root) for inner in value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return rule.get("minimum", value) <= value <= rule.get("maximum", value) and value > rule.get(
            "exclusiveMinimum", value - 1
        )
    return not isinstance(value, str) or len(value) >= rule.get("minLength", 0)


@pytest.mark.parametrize("name", profiles.names())
def test_every_shipped_profile_fits_the_schema(name):
    document = tomllib.loads((FILE.parent / f"{name}.toml").read_text(encoding="utf-8"))
    assert fits(document, schema(), schema())


@pytest.mark.parametrize(
    "wrong",
    [
        {"points": {"registr": 1}},
        {"points": {"register": "one"}},
        {"points": {"type": "float"}},
        {"points": {"states": [{"register": 1, "bits": {"falt": [0]}}]}},
        {"timing": {"refresh_s": -1}},
    ],
    ids=str,
)
def test_the_schema_refuses_what_the_loader_refuses(wrong, tmp_path):
    assert not fits({"format": 1, "id": "x", "wire": "modbus", **wrong}, schema(), schema())


def test_every_key_of_the_format_stands_in_its_page():
    page = (Path(__file__).parents[2] / "docs" / "add-a-detector-profile.md").read_text(encoding="utf-8")
    for wire, sections in SECTIONS.items():
        names = {*TOP, *sections}
        for shape in sections.values():
            inner = getattr(shape, "item", shape)
            names |= set(inner.keys)
        # the two ways of a generic profile's status register are in configuration.md, where such settings are given
        for name in names - {"status_register", "status_function", "bits", "role"}:
            told = re.search(rf"`{name}`|`\[+{name}[\].]|\b{name} =|{{ .*\b{name}\b.* }}", page)
            assert told, f"{wire}: {name}"


@pytest.mark.parametrize(
    ("points", "key", "line"),
    [
        ("[points]\naddress = 40003\n", "points.base", 4),
        ("[points]\nbase = 40001\naddress = 30003\n", "points.address", 6),
        ("[points]\nregister = 1\naddress = 40003\nbase = 40001\n", "points.address", 6),
        ("[points]\nregister = 1\nfield = [7, 4]\n", "points.field", 6),
        ("[points]\nregister = 1\ntype = 'float32'\nbyte = 'high'\n", "points.field", 4),
        ("[points]\nregister = 1\nscale = 2\ntwo_point = [[0, 0], [1, 1]]\n", "points.two_point", 7),
        ("[points]\nregister = 1\ntwo_point = [[0, 0], [0, 1]]\n", "points.two_point", 6),
        ("[points]\nregister = 1\nunit_of_value = 'ppm'\nhead = { range_lel_pct = [0, 100] }\n", "points.head", 7),
        ("[points]\nregister = 1\nsentinels = { fault = { from = 9, to = 5 } }\n", "points.sentinels.fault", 6),
        ("[points]\nregister = 1\n[[points.states]]\nregister = 2\n", "points.states.0.bits", 6),
        ("[points]\nregister = 1\n\n[[points.states]]\nregister = 2\ncodes = [{ means = 'fault' }]\n",
         "points.states.0.codes.0.from", 9),
        ("[points]\nregister = 1\nchannel = 2\n", "points.channel", 6),
        ("[points]\nregister = 1\nidentity = { register = 0 }\n", "points.identity.equals", 6),
        ("[outputs.k]\nfunction = 'input'\nregister = 0\n", "outputs.k.function", 5),
        ("[outputs.k]\nfunction = 'holding'\nregister = 0\non = 768\noff = 0\nforbidden = [768]\n", "outputs.k.on", 7),
        ("[counters.c]\nregister = 0\ntype = 'uint16'\nwrap = 100000\n", "counters.c.wrap", 7),
        ("[measures.m]\nunit = 'kg'\n", "measures.m.register", 4),
    ],
)  # fmt: skip
def test_a_contradiction_is_told_with_its_line(tmp_path, points, key, line):
    with pytest.raises(ProfileError) as caught:
        load(tmp_path, HEAD + points)
    assert (caught.value.key, caught.value.line) == (key, line)


@pytest.mark.parametrize(
    ("points", "key"),
    [
        ("[points]\nvalue = 'lel'\n", "points.value"),
        ("[points]\nunit_of_value = 'ppm'\n", "points.value"),
        ("[points]\ntopic = '{a}/x'\nvalue = { topic = '{b}/y' }\n", "points.topic"),
        ("[points]\nvalue = '/x'\nwhen = [{ pointer = '/y' }]\n", "points.when.0.equals"),
        ("[points]\ncarrier = { form = 'hex' }\n", "points.registers"),
        ("[points]\ncarrier = { form = 'hex' }\nregisters = { register = -1 }\n", "points.registers.register"),
        ("[outputs.k]\ncommand = { topic = 'a/{b', on = '1', off = '0' }\n", "outputs.k.command.topic"),
        ("[outputs.k]\ncommand = { topic = 'a', on = '1' }\n", "outputs.k.command.off"),
    ],
)
def test_a_contradiction_in_messages_is_told_too(tmp_path, points, key):
    with pytest.raises(ProfileError) as caught:
        load(tmp_path, MQTT + points)
    assert caught.value.key == key


def test_a_profile_may_build_upon_another_and_say_only_what_differs(tmp_path):
    text = (
        'format = 1\nid = "x"\nlike = "general-monitors-s4000"\n\n[points]\naddress = 40010\n'
        "head = { milliamp = [0, 20] }\n"
    )
    points = load(tmp_path, text).points
    assert isinstance(points, ModbusPoints)
    assert (points.register, points.identity is not None) == (9, True)
    assert points.head is not None
    assert (points.head.milliamp, points.head.high) == ((0.0, 20.0), 100.0)


def test_an_assumption_of_a_key_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(ProfileError, match=r"x.toml:6: points.assumed: expected 'function', got 'funktion'"):
        load(tmp_path, HEAD + '[points]\nregister = 1\nassumed = ["funktion"]\n')


def test_profiles_that_build_upon_each_other_for_ever_are_refused(tmp_path):
    with pytest.raises(ProfileError, match="at most 4 profiles"):
        load(tmp_path, 'format = 1\nid = "x"\nlike = "./x.toml"\n')


# --- from raw values to gas


PLACES = "[points]\nregister = 0\ntype = 'uint16'\n"


@pytest.mark.parametrize(
    ("more", "cells", "lel_pct"),
    [
        ("two_point = [[800, 0], [4000, 100]]", {0: 1120}, 10.0),
        ("decimals = 2", {0: 1234}, 12.34),
        ("decimals = { register = 1, field = [0, 2] }", {0: 1234, 1: 0xFF01}, None),  # 123.4: over range
        ("full_scale = 500\ndecimals = { register = 1, field = [0, 2] }", {0: 1234, 1: 0x0401}, 123.4),
        ("divisor = { register = 1 }", {0: 1234, 1: 100}, 12.34),
        ("scale = { register = 1, byte = 'high', codes = [{ at = 2, means = 0.1 }] }", {0: 123, 1: 0x0200}, 12.3),
        ("sign = { register = 1, byte = 'high', negative = 1 }", {0: 2, 1: 0x0101}, -2.0),
        ("scale = 0.1\noffset = -10", {0: 200}, 10.0),
        ("field = [4, 11]", {0: 0x00C3}, 12.0),
        ("at_byte = 1", {0: 0xFF00, 1: 0x0C00}, 12.0),
        ("unit_of_value = { register = 1, length = 2, words = { ppm = 'ppm' } }", {0: 1400, 1: " PPM"}, 10.0),
        ("full_scale = { register = 1 }", {0: 50, 1: 60}, 50.0),
        ("unit_of_value = 'range_pct'\nscale = 0.01\nhead = { range_ppm = [0, 14000] }", {0: 1000}, 10.0),
    ],
)
def test_the_ways_from_a_raw_value_to_gas(tmp_path, more, cells, lel_pct):
    reading = said(tmp_path, PLACES + more + "\n", cells)
    if lel_pct is None:
        assert reading.status is Status.OVER_RANGE
    else:
        assert (reading.lel_pct, reading.quality) == (pytest.approx(lel_pct), Quality.GOOD)


@pytest.mark.parametrize(
    ("more", "cells", "reason"),
    [
        ("decimals = { register = 1 }", {0: 5, 1: 77}, "bad-scale"),
        ("divisor = { register = 1 }", {0: 5, 1: 0}, "bad-scale"),
        ("scale = { register = 1, codes = [{ at = 2, means = 0.1 }] }", {0: 5, 1: 3}, "unknown-scale"),
        ("unit_of_value = { register = 1, codes = [{ at = 1, means = 'ppm' }] }", {0: 5, 1: 8}, "unknown-unit"),
        ("identity = { register = 1, length = 2, text = 'LX20' }", {0: 5, 1: "LX30"}, "other-device"),
        ("echoes_unit = { register = 1, byte = 'low' }", {0: 5, 1: 2}, "other-device"),
        ("sentinels = { fault = [5, { from = 900, to = 999 }] }", {0: 950}, "sentinel"),
        ("sentinels = { no_data = 0 }", {0: 0}, "no-data"),
    ],
)
def test_what_cannot_be_read_is_a_fault_and_never_a_number(tmp_path, more, cells, reason):
    reading = said(tmp_path, PLACES + more + "\n", cells)
    assert (reading.lel_pct, reading.quality, reading.reason) == (None, Quality.BAD, reason)


def test_a_full_scale_that_a_register_tells_is_over_range_at_its_end(tmp_path):
    assert said(tmp_path, PLACES + "full_scale = { register = 1 }\n", {0: 60, 1: 60}).status is Status.OVER_RANGE


def test_an_unreadable_unit_beside_the_devices_own_alarm_is_still_gas(tmp_path):
    points = (
        PLACES
        + "unit_of_value = { register = 1, codes = [{ at = 1, means = 'ppm' }] }\n"
        + "[[points.states]]\nregister = 2\nbits = { alarm1 = 0 }\n"
    )
    assert said(tmp_path, points, {0: 5, 1: 8, 2: 1}).at_least == 25.0


CHANNELS = (
    "[points]\nbase = 1\naddress = 2001\ntype = 'uint16'\n"
    "channels = { count = 256, stride = 1, axes = { line = 32, slave = 1 } }\n"
)


@pytest.mark.parametrize(
    ("channel", "register"), [(1, 2000), (69, 2068), ({"line": 3, "slave": 5}, 2068), ({"line": 8, "slave": 32}, 2255)]
)
def test_a_channel_is_a_number_or_its_axes(tmp_path, channel, register):
    assert said(tmp_path, CHANNELS, {register: 12}, channel=channel).lel_pct == 12.0


@pytest.mark.parametrize("channel", [0, 257, {"line": 9, "slave": 1}, {"line": 1}, "3"])
def test_a_channel_the_device_does_not_have_is_refused(tmp_path, channel):
    with pytest.raises(ProfileError) as caught:
        said(tmp_path, CHANNELS, {2000: 1}, channel=channel)
    assert caught.value.key.startswith("channel")


# --- what it says of itself


STATES = PLACES + "[[points.states]]\nregister = 1\n"


@pytest.mark.parametrize(
    ("state", "word", "status"),
    [
        ("clear_bits = { warm_up = 7, disabled = 0 }", 0x81, Status.MEASURING),
        ("clear_bits = { warm_up = 7, disabled = 0 }", 0x80, Status.INHIBITED),
        ("clear_bits = { warm_up = 7, disabled = 0 }", 0x01, Status.WARM_UP),
        ("codes = [{ from = 1100, to = 1199, means = 'fault' }]\notherwise = 'measuring'", 1103, Status.FAULT),
        ("codes = [{ from = 1100, to = 1199, means = 'fault' }]\notherwise = 'measuring'", 7, Status.MEASURING),
        (
            "field = [4, 5]\ncodes = [{ at = 0, means = 'measuring' }, { at = 1, means = 'test' }]",
            0x10,
            Status.CALIBRATING,
        ),
        ("bits = { low_power = 15 }", 0x8000, Status.FAULT),
        ("bits = { comms_fault = 3 }", 8, Status.NO_CONTACT),
    ],
)
def test_states_come_from_bits_that_are_set_or_clear_and_from_codes(tmp_path, state, word, status):
    assert said(tmp_path, STATES + state + "\n", {0: 3, 1: word}).status is status


def test_a_closed_gate_shuts_out_number_and_alarm_even_against_the_usual_order(tmp_path):
    points = STATES + (
        "gate = true\ncodes = [{ at = 0, means = 'measuring' }]\notherwise = 'fault'\n"
        "[[points.states]]\nregister = 2\nbits = { alarm1 = 0, warm_up = 1 }\n"
    )
    closed = said(tmp_path, points, {0: 50, 1: 4, 2: 3})
    assert (closed.status, closed.lel_pct, closed.at_least) == (Status.FAULT, None, None)
    assert said(tmp_path, points, {0: 5, 1: 0, 2: 1}).gas() == 25.0


def test_precedence_puts_its_words_before_the_usual_order(tmp_path):
    bits = "bits = { fault = 0, inhibited = 1 }\n"
    assert said(tmp_path, STATES + bits, {0: 3, 1: 3}).status is Status.INHIBITED
    first = PLACES + "precedence = ['fault']\n[[points.states]]\nregister = 1\n" + bits
    assert said(tmp_path, first, {0: 3, 1: 3}).status is Status.FAULT


def test_the_highest_of_several_alarms_is_what_counts_and_clears_only_with_the_number(tmp_path):
    points = (
        PLACES
        + "trips = { alarm1 = 10, alarm2 = 40 }\n[[points.states]]\nregister = 1\nbits = { alarm1 = 0, alarm2 = 1 }\n"
    )
    assert said(tmp_path, points, {0: 2, 1: 3}).gas() == 40.0
    assert said(tmp_path, points, {0: 2, 1: 1}).gas() == 10.0
    assert said(tmp_path, points, {0: 55, 1: 1}).gas() == 55.0
    assert said(tmp_path, points, {0: 2, 1: 0}).gas() == 2.0


def test_a_warning_still_measures_and_an_end_of_life_ends_no_alarm(tmp_path):
    points = STATES + "bits = { warning = 0, end_of_life = 1 }\n"
    warned, ended = said(tmp_path, points, {0: 3, 1: 1}), said(tmp_path, points, {0: 3, 1: 2})
    assert (warned.lel_pct, warned.quality, warned.reason) == (3.0, Quality.GOOD, "warning")
    assert (ended.lel_pct, ended.quality, ended.reason) == (3.0, Quality.UNCERTAIN, "end-of-life")


def test_discrete_inputs_beside_registers_tell_the_state(tmp_path):
    points = (
        PLACES + "[[points.states]]\nfunction = 'discrete'\nregister = 300\ncodes = [{ at = 0, means = 'measuring' }]\n"
    )
    profile = load(tmp_path, HEAD + points)
    for bit, status in ((0, Status.MEASURING), (1, Status.FAULT)):
        given = Given({Function.HOLDING: {0: 4}, Function.DISCRETE: {300: bit}})
        assert readings(profile, given, SAME)[0].status is status


# --- messages


def test_a_list_item_is_chosen_by_its_key(tmp_path):
    points = "[points]\nvalue = '/tags/[name=gas]/value'\n"
    (reading,) = heard(tmp_path, points, '{"tags":[{"name":"temp","value":31},{"name":"gas","value":12}]}')
    assert reading.lel_pct == 12.0


def test_texts_are_numbers_only_where_the_profile_says_so(tmp_path):
    assert heard(tmp_path, "[points]\nvalue = '/x'\n", '{"x":"12.5"}')[0].quality is Quality.BAD
    assert heard(tmp_path, "[points]\nvalue = '/x'\ntext_numbers = true\n", '{"x":"12.5"}')[0].lel_pct == 12.5


def test_a_list_and_documents_in_a_row_are_samples_one_after_the_other(tmp_path):
    listed = heard(tmp_path, "[points]\npayload = 'list'\nvalue = '/x'\n", '[{"x":1},{"x":30}]')
    glued = heard(tmp_path, "[points]\npayload = 'lines'\nvalue = '/x'\n", '{"x":1}{"x":30}', '{"x":2}\n{"x":3}\n')
    assert [each.lel_pct for each in listed] == [1.0, 30.0]
    assert [each.lel_pct for each in glued] == [1.0, 30.0, 2.0, 3.0]


@pytest.mark.parametrize(("rule", "payload", "status"), [
    ("ignore", '{"n":1}', None),
    ("zero", '{"n":1}', Status.MEASURING),
    ("fault", '{"errors":{"gas":3}}', Status.FAULT),
])  # fmt: skip
def test_a_missing_key_means_what_the_profile_says(tmp_path, rule, payload, status):
    found = heard(tmp_path, f"[points]\nvalue = '/x'\nmissing = '{rule}'\n", '{"x":3}', payload)
    assert len(found) == (1 if status is None else 2)
    assert status is None or found[-1].status is status
    assert rule != "zero" or found[-1].lel_pct == 0.0


def test_only_messages_that_fulfil_the_conditions_are_the_heads(tmp_path):
    points = (
        "[points]\nvalue = '/x'\nwhen = [{ pointer = '/port', equals = [2, 3] }, { pointer = '/old', absent = true }]\n"
    )
    found = heard(tmp_path, points, '{"x":1,"port":5}', '{"x":2,"port":2}', '{"x":3,"port":2,"old":true}', '{"x":4}')
    assert [each.lel_pct for each in found] == [2.0]


@pytest.mark.parametrize(("form", "carried"), [("list", [123, 4]), ("hex", "007B0004"), ("base64", "AHsABA==")])
def test_registers_inside_a_message_are_read_as_registers(tmp_path, form, carried):
    points = (
        f"[points]\ncarrier = {{ pointer = '/data', form = '{form}', first = 10 }}\n"
        "[points.registers]\nregister = 10\ntype = 'uint16'\nscale = 0.1\n"
        "[[points.registers.states]]\nregister = 11\nbits = { alarm1 = 2 }\n"
    )
    good, short, none = heard(tmp_path, points, json.dumps({"data": carried}), '{"data":"" }', '{"data":7}')
    assert (good.lel_pct, good.at_least) == (12.3, 25.0)
    assert (short.reason, none.reason) == ("garbled", "garbled")


def test_a_field_may_tell_the_unit(tmp_path):
    points = "[points]\nvalue = '/x'\nunit_of_value = { pointer = '/u', words = { ppm = 'ppm', '%LEL' = 'lel_pct' } }\n"
    ppm, lel, other = heard(tmp_path, points, '{"x":1400,"u":"ppm"}', '{"x":9,"u":"%LEL"}', '{"x":9,"u":"LEL.m"}')
    assert (ppm.lel_pct, lel.lel_pct, other.reason) == (10.0, 9.0, "unknown-unit")


def test_a_late_sample_raises_and_ends_nothing_and_a_wrong_clock_blinds_nobody(tmp_path):
    points = "[points]\nvalue = '/x'\nsample_time = { pointer = '/t', form = 'unix_s' }\n"
    times = (1000, 1002, 1001, 1003, 9_000_000_000, 1004, 1005)
    found = heard(tmp_path, points, *(json.dumps({"x": 5, "t": t}) for t in times))
    assert [each.quality.value for each in found] == ["good", "good", "uncertain", "good", "good", "good", "good"]
    assert found[2].reason == "out-of-order"


def test_topics_are_worked_out_from_the_heads_own(tmp_path):
    text = (
        "[points]\ntopic = 'v3/{app}[@{tenant}]/devices/{device}/up'\nvalue = '/x'\n"
        "availability = { topic = 'state/{device}' }\n"
    )
    points = load(tmp_path, MQTT + text).points
    assert points is not None and not isinstance(points, ModbusPoints)
    assert points.topics("v3/a@t/devices/d7/up") == ("v3/a@t/devices/d7/up", "state/d7")
    assert points.topics("v3/a/devices/d7/up") == ("v3/a/devices/d7/up", "state/d7")
    with pytest.raises(ValueError, match="does not fit"):
        points.topics("v3/a/devices/d7/down")
