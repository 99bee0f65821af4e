"""Two clocks that are never confused: the monotonic one decides, the civil one is written down."""

from datetime import UTC, datetime
from functools import lru_cache
from typing import NewType, Protocol

import msgspec

Instant = NewType("Instant", int)
"""Nanoseconds on the monotonic clock. Only differences mean anything; every delay and age is counted here."""

UtcNanos = NewType("UtcNanos", int)
"""Nanoseconds since 1970-01-01T00:00Z. For records and screens; it may jump, so nothing is decided by it."""

SECOND = 1_000_000_000
MILLISECOND = 1_000_000


class Stamp(msgspec.Struct, frozen=True, gc=False):
    """One moment on both clocks, taken together."""

    mono: Instant
    utc: UtcNanos


class Clock(Protocol):
    """Where time comes from: the machine, or the simulation's virtual clock."""

    def now(self) -> Stamp:
        """Return the present moment on both clocks."""
        ...


def rfc3339(utc: UtcNanos) -> str:
    """Render as RFC 3339 UTC with milliseconds, rounding down: ``2026-11-30T11:10:59.123Z``.

    A time that the calendar cannot hold (a clock gone mad) is clamped to its ends rather than raised.
    """
    seconds, rest = divmod(utc, SECOND)
    return f"{_to_the_second(seconds)}.{rest // MILLISECOND:03d}Z"


@lru_cache(maxsize=128)  # a picture of a thousand detectors writes a thousand times within the same second
def _to_the_second(seconds: int) -> str:
    moment = datetime.fromtimestamp(min(max(seconds, -62_135_596_800), 253_402_300_799), UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}"


def parse_rfc3339(text: str) -> UtcNanos:
    """Read what `rfc3339` wrote, or any RFC 3339 time with an offset.

    Raises:
        ValueError: if the text is no time, or carries no offset.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no UTC offset")
    whole = int(moment.replace(microsecond=0).timestamp())
    return UtcNanos(whole * SECOND + moment.microsecond * 1000)


def milliseconds(start: Stamp, end: Stamp) -> float:
    """Elapsed milliseconds between two stamps, on the monotonic clock."""
    return (end.mono - start.mono) / MILLISECOND
