"""A scale on a Modbus line: one request, and from its answer a weight that may be counted. Knows no socket or clock."""

from dataclasses import dataclass
from typing import Final

from sensors.readings import DetectorId, Quality, Status
from sensors.stamps import Stamp
from sensors.wire.modbus import Ask
from sensors.wire.points import ModbusPoints
from sensors.wire.reader import InstalledHead
from sensors.wire.registers import Block, stretches
from sensors.wire.units import Basis
from sensors.wire.words import Stretch

AS_IT_IS: Final = Basis(1.0, 1.0)
"""A measure's number stays in its own unit."""


@dataclass(frozen=True, slots=True)
class Weight:
    """What a scale shows.

    Attributes:
        kg: None while it is not to be counted.
        reason: why not: ``moving``, or ``no-weight`` (a fault, being set up, out of range).
    """

    kg: float | None
    reason: str = ""


def reads_of(points: ModbusPoints) -> tuple[Stretch, ...]:
    """The requests that a scale's weight and states take; only a scale that needs one can be read as a whole."""
    return stretches((InstalledHead(DetectorId("scale"), points, AS_IT_IS),))


class RegisterScale:
    """Reads one scale of one unit; what its states say decides whether the number counts.

    Args:
        points: the measure, as its profile has it; all of it in one read.
        kg_per_unit: of the number.
    """

    def __init__(self, unit: int, points: ModbusPoints, kg_per_unit: float) -> None:
        reads = reads_of(points)
        if len(reads) != 1:
            raise ValueError("weight and state of a scale must be one read")
        self._block = Block(unit, (InstalledHead(DetectorId("scale"), points, AS_IT_IS),), reads)
        self._kg_per_unit = kg_per_unit
        self._size = reads[0].bytes
        self._answer = b""

    def ask_back(self, unit: int) -> Ask:  # noqa: ARG002 - a scale knows its unit
        """Return the request that reads it."""
        return self._block.asks[0]

    def answered(self, buffer: bytes | bytearray, base: int) -> bool | None:
        """Keep the data of an answer to `ask_back`, for `weight`."""
        self._answer = bytes(buffer[base : base + self._size])
        return True

    def weight(self, taken: Stamp) -> Weight:
        """What the last answer shows."""
        (reading,) = self._block.readings(self._answer, 0, taken)
        if reading.quality is not Quality.GOOD or reading.lel_pct is None:
            return Weight(None, "moving" if reading.status is Status.MEASURING else "no-weight")
        return Weight(reading.lel_pct * self._kg_per_unit)
