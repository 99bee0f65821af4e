"""Readers of single places: from the words or bits of an answer to one raw value. Prepared once, then cheap."""

import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, TypeAlias

from sensors.wire.places import Function, Place, Raw, Type, WordOrder

RawReader: TypeAlias = Callable[[bytes | bytearray, int], Raw]
"""(bytes of the block, where its first one is) -> raw value; raises struct.error or IndexError beyond the end."""

TextReader: TypeAlias = Callable[[bytes | bytearray, int], str]

_LETTER: Final = {
    Type.BOOL: "H",
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


class Stretch(NamedTuple):
    """What one request reads: `size` registers, or bits, from wire address `start` on."""

    function: Function
    start: int
    size: int

    @property
    def end(self) -> int:
        """First address after it."""
        return self.start + self.size

    @property
    def bytes(self) -> int:
        """Bytes of its answer."""
        return (self.size + 7) // 8 if self.function.of_bits else self.size * 2

    def holds(self, function: Function, register: int, words: int) -> bool:
        """Tell whether a point lies wholly inside."""
        return function is self.function and self.start <= register and register + words <= self.end


def raw_reader(place: Place, reads: Sequence[Stretch]) -> RawReader:
    """Return the reader of a number at this place, in a block of these reads."""
    start, shift = _offset(place, reads)
    if place.function.of_bits:
        return _bits(start, shift, max(1, place.type.bits), place)
    at = start + place.at_byte
    plain = extractor(place.type, place.word_order)
    if place.type is Type.BOOL:
        return lambda buffer, base: 1 if plain(buffer, base + at) else 0
    if place.part is None:
        return lambda buffer, base: plain(buffer, base + at)
    low, mask = place.part.low, (1 << place.part.width) - 1
    return lambda buffer, base: int(plain(buffer, base + at)) >> low & mask


def text_reader(place: Place, reads: Sequence[Stretch]) -> TextReader:
    """Return the reader of a text: printable ASCII up to a NUL, spaces at the ends left out."""
    start, _ = _offset(place, reads)
    at, size = start + place.at_byte, place.length * 2
    swapped = place.word_order in (WordOrder.BADC, WordOrder.DCBA)

    def read(buffer: bytes | bytearray, base: int) -> str:
        raw = bytes(buffer[base + at : base + at + size])
        if swapped:
            raw = b"".join(raw[index : index + 2][::-1] for index in range(0, len(raw), 2))
        return as_shown(raw)

    return read


def as_shown(raw: bytes) -> str:
    """Return a padded or NUL-ended text as a person reads it."""
    text = raw.partition(b"\0")[0].decode("ascii", "replace")
    return "".join(sign for sign in text if sign.isprintable()).strip()


def extractor(kind: Type, order: WordOrder) -> RawReader:
    """Return the fastest reader of this number type and order, its offset in bytes."""
    letter = _LETTER[kind]
    if kind.words == 1:
        swapped = order in (WordOrder.BADC, WordOrder.DCBA)
        return _plain(("<" if swapped else ">") + letter)
    match order:
        case WordOrder.ABCD:
            return _plain(">" + letter)
        case WordOrder.DCBA:
            return _plain("<" + letter)
        case WordOrder.CDAB:
            return _words_turned(">", kind)
        case WordOrder.BADC:
            return _words_turned("<", kind)


def _plain(form: str) -> RawReader:
    read = struct.Struct(form).unpack_from

    def extract(buffer: bytes | bytearray, offset: int) -> Raw:
        value: Raw = read(buffer, offset)[0]
        return value

    return extract


def _words_turned(endian: str, kind: Type) -> RawReader:
    """CDAB is ABCD with its words in the other order; BADC is DCBA with its words in the other order."""
    form = f"{endian}{kind.words}H"
    words, join = struct.Struct(form).unpack_from, struct.Struct(form).pack
    read = struct.Struct(endian + _LETTER[kind]).unpack

    def extract(buffer: bytes | bytearray, offset: int) -> Raw:
        value: Raw = read(join(*words(buffer, offset)[::-1]))[0]
        return value

    return extract


def _bits(start: int, shift: int, width: int, place: Place) -> RawReader:
    count = (shift + width + 7) // 8
    mask = (1 << width) - 1
    part = place.part

    def read(buffer: bytes | bytearray, base: int) -> Raw:
        chunk = buffer[base + start : base + start + count]
        if len(chunk) < count:
            raise IndexError("the answer is too short")
        value = int.from_bytes(chunk, "little") >> shift & mask
        return value if part is None else part.of(value)

    return read


_BITS_IN_BYTE: Final = 8


def extent(places: Iterable[Place], reads: Sequence[Stretch]) -> tuple[int, int]:
    """Return the first byte of these places in the joined answers of these reads, and the one after their last."""
    first, end = [], []
    for place in places:
        byte, bit = _offset(place, reads)
        size = place.span[2]
        first.append(byte)
        end.append(byte + ((bit + size + 7) // 8 if place.function.of_bits else size * 2))
    return min(first), max(end)


def _offset(place: Place, reads: Sequence[Stretch]) -> tuple[int, int]:
    """Return (byte, bit in it) of a place in the joined answers of these reads."""
    before = 0
    for read in reads:
        if read.holds(*place.span):
            if read.function.of_bits:
                byte, bit = divmod(place.register - read.start, _BITS_IN_BYTE)
                return before + byte, bit
            return before + (place.register - read.start) * 2, 0
        before += read.bytes
    raise ValueError(f"{place} is in none of the reads {reads}")
