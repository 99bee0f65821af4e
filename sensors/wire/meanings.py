"""What a device's own words, bits and codes mean: one vocabulary for every wire. Knows no register and no payload."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from sensors.quality import SEVERITY
from sensors.readings import Status


class Saying(NamedTuple):
    """What one word of a profile stands for.

    Attributes:
        status: what the head is doing.
        reason: short code beside it; empty for the status' own.
        alarm: level of the device's own alarm: 0 none, 1 to 3; -1 an alarm of unknown level.
        doubtful: the number counts, but does not end an alarm.
    """

    status: Status
    reason: str = ""
    alarm: int = 0
    doubtful: bool = False


SAYINGS: Final[Mapping[str, Saying]] = {
    "measuring": Saying(Status.MEASURING),
    "warm_up": Saying(Status.WARM_UP),
    "inhibited": Saying(Status.INHIBITED),
    "calibrating": Saying(Status.CALIBRATING),
    "fault": Saying(Status.FAULT),
    "over_range": Saying(Status.OVER_RANGE),
    "under_range": Saying(Status.UNDER_RANGE),
    "test": Saying(Status.CALIBRATING, "test"),
    "disabled": Saying(Status.INHIBITED, "disabled"),
    "low_power": Saying(Status.FAULT, "low-power"),
    "no_data": Saying(Status.NO_CONTACT, "no-data"),
    "comms_fault": Saying(Status.NO_CONTACT, "comms-fault"),
    "warning": Saying(Status.MEASURING, "warning"),
    "end_of_life": Saying(Status.MEASURING, "end-of-life", doubtful=True),
    "doubtful": Saying(Status.MEASURING, "unknown-state", doubtful=True),
    "alarm": Saying(Status.MEASURING, "", -1),
    "alarm1": Saying(Status.MEASURING, "", 1),
    "alarm2": Saying(Status.MEASURING, "", 2),
    "alarm3": Saying(Status.MEASURING, "", 3),
}
ALARMS: Final = ("alarm", "alarm1", "alarm2", "alarm3")


class Told(NamedTuple):
    """What a device says of itself, all its sources together.

    Attributes:
        rank: place in the order of precedence, the lowest counts.
        alarms: words of `ALARMS` as bits, the lowest for ``alarm``.
        doubtful: see `Saying`.
    """

    rank: int
    status: Status
    reason: str
    alarms: int
    doubtful: bool


Precedence = Mapping[str, int]
"""Rank by word; the lowest counts."""


def precedence(first: Iterable[str] = ()) -> Precedence:
    """Return the order in which words count: those of `first`, then by how grave their status is."""
    wanted = list(first)
    rest = sorted((word for word in SAYINGS if word not in wanted), key=lambda word: _gravity(SAYINGS[word]))
    return {word: rank for rank, word in enumerate([*wanted, *rest])}


def _gravity(saying: Saying) -> tuple[int, bool, bool]:
    """Order of severity of its status; within one, what casts doubt first and the plain word last."""
    return SEVERITY.index(saying.status), not saying.doubtful, not saying.reason and saying.status is Status.MEASURING


NOTHING_TOLD: Final = Told(len(SAYINGS), Status.MEASURING, "", 0, False)


def told(words: Iterable[str], order: Precedence) -> Told:
    """Return what these words together say."""
    result = NOTHING_TOLD
    for word in words:
        saying = SAYINGS[word]
        alarms = 1 << ALARMS.index(word) if saying.alarm else 0
        result = both(result, Told(order[word], saying.status, saying.reason, alarms, saying.doubtful))
    return result


def both(one: Told, other: Told) -> Told:
    """Return what two sources say together."""
    first, second = (one, other) if one.rank <= other.rank else (other, one)
    if first.rank == len(SAYINGS):
        return first
    # Alarm words and a plain "measuring" say nothing of the status, so what another source says of it goes before.
    return Told(
        first.rank,
        first.status,
        first.reason or second.reason * (first.status is second.status),
        one.alarms | other.alarms,
        one.doubtful or other.doubtful,
    )


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the raw value of one state source means.

    Attributes:
        bits: (word, mask): any set bit of the mask means that word.
        clear_bits: (word, mask): any bit of the mask that is 0 means that word.
        codes: (low, high, word) ranges of the whole value, first match wins.
        words: texts and what they mean.
        otherwise: what a value outside codes and words means; empty for a source of bits only.
    """

    bits: tuple[tuple[str, int], ...] = ()
    clear_bits: tuple[tuple[str, int], ...] = ()
    codes: tuple[tuple[int, int, str], ...] = ()
    words: tuple[tuple[str, str], ...] = ()
    otherwise: str = ""

    def of(self, raw: float | str | bool) -> tuple[str, ...]:
        """Return the words that this raw value stands for."""
        found: list[str] = []
        number = _whole(raw)
        if number is not None:
            found += [word for word, mask in self.bits if number & mask]
            found += [word for word, mask in self.clear_bits if ~number & mask]
        elif self.bits or self.clear_bits:
            return ("fault",)
        if self.codes or self.words or self.otherwise:
            found.append(self._coded(raw, number))
        return tuple(found)

    def says(self) -> frozenset[str]:
        """Every word it can say."""
        pairs = (*self.bits, *self.clear_bits)
        found = {word for word, _ in pairs} | {word for _, _, word in self.codes} | {word for _, word in self.words}
        return frozenset(found | ({self.otherwise} if self.otherwise else set()))

    def _coded(self, raw: float | str | bool, number: int | None) -> str:
        text = as_text(raw)
        for known, word in self.words:
            if known == text:
                return word
        if number is not None:
            for low, high, word in self.codes:
                if low <= number <= high:
                    return word
        return self.otherwise or "fault"


def _whole(raw: float | str | bool) -> int | None:
    if isinstance(raw, int):
        return int(raw)
    if isinstance(raw, float) and raw.is_integer():
        return int(raw)
    if isinstance(raw, str) and raw.isascii() and raw.strip().isdigit() and len(raw) <= 10:
        return int(raw)
    return None


def as_text(value: object) -> str:
    """Write a scalar as JSON would, a text without its quotes; a list or object by its kind only."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        # Beyond 64 bits the digits say nothing to a person and would cost time that grows with their square.
        return str(value) if value.bit_length() <= 64 else "huge"
    return repr(value) if isinstance(value, float) else type(value).__name__
