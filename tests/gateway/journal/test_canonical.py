"""The bytes that are hashed: one value, one form."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.journal import canonical

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
SCALARS = st.none() | st.booleans() | st.integers(-canonical.LARGEST_INT, canonical.LARGEST_INT) | TEXT
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4), max_leaves=12
)


@given(VALUES)
def test_a_value_comes_back_from_its_bytes(value):
    assert canonical.decode(canonical.encode(value)) == value


@given(st.dictionaries(TEXT, SCALARS, min_size=2, max_size=8), st.randoms())
def test_the_order_of_keys_makes_no_difference(value, random):
    keys = list(value)
    random.shuffle(keys)
    assert canonical.encode({key: value[key] for key in keys}) == canonical.encode(value)


ANY_TEXT = st.text(max_size=6) | st.text(st.characters(max_codepoint=0x80), max_size=6)
BODIES = st.recursive(
    SCALARS | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(BODIES)
def test_the_quick_way_makes_the_bytes_of_the_careful_one(value):
    careful = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert canonical.encode(value) == canonical.mend(careful).encode()


@pytest.mark.parametrize(
    "bad", [{"a": 1.0}, {"a": b"x"}, {1: "a"}, {"a": (1.5,)}, {"a": math.nan}, {"a": [{"b": 1.5}]}, {"a": {1: "b"}}]
)
def test_the_quick_way_lets_nothing_by_that_the_careful_one_refuses(bad):
    with pytest.raises(TypeError):
        canonical.encode(bad)


@given(VALUES)
def test_any_json_reader_understands_the_bytes(value):
    assert json.loads(canonical.encode(value).decode()) == value


def test_bytes_are_compact_sorted_utf8():
    assert (
        canonical.encode({"é": [1, True, None], "a": "ção\n\u2028"})
        == '{"a":"ção\\n\u2028","é":[1,true,null]}'.encode()
    )


@pytest.mark.parametrize("bad", [1.0, math.nan, math.inf, b"x", {1}, {"deep": [{"x": 0.5}]}, {3: "x"}])
def test_what_has_no_canonical_form_is_a_type_error(bad):
    with pytest.raises(TypeError):
        canonical.encode(bad)


@pytest.mark.parametrize("bad", [2**63, -(2**63), "x" * canonical.LONGEST])
def test_what_is_too_large_is_a_value_error(bad):
    with pytest.raises(ValueError, match=r"64 bits|bytes of JSON"):
        canonical.encode(bad)


def test_nesting_has_a_bound():
    value = []
    for _ in range(canonical.DEEPEST + 1):
        value = [value]
    with pytest.raises(ValueError, match="nested"):
        canonical.encode(value)


def test_a_lone_surrogate_is_mended_and_a_pair_joined():
    assert canonical.encode("a\ud800b") == '"a\ufffdb"'.encode()
    assert canonical.encode("\ud83d\ude00") == '"\U0001f600"'.encode()


@pytest.mark.parametrize(
    "data",
    [b'{"b":1,"a":2}', b'{"a": 1}', b'{"a":1,"a":1}', b"1.0", b"NaN", b'"\\u00e9"', b"01", b"\xff", b"[" * 99_999],
)
def test_bytes_in_another_form_are_refused(data):
    with pytest.raises(ValueError, match=r".*"):
        canonical.decode(data)
