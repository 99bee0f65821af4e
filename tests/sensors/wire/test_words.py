"""Words to numbers, against struct."""

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensors.wire.places import Type, WordOrder
from sensors.wire.words import extractor

LETTERS = {
    Type.INT8: "b",
    Type.UINT8: "B",
    Type.INT16: "h",
    Type.UINT16: "H",
    Type.INT32: "i",
    Type.UINT32: "I",
    Type.FLOAT32: "f",
    Type.INT64: "q",
    Type.UINT64: "Q",
    Type.FLOAT64: "d",
}


def on_the_wire(big_endian: bytes, order: WordOrder) -> bytes:
    """The bytes of a value as this order sends them: words turned round, bytes within words turned round, or both."""
    words = [big_endian[at : at + 2] for at in range(0, len(big_endian), 2)]
    if order in (WordOrder.BADC, WordOrder.DCBA):
        words = [word[::-1] for word in words]
    return b"".join(words[::-1] if order in (WordOrder.CDAB, WordOrder.DCBA) else words)


@given(st.sampled_from(list(LETTERS)), st.sampled_from(WordOrder), st.binary(min_size=8, max_size=8), st.integers(0, 9))
def test_every_type_in_every_order_is_what_struct_says(kind, order, big_endian, offset):
    size = kind.bits // 8
    value = struct.unpack(">" + LETTERS[kind], big_endian[:size])[0]
    sent = bytearray(b"\xaa" * offset + on_the_wire(big_endian[:size], order) + b"\xaa")
    read = extractor(kind, order)(sent, offset)
    assert read == value or (math.isnan(read) and math.isnan(value))


def test_the_example_that_names_the_orders():
    assert extractor(Type.FLOAT32, WordOrder.CDAB)(bytes.fromhex("077A429B"), 0) == pytest.approx(77.51, abs=0.01)
