"""Places that show a trouble by a number or a word."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensors.wire.gauges import PayloadGauge, RegisterGauge, Sign
from sensors.wire.outputs import MqttOutput
from sensors.wire.places import Function, Place, Type

VOLTS = RegisterGauge(Place(Function.INPUT, 2, Type.UINT16), Sign(below=160), 0.001)
CONTACT = RegisterGauge(Place(Function.DISCRETE, 3, Type.BOOL), Sign(when=("0",)))


@pytest.mark.parametrize(("raw", "lost"), [(0, True), (60_000, True), (0xFFFF, True)])
def test_a_register_is_scaled_before_it_is_held_against_its_limit(raw: int, lost: bool) -> None:
    assert VOLTS.answered(raw.to_bytes(2, "big"), 0) is lost
    assert RegisterGauge(VOLTS.place, VOLTS.sign, 1.0).answered((220).to_bytes(2, "big"), 0) is False


def test_a_contact_shows_the_trouble_by_its_bit() -> None:
    assert (CONTACT.answered(b"\x00", 0), CONTACT.answered(b"\x01", 0)) == (True, False)
    assert (CONTACT.ask_back(5).function, CONTACT.ask_back(5).unit) == (2, 5)


@pytest.mark.parametrize(
    ("payload", "lost"),
    [
        ('{"power": "off"}', True),
        ('{"power": "on"}', False),
        ('{"power": false}', False),
        ('{"other": 1}', None),
        ('{"power": {"a": 1}}', None),
        ('{"power": "off", "power": "on"}', None),
        ("rubbish", None),
        ("", None),
    ],
)
def test_a_word_is_the_trouble_and_what_does_not_speak_of_it_says_nothing(payload: str, lost: bool) -> None:
    gauge = PayloadGauge("ups", "/power", "json", Sign(when=("off",)))
    assert gauge.said(payload.encode()) is lost


def test_true_and_numbers_are_told_as_json_writes_them() -> None:
    gauge = PayloadGauge("ups", "/ac", "json", Sign(when=("false", "0")))
    assert [gauge.said(json.dumps({"ac": value}).encode()) for value in (False, True, 0, 0.0, 1)] == [
        True,
        False,
        True,
        True,
        False,
    ]


def test_plain_text_may_be_a_number() -> None:
    gauge = PayloadGauge("ups/charge", "", "text", Sign(below=30))
    assert [gauge.said(text) for text in (b"29.9", b"30", b"low")] == [True, False, None]


@given(st.binary(max_size=60))
def test_no_message_breaks_a_gauge_or_the_state_of_an_output(payload: bytes) -> None:
    assert PayloadGauge("ups", "/power", "json", Sign(above=1)).said(payload) in (True, False, None)


def test_a_state_that_is_given_twice_confirms_nothing() -> None:
    from sensors import profiles

    switch = profiles.load("shelly-gen2-switch").output("relay", 0)
    assert isinstance(switch, MqttOutput)
    assert switch.state(b'{"output": true}') is True
    assert switch.state(b'{"output": true, "output": false}') is None
