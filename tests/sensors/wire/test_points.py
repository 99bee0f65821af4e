"""Words to numbers, against struct; units to %LEL of the reference, against the definition."""

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensors.wire.places import Type, WordOrder
from sensors.wire.units import Basis, UnitOfValue, reference_lel_pct_per
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


@pytest.mark.parametrize(
    ("unit", "basis", "per"),
    [
        (UnitOfValue.LEL_PCT, Basis(1.4, 1.4), 1.0),
        (UnitOfValue.LEL_PCT, Basis(1.7, 1.4), 1.7 / 1.4),
        (UnitOfValue.LEL_PCT, Basis(None, 1.4), 1.5),  # unknown: the highest basis, so that it over-reads
        (UnitOfValue.LEL_PCT, Basis(1.4, 1.4, 1.62), 1.62),
        (UnitOfValue.PPM, Basis(2.1, 1.4), 1 / 140),  # 1.4 %vol is 14,000 ppm; the head's basis plays no part
        (UnitOfValue.VOL_PCT, Basis(None, 1.4), 100 / 1.4),
    ],
)
def test_units_become_pct_lel_of_the_reference(unit, basis, per):
    assert reference_lel_pct_per(unit, basis) == pytest.approx(per)
