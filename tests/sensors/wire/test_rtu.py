"""RTU frames: any bytes in, cut anywhere; never an exception, never an answer that was not asked for."""

import random
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymodbus.framer import FramerRTU
from pymodbus.pdu import DecodePDU
from pymodbus.pdu.bit_message import ReadCoilsRequest, WriteSingleCoilRequest
from pymodbus.pdu.register_message import (
    ReadHoldingRegistersRequest,
    ReadHoldingRegistersResponse,
    ReadInputRegistersRequest,
    ReadInputRegistersResponse,
)

from sensors.wire.modbus import Ask, BrokenStreamError, Inbox, Match, ask_bits, ask_registers, ask_write_coil, match
from sensors.wire.rtu import FAST_GAP_S, MAX_FRAME, RtuInbox, crc16, frame_gap_s, rtu_frame, rtu_request

JUDGE = Path(__file__).with_name("judge_libmodbus.c")
ASK = ask_registers(7, 3, 10, 2)
REQUESTS = {3: ReadHoldingRegistersRequest, 4: ReadInputRegistersRequest}
RESPONSES = {3: ReadHoldingRegistersResponse, 4: ReadInputRegistersResponse}


def bitwise_crc(data: bytes) -> int:
    """The check sum as the standard draws it, bit by bit: the oracle that shares no table with anybody."""
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc, low = crc >> 1, crc & 1
            if low:
                crc ^= 0xA001
    return crc


def answer(words: list[int], *, unit: int = 7, function: int = 3) -> bytes:
    return rtu_frame(struct.pack(f">BBB{len(words)}H", unit, function, len(words) * 2, *words))


def taken(inbox: RtuInbox) -> list[bytes]:
    """Whole frames that stand in an inbox, as they came over the line."""
    found = []
    while (head := inbox.frame()) is not None:
        at = inbox.start + 6
        found.append(bytes(inbox.buffer[at : at + head[2] + 2]))
        inbox.drop(head)
    return found


def frames(inbox: RtuInbox, chunk: bytes) -> list[bytes]:
    """Feed bytes as a port would, as much as there is room for at a time; return the whole frames."""
    found = []
    while chunk:
        room = inbox.room()
        assert len(room) > 0
        part, chunk = chunk[: len(room)], chunk[len(room) :]
        room[: len(part)] = part
        inbox.filled(len(part))
        found += taken(inbox)
    return found


def silence(inbox: RtuInbox) -> list[bytes]:
    """The line falls silent: frames that come to light."""
    found = []
    while inbox.give_up():
        found += taken(inbox)
    return found


def verdicts(ask: Ask, stream: bytes, *, echoes: bool = False) -> list[Match]:
    """What is said of the frames in a stream that follows a request, silence at its end."""
    inbox, found = RtuInbox(echoes=echoes), []
    inbox.expect(ask, rtu_request(ask))
    inbox.room()[: len(stream)] = stream
    inbox.filled(len(stream))
    while True:
        while (head := inbox.frame()) is not None:
            found.append(match(ask, head, inbox.buffer, inbox.start))
            inbox.drop(head)
        if not inbox.give_up():
            return found


# --- check sum and requests


@given(st.binary(max_size=300))
def test_the_check_sum_is_that_of_the_standard_and_of_pymodbus(data):
    assert crc16(data) == bitwise_crc(data)
    assert crc16(data).to_bytes(2, "little") == FramerRTU.compute_CRC(data).to_bytes(2, "big")
    assert crc16(rtu_frame(data)) == 0


@given(st.integers(0, 255), st.sampled_from([3, 4]), st.integers(0, 65411), st.integers(1, 125))
def test_register_requests_are_those_of_pymodbus(unit, function, register, count):
    pdu = REQUESTS[function](address=register, count=count, dev_id=unit)
    expected = FramerRTU(DecodePDU(False)).buildFrame(pdu)
    assert rtu_request(ask_registers(unit, function, register, count)) == expected


@given(st.integers(0, 255), st.integers(0, 65535), st.booleans())
def test_coil_requests_are_those_of_pymodbus(unit, coil, on):
    framer = FramerRTU(DecodePDU(False))
    assert rtu_request(ask_write_coil(unit, coil, on=on)) == framer.buildFrame(
        WriteSingleCoilRequest(address=coil, bits=[on], dev_id=unit)
    )
    assert rtu_request(ask_bits(unit, 1, coil, 1)) == framer.buildFrame(
        ReadCoilsRequest(address=coil, count=1, dev_id=unit)
    )


