"""The wire format of protocol buffers, read and written field by field without a schema. Knows no message."""

import struct
from collections.abc import Iterator
from typing import Final

VARINT: Final = 0
FIXED64: Final = 1
BYTES: Final = 2
FIXED32: Final = 5
"""Wire types. The groups of old (3 and 4) are not read."""

_SIZES: Final = {FIXED64: 8, FIXED32: 4}
_MASK: Final = (1 << 64) - 1


class NoBufferError(ValueError):
    """The bytes are no protocol buffer."""


def fields(content: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield (field number, value) in their order: a whole number for varints, the bytes for everything else.

    Raises:
        NoBufferError: at the first place that is none.
    """
    at = 0
    while at < len(content):
        tag, at = _varint(content, at)
        kind = tag & 7
        if kind == VARINT:
            number, at = _varint(content, at)
            yield tag >> 3, number
            continue
        if kind == BYTES:
            size, at = _varint(content, at)
        elif kind in _SIZES:
            size = _SIZES[kind]
        else:
            raise NoBufferError(f"wire type {kind}")
        if at + size > len(content):
            raise NoBufferError("it ends early")
        yield tag >> 3, content[at : at + size]
        at += size


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(content):
            raise NoBufferError("it ends early")
        byte = content[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & _MASK, at
    raise NoBufferError("a number of more than ten bytes")


def varint(value: int) -> bytes:
    """Write a whole number from 0 up."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def put_whole(field: int, value: int) -> bytes:
    """Write a field of whole numbers; a negative one as its 64-bit two's complement."""
    return varint(field << 3 | VARINT) + varint(value & _MASK)


def put_bytes(field: int, value: bytes) -> bytes:
    """Write a field of bytes, text or an inner message."""
    return varint(field << 3 | BYTES) + varint(len(value)) + value


def put_double(field: int, value: float) -> bytes:
    """Write a field of a 64-bit float."""
    return varint(field << 3 | FIXED64) + struct.pack("<d", value)
