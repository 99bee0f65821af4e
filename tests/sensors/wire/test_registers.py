"""From heads to few reads, and from words to readings."""

import itertools
import struct
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensors.readings import DetectorId, Quality, Reading, Status
from sensors.stamps import Instant, Stamp, UtcNanos
from sensors.wire.meanings import Meaning
from sensors.wire.modbus import MAX_REGISTERS
from sensors.wire.places import Function, Place, Type
from sensors.wire.points import IdentityPoint, ModbusPoints, ReadLimits, StatePoint, UnitPoint
from sensors.wire.registers import MAX_GAP, InstalledHead, plan, stretches
from sensors.wire.units import Basis, UnitOfValue
from sensors.wire.words import Stretch, raw_reader

NOW = Stamp(Instant(1), UtcNanos(2))
SAME_BASIS = Basis(1.4, 1.4)
HOLDING, INPUT = Function.HOLDING, Function.INPUT


def head(points: ModbusPoints, basis: Basis = SAME_BASIS, name: str = "D1") -> InstalledHead:
    return InstalledHead(DetectorId(name), points, basis)


def reading(points: ModbusPoints, *words: int, basis: Basis = SAME_BASIS) -> Reading:
    """What a head says whose block holds these words."""
    (block,) = plan(1, [head(points, basis)])
    return block.readings(struct.pack(f">{len(words)}H", *words), 0, NOW)[0]


NUMBERS = [kind for kind in Type if kind is not Type.ASCII]


@given(
    st.lists(
        st.tuples(st.sampled_from(Function), st.integers(0, 400), st.sampled_from(NUMBERS)), min_size=1, max_size=30
    )
)
def test_reads_cover_every_point_within_the_cap_and_without_long_gaps(points):
    heads = [
        head(ModbusPoints(function, register, kind), name=f"D{number}")
        for number, (function, register, kind) in enumerate(points)
    ]
    reads = stretches(heads)
    spans = [span for each in heads for span in each.points.spans()]
    asked = {(function, register + word) for function, register, size in spans for word in range(size)}
    for read in reads:
        bits = read.function.of_bits
        assert read.size <= (2000 if bits else MAX_REGISTERS)
        wanted = [word for word in range(read.start, read.end) if (read.function, word) in asked]
        assert wanted[0] == read.start
        assert wanted[-1] == read.end - 1
        gap = MAX_GAP * 16 if bits else MAX_GAP
        assert all(later - sooner <= gap + 1 for sooner, later in itertools.pairwise(wanted))
    for each in heads:
        assert all(any(read.holds(*span) for read in reads) for span in each.points.spans())
    blocks = plan(1, heads)
    assert sorted(each.detector for block in blocks for each in block.heads) == sorted(each.detector for each in heads)


def test_what_must_not_be_read_is_not_and_what_must_be_read_whole_is():
    limits = ReadLimits(holes=((3, 3),), exact=((10, 6),))
    points = ModbusPoints(
        HOLDING,
        2,
        Type.UINT16,
        limits=limits,
        states=tuple(StatePoint(Place(HOLDING, at), Meaning(bits=(("fault", 1),))) for at in (4, 5, 12)),
    )
    assert stretches([head(points)]) == ((HOLDING, 2, 1), (HOLDING, 4, 2), (HOLDING, 10, 6))


@given(st.integers(0, 60), st.binary(min_size=16, max_size=16))
def test_discrete_inputs_are_cut_out_of_their_bytes_wherever_they_begin(first, bits):
    place = Place(Function.DISCRETE, 7 + first, Type.UINT16)
    read = raw_reader(place, [Stretch(HOLDING, 0, 2), Stretch(Function.DISCRETE, 7, 128)])
    whole = int.from_bytes(bits, "little")
    assert read(b"\0\0\0\0" + bits, 0) == whole >> first & 0xFFFF


def test_a_head_with_far_points_makes_one_block_of_two_reads_joined_in_order():
    points = ModbusPoints(
        HOLDING, 100, Type.UINT16, states=(StatePoint(Place(INPUT, 5), Meaning(bits=(("fault", 1),))),)
    )
    (block,) = plan(1, [head(points)])
    assert [ask.function for ask in block.asks] == [3, 4]
    assert block.readings(struct.pack(">HH", 12, 0), 0, NOW)[0].lel_pct == 12
    assert block.readings(struct.pack(">HH", 12, 1), 0, NOW)[0].status is Status.FAULT