@pytest.mark.parametrize(("baud", "gap_s"), [(1200, 0.0321), (9600, 0.00401), (19200, 0.002005), (19201, FAST_GAP_S)])
def test_the_silence_between_frames_is_that_of_the_standard(baud, gap_s):
    assert frame_gap_s(baud) == pytest.approx(gap_s, rel=1e-3)


# --- answers in a stream


@given(st.sampled_from([3, 4]), st.lists(st.integers(0, 65535), min_size=1, max_size=125))
def test_answers_of_pymodbus_are_answers_to_what_was_asked(function, words):
    frame = FramerRTU(DecodePDU(False)).buildFrame(RESPONSES[function](registers=words, dev_id=7))
    ask = ask_registers(7, function, 0, len(words))
    assert verdicts(ask, frame) == [Match.ANSWER]
    inbox = RtuInbox()
    assert frames(inbox, frame) == [frame]
    assert not inbox.partial


def cut(stream: bytes, data: st.DataObject) -> Iterator[bytes]:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=20)))
    yield from (stream[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True))


word_lists = st.lists(st.lists(st.integers(0, 65535), min_size=1, max_size=125), min_size=1, max_size=6)


@given(word_lists, st.data())
def test_frames_are_the_same_however_they_are_cut_and_glued(answers, data):
    whole = [answer(words, unit=data.draw(st.integers(1, 247))) for words in answers]
    inbox, found = RtuInbox(), []
    for part in cut(b"".join(whole), data):
        found += frames(inbox, part)
    assert found == whole
    assert not inbox.partial
    assert inbox.skipped == 0


@given(st.lists(st.binary(max_size=2000), max_size=8), st.booleans())
def test_any_bytes_at_all_end_in_right_frames_or_in_silence(chunks, quiet_between):
    inbox, found = RtuInbox(), []
    inbox.expect(ASK, rtu_request(ASK))
    for chunk in chunks:
        found += frames(inbox, chunk)
        if quiet_between:
            found += silence(inbox)
    for frame in found:
        assert len(frame) <= MAX_FRAME
        assert bitwise_crc(frame[:-2]).to_bytes(2, "little") == frame[-2:]
        assert frame in b"".join(chunks)
    assert sum(map(len, found)) + inbox.skipped <= sum(map(len, chunks))


@given(st.lists(st.binary(max_size=400), max_size=6), st.data())
def test_what_is_found_and_what_is_skipped_does_not_depend_on_the_cuts(chunks, data):
    stream = b"".join(chunks)
    one, many = RtuInbox(), RtuInbox()
    for inbox in (one, many):
        inbox.expect(ASK, rtu_request(ASK))
    at_once = frames(one, stream)
    in_parts = [frame for part in cut(stream, data) for frame in frames(many, part)]
    assert at_once == in_parts
    assert (one.skipped, one.partial, one.awaited) == (many.skipped, many.partial, many.awaited)


@given(st.binary(max_size=40), st.lists(st.integers(0, 65535), min_size=2, max_size=2), st.binary(max_size=40))
def test_noise_in_front_hides_no_answer_once_the_line_is_silent(before, words, after):
    frame = answer(words)
    found = verdicts(ASK, before + frame + after)
    # Noise that begins as the answer itself does is waited for, and then nothing is read: rather none than a false one.
    inbox = RtuInbox()
    inbox.expect(ASK, rtu_request(ASK))
    frames(inbox, before + frame + after)
    silence(inbox)
    if not inbox.partial:
        assert Match.ANSWER in found


@given(st.binary(min_size=2, max_size=250))
def test_only_the_exact_shape_is_an_answer(body):
    found = verdicts(ASK, rtu_frame(body))
    exact = len(body) == 7 and body[0] == 7 and body[1] == 3 and body[2] == 4
    assert (Match.ANSWER in found) == exact
    if exact:
        decoded = DecodePDU(False).decode(body[1:])
        assert isinstance(decoded, ReadHoldingRegistersResponse)
        assert len(decoded.registers) == 2


