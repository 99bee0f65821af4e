"""Field trials that concern decoding: B09, B12, B13, B14, B16, B23, B24."""

import json
import math
import struct
from dataclasses import replace

import pytest

from sensors.readings import DetectorId, Quality, Reading, Status
from sensors.stamps import SECOND, Instant, Stamp, UtcNanos
from sensors.wire.listener import Ignored, Listener, MqttPoints
from sensors.wire.meanings import Meaning
from sensors.wire.payload_points import Availability, FieldPoint, PayloadPoints, PayloadState
from sensors.wire.places import Function, Place, Type, WordOrder
from sensors.wire.points import ModbusPoints, StatePoint
from sensors.wire.registers import InstalledHead, plan
from sensors.wire.units import Basis

SAME = Basis(1.4, 1.4)
FLOAT = ModbusPoints(Function.HOLDING, 0, Type.FLOAT32)


class Head:
    """One head read again and again, so that what it was seen to be counts."""

    def __init__(self, points: ModbusPoints) -> None:
        (self._block,) = plan(1, [InstalledHead(DetectorId("D"), points, SAME)])

    def says(self, data: bytes, at_s: float = 0.0) -> Reading:
        stamp = Stamp(Instant(int(at_s * SECOND) + 1), UtcNanos(0))
        return self._block.readings(data, 0, stamp)[0]


def listener(points: PayloadPoints, topic: str = "depot/GD-1") -> Listener:
    return Listener(MqttPoints(DetectorId("D"), topic, points, SAME))


def hear(ear: Listener, document: object, at_s: float = 0.0, *, topic: str = "depot/GD-1", retained: bool = False):
    payload = document.encode() if isinstance(document, str) else json.dumps(document).encode()
    return ear.hear(topic, payload, Stamp(Instant(int(at_s * SECOND)), UtcNanos(0)), retained=retained)


@pytest.mark.trial("B12")
@pytest.mark.parametrize(
    "word", [0x7FC00000, 0x7FA00001, 0xFFC00000, 0x7F800000, 0xFF800000, 0x00000001, 0x807FFFFF], ids=hex
)
@pytest.mark.parametrize("seen", [False, True])
def test_b12_what_is_no_finite_number_is_a_fault_without_a_number_and_the_next_good_one_shows_at_once(word, seen):
    head = Head(FLOAT)
    if seen:
        head.says(struct.pack(">f", 3.0))
    bad = head.says(word.to_bytes(4, "big"))
    assert (bad.lel_pct, bad.at_least, bad.quality, bad.status) == (None, None, Quality.BAD, Status.FAULT)
    assert head.says(struct.pack(">f", 7.5)).lel_pct == 7.5


@pytest.mark.trial("B12")
@pytest.mark.parametrize("word", [0x7FC00000, 0x7F800000, 0xFF800000])
def test_b12_a_value_that_is_none_beside_the_heads_alarm_bit_is_still_gas(word):
    state = StatePoint(Place(Function.HOLDING, 2), Meaning(bits=(("alarm1", 1),)))
    said = Head(replace(FLOAT, states=(state,))).says(word.to_bytes(4, "big") + b"\0\1")
    assert (said.lel_pct, said.at_least, said.quality) == (None, 25.0, Quality.BAD)


@pytest.mark.trial("B13")
@pytest.mark.parametrize(
    ("kind", "slightly", "far"),
    [
        (Type.INT16, b"\xff\xf6", b"\xff\x9c"),
        (Type.INT32, b"\xff\xff\xff\xf6", b"\xff\xff\xff\x9c"),
    ],
)
def test_b13_a_slightly_negative_zero_is_shown_as_such_and_a_far_one_is_a_fault(kind, slightly, far):
    head = Head(ModbusPoints(Function.HOLDING, 0, kind, scale=0.1))
    near, away = head.says(slightly), head.says(far)
    assert (near.lel_pct, near.quality, near.status) == (-1.0, Quality.GOOD, Status.MEASURING)
    assert (away.lel_pct, away.quality, away.status, away.reason) == (None, Quality.BAD, Status.FAULT, "below-zero")


