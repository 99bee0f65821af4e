"""Outputs, counters and tags as profiles describe them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensors import profiles
from sensors.profiles import ProfileError
from sensors.profiles.parts import counter_point, mqtt_output, output_point, tag_points
from sensors.wire.counts import tags_in
from sensors.wire.outputs import ForbiddenOutputError, MqttOutput, OutputPoint
from sensors.wire.places import Function, Place, Type


def test_a_relay_is_a_coil_of_its_channel_read_back_at_the_same_place():
    relay = profiles.load("waveshare-relay").output("relay", 3)
    assert isinstance(relay, OutputPoint)
    assert (relay.write(on=True), relay.write(on=False)) == ((5, 2, 1), (5, 2, 0))
    assert relay.read_back == Place(Function.COIL, 2, Type.BOOL)
    assert [relay.state(raw) for raw in (1, 0, 7)] == [True, False, None]


@pytest.mark.parametrize("channel", [None, 0, 9])
def test_a_relay_board_has_no_other_channels(channel):
    with pytest.raises(ProfileError):
        profiles.load("waveshare-relay").output("relay", channel)


def test_an_output_that_does_not_exist_is_answered_with_the_nearest():
    with pytest.raises(ProfileError, match="'relay'"):
        profiles.load("waveshare-relay").output("relays", 1)
    with pytest.raises(ProfileError, match="a device with outputs"):
        profiles.load("rki-m2a").output("relay")


def test_a_register_relay_writes_one_value_and_reads_back_another():
    table = {
        "function": 6 - 3,
        "register": 1,
        "on": 0x0100,
        "off": 0x0200,
        "forbidden": [0x0300],
        "read_back": {"function": 3, "on": 1, "off": 0},
    }
    relay = output_point(table)
    assert relay.write(on=True) == (6, 1, 0x0100)
    assert (relay.state(1), relay.state(0), relay.state(0x0100)) == (True, False, None)


def test_a_valve_that_can_only_be_closed_is_never_told_to_open():
    valve = mqtt_output(
        {
            "command": {"topic": "{device...}/set", "off": '{"state":"OFF"}'},
            "confirm": {"topic": "{device...}", "pointer": "/state", "on": "ON", "off": "OFF"},
            "only": "off",
            "safe": "off",
        }
    )
    assert isinstance(valve, MqttOutput)
    assert valve.message({"device": "casa/v1"}, on=False) == ("casa/v1/set", b'{"state":"OFF"}')
    with pytest.raises(ForbiddenOutputError):
        valve.message({"device": "casa/v1"}, on=True)
    assert valve.confirmed_on({"device": "casa/v1"}) == "casa/v1"
    said = [valve.state(payload) for payload in (b'{"state":"ON"}', b'{"state":"OFF"}', b'{"x":1}', b"\xff")]
    assert said == [True, False, None, None]


def test_a_counter_starts_anew_where_its_type_ends_and_at_a_restart_unless_it_says_otherwise():
    counter = counter_point({"register": 22, "type": "uint32", "word_order": "CDAB"})
    assert (counter.wrap, counter.resets_to_zero) == (2**32, True)
    kept = counter_point({"register": 0, "type": "uint16", "resets": "never"})
    assert (kept.wrap, kept.resets_to_zero) == (65536, False)


TAGS = {"payload": "list", "id": "/e/epc", "encoding": "hex", "antenna": "/e/port", "same_within_s": 2}


def test_every_tag_of_a_message_is_read_once_and_other_events_are_no_tags():
    points = tag_points({**TAGS, "when": [{"pointer": "/type", "equals": "tagInventory"}]})
    seen = {"type": "tagInventory", "e": {"epc": "3074ab", "port": 2}}
    other = {"type": "status", "e": {"epc": "3074ac"}}
    assert tags_in(points, [seen, other, seen]) == ("3074AB",)


@pytest.mark.parametrize(
    ("encoding", "raw", "tag"), [("base64", "MHSr", "3074AB"), ("text", " P13-7 ", "P13-7"), ("hex", "xyz", "")]
)
def test_a_tags_number_is_read_as_its_reader_writes_it(encoding, raw, tag):
    points = tag_points({"id": "/id", "encoding": encoding})
    assert tags_in(points, {"id": raw}) == ((tag,) if tag else ())


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_no_document_makes_a_reader_of_tags_fail(document):
    assert all(bytes.fromhex(tag) for tag in tags_in(tag_points(TAGS), document))