@given(st.data())
def test_one_changed_bit_is_never_an_answer(data):
    frame = bytearray(answer(data.draw(st.lists(st.integers(0, 65535), min_size=2, max_size=2))))
    bit = data.draw(st.integers(0, len(frame) * 8 - 1))
    frame[bit // 8] ^= 1 << bit % 8
    assert Match.ANSWER not in verdicts(ASK, bytes(frame))


@pytest.mark.parametrize(
    ("frame", "found"),
    [
        (answer([1, 2]), [Match.ANSWER]),
        (answer([1, 2, 3]), [Match.GARBLED]),
        (answer([1]), [Match.GARBLED]),
        (answer([]), [Match.GARBLED]),
        (answer([1, 2], unit=8), [Match.FOREIGN]),
        (answer([1, 2], function=4), [Match.FOREIGN]),
        (rtu_frame(bytes((7, 0x83, 2))), [Match.EXCEPTION]),
        (answer([9, 9], unit=8) + answer([1, 2]), [Match.FOREIGN, Match.ANSWER]),
        (answer([1, 2])[:-1], []),
        (answer([1, 2])[1:], []),
        (rtu_request(ASK) + answer([1, 2]), [Match.ANSWER]),
    ],
)
def test_each_stream_has_its_verdicts(frame, found):
    assert verdicts(ASK, frame) == found


def test_a_wrong_check_sum_costs_the_frame_behind_it_nothing():
    broken = bytearray(answer([5, 6], unit=9))
    broken[-1] ^= 0xFF
    assert verdicts(ASK, bytes(broken) + answer([1, 2])) == [Match.ANSWER]
    assert verdicts(ASK, answer([1, 2])[:5] + answer([1, 2])) == [Match.ANSWER]


def test_the_start_of_the_answer_is_waited_for_and_other_starts_are_not():
    inbox = RtuInbox()
    inbox.expect(ASK, rtu_request(ASK))
    assert frames(inbox, answer([1, 2])[:6]) == []
    assert inbox.awaited and not inbox.give_up()
    assert frames(inbox, answer([1, 2])[6:]) == [answer([1, 2])]
    assert frames(inbox, b"\x08\x03\xf0\x01") == []
    assert not inbox.awaited
    assert silence(inbox) == []
    assert not inbox.partial and inbox.skipped == 4


def test_an_echo_is_dropped_and_an_echoed_write_is_answered_by_the_second_copy_only():
    write = ask_write_coil(7, 300, on=True)
    echo = rtu_request(write)
    assert verdicts(write, echo, echoes=True) == []
    assert verdicts(write, echo + echo, echoes=True) == [Match.ANSWER]
    assert verdicts(write, echo, echoes=False) == [Match.ANSWER]
    assert verdicts(ASK, rtu_request(ASK) + answer([1, 2]), echoes=True) == [Match.ANSWER]
    assert verdicts(ASK, b"\x00" + rtu_request(ASK) + answer([1, 2]), echoes=True) == [Match.ANSWER]


# --- the same frames before other judges


def mutated(chance: random.Random) -> bytes:
    """A frame as it might come: right, or hurt in one of the ways that frames are hurt."""
    words = [chance.randrange(0x10000) for _ in range(chance.randrange(1, 12))]
    body = bytearray(
        struct.pack(f">BBB{len(words)}H", chance.randrange(1, 248), chance.choice((3, 4)), 2 * len(words), *words)
    )
    match chance.randrange(7):
        case 0:
            body[2] ^= 1 << chance.randrange(8)
        case 1:
            del body[chance.randrange(3, len(body)) :]
        case 2:
            body = bytearray((body[0], body[1] | 0x80, chance.randrange(1, 12)))
        case 3:
            body = bytearray(struct.pack(">BBHH", body[0], chance.choice((5, 6, 15, 16)), *(words * 2)[:2]))
        case _:
            pass
    frame = bytearray(rtu_frame(bytes(body)))
    if chance.random() < 0.3:
        frame[chance.randrange(len(frame))] ^= 1 << chance.randrange(8)
    return bytes(frame)


def is_a_frame(frame: bytes) -> bool:
    """Ours, of the whole of it."""
    inbox = RtuInbox()
    return frames(inbox, frame)[:1] == [frame]


def test_the_same_frames_are_frames_for_pymodbus(seed):
    chance, agreed = random.Random(seed), 0
    for _ in range(3000):
        frame = mutated(chance)
        used, unit, _, pdu = FramerRTU(DecodePDU(False)).decode(frame)
        theirs = bool(pdu) and used == len(frame) and bytes((unit,)) + pdu == frame[:-2]
        assert is_a_frame(frame) == theirs, frame.hex()
        agreed += theirs
    assert agreed > 1000


@pytest.fixture(scope="module")
def libmodbus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[bytes], bool]]:
    """Asks libmodbus, compiled into a judge here and now, whether bytes are one whole frame."""
    binary = tmp_path_factory.mktemp("judge") / "judge"
    compiler = shutil.which("gcc") or shutil.which("cc")
    assert compiler, "this test needs a C compiler and libmodbus-dev"
    include = Path("/usr/include/modbus")
    flags = [f"-I{include}"] if include.exists() else []
    subprocess.run([compiler, "-Wall", "-o", str(binary), *flags, str(JUDGE), "-lmodbus"], check=True, timeout=60)
    with subprocess.Popen([str(binary)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def judge(frame: bytes) -> bool:
            process.stdin.write(bytes((len(frame),)) + frame)
            process.stdin.flush()
            verdict = process.stdout.read(1)
            assert verdict, "the judge is gone"
            return verdict == b"\x01"

        yield judge
        process.stdin.close()
        process.wait(5)


@pytest.mark.servers
def test_the_same_frames_are_frames_for_libmodbus(seed, libmodbus):
    chance, agreed = random.Random(seed), 0
    for _ in range(1500):
        frame = mutated(chance)
        theirs = libmodbus(frame)
        assert is_a_frame(frame) == theirs, frame.hex()
        agreed += theirs
    assert agreed > 500


# --- floods of them


def fuzzed(chance: random.Random, count: int) -> int:
    """So many frames, hurt, glued and amid noise, past both inboxes; returns how many answered what was asked.

    Whatever is taken for the answer must stand in the stream as the standard wants it: unit, function, count and
    check sum.
    """
    rtu, answered = RtuInbox(), 0
    tcp = Inbox()
    while count > 0:
        ask = ask_registers(
            chance.randrange(1, 248), chance.choice((3, 4)), chance.randrange(1000), chance.randrange(1, 6)
        )
        pieces = []
        for _ in range(20):
            unit = ask.unit if chance.random() < 0.7 else chance.randrange(1, 248)
            body = bytes((unit, ask.function, ask.third)) + chance.randbytes(ask.third)
            frame = bytearray(body + crc16(body).to_bytes(2, "little"))
            hurt = chance.randrange(6)
            if hurt == 0:
                frame[chance.randrange(len(frame))] ^= 1 << chance.randrange(8)
            elif hurt == 1:
                del frame[chance.randrange(len(frame))]
            elif hurt == 2:
                frame = bytearray(chance.randbytes(chance.randrange(1, 30)))
            pieces.append(bytes(frame))
        count -= len(pieces)
        stream = b"".join(pieces)
        rtu.expect(ask, b"")
        at = 0
        while at < len(stream):
            part = stream[at : at + chance.randrange(1, 120)]
            at += len(part)
            rtu.room()[: len(part)] = part
            rtu.filled(len(part))
            while True:
                while (head := rtu.frame()) is not None:
                    if match(ask, head, rtu.buffer, rtu.start) is Match.ANSWER:
                        answered += 1
                        begin = rtu.start + 6
                        found = bytes(rtu.buffer[begin : begin + head[2] + 2])
                        assert found[:3] == bytes((ask.unit, ask.function, ask.third))
                        assert len(found) == ask.third + 5
                        assert found in stream
                        assert found in pieces or bitwise_crc(found[:-2]).to_bytes(2, "little") == found[-2:]
                    rtu.drop(head)
                if at < len(stream) or not rtu.give_up():
                    break
        tcp.clear()
        over_tcp(chance, tcp, ask, stream)
    return answered


def over_tcp(chance: random.Random, inbox: Inbox, ask: Ask, stream: bytes) -> None:
    """The same bytes where a Modbus TCP stream is expected, one right header in front."""
    data = struct.pack(">HHH", 5, 0, chance.choice((ask.length, chance.randrange(260)))) + stream[:600]
    inbox.room()[: len(data)] = data
    inbox.filled(len(data))
    try:
        while (head := inbox.frame()) is not None:
            if match(ask, head, inbox.buffer, inbox.start) is Match.ANSWER:
                assert head[1:] == (0, ask.length, ask.unit, ask.function, ask.third)
            inbox.drop(head)
    except BrokenStreamError:
        pass


def test_a_flood_of_hurt_frames_brings_no_false_answer(seed):
    assert fuzzed(random.Random(seed), 20_000) > 5000


@pytest.mark.soak
def test_ten_million_hurt_frames_bring_no_false_answer(seed):
    assert fuzzed(random.Random(seed), 10_000_000) > 2_500_000
