"""The registers and bits of one unit as a whole: written by place, read as the answers to reads. Knows no socket."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from sensors.wire.places import Function, Place, Type, WordOrder
from sensors.wire.words import Stretch


@dataclass(slots=True)
class Image:
    """The registers and bits of one unit, by table and wire address."""

    cells: dict[Function, dict[int, int]] = field(default_factory=dict)

    def put(self, place: Place, raw: float, care: int | None = None) -> None:
        """Write a raw value where it belongs; of a whole number only the bits of `care` where that is given."""
        table = self.cells.setdefault(place.function, {})
        width = max(1, place.type.bits)
        if isinstance(raw, int):
            mask = (1 << width) - 1 if care is None else care
            if place.part is not None:
                mask, raw = ((1 << place.part.width) - 1 & mask) << place.part.low, raw << place.part.low
            raw = self._whole(place) & ~mask | raw & mask
        if place.function.of_bits:
            for bit in range(width):
                table[place.register + bit] = int(raw) >> bit & 1
            return
        self._write(place, _packed(place, raw))

    def put_text(self, place: Place, text: str) -> None:
        """Write a text, padded with blanks."""
        data = text.encode("ascii").ljust(place.length * 2)[: place.length * 2]
        swapped = place.word_order in (WordOrder.BADC, WordOrder.DCBA)
        self._write(place, _bytes_turned(data) if swapped else data)

    def reads(self) -> tuple[Stretch, ...]:
        """Return reads that cover everything written, for a reader of the whole image."""
        found = []
        for function, table in self.cells.items():
            first, last = min(table), max(table)
            found.append(Stretch(function, first, last - first + 1))
        return tuple(found)

    def words(self, reads: Sequence[Stretch]) -> bytes:
        """Return the joined answers to these reads; what was never written is 0."""
        return b"".join(self._answer(read) for read in reads)

    def _answer(self, read: Stretch) -> bytes:
        table = self.cells.get(read.function, {})
        values = [table.get(read.start + at, 0) for at in range(read.size)]
        if not read.function.of_bits:
            return struct.pack(f">{read.size}H", *values)
        packed = sum(bit << at for at, bit in enumerate(values))
        return packed.to_bytes(read.bytes, "little")

    def _whole(self, place: Place) -> int:
        """The unsigned number that stands at a place now."""
        table = self.cells.setdefault(place.function, {})
        if place.function.of_bits:
            return sum(table.get(place.register + bit, 0) << bit for bit in range(max(1, place.type.bits)))
        size = max(2 if place.type is Type.BOOL else 1, place.type.bits // 8)
        return int.from_bytes(_turned(self._bytes(place)[:size], place.word_order), "big")

    def _bytes(self, place: Place) -> bytes:
        table = self.cells.setdefault(place.function, {})
        _, start, size = place.span
        words = struct.pack(f">{size}H", *(table.get(start + at, 0) for at in range(size)))
        return words[place.at_byte :]

    def _write(self, place: Place, data: bytes) -> None:
        table = self.cells.setdefault(place.function, {})
        _, start, size = place.span
        words = bytearray(struct.pack(f">{size}H", *(table.get(start + at, 0) for at in range(size))))
        words[place.at_byte : place.at_byte + len(data)] = data
        for at, word in enumerate(struct.unpack(f">{size}H", words)):
            table[start + at] = word


def _packed(place: Place, raw: float) -> bytes:
    """Return the bytes of a raw value as they lie on the wire."""
    if place.type in (Type.FLOAT32, Type.FLOAT64):
        return _turned(struct.pack(">f" if place.type is Type.FLOAT32 else ">d", raw), place.word_order)
    size = max(2 if place.type is Type.BOOL else 1, place.type.bits // 8)
    return _turned((int(raw) & (1 << size * 8) - 1).to_bytes(size, "big"), place.word_order)


def _turned(data: bytes, order: WordOrder) -> bytes:
    """Bytes from high-first to the order of the wire, or back: each order undoes itself."""
    if order in (WordOrder.BADC, WordOrder.DCBA):
        data = _bytes_turned(data)
    if order in (WordOrder.CDAB, WordOrder.DCBA):
        data = b"".join(data[at : at + 2] for at in range(len(data) - 2, -2, -2)) if len(data) > 1 else data
    return data


def _bytes_turned(data: bytes) -> bytes:
    return b"".join(data[at : at + 2][::-1] for at in range(0, len(data), 2))
