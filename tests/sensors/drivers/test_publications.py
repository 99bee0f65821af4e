"""Publications as bytes: what paho would write, read back however it breaks, and never more than the broker allows."""

import struct

import pytest
from aiomqtt import MqttError
from hypothesis import given
from hypothesis import strategies as st

from sensors.drivers.publications import LONGEST, Publications, PublishRefusedError
from simulator.virtual import VirtualLoop

five = st.booleans()


def futures(loop, count):
    return [loop.create_future() for _ in range(count)]


@pytest.fixture
def loop():
    return VirtualLoop()


def read_back(data: bytes, *, five: bool) -> list[tuple[int, str, int, bytes]]:
    """An own reading of MQTT 5.0, 3.3: head byte, topic, identifier and payload of each packet."""
    found = []
    while data:
        head, length, shift, at = data[0], 0, 0, 1
        while True:
            length |= (data[at] & 0x7F) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 0x80:
                break
        body, data = data[at : at + length], data[at + length :]
        (name,) = struct.unpack_from("!H", body)
        (number,) = struct.unpack_from("!H", body, 2 + name)
        rest = body[4 + name :]
        if five:
            assert rest[0] == 0
            rest = rest[1:]
        found.append((head, body[2 : 2 + name].decode(), number, rest))
    return found


@given(st.lists(st.tuples(st.text(min_size=1, max_size=40), st.binary(max_size=300), st.booleans()), max_size=6), five)
def test_each_publication_can_be_read_as_what_it_was(messages, five):
    loop = VirtualLoop()
    under_way = Publications(five=five, most=100)
    sent = b"".join(
        under_way.put(topic.encode("utf-8", "replace").decode(), payload, loop.create_future(), retain=retain)
        for topic, payload, retain in messages
    )
    assert read_back(sent, five=five) == [
        (0x33 if retain else 0x32, topic.encode("utf-8", "replace").decode(), number, payload)
        for number, (topic, payload, retain) in enumerate(messages, 1)
    ]


@given(st.text(min_size=1, max_size=40), st.binary(max_size=300), st.booleans(), five)
def test_a_publication_at_qos_0_is_one_at_qos_1_without_its_number(name, payload, retain, five):
    topic = name.encode("utf-8", "replace").decode()
    numbered = Publications(five=five, most=1).put(topic, payload, VirtualLoop().create_future(), retain=retain)
    under_way = Publications(five=five, most=1)
    sent = under_way.unconfirmed(topic, payload, retain=retain)
    assert len(under_way) == 0
    ((head, *_, rest),) = read_back(_with_number(sent, topic), five=five)
    assert (head, rest) == (0x33 if retain else 0x32, payload)
    assert _with_number(sent, topic) == numbered


def _with_number(packet: bytes, topic: str) -> bytes:
    """What a packet at QoS 0 would be at QoS 1 with the number 1; longer by its two bytes."""
    head, shift, at, length = packet[0], 0, 1, 0
    while True:
        length |= (packet[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if packet[at - 1] < 0x80:
            break
    assert len(packet) == at + length
    name = 2 + len(topic.encode())
    groups, rest = bytearray(), length + 2
    while rest > 0x7F:
        groups.append(rest & 0x7F | 0x80)
        rest >>= 7
    groups.append(rest)
    return bytes([head | 0x02]) + bytes(groups) + packet[at : at + name] + b"\0\1" + packet[at + name :]


@given(st.integers(0, 3), st.data())
def test_acknowledgements_count_however_the_line_breaks_them(more, data):
    under_way = Publications(five=True, most=100)
    answers = futures(VirtualLoop(), 4)
    for answer in answers:
        under_way.put("a", b"", answer, retain=False)
    forms = (b"\x40\x02\x00%c", b"\x40\x03\x00%c\x10", b"\x40\x04\x00%c\x00\x00", b"\x40\x84\x00\x00%c\x00\x00")
    line = b"".join(data.draw(st.sampled_from(forms)) % number for number in (2, 1, 4, 3)) + b"\xd0\x00" * more
    at, cuts = 0, sorted(data.draw(st.lists(st.integers(0, len(line)))))
    for cut in [*cuts, len(line)]:
        at += under_way.take(line[at:cut])
    assert all(answer.result() is None for answer in answers)
    assert line[at:] == b"\xd0\x00" * more, "what is no acknowledgement is left to others, whole"
    assert len(under_way) == 0


def test_a_refusal_names_its_reason(loop):
    under_way = Publications(five=True, most=9)
    known, unknown = futures(loop, 2)
    under_way.put("a", b"", known, retain=False)
    under_way.put("a", b"", unknown, retain=False)
    under_way.take(b"\x40\x04\x00\x01\x87\x00\x40\x03\x00\x02\xfe")
    with pytest.raises(PublishRefusedError, match="Not authorized"):
        known.result()
    with pytest.raises(PublishRefusedError, match="0xfe"):
        unknown.result()


def test_no_more_is_under_way_than_the_broker_allows_and_none_is_left_out(loop):
    under_way = Publications(five=False, most=2)
    answers = futures(loop, 4)
    sent = [under_way.put("a", b"%d" % number, answer, retain=False) for number, answer in enumerate(answers)]
    assert [bool(packet) for packet in sent] == [True, True, False, False]
    answers[2].cancel()  # nobody waits for it any more
    assert under_way.due() == b""
    under_way.take(b"\x40\x02\x00\x01")
    assert [payload for *_, payload in read_back(under_way.due(), five=False)] == [b"3"]


def test_an_acknowledgement_of_something_else_or_of_what_was_given_up_harms_nobody(loop):
    under_way = Publications(five=True, most=9)
    given_up, waiting = futures(loop, 2)
    under_way.put("a", b"", given_up, retain=False)
    under_way.put("a", b"", waiting, retain=False)
    given_up.cancel()
    assert under_way.take(b"\x40\x02\x00\x01\x40\x02\x12\x34") == 8
    assert not waiting.done()


@pytest.mark.parametrize("line", [b"\x40\x01\x00", b"\x40\x00", b"\x40\xff\xff\xff\xff\x7f"])
def test_what_is_no_mqtt_ends_the_connection(loop, line):
    under_way = Publications(five=True, most=9)
    under_way.put("a", b"", loop.create_future(), retain=False)
    with pytest.raises(MqttError):
        under_way.take(line)


def test_a_lost_connection_answers_everybody(loop):
    under_way = Publications(five=True, most=1)
    answers = futures(loop, 2)
    for answer in answers:
        under_way.put("a", b"", answer, retain=False)
    under_way.lost(MqttError("connection lost"))
    assert [type(answer.exception()) for answer in answers] == [MqttError, MqttError]
    assert len(under_way) == 0


def test_a_number_under_way_is_not_given_twice(loop):
    under_way = Publications(five=True, most=9)
    stays = loop.create_future()
    under_way.put("a", b"", stays, retain=False)
    numbers = set()
    for _ in range(65_540):
        (packet,) = read_back(under_way.put("a", b"", loop.create_future(), retain=False), five=True)
        numbers.add(packet[2])
        under_way.take(b"\x40\x02" + packet[2].to_bytes(2, "big"))
    assert numbers == set(range(2, 65_536))
    assert not stays.done()


def test_a_topic_that_no_packet_can_carry_is_refused(loop):
    with pytest.raises(ValueError, match="65536"):
        Publications(five=True, most=9).put("a" * (LONGEST + 1), b"", loop.create_future(), retain=False)
