"""A counter that only counts up (a turnstile, a scanner, a filling head) -> how many passed: wraps, restarts, repeats.

Pure: one reading after another in, the units that passed out. A step that no honest counter makes is not guessed at.
"""

from dataclasses import dataclass
from enum import Enum


class Step(Enum):
    """What one reading of a counter was."""

    FIRST = "first"  # nothing to compare with: taken as the mark, nothing passed
    COUNTED = "counted"
    WRAPPED = "wrapped"
    RESTARTED = "restarted"  # began again from zero
    REPEATED = "repeated"  # the same message again, or an older one
    DOUBTFUL = "doubtful"  # a jump larger than can be: a person must count


@dataclass(frozen=True, slots=True)
class Mark:
    """The last reading taken: its value and its message number (0 where messages bear none)."""

    value: int
    number: int = 0


@dataclass(frozen=True, slots=True)
class Counter:
    """What is known of a counter.

    Attributes:
        wraps_at: the first value it cannot show (65,536 for 16 bits); None where it never wraps.
        most: the most units that can pass between two readings.
    """

    wraps_at: int | None = None
    most: int = 500


def step(counter: Counter, last: Mark | None, now: Mark) -> tuple[Step, int, Mark]:
    """Return what the reading was, how many units passed since the last one, and the mark to keep."""
    if last is None:
        return Step.FIRST, 0, now
    if now.number and now.number <= last.number:
        return Step.REPEATED, 0, last
    passed = now.value - last.value
    if passed >= 0:
        return (Step.COUNTED, passed, now) if passed <= counter.most else (Step.DOUBTFUL, 0, now)
    if counter.wraps_at is not None and 0 <= passed + counter.wraps_at <= counter.most:
        return Step.WRAPPED, passed + counter.wraps_at, now
    if 0 <= now.value <= counter.most:
        return Step.RESTARTED, now.value, now
    return Step.DOUBTFUL, 0, now
