"""Payloads of MQTT heads: what is read, what is not, and that nothing in them can do harm."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensors.readings import Status
from sensors.wire.documents import GarbledPayloadError, decode
from sensors.wire.meanings import Meaning
from sensors.wire.payload_points import FieldPoint, PayloadPoints, PayloadState, pointer_tokens
from sensors.wire.payloads import Heard, PayloadReader


def state(pointer: str, **words: str) -> PayloadState:
    return PayloadState(FieldPoint(pointer), Meaning(words=tuple(words.items())))


PREHEAT = state("/preheat", true="warm_up", false="measuring")
FAULTY = state("/fault", none="measuring", **{"7": "over_range"})


LEL = PayloadPoints("/lel")


def heard(payload: bytes, points: PayloadPoints = LEL) -> Heard | None:
    return PayloadReader(points).read(decode(payload))


def said(payload: bytes, points: PayloadPoints = LEL) -> Heard:
    found = heard(payload, points)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("pointer", "document", "value"),
    [
        ("/lel", {"lel": 12}, 12.0),
        ("", 7.5, 7.5),
        ("/values/GD 1", {"values": {"GD 1": -0.5}}, -0.5),
        ("/a~1b/c~0d", {"a/b": {"c~d": 3}}, 3.0),
        ("/heads/1/lel", {"heads": [{"lel": 1}, {"lel": 2}]}, 2.0),
        ("/", {"": 4}, 4.0),
        ("/0", {"0": 5}, 5.0),
    ],
)
def test_a_pointer_finds_its_value(pointer, document, value):
    assert said(json.dumps(document).encode(), PayloadPoints(pointer)).value == value


@pytest.mark.parametrize("pointer", ["lel", "lel/x", "/a~", "/a~2b", "#/lel"])
def test_a_malformed_pointer_is_refused_with_what_is_wrong_in_it(pointer):
    with pytest.raises(ValueError, match=r"begins with a slash|`~` is written"):
        PayloadPoints(pointer)
    with pytest.raises(ValueError, match=r"begins with a slash|`~` is written"):
        PayloadPoints("/lel", sequence=pointer)
    with pytest.raises(ValueError, match=r"begins with a slash|`~` is written"):
        PayloadPoints("/lel", states=(state(pointer, ok="measuring"),))


@given(st.lists(st.text().filter(lambda key: not key.startswith("["))))
def test_any_key_can_be_pointed_at(keys):
    pointer = "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in keys)
    assert list(pointer_tokens(pointer)) == keys


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_points_hold_only_finite_numbers(number):
    for points in ({"scale": number}, {"offset": number}, {"full_scale": number}, {"zero_drift": number}):
        with pytest.raises(ValueError, match="finite"):
            PayloadPoints("/lel", **points)
    with pytest.raises(ValueError, match="not zero"):
        PayloadPoints("/lel", scale=0.0)


@pytest.mark.trial("B09")
@pytest.mark.parametrize(
    "payload", [b'{"battery":89}', b"{}", b"[]", b"3", b'"lel"', b"null", b'{"LEL":3}', b'[{"lel":3}]']
)
def test_b09_a_message_without_the_gas_field_says_nothing_of_gas(payload):
    assert heard(payload) is None


def test_scale_and_offset_apply_in_that_order():
    assert said(b'{"lel": 120}', PayloadPoints("/lel", scale=0.1, offset=-2.0)).value == pytest.approx(10.0)


@pytest.mark.parametrize(
    "field",
    [b"null", b"true", b'"12.5"', b'"12,5"', b"[12]", b'{"v":12}', b"9" * 400, b"1e308"],
    ids=lambda f: f[:8].decode(),
)
def test_a_gas_field_that_holds_no_number_is_a_fault_and_not_a_value(field):
    found = said(b'{"lel":' + field + b"}", PayloadPoints("/lel", scale=10.0))
    assert math.isnan(found.value)
    assert found.reason == "nan"


@pytest.mark.trial("B12")
@pytest.mark.trial("B25")
@pytest.mark.parametrize(
    "payload",
    [
        b"NaN",
        b'{"lel":NaN}',
        b'{"lel":Infinity}',
        b'{"lel":-Infinity}',
        b'{"lel":1e999}',
        '{"lel":3,"onde":"Cozinha - Gás"}'.encode("latin-1"),
        '{"Gás":1,"lel":3}'.encode("latin-1"),
        '{"lel":3}'.encode("utf-16"),
        b'{"lel":3}\xff\xfe{"lel":4}',
        b'{"lel":3}{"lel":4}',
        b'{"lel":3,"x":"\\ud800"}',
        b'{"lel":3,"x":"\x00"}',
        b"\x00",
        b"",
        b"   ",
        b'{"lel":012}',
        b"{'lel':3}",
        b'{"lel":3',
    ],
)
def test_b25_what_is_no_json_text_is_garbled_whatever_number_it_holds(payload):
    with pytest.raises(GarbledPayloadError):
        decode(payload)


@pytest.mark.trial("B27")
@pytest.mark.parametrize(
    "payload",
    [
        b"[" * 100_000 + b"]" * 100_000,
        b"[" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b'{"lel":3,"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b"9" * 1_000_000,
        b'{"lel":' + b"9" * 1_000_000 + b"}",
    ],
    ids=["deep", "unclosed", "deep-objects", "deep-beside", "long-number", "long-number-inside"],
)
def test_b27_bottomless_nesting_and_endless_numbers_are_garbled(payload):
    with pytest.raises(GarbledPayloadError):
        decode(payload)


@pytest.mark.parametrize(
    ("payload", "status", "complete"),
    [
        (b'{"lel":3,"preheat":false,"fault":"none"}', Status.MEASURING, True),
        (b'{"lel":3,"preheat":true,"fault":"none"}', Status.WARM_UP, True),
        (b'{"lel":3,"preheat":false,"fault":7}', Status.OVER_RANGE, True),
        (b'{"lel":3,"preheat":false,"fault":"7"}', Status.OVER_RANGE, True),
        (b'{"lel":3,"preheat":false,"fault":"serious"}', Status.FAULT, True),
        (b'{"lel":3,"preheat":false,"fault":null}', Status.FAULT, True),
        (b'{"lel":3,"preheat":"true ","fault":"none"}', Status.FAULT, True),
        (b'{"lel":3,"preheat":false}', Status.MEASURING, False),
        (b'{"lel":3,"fault":"broken"}', Status.FAULT, False),
    ],
)
def test_the_words_of_a_head_become_its_state_and_an_unknown_word_is_a_fault(payload, status, complete):
    found = said(payload, PayloadPoints("/lel", states=(PREHEAT, FAULTY)))
    assert (found.told.status, found.complete) == (status, complete)


@pytest.mark.parametrize(("field", "gas"), [(b"true", True), (b"false", False), (b"1", True), (b"0", False)])
def test_a_head_that_says_only_yes_or_no_is_read_as_such(field, gas):
    assert said(b'{"gas":' + field + b"}", PayloadPoints("/gas", trip=10.0)).gas is gas


@pytest.mark.parametrize("field", [b"2", b'"true"', b"null", b"0.5", b"[]", b'{"true":1}'])
def test_a_yes_or_no_head_that_says_neither_is_at_fault(field):
    found = said(b'{"gas":' + field + b"}", PayloadPoints("/gas", trip=10.0))
    assert (found.gas, found.reason) == (None, "nan")


@pytest.mark.parametrize(
    ("field", "text"),
    [(b"7", "7"), (b'"2026-11-30T10:00:00Z"', "2026-11-30T10:00:00Z"), (b"[]", None), (b"null", None)],
)
def test_a_sequence_is_a_number_or_a_text(field, text):
    assert said(b'{"lel":3,"n":' + field + b"}", PayloadPoints("/lel", sequence="/n")).sequence == text


def test_nothing_unprintable_reaches_the_eye():
    found = said(json.dumps({"lel": "\x1b[2J\x00\u202e<b>" + "x" * 500}).encode())
    assert isinstance(found.raw, str)
    assert found.raw.isprintable()
    assert len(found.raw) <= 40


POINTS = (
    PayloadPoints("/lel"),
    PayloadPoints(""),
    PayloadPoints("/0"),
    PayloadPoints("/lel", trip=10.0, sequence="/n", states=(PREHEAT, FAULTY)),
    PayloadPoints("/lel", scale=1e300, offset=-1e300, sequence="/n"),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["lel", "n", "preheat", "fault"]) | st.text(), inner)
    ),
)


@given(st.binary(max_size=2000) | JSON.map(lambda document: json.dumps(document).encode()))
def test_no_bytes_raise_anything_but_garbled_and_no_value_is_infinite(payload):
    for points in POINTS:
        try:
            found = heard(payload, points)
        except GarbledPayloadError:
            continue
        if found is not None and found.value is None:
            assert found.told.status is not Status.MEASURING  # it speaks of the head's state alone
        elif found is not None:
            assert not math.isinf(found.value)
            assert found.gas is not None or math.isnan(found.value) == bool(found.reason)


@pytest.mark.parametrize(
    "payload",
    [
        b'{"lel":60.0,"lel":1.0}',
        b'{"lel":60.0,"l\\u0065l":1.0}',
        b'{"lel" : 60.0, "x": {"y": [1]}, "lel" : 60.0}',
        b'{"lel":1,"preheat":true,"preheat":false}',
    ],
)
def test_a_value_or_state_given_twice_is_garbled_since_nobody_knows_which_is_meant(payload):
    with pytest.raises(GarbledPayloadError, match="twice"):
        heard(payload, PayloadPoints("/lel", states=(PREHEAT,)))


@pytest.mark.parametrize("payload", [b'{"x":1,"lel":60.0,"x":2}', b'{"lel":60.0,"x":{"lel":1,"lel":2}}'])
def test_what_else_is_given_twice_hides_no_gas(payload):
    assert said(payload).value == 60.0
