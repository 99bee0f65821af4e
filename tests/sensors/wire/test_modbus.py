"""Frames: any bytes in, no exception but the one that means "open anew", no answer that was not asked for."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymodbus.framer import FramerSocket
from pymodbus.pdu import DecodePDU
from pymodbus.pdu.bit_message import ReadCoilsRequest, WriteSingleCoilRequest
from pymodbus.pdu.register_message import (
    ReadHoldingRegistersRequest,
    ReadHoldingRegistersResponse,
    ReadInputRegistersRequest,
    ReadInputRegistersResponse,
)

from sensors.wire.modbus import (
    BUFFER_BYTES,
    HEAD,
    Ask,
    BrokenStreamError,
    Inbox,
    Match,
    ask_bits,
    ask_registers,
    ask_write_coil,
    match,
    next_transaction,
    request,
)

ASK = ask_registers(7, 3, 10, 2)
REQUESTS = {3: ReadHoldingRegistersRequest, 4: ReadInputRegistersRequest}
RESPONSES = {3: ReadHoldingRegistersResponse, 4: ReadInputRegistersResponse}


def frames(inbox: Inbox, chunk: bytes) -> list[bytes]:
    """Feed bytes as a socket would, as much as there is room for at a time; return the whole frames."""
    found = []
    while chunk:
        room = inbox.room()
        assert len(room) > 0
        part, chunk = chunk[: len(room)], chunk[len(room) :]
        room[: len(part)] = part
        inbox.filled(len(part))
        while (head := inbox.frame()) is not None:
            found.append(bytes(inbox.buffer[inbox.start : inbox.start + head[2] + 6]))
            inbox.drop(head)
    return found


def judged(ask: Ask, frame: bytes) -> Match:
    return match(ask, HEAD.unpack_from(frame), frame, 0)


def answer(words: list[int], *, transaction: int = 1, unit: int = 7, function: int = 3) -> bytes:
    data = struct.pack(f">{len(words)}H", *words)
    return struct.pack(">HHHBBB", transaction, 0, len(data) + 3, unit, function, len(data)) + data


@given(st.integers(0, 255), st.sampled_from([3, 4]), st.integers(0, 65411), st.integers(1, 125), st.integers(0, 65535))
def test_register_requests_are_those_of_pymodbus(unit, function, register, count, transaction):
    pdu = REQUESTS[function](address=register, count=count, dev_id=unit, transaction_id=transaction)
    expected = FramerSocket(DecodePDU(False)).buildFrame(pdu)
    assert request(ask_registers(unit, function, register, count), transaction) == expected


@given(st.integers(0, 255), st.integers(0, 65535), st.booleans(), st.integers(0, 65535))
def test_coil_requests_are_those_of_pymodbus(unit, coil, on, transaction):
    framer = FramerSocket(DecodePDU(False))
    write = WriteSingleCoilRequest(address=coil, bits=[on], dev_id=unit, transaction_id=transaction)
    read = ReadCoilsRequest(address=coil, count=1, dev_id=unit, transaction_id=transaction)
    assert request(ask_write_coil(unit, coil, on=on), transaction) == framer.buildFrame(write)
    assert request(ask_bits(unit, 1, coil, 1), transaction) == framer.buildFrame(read)


@given(st.sampled_from([3, 4]), st.lists(st.integers(0, 65535), min_size=1, max_size=125), st.integers(0, 65535))
def test_answers_of_pymodbus_are_answers_to_what_was_asked(function, words, transaction):
    pdu = RESPONSES[function](registers=words, dev_id=7, transaction_id=transaction)
    frame = FramerSocket(DecodePDU(False)).buildFrame(pdu)
    ask = ask_registers(7, function, 0, len(words))
    assert frames(Inbox(), frame) == [frame]
    assert judged(ask, frame) is Match.ANSWER
    assert list(struct.unpack(f">{len(words)}H", frame[9:])) == words


@given(st.lists(st.binary(max_size=2000), max_size=8))
def test_any_bytes_at_all_end_in_frames_in_silence_or_in_a_broken_stream(chunks):
    inbox = Inbox()
    try:
        for chunk in chunks:
            for frame in frames(inbox, chunk):
                assert frame[2:4] == b"\0\0"
                assert len(frame) == 6 + int.from_bytes(frame[4:6], "big")
    except BrokenStreamError:
        pass
    assert len(inbox.buffer) == BUFFER_BYTES


@given(st.binary(min_size=3, max_size=254))
def test_only_the_exact_shape_is_an_answer(body):
    frame = struct.pack(">HHH", 1, 0, len(body)) + body
    exact = len(body) == 7 and body[0] == 7 and body[1] == 3 and body[2] == 4
    assert (judged(ASK, frame) is Match.ANSWER) == exact
    if judged(ASK, frame) is Match.ANSWER:
        decoded = DecodePDU(False).decode(frame[7:])
        assert isinstance(decoded, ReadHoldingRegistersResponse)
        assert len(decoded.registers) == 2


@given(st.lists(st.lists(st.integers(0, 65535), min_size=1, max_size=125), min_size=1, max_size=6), st.data())
def test_frames_are_the_same_however_they_are_cut_and_glued(answers, data):
    whole = [answer(words, transaction=number) for number, words in enumerate(answers)]
    stream = b"".join(whole)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=20)))
    inbox, found = Inbox(), []
    for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        found += frames(inbox, stream[begin:end])
    assert found == whole
    assert not inbox.partial


@pytest.mark.parametrize(
    ("frame", "verdict"),
    [
        (answer([1, 2]), Match.ANSWER),
        (answer([1, 2, 3]), Match.GARBLED),
        (answer([1]), Match.GARBLED),
        (answer([]), Match.GARBLED),
        (answer([1, 2], unit=8), Match.FOREIGN),
        (answer([1, 2], function=4), Match.FOREIGN),
        (bytes.fromhex("00010000000307 8302"), Match.EXCEPTION),
        (bytes.fromhex("00010000000407 830200"), Match.OUT_OF_STEP),
        (bytes.fromhex("00010000000607 03 03 000102"), Match.GARBLED),
        (bytes.fromhex("00010000000707 03 06 00010002"), Match.OUT_OF_STEP),
        (bytes.fromhex("00010000000907 03 04 000100020003"), Match.OUT_OF_STEP),
    ],
)
def test_each_misshapen_answer_has_its_name(frame, verdict):
    assert judged(ASK, frame) is verdict


def test_a_coil_write_is_answered_by_its_own_echo_only():
    ask = ask_write_coil(7, 300, on=True)
    echo = request(ask, 1)
    assert judged(ask, echo) is Match.ANSWER
    assert judged(ask, echo[:-2] + b"\0\0") is Match.GARBLED
    assert judged(ask, echo[:9] + b"\x99" + echo[10:]) is Match.GARBLED


@pytest.mark.parametrize("head", ["0001 0001 0006 07", "0001 0000 0002 07", "0001 0000 00ff 07", "0001 0000 0000 07"])
def test_a_header_that_cannot_be_is_a_broken_stream(head):
    with pytest.raises(BrokenStreamError):
        frames(Inbox(), bytes.fromhex(head))


@pytest.mark.parametrize(("register", "count"), [(0, 0), (0, 126), (-1, 1), (65535, 2)])
def test_a_read_that_no_frame_can_carry_is_refused(register, count):
    with pytest.raises(ValueError, match="cannot read"):
        ask_registers(1, 3, register, count)


def test_transaction_ids_go_round_and_never_read_alike_with_their_bytes_swapped():
    seen, key = set(), 0
    for _ in range(0x10000):
        key = next_transaction(key)
        assert 0 < key <= 0xFFFF and key >> 8 != key & 0xFF
        seen.add(key)
    assert len(seen) == 0x10000 - 0x100