@pytest.mark.trial("B13")
def test_b13_a_type_nobody_named_is_signed(tmp_path):
    from sensors import profiles

    points = profiles.load("generic-modbus").installed({"register": 0, "scale": 0.1}).points
    assert isinstance(points, ModbusPoints)
    assert Head(points).says(b"\xff\xf6").lel_pct == -1.0


def in_order(value: bytes, order: WordOrder) -> bytes:
    a, b, c, d = value
    return bytes({"ABCD": (a, b, c, d), "CDAB": (c, d, a, b), "BADC": (b, a, d, c), "DCBA": (d, c, b, a)}[order.value])


@pytest.mark.trial("B14")
@pytest.mark.parametrize("sent", WordOrder)
@pytest.mark.parametrize("read", WordOrder)
@pytest.mark.parametrize("value", [12.5, 10.3, 2.75, 55.0])
def test_b14_a_float_in_the_right_order_reads_and_in_a_wrong_one_is_never_good(sent, read, value):
    head = Head(replace(FLOAT, word_order=read))
    said = head.says(in_order(struct.pack(">f", value), sent))
    if sent is read:
        assert said.lel_pct == pytest.approx(value, abs=1e-5)
    else:
        assert said.quality is not Quality.GOOD
        assert said.status in (Status.FAULT, Status.OVER_RANGE)
        assert said.status is Status.OVER_RANGE or said.reason == "never-plausible"


@pytest.mark.trial("B14")
@pytest.mark.parametrize("sent", WordOrder)
@pytest.mark.parametrize("read", WordOrder)
def test_b14_so_it_is_with_whole_numbers_of_32_bits(sent, read):
    head = Head(ModbusPoints(Function.HOLDING, 0, Type.INT32, read, scale=0.1))
    said = head.says(in_order((125).to_bytes(4, "big"), sent))
    assert (said.lel_pct == 12.5) == (sent is read)
    assert (said.quality is Quality.GOOD) == (sent is read)


@pytest.mark.trial("B14")
def test_b14_an_address_beside_the_float_reads_half_of_two_and_is_no_clean_air():
    beside = struct.pack(">ff", 12.5, 12.5)[2:6]
    assert Head(FLOAT).says(beside).quality is Quality.BAD


@pytest.mark.trial("B16")
def test_b16_over_range_is_gas_as_long_as_the_code_stands_and_is_never_clipped_or_dropped():
    head = Head(ModbusPoints(Function.HOLDING, 0, Type.INT16, scale=0.1, sentinels=((0x7FFF, 0x7FFF, "over_range"),)))
    ramp = [head.says(struct.pack(">h", tenths)) for tenths in range(0, 1000, 20)]
    assert [each.lel_pct for each in ramp] == [tenths / 10 for tenths in range(0, 1000, 20)]
    for second in range(60):
        over = head.says(b"\x7f\xff", second)
        assert (over.status, over.lel_pct, over.at_least, over.gas()) == (Status.OVER_RANGE, None, 100.0, 100.0)
    assert head.says(b"\0\0").lel_pct == 0.0


@pytest.mark.trial("B16")
def test_b16_a_lone_impossible_sample_is_told_and_hides_nothing():
    head = Head(ModbusPoints(Function.HOLDING, 0, Type.INT16, scale=0.1))
    head.says(struct.pack(">h", 20))
    lone = head.says(struct.pack(">h", 2500))
    assert (lone.status, lone.lel_pct, lone.quality) == (Status.OVER_RANGE, 250.0, Quality.UNCERTAIN)
    assert head.says(struct.pack(">h", 20)).lel_pct == 2.0


ALARM = PayloadState(
    FieldPoint("/gas"), Meaning(words=(("true", "alarm1"), ("false", "measuring"))), missing="unchanged"
)


