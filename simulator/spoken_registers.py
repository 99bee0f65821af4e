"""From what a head should show to the registers that say so, through its profile: `sensors.wire` backwards.

So the simulator can play any model that has a profile. What a profile cannot say (a state without a word for it) is
refused, never made up.
"""

import math
from collections.abc import Sequence
from typing import Any, Final

from sensors.wire.conversion import Conversion
from sensors.wire.image import Image
from sensors.wire.meanings import Meaning
from sensors.wire.places import Place, Type
from sensors.wire.points import IdentityPoint, ModbusPoints, ScalePoint, UnitPoint
from sensors.wire.reader import Converter
from sensors.wire.units import Basis, UnitOfValue
from simulator.sayings import UnsayableError, Wanted, raw_saying

PLAIN_DECIMALS: Final = 1
"""Decimals shown where a register tells them."""
PLAIN_DIVISOR: Final = 10


def registers(points: ModbusPoints, basis: Basis, wanted: Wanted, unit: int = 1, image: Image | None = None) -> Image:
    """Return the registers by which this head shows what is wanted; into `image` where one unit has several heads.

    Raises:
        UnsayableError: if the profile has no way of saying it.
    """
    image = image or Image()
    for place in points.places():
        if place.type is not Type.ASCII:
            image.put(place, 0, care=0)
    _beside(image, points, unit, wanted)
    said = _states(image, points, wanted.word)
    found = now(image, points, basis)
    raw = None if said else _raw_for(points, wanted.word)
    if raw is None:
        raw = _inverse(points, found, _shown(points, found, wanted, said=said))
    if points.sign is not None:
        image.put(points.sign.place, points.sign.negative[0] if raw < 0 else 0)
        raw = abs(raw)
    image.put(points.place, raw)
    return image


def now(image: Image, points: ModbusPoints, basis: Basis) -> Conversion:
    """Return the conversion that the registers tell now.

    Raises:
        UnsayableError: if they tell none.
    """
    reads = image.reads()
    converter = Converter(points, reads, basis)
    found = converter.now(image.words(reads), 0) if converter.asks else converter.fixed
    if isinstance(found, str):
        raise UnsayableError(f"the registers tell no conversion: {found}")
    return found


def resolution(points: ModbusPoints, found: Conversion) -> float:
    """%LEL for one step of the raw value; for a float what its digits allow at full scale."""
    if points.type in (Type.FLOAT32, Type.FLOAT64):
        return 1e-4
    return abs(found.scale * found.inner_scale)


def _beside(image: Image, points: ModbusPoints, unit: int, wanted: Wanted) -> None:
    """Write identity, unit, scale and whatever else stands beside the value."""
    if points.identity is not None:
        _identity(image, points.identity)
    if points.echoes_unit is not None:
        image.put(points.echoes_unit, unit)
    if isinstance(points.unit_of_value, UnitPoint):
        _unit(image, points.unit_of_value)
    if isinstance(points.scale, ScalePoint):
        image.put(points.scale.place, points.scale.codes[0][0])
    if isinstance(points.decimals, Place):
        image.put(points.decimals, PLAIN_DECIMALS)
    if points.divisor is not None:
        image.put(points.divisor, PLAIN_DIVISOR)
    if points.heartbeat is not None:
        width = points.heartbeat.place.part.width if points.heartbeat.place.part else points.heartbeat.place.type.bits
        image.put(points.heartbeat.place, wanted.beat % (1 << max(1, width)))


def _identity(image: Image, identity: IdentityPoint) -> None:
    if identity.texts:
        image.put_text(identity.place, identity.texts[0])
    else:
        image.put(identity.place, identity.equals[0], care=identity.mask)


def _unit(image: Image, unit: UnitPoint) -> None:
    if unit.words:
        image.put_text(unit.place, preferred(unit.words)[0])
    else:
        image.put(unit.place, preferred([(low, known) for low, _, known in unit.codes])[0])


def preferred(pairs: Sequence[tuple[Any, UnitOfValue]]) -> tuple[Any, UnitOfValue]:
    """Return %LEL where the head can speak in it, else the first unit that it knows."""
    return next((pair for pair in pairs if pair[1] is UnitOfValue.LEL_PCT), pairs[0])


def _states(image: Image, points: ModbusPoints, word: str) -> bool:
    """Write every state source: the first that can says the word, the others that all is well. True if one did."""
    said = word == "measuring"
    for state in points.states:
        raw = None if said else raw_saying(state.meaning, word, texts=state.place.type is Type.ASCII)
        said = said or raw is not None
        if raw is None:
            raw = raw_saying(state.meaning, "measuring", texts=state.place.type is Type.ASCII)
        if isinstance(raw, str):
            image.put_text(state.place, raw)
        elif raw is not None:
            image.put(state.place, raw, care=_care(state.meaning))
    return said


def _care(meaning: Meaning) -> int | None:
    """The bits that a source of bits looks at; None for one that looks at all of them."""
    if meaning.codes or meaning.words or meaning.otherwise:
        return None
    return sum({1 << bit for _, mask in (*meaning.bits, *meaning.clear_bits) for bit in range(64) if mask >> bit & 1})


def _raw_for(points: ModbusPoints, word: str) -> int | float | None:
    """Return the raw value that itself says the word: a sentinel; None where it is said otherwise."""
    return next((low for low, _, said in points.sentinels if said == word), None)


def _shown(points: ModbusPoints, found: Conversion, wanted: Wanted, *, said: bool) -> float:
    """Return the number (mA for an analogue head, else %LEL) that shows what is wanted."""
    if said:
        return (wanted.lel_pct - found.offset) / found.scale
    if points.head is not None:
        for low, high, word in points.head.bands:
            if word == wanted.word:
                return inside(low, high)
    if wanted.word == "over_range":
        return (found.span.full_scale - found.offset) / found.scale
    raise UnsayableError(f"this profile has no way of saying {wanted.word!r}")


def inside(low: float, high: float) -> float:
    """A current well inside a band."""
    if low == -math.inf:
        return max(high - 1.0, 0.0)
    return low + 0.5 if high == math.inf else (low + high) / 2


def _inverse(points: ModbusPoints, found: Conversion, number: float) -> int | float:
    raw = (number - found.inner_offset) / found.inner_scale
    if points.type in (Type.FLOAT32, Type.FLOAT64):
        return raw
    bits = points.part.width if points.part else max(1, points.type.bits)
    signed = points.type.value.startswith("int") and points.part is None
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed or points.sign else (0, (1 << bits) - 1)
    return min(max(round(raw), low), high)
