"""The nouns of the promises: what a head shows, what is promised of it, what was not kept. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from math import inf
from typing import Final, Protocol

from alerts.alarms import AlarmKey, AlarmState
from alerts.policy import Levels

RECOVERS_S: Final = 10.0
"""A head or line whose fault is over is read again within this (field trial B01)."""

PHONE_RECOVERS_S: Final = 4.0
"""A phone that answers again has given up the attempt it hung on within this."""

NEVER: Final = -inf


class Sight(Enum):
    """What whoever asks a head would learn of it, from the best to the worst."""

    PLAIN = "plain"  # its number
    DOUBTFUL = "doubtful"  # perhaps its number, perhaps nothing
    BAD = "bad"  # that it does not measure, said by itself
    SILENT = "silent"  # nothing of use


@dataclass(frozen=True, slots=True)
class Shown:
    """What a head shows: its sight, and its number (%LEL of the reference), whether or not anybody can read it."""

    sight: Sight
    lel: float


UNSEEN: Final = Shown(Sight.SILENT, 0.0)
"""A head before it was ever looked at."""


@dataclass(frozen=True, slots=True)
class HeadRule:
    """What is promised of one head: seconds from a value to the first output, and from silence to its notice."""

    source: str
    alarm_s: float
    blind_s: float


@dataclass(frozen=True, slots=True)
class Rules:
    """A depot as the promises see it. `sirens`, `phones` and `boards` (over the broker) are the outputs that count."""

    levels: Levels
    heads: Mapping[str, HeadRule]
    sirens: frozenset[str]
    phones: frozenset[str]
    boards: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Broken:
    """A promise that was not kept."""

    at: float
    promise: str
    detail: str


class Book(Protocol):
    """The gateway's standing alarms."""

    def get(self, key: AlarmKey) -> AlarmState | None:
        """Return one of them."""
        ...

    def __iter__(self) -> Iterator[AlarmState]: ...
