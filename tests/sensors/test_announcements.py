"""Announcements as bridges and devices publish them -> the keys that read their heads."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensors import profiles
from sensors.announcements.ear import MOST_HEADS, Ear
from sensors.announcements.found import Announced, Models
from sensors.wire.payload_points import PayloadPoints


@pytest.fixture(scope="module")
def models() -> Models:
    return Models(map(profiles.load, profiles.names()))


def heard(models: Models, *messages: tuple[str, Any]) -> list[Announced]:
    ear = Ear(models)
    for topic, payload in messages:
        ear.hear(topic, payload if isinstance(payload, bytes) else json.dumps(payload).encode())
    return list(ear.heads())


def readable(head: Announced) -> PayloadPoints:
    """Install its profile with its keys, as the file would."""
    points = profiles.load(head.profile).installed(head.keys).points
    assert isinstance(points, PayloadPoints)
    return points


# --- Zigbee2MQTT


def device(name: str, model: str, *exposes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"friendly_name": name, "definition": {"model": model, "vendor": "Acme", "exposes": list(exposes)}, **more}


GAS = {"type": "binary", "name": "gas", "property": "gas", "value_on": True, "value_off": False}


def numeric(name: str, unit: str) -> dict[str, Any]:
    return {"type": "numeric", "name": name, "property": name, "unit": unit}


def test_a_head_of_a_shipped_model_gets_its_profile(models: Models) -> None:
    for model in ("HS1CG", "HS1CG-E"):
        (head,) = heard(models, ("zigbee2mqtt/bridge/devices", [device("cozinha", model, GAS)]))
        assert (head.topic, head.profile, dict(head.keys)) == ("zigbee2mqtt/cozinha", "z2m-heiman-hs1cg", {})


def test_another_model_that_merely_begins_alike_does_not(models: Models) -> None:
    (head,) = heard(models, ("z/bridge/devices", [device("x", "HS1CGX", GAS)]))
    assert head.profile == "mqtt-json"


def test_an_unknown_head_is_read_by_what_it_exposes_and_the_unit_it_says(models: Models) -> None:
    devices = [
        device("a", "NEW-1", numeric("gas_value", "%LEL"), GAS),
        device("b", "NEW-2", GAS, power_source="Battery"),
        device("c", "NEW-3", {"type": "x", "features": [numeric("gas", "ppm")]}),
    ]
    a, b, c = heard(models, ("casa/bridge/devices", devices))
    assert (a.topic, a.keys["value"], a.keys["unit_of_value"]) == ("casa/a", "/gas_value", "lel_pct")
    assert a.keys["states"][0]["words"] == {"true": "alarm1", "false": "measuring"}
    assert (b.keys, "battery" in b.notes, "trip-assumed" in b.notes) == ({"value": "/gas", "trip": 25}, True, True)
    assert (c.keys["value"], c.keys["unit_of_value"]) == ("/gas", "ppm")
    for head in (a, b, c):
        assert readable(head).unit_of_value.value == head.keys.get("unit_of_value", "lel_pct")


def test_what_is_no_gas_head_is_passed_over(models: Models) -> None:
    devices = [
        device("co2", "X-100", numeric("co2", "ppm")),
        device("voc", "X-101", numeric("voc", "ppm")),
        device("gone", "X-102", GAS, disabled=True),
        device("", "X-103", GAS),
        {"friendly_name": "coordinator", "definition": None},
        None,
        7,
    ]
    assert heard(models, ("zigbee2mqtt/bridge/devices", devices)) == []


# --- Home Assistant


def entity(**config: Any) -> dict[str, Any]:
    return {"state_topic": "esp/gas/state", "device_class": "gas", "name": "Gás", **config}


def test_a_binary_sensor_of_class_gas_says_words(models: Models) -> None:
    (head,) = heard(models, ("homeassistant/binary_sensor/esp/gas/config", entity()))
    assert (head.topic, head.profile) == ("esp/gas/state", "mqtt-words")
    assert head.keys["states"] == [{"pointer": "", "words": {"ON": "alarm1", "OFF": "measuring"}, "payload": "text"}]
    assert readable(head).says_alarm


def test_short_keys_a_base_and_a_path_are_followed(models: Models) -> None:
    short = {
        "~": "esp/7",
        "stat_t": "~/tele",
        "dev_cla": "gas",
        "val_tpl": "{{ value_json.GAS['on line'] }}",
        "pl_on": True,
    }
    (head,) = heard(models, ("homeassistant/binary_sensor/gas/config", short))
    assert head.topic == "esp/7/tele"
    assert head.keys["states"][0]["pointer"] == "/GAS/on line"
    assert "true" in head.keys["states"][0]["words"]


@pytest.mark.parametrize(
    ("template", "value"),
    [
        (None, ""),
        ("{{ value }}", ""),
        ("{{ value | float }}", ""),
        ("{{ value_json.lel }}", "/lel"),
        ("{{value_json.a.b|round(1)|float(0)}}", "/a/b"),
        ("{{ value_json['a/b'][0] }}", "/a~1b/0"),
        ("{{ value_json.lel * 2 }}", None),
        ("{{ value | multiply(0.1) }}", None),
        ("{% if value > 3 %}1{% endif %}", None),
    ],
)
def test_a_template_that_only_points_is_a_pointer_and_one_that_computes_is_left_to_a_person(
    models: Models, template: str | None, value: str | None
) -> None:
    config = {"state_topic": "t", "unit_of_measurement": "% LEL", "name": "x"} | (
        {"value_template": template} if template else {}
    )
    (head,) = heard(models, ("homeassistant/sensor/x/config", config))
    if value is None:
        assert (head.profile, head.notes) == ("", ("value-template",))
    else:
        assert (head.profile, head.keys["value"]) == ("mqtt-json", value)
        readable(head)


def test_a_whole_device_in_one_message_gives_its_gas_entities(models: Models) -> None:
    whole = {
        "dev": {"name": "Cozinha", "mdl": "G1", "mf": "Acme"},
        "cmps": {
            "one": {"p": "sensor", "stat_t": "c/ppm", "unit_of_meas": "ppm", "name": "GLP"},
            "two": {"p": "binary_sensor", "stat_t": "c/gas", "dev_cla": "gas"},
            "three": {"p": "sensor", "stat_t": "c/co2", "unit_of_meas": "ppm", "name": "CO2"},
            "four": None,
        },
    }
    found = heard(models, ("homeassistant/device/c/config", whole))
    assert [(head.topic, head.profile, head.model) for head in found] == [
        ("c/gas", "mqtt-words", "Acme G1"),
        ("c/ppm", "mqtt-json", "Acme G1"),
    ]


def test_the_bridges_own_word_counts_before_the_integrations_whichever_comes_first(models: Models) -> None:
    bridge = ("zigbee2mqtt/bridge/devices", [device("sala", "HS1CG", GAS)])
    integration = ("homeassistant/binary_sensor/0x1/gas/config", entity(state_topic="zigbee2mqtt/sala"))
    for order in ((bridge, integration), (integration, bridge)):
        (head,) = heard(models, *order)
        assert (head.by, head.profile) == ("zigbee2mqtt", "z2m-heiman-hs1cg")


# --- Shelly, Tasmota, Sparkplug


def test_a_shelly_gas_is_known_and_another_shelly_is_not(models: Models) -> None:
    gas = {"id": "shellygas-C1B2", "model": "SHGS-1"}
    plug = {"id": "shellyplug-1", "model": "SHPLG-1"}
    (head,) = heard(models, ("shellies/announce", gas), ("shellies/announce", plug))
    assert (head.topic, head.profile) == ("shellies/shellygas-C1B2/sensor/gas", "shelly-gas")
    assert head.topic in readable(head).topics(head.topic)


def test_a_tasmota_is_known_once_both_its_messages_were_heard(models: Models) -> None:
    config = {
        "dn": "Sensor",
        "t": "tasmota_A1",
        "ft": "%prefix%/%topic%/",
        "tp": ["cmnd", "stat", "tele"],
        "md": "Generic",
    }
    sensors = {"sn": {"Time": "2026-01-01T00:00:00", "ANALOG": {"MQX": 12.5, "Temperature": 20}}}
    both = (("tasmota/discovery/A1/config", config), ("tasmota/discovery/A1/sensors", sensors))
    assert heard(models, both[0]) == []
    for order in (both, both[::-1]):
        (head,) = heard(models, *order)
        assert head.topic == "tele/tasmota_A1/SENSOR" and "slow" in head.notes
        readable(head)


def birth(*metrics: tuple[str, int, str]) -> bytes:
    """A birth as Sparkplug's protocol buffer, written here by hand."""

    def field(number: int, content: bytes) -> bytes:
        size, out = len(content), bytearray([number << 3 | 2])
        while size > 0x7F:
            out.append(size & 0x7F | 0x80)
            size >>= 7
        return bytes([*out, size]) + content

    found = b"\x08\x01"
    for name, kind, unit in metrics:
        metric = field(1, name.encode()) + bytes([4 << 3, kind])
        if unit:
            value = bytes([1 << 3, 12]) + field(8, unit.encode())
            metric += field(9, field(1, b"engUnit") + field(2, value))
        found += field(2, metric + b"\x65\x00\x00\x48\x41")
    return found + b"\x18\x00"


