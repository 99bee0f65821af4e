"""Modbus TCP frames: built, cut out of a byte stream, and matched to what was asked. Knows no socket and no clock."""

import struct
from dataclasses import dataclass
from enum import Enum
from typing import Final

READ_COILS: Final = 1
READ_HOLDING: Final = 3
WRITE_COIL: Final = 5
WRITE_REGISTER: Final = 6

MAX_REGISTERS: Final = 125
"""Registers in one read (Modbus application protocol 1.1b3, 6.3)."""

MAX_BITS: Final = 2000
"""Coils or discrete inputs in one read (6.1, 6.2)."""

MAX_LENGTH: Final = 254
"""Largest MBAP length: unit id and a PDU of 253 bytes."""

MIN_LENGTH: Final = 3
"""Smallest MBAP length of an answer: unit id, function and one more byte."""

BUFFER_BYTES: Final = 1024
"""Room for three of the largest frames (260 bytes) and a piece of a fourth."""

HEAD: Final = struct.Struct(">HHHBBB")
"""Transaction id, protocol id, length, unit, function, and the byte after it (byte count or exception code)."""

HEAD_BYTES: Final = HEAD.size

Head = tuple[int, int, int, int, int, int]

_REQUEST = struct.Struct(">HHBBHH")


@dataclass(frozen=True, slots=True)
class Ask:
    """One request and the shape of its only right answer.

    Attributes:
        tail: the request without its transaction id.
        third: the byte after the function code that the answer must have.
        length: the MBAP length that the answer must have.
        echo: whether the answer repeats the request word for word (a write).
    """

    unit: int
    function: int
    tail: bytes
    third: int
    length: int
    echo: bool = False


def ask_registers(unit: int, function: int, register: int, count: int) -> Ask:
    """Read `count` holding (3) or input (4) registers from wire address `register` on.

    Raises:
        ValueError: if the count, the address or the unit is outside what a frame can carry.
    """
    if not 1 <= count <= MAX_REGISTERS or not 0 <= register <= 0x10000 - count or not 0 <= unit <= 0xFF:
        raise ValueError(f"cannot read {count} registers at {register} of unit {unit}")
    return Ask(unit, function, _REQUEST.pack(0, 6, unit, function, register, count), count * 2, count * 2 + 3)


def ask_bits(unit: int, function: int, first: int, count: int) -> Ask:
    """Read `count` coils (1) or discrete inputs (2) from wire address `first` on.

    Raises:
        ValueError: if the count, the address or the unit is outside what a frame can carry.
    """
    if not 1 <= count <= MAX_BITS or not 0 <= first <= 0x10000 - count or not 0 <= unit <= 0xFF:
        raise ValueError(f"cannot read {count} bits at {first} of unit {unit}")
    size = (count + 7) // 8
    return Ask(unit, function, _REQUEST.pack(0, 6, unit, function, first, count), size, size + 3)


def ask_write_coil(unit: int, coil: int, *, on: bool) -> Ask:
    """Write one coil (function 5)."""
    tail = _REQUEST.pack(0, 6, unit, WRITE_COIL, coil, 0xFF00 if on else 0)
    return Ask(unit, WRITE_COIL, tail, coil >> 8, 6, echo=True)


def ask_write_register(unit: int, register: int, value: int) -> Ask:
    """Write one holding register (function 6)."""
    tail = _REQUEST.pack(0, 6, unit, WRITE_REGISTER, register, value)
    return Ask(unit, WRITE_REGISTER, tail, register >> 8, 6, echo=True)


def next_transaction(before: int) -> int:
    """Return the transaction id (16 bits) after this one.

    Left out are those whose two bytes are alike: a gateway that swaps the bytes is then found out by its first answer.
    """
    after = (before + 1) & 0xFFFF
    return after if after >> 8 != after & 0xFF else (after + 1) & 0xFFFF or 1


