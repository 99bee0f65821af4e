"""The ways of reading a head that is set up wrongly: whatever the mistake, the right way is among those that fit."""

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensors import profiles
from sensors.readings import DetectorId
from sensors.stamps import Instant, Stamp, UtcNanos
from sensors.tryout import Diagnosis, Trial, Way, on_display, trial, verdict, ways, without_answer
from sensors.wire.places import WordOrder
from sensors.wire.points import ModbusPoints
from sensors.wire.units import Basis

NOW = Stamp(Instant(0), UtcNanos(0))
BASIS = Basis(1.4, 1.4)
LETTERS = "ABCD"


def tried(registers: dict[int, int], shown: float | None = None, **settings: Any) -> list[Trial]:
    """Judge every way against a device with these registers; one that is not there is refused."""
    profile = profiles.load("generic-modbus").installed(settings)
    points = profile.points
    assert isinstance(points, ModbusPoints)
    expected = None if shown is None else on_display(shown, points, BASIS)
    return [_answered(way, registers, expected) for way in ways(profile, DetectorId("GD-1"), 1, BASIS)]


def _answered(way: Way, registers: dict[int, int], expected: float | None) -> Trial:
    words = b""
    for ask in way.block.asks:
        start, count = struct.unpack(">HH", ask.tail[6:10])
        wanted = range(start, start + count)
        if any(register not in registers for register in wanted):
            return without_answer(way, "exception-2")
        words += struct.pack(f">{count}H", *(registers[register] for register in wanted))
    return trial(way, words, NOW, expected)


def laid(value: float, form: str, at: int) -> dict[int, int]:
    plain = dict(zip(LETTERS, struct.pack(">f", value), strict=True))
    return dict(zip((at, at + 1), struct.unpack(">HH", bytes(plain[letter] for letter in form)), strict=True))


orders = st.sampled_from([order.value for order in WordOrder])


@given(value=st.floats(0.5, 99, width=32), order=orders, set_order=orders, shift=st.sampled_from([-1, 0, 1]))
def test_the_right_way_always_fits_and_the_display_keeps_it(
    value: float, order: str, set_order: str, shift: int
) -> None:
    registers = {**dict.fromkeys(range(18, 24), 0x7FFF), **laid(value, order, 20 + shift)}
    trials = tried(registers, shown=value, register=20, type="float32", word_order=set_order)
    said, about = verdict(trials)
    right = next(one for one in trials if (one.shift, one.order.value) == (shift, order))
    assert right.fits and right.reading is not None
    assert right.reading.lel_pct == pytest.approx(value, abs=1e-5)
    if (shift, order) == (0, set_order):
        assert said in (Diagnosis.AS_SET, Diagnosis.AS_SET_AND_OTHERS)
    assert all(
        one.reading is not None and one.reading.lel_pct == pytest.approx(value, rel=0.06, abs=1.1) for one in about
    )


@given(
    registers=st.lists(st.integers(0, 0xFFFF), min_size=6, max_size=6),
    kind=st.sampled_from(["int16", "uint16", "int32", "uint32", "float32"]),
)
def test_no_content_of_the_registers_makes_a_trial_fail(registers: list[int], kind: str) -> None:
    trials = tried(dict(enumerate(registers)), register=2, type=kind)
    said, about = verdict(trials)
    assert said in Diagnosis
    assert all(one in trials for one in about)


def test_the_way_that_is_set_comes_first_and_no_address_below_zero_is_asked() -> None:
    found = ways(
        profiles.load("generic-modbus").installed({"register": 0, "type": "int32", "word_order": "DCBA"}),
        DetectorId("x"),
        1,
        BASIS,
    )
    assert (found[0].shift, found[0].order) == (0, WordOrder.DCBA)
    assert {way.shift for way in found} == {0, 1} and len(found) == 8


def test_sixteen_bits_have_two_orders_and_none_is_tried_twice() -> None:
    trials = tried(dict.fromkeys(range(3), 5), register=1, type="int16")
    assert [(one.shift, one.order.value) for one in trials] == [(s, o) for s in (0, -1, 1) for o in ("ABCD", "BADC")]


def test_a_number_next_to_nothing_is_words_in_a_wrong_order() -> None:
    (as_set, *others) = tried({0: 0x0000, 1: 0x4120}, register=0, type="float32")
    assert not as_set.fits
    assert [one.order for one in others if one.fits] == [WordOrder.CDAB]


def test_zero_in_every_register_is_no_proof() -> None:
    said, about = verdict(tried(dict.fromkeys(range(4), 0), register=1, type="uint16"))
    assert said is Diagnosis.AS_SET_AND_OTHERS and {one.shift for one in about} == {-1, 1}


def test_a_head_that_warms_up_is_waited_for() -> None:
    settings = {"register": 0, "type": "uint16", "status_register": 1, "bits": {"warm_up": [0]}}
    said, _ = verdict(tried({0: 500, 1: 1, 2: 3}, **settings))
    assert said is Diagnosis.WAIT


def test_nobody_answering_is_said_as_such() -> None:
    assert verdict(tried({}, register=0)) == (Diagnosis.SILENT, ())


def test_nothing_that_makes_sense_is_said_as_such() -> None:
    assert verdict(tried(dict.fromkeys(range(4), 0x7FFF), register=1)) == (Diagnosis.NONE, ())


def test_a_display_in_ppm_is_compared_in_ppm() -> None:
    right = tried({0: 9000, 1: 1400, 2: 4200}, shown=1400, register=1, type="uint16", unit_of_value="ppm")
    assert [one.shift for one in right if one.fits] == [0]