@pytest.mark.parametrize(
    ("raw", "status", "lel_pct", "at_least", "reason"),
    [
        (65535, Status.FAULT, None, None, "sentinel"),
        (65534, Status.OVER_RANGE, None, 100.0, "over-range"),
        (65533, Status.WARM_UP, None, None, "warm-up"),
        (65532, Status.UNDER_RANGE, None, None, "under-range"),
        (123, Status.MEASURING, 12.3, None, ""),
        (1000, Status.OVER_RANGE, 100.0, 100.0, "over-range"),
    ],
)
def test_sentinels_are_compared_before_scaling(raw, status, lel_pct, at_least, reason):
    sentinels = (
        (65535, 65535, "fault"),
        (65534, 65534, "over_range"),
        (65533, 65533, "warm_up"),
        (65532, 65532, "under_range"),
    )
    said = reading(ModbusPoints(HOLDING, 0, Type.UINT16, scale=0.1, sentinels=sentinels), raw)
    assert (said.status, said.lel_pct, said.at_least, said.reason, said.raw) == (
        status,
        lel_pct,
        at_least,
        reason,
        raw,
    )


@pytest.mark.parametrize(
    ("bits", "status", "quality"),
    [
        (0b00000, Status.MEASURING, Quality.GOOD),
        (0b00001, Status.FAULT, Quality.BAD),
        (0b00010, Status.WARM_UP, Quality.BAD),
        (0b00011, Status.WARM_UP, Quality.BAD),
        (0b00100, Status.INHIBITED, Quality.BAD),
        (0b01000, Status.OVER_RANGE, Quality.UNCERTAIN),
        (0b01001, Status.OVER_RANGE, Quality.UNCERTAIN),
    ],
)
def test_of_several_states_the_one_that_counts_is_told(bits, status, quality):
    state = StatePoint(
        Place(HOLDING, 1), Meaning(bits=(("fault", 1), ("warm_up", 2), ("inhibited", 4), ("over_range", 8)))
    )
    said = reading(ModbusPoints(HOLDING, 0, Type.UINT16, states=(state,)), 3, bits)
    assert (said.status, said.quality) == (status, quality)


@pytest.mark.parametrize(("trip", "at_least"), [(None, 25.0), (20.0, 20.0)])
def test_the_heads_own_alarm_bit_is_gas_even_beside_a_low_number(trip, at_least):
    points = ModbusPoints(
        HOLDING, 0, Type.UINT16, trip=trip, states=(StatePoint(Place(HOLDING, 1), Meaning(bits=(("alarm", 1),))),)
    )
    said = reading(points, 3, 1)
    assert (said.lel_pct, said.at_least, said.gas()) == (3, at_least, at_least)


def test_an_alarm_bit_beside_a_fault_is_still_gas():
    state = StatePoint(Place(HOLDING, 1), Meaning(bits=(("fault", 2), ("alarm", 1))))
    said = reading(ModbusPoints(HOLDING, 0, Type.UINT16, trip=20.0, states=(state,)), 0, 3)
    assert (said.quality, said.lel_pct, said.at_least) == (Quality.BAD, None, 20.0)


def test_a_state_code_nobody_knows_is_a_fault():
    state = StatePoint(Place(HOLDING, 1), Meaning(codes=((1, 1, "measuring"), (2, 2, "warm_up"))))
    points = ModbusPoints(HOLDING, 0, Type.UINT16, states=(state,))
    assert [reading(points, 5, code).status for code in (1, 2, 3)] == [
        Status.MEASURING,
        Status.WARM_UP,
        Status.FAULT,
    ]


def test_a_unit_register_chooses_the_conversion_and_an_unknown_code_is_a_fault():
    unit = UnitPoint(Place(HOLDING, 1), ((5, 5, UnitOfValue.LEL_PCT), (4, 4, UnitOfValue.PPM)))
    points = ModbusPoints(HOLDING, 0, Type.UINT16, unit_of_value=unit)
    assert reading(points, 10, 5, basis=Basis(2.1, 1.4)).lel_pct == 15.0
    assert reading(points, 1400, 4, basis=Basis(2.1, 1.4)).lel_pct == 10.0
    assert reading(points, 10, 9).reason == "unknown-unit"


