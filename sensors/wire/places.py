"""Where one raw value sits in a device's registers or bits, and how it lies there. Knows no meaning of it."""

from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias


class Function(Enum):
    """Which table of the device a point lives in, by the function code that reads it."""

    COIL = 1
    DISCRETE = 2
    HOLDING = 3
    INPUT = 4

    @property
    def of_bits(self) -> bool:
        """Whether an address holds one bit instead of a register."""
        return self in (Function.COIL, Function.DISCRETE)


class Type(Enum):
    """How words make a number, or a text."""

    INT16 = "int16"
    UINT16 = "uint16"
    INT32 = "int32"
    UINT32 = "uint32"
    FLOAT32 = "float32"
    BOOL = "bool"
    INT8 = "int8"
    UINT8 = "uint8"
    INT64 = "int64"
    UINT64 = "uint64"
    FLOAT64 = "float64"
    ASCII = "ascii"

    @property
    def bits(self) -> int:
        """Bits it fills; 0 for a text, whose length is said apart."""
        return _BITS[self]

    @property
    def words(self) -> int:
        """Registers it fills; at least one."""
        return max(1, self.bits // 16)


_BITS: Final = {
    Type.BOOL: 1,
    Type.INT8: 8,
    Type.UINT8: 8,
    Type.INT16: 16,
    Type.UINT16: 16,
    Type.INT32: 32,
    Type.UINT32: 32,
    Type.FLOAT32: 32,
    Type.INT64: 64,
    Type.UINT64: 64,
    Type.FLOAT64: 64,
    Type.ASCII: 0,
}


class WordOrder(Enum):
    """How a 32-bit value lies on the wire, A the highest byte: 77.51 arriving as 07 7A 42 9B is CDAB.

    A 16-bit value has its two bytes swapped in the orders that swap bytes within words (BADC, DCBA).
    """

    ABCD = "ABCD"
    CDAB = "CDAB"
    BADC = "BADC"
    DCBA = "DCBA"


Raw: TypeAlias = int | float
"""A value as the device sent it, before scale and offset; what sentinels are compared with."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some bits of a raw value, `width` of them from bit `low` on; bit 0 is the lowest."""

    low: int
    width: int

    def of(self, raw: int) -> int:
        """Cut them out."""
        return (raw >> self.low) & ((1 << self.width) - 1)


@dataclass(frozen=True, slots=True)
class Place:
    """Where one raw value sits. Addresses are wire addresses, from 0.

    Attributes:
        part: which bits of it; None for all.
        at_byte: bytes to skip from the register on, for blocks packed by bytes.
        length: registers of a text.
    """

    function: Function
    register: int
    type: Type = Type.UINT16
    word_order: WordOrder = WordOrder.ABCD
    part: Part | None = None
    at_byte: int = 0
    length: int = 1

    @property
    def span(self) -> "Reach":
        """What must be read for it: (function, first address, registers or bits)."""
        if self.function.of_bits:
            return self.function, self.register, max(1, self.type.bits)
        size = self.length * 2 if self.type is Type.ASCII else max(1, self.type.bits // 8)
        return self.function, self.register, (self.at_byte + size + 1) // 2


Reach: TypeAlias = tuple[Function, int, int]
"""(function, first address, registers or bits)."""