@pytest.mark.trial("B09")
def test_b09_a_message_without_the_gas_field_is_no_sample_and_the_next_gas_is_a_new_one():
    ear = listener(PayloadPoints("/lel"))
    first = hear(ear, {"lel": 12, "battery": 90})
    between = [outcome for second in range(60) for outcome in hear(ear, {"battery": 89}, second)]
    down, other, again = hear(ear, {"lel": 0}, 61), hear(ear, {"battery": 88}, 62), hear(ear, {"lel": 15}, 63)
    assert [first[0].lel_pct, down[0].lel_pct, again[0].lel_pct] == [12.0, 0.0, 15.0]
    assert [*between, *other] == [Ignored.ABSENT] * 61


@pytest.mark.trial("B09")
def test_b09_a_remembered_alarm_word_is_held_by_the_profiles_rule_and_makes_no_number_fresh():
    ear = listener(PayloadPoints("/lel", states=(ALARM,)))
    assert hear(ear, {"lel": 12, "gas": True})[0].at_least == 25.0
    assert hear(ear, {"battery": 89}) == (Ignored.ABSENT,)
    held = hear(ear, {"lel": 2})[0]
    assert (held.lel_pct, held.at_least) == (2.0, 25.0)
    assert hear(ear, {"gas": False}) == (Ignored.ABSENT,)
    assert hear(ear, {"lel": 2})[0].at_least is None
    assert hear(ear, {"gas": True})[0].at_least == 25.0


@pytest.mark.trial("B23")
def test_b23_the_same_sample_under_a_new_packet_is_one_sample_where_it_has_a_number_of_its_own():
    ear = listener(PayloadPoints("/lel", sequence="/n"))
    outcomes = [outcome for n in (1, 1, 1, 2, 2, 3) for outcome in hear(ear, {"lel": 12, "n": n})]
    assert [isinstance(outcome, Reading) for outcome in outcomes] == [True, False, False, True, False, True]
    assert outcomes[1] is Ignored.DUPLICATE


@pytest.mark.trial("B24")
def test_b24_the_retained_word_online_is_no_life_and_a_late_will_ends_with_the_next_reading():
    points = PayloadPoints(
        "/lel", topic="{device...}", availability=Availability(FieldPoint("", "{device...}/state", "text"))
    )
    ear = listener(points)
    status = "depot/GD-1/state"
    assert hear(ear, "online", topic=status, retained=True) == ()
    (gone,) = hear(ear, "offline", topic=status, retained=True)
    assert (gone.status, gone.reason, gone.lel_pct) == (Status.NO_CONTACT, "offline", None)
    assert hear(ear, {"lel": 3}, 1)[0].lel_pct == 3.0
    assert hear(ear, "offline", 2, topic=status)[0].status is Status.NO_CONTACT  # the late will
    assert hear(ear, {"lel": 4}, 3)[0].quality is Quality.GOOD
    assert hear(ear, {"lel": 9}, 4, retained=True) == (Ignored.RETAINED,)


@pytest.mark.trial("B24")
def test_b24_a_retained_fault_is_believed_where_the_profile_says_so_and_a_retained_alarm_never():
    faulty = PayloadState(FieldPoint("/s"), Meaning(words=(("ok", "measuring"), ("bad", "fault"))), retained=True)
    ear = listener(PayloadPoints("/lel", states=(faulty, replace(ALARM, retained=True))))
    assert hear(ear, {"lel": 3, "s": "ok", "gas": True}, retained=True) == (Ignored.RETAINED,)
    (bad,) = hear(ear, {"lel": 3, "s": "bad", "gas": True}, retained=True)
    assert (bad.status, bad.at_least) == (Status.FAULT, None)


def test_no_number_of_any_kind_leaves_a_listener_that_is_not_finite():
    ear = listener(PayloadPoints("/lel", scale=1e300))
    for value in (1e300, -1e300, 1e10, 10**400):
        (said,) = (
            hear(ear, {"lel": value})
            if value < 1e308
            else ear.hear("depot/GD-1", b'{"lel":1e308}', Stamp(Instant(0), UtcNanos(0)))
        )
        assert said.lel_pct is None or math.isfinite(said.lel_pct)