def test_another_device_behind_the_unit_id_is_a_fault():
    points = ModbusPoints(HOLDING, 0, Type.UINT16, identity=IdentityPoint(Place(HOLDING, 1), 0xFF00, (0x2500,)))
    assert reading(points, 10, 0x2507).lel_pct == 10
    said = reading(points, 10, 0x2607)
    assert (said.quality, said.lel_pct, said.reason) == (Quality.BAD, None, "other-device")


@pytest.mark.parametrize("unit", [UnitOfValue.PPM, UnitOfValue.VOL_PCT])
def test_full_scale_of_a_ppm_or_vol_head_is_100_pct_lel_unless_told(unit):
    points = ModbusPoints(HOLDING, 0, Type.UINT16, unit_of_value=unit, scale=0.01 if unit is UnitOfValue.VOL_PCT else 1)
    at = 140 if unit is UnitOfValue.VOL_PCT else 14_000
    assert reading(points, at - 1).status is Status.MEASURING
    assert reading(points, at).status is Status.OVER_RANGE
    assert reading(replace(points, full_scale=points.scale * at * 2), at).status is Status.MEASURING


@given(st.integers(0, 1000), st.sampled_from([1.3, 1.4, 1.7, 1.9, 2.0, 2.1]), st.sampled_from([1.3, 1.4, 1.7]))
def test_a_register_at_the_set_point_is_at_the_set_point_whatever_the_factors(tenths, head_basis, reference):
    points = ModbusPoints(HOLDING, 0, Type.UINT16, scale=0.1, full_scale=200.0)
    said = reading(points, tenths, basis=Basis(head_basis, reference)).lel_pct
    exact = tenths * head_basis / (10 * reference)
    assert said == pytest.approx(exact, abs=1e-6)
    if round(exact, 9) >= 10.0:
        assert said >= 10.0


def test_a_head_never_yet_plausible_is_called_so_and_no_more_once_it_was():
    points = ModbusPoints(HOLDING, 0, Type.FLOAT32)
    (block,) = plan(1, [head(points)])

    def said(value: float) -> Reading:
        return block.readings(struct.pack(">f", value), 0, NOW)[0]

    assert said(float("nan")).reason == "never-plausible"
    assert said(3.0e8).reason == "never-plausible"
    assert said(110.0).status is Status.OVER_RANGE  # gas at the start is gas
    assert said(4.0).quality is Quality.GOOD
    assert said(float("nan")).reason == "not-a-number"
    assert said(3.0e8).status is Status.OVER_RANGE


FEW = st.sampled_from((0, 1, 99, 100, 0xFFFF))


@given(st.lists(st.tuples(FEW, FEW, FEW), min_size=1, max_size=12))
def test_what_a_reader_remembers_of_its_last_words_never_shows(rounds):
    state = StatePoint(Place(HOLDING, 2), Meaning(bits=(("fault", 1), ("alarm", 2), ("over_range", 4))))
    near = [
        head(ModbusPoints(HOLDING, 0, Type.UINT16, states=(state,)), name="D1"),
        head(ModbusPoints(HOLDING, 1, Type.INT16), name="D2"),
    ]
    (block,) = plan(1, near)
    for number, words in enumerate(rounds):
        taken = Stamp(Instant(number), UtcNanos(number))
        (fresh,) = plan(1, near)
        for reader, other in zip(fresh.readers, block.readers, strict=True):
            reader.seen = other.seen
        data = struct.pack(">3H", *words)
        assert block.readings(data, 0, taken) == fresh.readings(data, 0, taken)


def test_a_block_taken_apart_keeps_what_its_heads_were_seen_to_be():
    near = [head(ModbusPoints(HOLDING, register, Type.UINT16), name=f"D{register}") for register in (0, 2)]
    (block,) = plan(1, near)
    block.readings(struct.pack(">HHH", 5, 0, 6), 0, NOW)
    apart = block.split()
    assert [part.asks[0].tail[6:] for part in apart] == [b"\0\0\0\1", b"\0\2\0\1"]
    assert all(part.readers[0].seen for part in apart)
    assert apart[0].split() == (apart[0],)
