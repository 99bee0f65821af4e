"""Outputs and measures of shipped devices on MQTT as their makers write them."""

import json
from dataclasses import replace

import pytest

from sensors import profiles
from sensors.profiles import NEUTRAL, ProfileError
from sensors.readings import Quality, Status
from sensors.rehearsal import Given, Message, readings
from sensors.wire.outputs import ForbiddenOutputError, MqttOutput
from sensors.wire.payload_points import PayloadPoints

UPLINK = "application/8f2c/device/a84041000181/event/up"


def output(profile: str, name: str, channel: object = None) -> MqttOutput:
    found = profiles.load(profile).output(name, channel)
    assert isinstance(found, MqttOutput)
    return found


def test_a_shelly_of_the_second_generation_is_called_by_json_rpc_and_confirmed_by_its_status():
    relay, values = output("shelly-gen2-switch", "relay", 2), {"prefix": "casa/sirene"}
    topic, payload = relay.message(values, on=True)
    assert topic == "casa/sirene/rpc"
    said = json.loads(payload)
    assert (said["method"], said["params"]) == ("Switch.Set", {"id": 2, "on": True})
    assert said["id"] and said["src"]
    assert json.loads(relay.message(values, on=False)[1])["params"] == {"id": 2, "on": False}
    assert relay.confirmed_on(values) == "casa/sirene/status/switch:2"
    assert relay.question(values) == ("casa/sirene/command/switch:2", b"status_update")
    status = b'{"id":2,"source":"MQTT","output":true,"apower":0.0}'
    assert [relay.state(status), relay.state(b'{"id":2,"output":false}'), relay.state(b'{"id":2}')] == [
        True, False, None,
    ]  # fmt: skip


@pytest.mark.parametrize("channel", [None, -1, 4])
def test_a_shelly_has_no_other_switches(channel):
    with pytest.raises(ProfileError, match="channel"):
        profiles.load("shelly-gen2-switch").output("relay", channel)


@pytest.mark.parametrize(("name", "channel", "word"), [("relay", None, "POWER"), ("relays", 3, "POWER3")])
def test_a_relay_of_tasmota_is_told_and_confirmed_in_plain_words(name, channel, word):
    relay, values = output("tasmota-relay", name, channel), {"device": "sirene"}
    assert relay.message(values, on=True) == (f"cmnd/sirene/{word}", b"ON")
    assert relay.message(values, on=False) == (f"cmnd/sirene/{word}", b"OFF")
    assert relay.confirmed_on(values) == f"stat/sirene/{word}"
    assert [relay.state(said) for said in (b"ON", b"OFF", b"TOGGLE")] == [True, False, None]


def test_a_relay_that_stands_alone_has_no_channels():
    with pytest.raises(ProfileError, match="channel"):
        profiles.load("tasmota-relay").output("relay", 1)


def test_a_siren_is_confirmed_by_its_sound_and_not_by_its_light():
    siren, values = output("z2m-lincukoo-a08-siren", "siren"), {"device": "zigbee2mqtt/sirene"}
    assert siren.message(values, on=True) == ("zigbee2mqtt/sirene/set", b'{"alarm_state":"alarm_sound_light"}')
    assert siren.message(values, on=False) == ("zigbee2mqtt/sirene/set", b'{"alarm_state":"normal"}')
    assert siren.confirmed_on(values) == "zigbee2mqtt/sirene"
    words = ("alarm_sound_light", "alarm_sound", "normal", "alarm_light")
    said = [siren.state(json.dumps({"alarm_state": word, "mute": "OFF"}).encode()) for word in words]
    assert said == [True, True, False, None]


def test_a_gas_lock_can_be_closed_and_never_opened():
    valve, values = output("z2m-dawon-sg-v100", "valve"), {"device": "zigbee2mqtt/registro"}
    assert valve.message(values, on=False) == ("zigbee2mqtt/registro/set", b'{"state":"OFF"}')
    with pytest.raises(ForbiddenOutputError):
        valve.message(values, on=True)
    assert [valve.state(b'{"state":"OFF","battery":90}'), valve.state(b'{"state":"ON"}')] == [False, True]


def measured(name: str, channel: object, document: object) -> tuple[object, ...]:
    profile = profiles.load("dragino-weightscale")
    points = profile.measure(name, channel)
    assert isinstance(points, PayloadPoints)
    given = Given(messages=(Message(json.dumps(document).encode()),), topic=UPLINK)
    return readings(replace(profile, points=points), given, NEUTRAL)


OBJECT = {"Weight1": 13450, "Weight8": -3, "Temperature1": "21.4", "BatV": 3.61, "s_flag": "10000001", "i_flag": 0}


@pytest.mark.parametrize(
    ("name", "channel", "value"),
    [("weight", 1, 13450), ("weight", 8, -3), ("temperature", 1, 21.4), ("battery", None, 3.61)],
)
def test_a_scale_on_lorawan_tells_its_cells_apart(name, channel, value):
    (reading,) = measured(name, channel, {"deduplicationId": "d1", "fPort": 2, "object": OBJECT})
    assert reading.lel_pct == pytest.approx(value)
    assert (reading.quality, reading.status) == (Quality.GOOD, Status.MEASURING)


def test_the_device_information_of_a_scale_is_no_weight():
    assert measured("weight", 1, {"fPort": 5, "object": OBJECT}) == ()


def test_a_scale_without_a_weight_says_nothing_of_it():
    assert measured("weight", 2, {"fPort": 2, "object": OBJECT}) == ()
