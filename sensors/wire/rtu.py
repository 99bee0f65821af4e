"""Modbus RTU frames: the check sum, requests, and answers found in whatever a line brings. Knows no port and no clock.

An RTU frame says neither where it starts nor how long it is: its length follows from its function code, its end from
the check sum, and only silence proves that a frame which has begun will not end. Hence two rules:

- A byte at which no frame with a right check sum begins is skipped, and the search goes on at the next one. What
  follows is never thrown away with it.
- A frame that has begun is waited for. If the line falls silent first, it was none (see `RtuInbox.give_up`), unless it
  may be the answer that is awaited: that one has until its time is out.

Frames are handed over in the shape of Modbus TCP, so that there is one way to match and to decode them.
"""

import struct
from collections.abc import Iterator
from typing import Final

from sensors.wire.modbus import HEAD, Ask, Head

CHARACTER_BITS: Final = 11
"""Bits that the silent times are counted in, whatever the parity (Modbus over serial line 1.02, 2.5.1)."""

FAST_BAUD: Final = 19200
FAST_GAP_S: Final = 0.001_75
"""The silence between two frames above `FAST_BAUD` (same, 2.5.1.1); below it is 3.5 characters."""

MAX_FRAME: Final = 256
"""Bytes of the largest RTU frame: unit, a PDU of 253 bytes, check sum."""

SMALLEST: Final = 5
"""Bytes of the smallest answer: an exception."""

HEADROOM: Final = 6
"""Bytes in front of a frame, in which its Modbus TCP header is written when it is handed over."""

BUFFER_BYTES: Final = HEADROOM + 4 * MAX_FRAME

_COUNTED: Final = -1
_EXCEPTION: Final = 0x80
_MBAP: Final = struct.Struct(">HHH")


def _table() -> Iterator[int]:
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xA001 if crc & 1 else 0)
        yield crc


CRC_TABLE: Final = tuple(_table())


def _sizes() -> Iterator[int]:
    """Bytes of an answer by function code: 0 if not known, `_COUNTED` where its third byte counts the rest."""
    known = {1: _COUNTED, 2: _COUNTED, 3: _COUNTED, 4: _COUNTED, 5: 8, 6: 8, 15: 8, 16: 8, 22: 10, 23: _COUNTED}
    for function in range(256):
        plain = function & ~_EXCEPTION
        yield 0 if plain not in known else SMALLEST if function & _EXCEPTION else known[plain]


SIZES: Final = tuple(_sizes())


def crc16(data: bytes | bytearray | memoryview) -> int:
    """Return the check sum; over a frame with its own check sum at the end it is 0."""
    crc, table = 0xFFFF, CRC_TABLE
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 0xFF]
    return crc


def frame_gap_s(baud: int) -> float:
    """Return how long a line of this speed (bit/s) must be silent between two frames."""
    return FAST_GAP_S if baud > FAST_BAUD else 3.5 * CHARACTER_BITS / baud


def rtu_frame(body: bytes) -> bytes:
    """Return unit and PDU with their check sum."""
    return body + crc16(body).to_bytes(2, "little")


def rtu_request(ask: Ask) -> bytes:
    """Return the whole frame."""
    return rtu_frame(ask.tail[4:])


class RtuInbox:
    """The bytes of one line that make no whole frame yet, in one small fixed buffer.

    Fill `room()`, tell `filled(n)`, then call `frame()` and `drop` until it returns None. Frames are found by what they
    are, whoever sent them; `expect` only says which unfinished one is worth its wait.

    Attributes:
        start: where the header of the frame lies that `frame` returned.
        skipped: bytes in which no frame was found, since somebody set it to 0.
    """

    __slots__ = ("_ask", "_echo", "_echoes", "_end", "_view", "buffer", "skipped", "start")

    def __init__(self, *, echoes: bool = False) -> None:
        """`echoes`: the adapter hears its own requests, which then come in before their answers."""
        self.buffer = bytearray(BUFFER_BYTES)
        self._view = memoryview(self.buffer)
        self.start = 0
        self.skipped = 0
        self._end = HEADROOM
        self._ask: Ask | None = None
        self._echoes = echoes
        self._echo = b""

    def expect(self, ask: Ask, frame: bytes) -> None:
        """A request goes out: what was left of the time before it belongs to no answer."""
        self.clear()
        self._ask = ask
        self._echo = frame if self._echoes else b""

    def room(self) -> memoryview:
        """Return the free space, never empty as long as `frame` was called to its end after each `filled`."""
        return self._view[self._end :]

    def filled(self, count: int) -> None:
        """Take note of `count` more bytes at the front of `room()`."""
        self._end += count

    def frame(self) -> Head | None:
        """Return the head of the next frame with a right check sum, its transaction id 0; then call `drop`."""
        buffer = self.buffer
        while (have := self._end - self.start - HEADROOM) > 0:
            at = self.start + HEADROOM
            if self._echo and buffer.startswith(self._echo[:have], at):
                if have < len(self._echo):
                    break
                self.start += len(self._echo)
                self._echo = b""
                continue
            size = _size(buffer, at, have)
            if size > have:
                break
            if size and crc16(self._view[at : at + size]) == 0:
                _MBAP.pack_into(buffer, self.start, 0, 0, size - 2)
                head: Head = HEAD.unpack_from(buffer, self.start)
                return head
            self.start += 1
            self.skipped += 1
        self._to_front()
        return None

    def drop(self, head: Head) -> bool:
        """Go past the frame whose head `frame` returned; tell whether anything is left behind it."""
        self.start += head[2] + 2
        return True  # `frame` is to look in any case: it makes room

    def give_up(self) -> bool:
        """The line is silent: take back the belief in the frame that has begun. True if `frame` has to look again."""
        if not self.partial or self.awaited:
            return False
        self.start += 1
        self.skipped += 1
        return True

    def clear(self) -> None:
        """Forget everything."""
        self.skipped += self._end - self.start - HEADROOM
        self.start, self._end = 0, HEADROOM

    @property
    def partial(self) -> bool:
        """Whether a frame has begun and not ended."""
        return self._end > self.start + HEADROOM

    @property
    def awaited(self) -> bool:
        """Whether what has begun may be the answer to the last request (or the adapter's echo of it)."""
        ask, at = self._ask, self.start + HEADROOM
        have = self._end - at
        if ask is None or have <= 0:
            return False
        if self._echo and self.buffer.startswith(self._echo[:have], at):
            return True
        if self.buffer[at] != ask.unit:
            return False
        if have == 1:
            return True
        function = self.buffer[at + 1]
        if function == ask.function:
            return have == 2 or self.buffer[at + 2] == ask.third
        return function == ask.function | _EXCEPTION

    def _to_front(self) -> None:
        """Make room: move the started frame to the front of the buffer."""
        if self.start:
            rest = self._end - self.start - HEADROOM
            if rest:
                self.buffer[HEADROOM : HEADROOM + rest] = self.buffer[self._end - rest : self._end]
            self.start, self._end = 0, HEADROOM + rest


def _size(buffer: bytearray, at: int, have: int) -> int:
    """Return the bytes of the frame at `at`, or one more than there are if that does not show yet; 0 if it is none."""
    if have < 2:
        return have + 1
    size = SIZES[buffer[at + 1]]
    if size != _COUNTED:
        return size
    if have < 3:
        return have + 1
    size = SMALLEST + buffer[at + 2]
    return size if size <= MAX_FRAME else 0
