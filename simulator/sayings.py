"""What a head may be asked to show, and which words its profile has for it. Knows no register and no payload."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from sensors.wire.meanings import ALARMS, Meaning
from sensors.wire.payload_points import PayloadPoints
from sensors.wire.points import ModbusPoints


class UnsayableError(ValueError):
    """The profile has no way of saying this."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a head should show.

    Attributes:
        lel_pct: of the depot's reference basis.
        word: what it says of itself, one of `sensors.wire.meanings.SAYINGS`.
        beat: how often its heartbeat has changed.
    """

    lel_pct: float = 0.0
    word: str = "measuring"
    beat: int = 0


def sayable(points: ModbusPoints | PayloadPoints) -> frozenset[str]:
    """Return every word that a head with this profile can say, ``over_range`` included.

    ``measuring`` is not among them for a head of words whose "no gas" proves nothing.
    """
    found = {word for state in points.states for word in state.meaning.says()}
    found |= {word for _, _, word in points.sentinels}
    if points.head is not None:
        found |= {word for _, _, word in points.head.bands}
    if isinstance(points, PayloadPoints) and points.carrier is not None:
        return sayable(points.carrier.points)
    numbers = isinstance(points, ModbusPoints) or (points.value is not None and points.top != math.inf)
    numbers = numbers and not (isinstance(points, PayloadPoints) and points.says_yes_or_no)
    proves = isinstance(points, ModbusPoints) or points.value is not None or _says_clear(points)
    return frozenset(
        (found - {"measuring"}) | ({"measuring"} if proves else set()) | ({"over_range"} if numbers else set())
    )


def _says_clear(points: PayloadPoints) -> bool:
    """Tell whether every field of a head of words that can say gas can also say that there is none."""
    saying = [state.meaning for state in points.states if any(word in ALARMS for word in state.meaning.says())]
    return all(raw_saying(meaning, "measuring") is not None for meaning in saying)


def raw_saying(meaning: Meaning, word: str, *, texts: bool = False) -> int | str | None:
    """Return a raw value that says just this word (``measuring``: nothing at all, or that); None if there is none."""
    fine = {"measuring"} if word == "measuring" else {word, "measuring"}
    for raw in _candidates(meaning, texts=texts):
        words = set(meaning.of(raw))
        if words <= fine and (word == "measuring" or word in words):
            return raw
    return None


def _candidates(meaning: Meaning, *, texts: bool) -> Iterator[int | str]:
    yield from (text for text, _ in meaning.words)
    if texts:
        return
    clear = sum(mask for _, mask in meaning.clear_bits)
    yield from (low for low, _, _ in meaning.codes)
    yield from (high for _, high, _ in meaning.codes)
    yield clear
    for _, mask in meaning.bits:
        lowest = mask & -mask
        yield from (clear | lowest, *(low | lowest for low, _, _ in meaning.codes))
    for _, mask in meaning.clear_bits:
        yield clear & ~(mask & -mask)
    yield from range(256)
