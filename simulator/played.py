"""A device of any profile on a Modbus line: its registers and bits as the profile says, asked anew at each request.

What the device shows comes from its heads; how it says so, from `simulator.spoken_registers`. Knows no scenario.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pymodbus.constants import ExcCodes
from pymodbus.simulator import DataType, SimData, SimDevice

from sensors.profiles import Profile
from sensors.wire.image import Image
from sensors.wire.places import Function
from sensors.wire.points import ModbusPoints
from sensors.wire.units import Basis
from simulator.sayings import Wanted
from simulator.spoken_registers import registers

TABLES: Final = (Function.COIL, Function.DISCRETE, Function.HOLDING, Function.INPUT)
"""Pymodbus' order of a device's tables."""

BITS_IN_REGISTER: Final = 16


@dataclass(frozen=True, slots=True)
class PlayedHead:
    """One head of the device: its installed profile, and what it shows now."""

    profile: Profile
    basis: Basis
    shows: Callable[[], Wanted]


def played_unit(unit: int, heads: Sequence[PlayedHead]) -> SimDevice:
    """Return the device at this unit address; its other addresses do not exist.

    Raises:
        TypeError: if a head's profile is not installed, or not one of Modbus.
    """
    reach = _image(unit, heads)

    async def refresh(*request: Any) -> ExcCodes | None:  # noqa: ANN401 - six positional ones of pymodbus
        code, start, _address, _count, cells, written = request
        function = Function(code) if code in (1, 2, 3, 4) else None
        if written is not None or function is None:
            return ExcCodes.ILLEGAL_FUNCTION
        table = _image(unit, heads).cells.get(function, {})
        if function.of_bits:
            _fill_bits(cells, start, table)
        else:
            cells[:] = [table.get(start + at, 0) for at in range(len(cells))]
        return None

    coils, inputs, holding, readings = ([_block(reach.cells.get(function, {}), function)] for function in TABLES)
    return SimDevice(unit, (coils, inputs, holding, readings), action=refresh)


def _image(unit: int, heads: Sequence[PlayedHead]) -> Image:
    image = Image()
    for head in heads:
        points = head.profile.points
        if not isinstance(points, ModbusPoints):
            raise TypeError(f"profile {head.profile.id} says nothing of registers")
        registers(points, head.basis, head.shows(), unit, image)
    return image


def _block(table: dict[int, int], function: Function) -> SimData:
    """Return one stretch of addresses that holds everything of a table; of an empty one the last address alone.

    Pymodbus keeps sixteen bits in a register; to the action it counts the addresses of bits by those.
    """
    first, last = (min(table), max(table)) if table else (0xFFFF, 0xFFFF)
    if not function.of_bits:
        return SimData(first, values=[0] * (last - first + 1), datatype=DataType.REGISTERS)
    start = first // BITS_IN_REGISTER * BITS_IN_REGISTER
    whole = last // BITS_IN_REGISTER * BITS_IN_REGISTER + BITS_IN_REGISTER
    return SimData(start, values=[False] * (whole - start), datatype=DataType.BITS)


def _fill_bits(cells: list[int], start: int, table: dict[int, int]) -> None:
    for at in range(len(cells)):
        first = (start + at) * BITS_IN_REGISTER
        cells[at] = sum(table.get(first + bit, 0) << bit for bit in range(BITS_IN_REGISTER))