def request(ask: Ask, transaction: int) -> bytes:
    """Return the whole frame."""
    return transaction.to_bytes(2, "big") + ask.tail


class Match(Enum):
    """What a frame is to the request whose transaction id it carries."""

    ANSWER = "answer"
    EXCEPTION = "exception"
    GARBLED = "garbled"  # from the unit asked, of the wrong shape; the stream is still in step
    OUT_OF_STEP = (
        "out of step"  # its inner count contradicts its outer length: nobody knows where the next frame starts
    )
    FOREIGN = "foreign"  # from another unit, or to another kind of question


def match(ask: Ask, head: Head, buffer: bytes | bytearray, start: int) -> Match:
    """Hold a whole frame at `start`, its head already unpacked, against the request in flight."""
    _, _, length, unit, function, third = head
    if unit == ask.unit and function == ask.function:
        if third == ask.third and length == ask.length and not ask.echo:
            return Match.ANSWER
        if ask.echo:
            return Match.ANSWER if buffer[start + 2 : start + 12] == ask.tail else Match.GARBLED
        return Match.GARBLED if length == third + 3 else Match.OUT_OF_STEP
    if unit == ask.unit and function == ask.function | 0x80:
        return Match.EXCEPTION if length == MIN_LENGTH else Match.OUT_OF_STEP
    return Match.FOREIGN


class BrokenStreamError(Exception):
    """The bytes are no Modbus TCP stream (any more): it can only be opened anew."""


class Inbox:
    """The bytes of one connection that make no whole frame yet, in one small fixed buffer.

    Fill `room()`, tell `filled(n)`, then call `frame()` until it returns None.
    """

    __slots__ = ("_end", "_view", "buffer", "start")

    def __init__(self) -> None:
        self.buffer = bytearray(BUFFER_BYTES)
        self._view = memoryview(self.buffer)
        self.start = 0
        self._end = 0

    def room(self) -> memoryview:
        """Return the free space, never empty as long as `frame` was called to its end after each `filled`."""
        return self._view[self._end :] if self._end else self._view

    def filled(self, count: int) -> None:
        """Take note of `count` more bytes at the front of `room()`."""
        self._end += count

    def frame(self) -> Head | None:
        """Return the head of the whole frame at `start`; None when there is no whole one. Then call `drop`.

        Raises:
            BrokenStreamError: if a protocol id is not 0 or a length is impossible.
        """
        start, have = self.start, self._end - self.start
        if have < HEAD_BYTES:
            if start:
                self._to_front()
            if have >= 6:
                self._refuse_nonsense(HEAD.unpack_from(self.buffer))
            return None
        head: Head = HEAD.unpack_from(self.buffer, start)
        if head[1] != 0 or not MIN_LENGTH <= head[2] <= MAX_LENGTH:
            self._refuse_nonsense(head)
        if have < head[2] + 6:
            if start:
                self._to_front()
            return None
        return head

    def drop(self, head: Head) -> bool:
        """Go past the frame whose head `frame` returned; tell whether anything is left behind it."""
        self.start += head[2] + 6
        if self.start < self._end:
            return True
        self.start = self._end = 0
        return False

    def clear(self) -> None:
        """Forget everything."""
        self.start = self._end = 0

    @property
    def partial(self) -> bool:
        """Whether a frame has begun and not ended."""
        return self._end > self.start

    def _to_front(self) -> None:
        """Make room: move the started frame to the front of the buffer."""
        rest = self._end - self.start
        if rest:
            self.buffer[:rest] = self.buffer[self.start : self._end]
        self.start, self._end = 0, rest

    @staticmethod
    def _refuse_nonsense(head: Head) -> None:
        if head[1] != 0:
            raise BrokenStreamError(f"protocol id {head[1]}")
        if not MIN_LENGTH <= head[2] <= MAX_LENGTH:
            raise BrokenStreamError(f"length {head[2]}")
