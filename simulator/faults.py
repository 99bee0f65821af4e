"""What happenings make of a scripted unit: its faults switched on and off. Knows no time and no wire."""

from collections.abc import Iterable
from typing import Final

from simulator.answers import IdFault, ScriptedUnit
from simulator.happenings import Happening, What

NOISE: Final = bytes.fromhex("ff00ff00deadbeef")
"""What a unit sends that sends no frame."""
UNREADABLE: Final = b"\xff{"
"""What a head on MQTT publishes that publishes no document."""


def befall(unit: ScriptedUnit, number: int, happenings: Iterable[Happening]) -> None:
    """Set the faults of the unit with this address to those of the happenings that hold now, and to no others."""
    held = {each.what: each.amount for each in happenings}
    unit.silent = What.SILENT in held
    unit.delay_s = held.get(What.SLOW, 0.0)
    unit.garbage = NOISE if What.GARBAGE in held else None
    unit.wrong_unit = number % 247 + 1 if What.WRONG_UNIT in held else None
    unit.exception = round(held[What.EXCEPTION]) if What.EXCEPTION in held else None
    unit.repeat = 2 if What.DUPLICATE in held else 1
    unit.id_fault = IdFault.WRONG if What.WRONG_ID in held else IdFault.PREVIOUS if What.OUT_OF_ORDER in held else None