def test_a_sparkplug_birth_names_its_gas_metrics(models: Models) -> None:
    metrics = birth(("Inputs/LEL", 9, ""), ("Temperature", 9, "C"), ("AI3", 10, "%LEL"), ("Gas name", 12, ""))
    found = heard(models, ("spBv1.0/depot/DBIRTH/node/head7", metrics))
    assert [(head.topic, head.keys["metric"]) for head in found] == [
        ("spBv1.0/depot/DDATA/node/head7", "AI3"),
        ("spBv1.0/depot/DDATA/node/head7", "Inputs/LEL"),
    ]
    assert found[0].keys["unit_of_value"] == "lel_pct"
    assert "spBv1.0/depot/DDATA/node/+" in readable(found[0]).topics(found[0].topic)
    assert (found[1].profile, found[1].notes) == ("", ("no-profile",)), "a unit that nobody told is not guessed"


def test_a_metric_of_the_node_itself_is_read_by_its_own_topic(models: Models) -> None:
    (found,) = heard(models, ("spBv1.0/depot/NBIRTH/node", birth(("AI3", 10, "%LEL"))))
    assert found.topic == "spBv1.0/depot/NDATA/node"
    assert found.topic in readable(found).topics(found.topic)


# --- whatever comes


@given(
    topic=st.sampled_from(
        [
            "z/bridge/devices", "homeassistant/sensor/x/config", "homeassistant/device/x/config", "shellies/announce",
            "tasmota/discovery/a/config", "tasmota/discovery/a/sensors",
            "spBv1.0/g/NBIRTH/n", "spBv1.0/g/DBIRTH/n/d", "else",
        ]
    ),
    payload=st.binary(max_size=200)
    | st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12),
        lambda inner: st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["friendly_name", "definition", "exposes", "property", "unit", "type", "stat_t", "dev_cla", "cmps", "~",
                 "id", "model", "sn", "t", "ft", "tp", "val_tpl", "features", "dev", "p"]
            ),
            inner,
            max_size=6,
        ),
        max_leaves=20,
    ).map(lambda document: json.dumps(document).encode()),
)  # fmt: skip
def test_no_message_whatever_it_holds_makes_the_ear_fail(topic: str, payload: bytes) -> None:
    ear = Ear(Models(()))
    ear.hear(topic, payload)
    assert all(head.topic and head.name for head in ear.heads())


def test_what_the_ear_remembers_is_bounded_and_what_it_leaves_out_is_counted(models: Models) -> None:
    ear = Ear(models)
    ear.hear("z/bridge/devices", json.dumps([device(f"d{n}", "N-1000", GAS) for n in range(MOST_HEADS + 5)]).encode())
    assert (len(ear.heads()), ear.dropped) == (MOST_HEADS, 5)
