"""When a head is next due for calibration, bump test and function test. Knows no clock, file or journal."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from enum import Enum


class Care(Enum):
    """What a head needs from time to time."""

    CALIBRATION = "calibration"
    BUMP = "bump"
    FUNCTION_TEST = "function-test"


@dataclass(frozen=True, slots=True)
class Intervals:
    """Days between two of each; the usual of the trade where a profile does not say otherwise."""

    calibration_days: int = 180
    bump_days: int = 30
    function_test_days: int = 365

    @classmethod
    def of(cls, service: Mapping[str, int]) -> "Intervals":
        """Take a profile's ``[service]``."""
        return cls(**{name: days for name, days in service.items() if name in cls.__dataclass_fields__})


USUAL = Intervals()


@dataclass(frozen=True, slots=True)
class Due:
    """One thing a head is due for.

    Attributes:
        last: the day it was last done; None where nobody told, which counts as overdue.
        days: until the next time, from then.
    """

    care: Care
    last: date | None
    days: int

    @property
    def next(self) -> date | None:
        """The last day on which it is still in time; None while it was never done."""
        return None if self.last is None else self.last + timedelta(days=self.days)

    def ahead(self, today: date) -> bool:
        """Tell whether it was done on a day that is still to come: a slip of the pen, which proves nothing."""
        return self.last is not None and self.last > today

    def overdue(self, today: date) -> bool:
        """Tell whether that day has passed, or nobody ever did it."""
        return self.next is None or self.next < today or self.ahead(today)


def dues(
    intervals: Intervals, *, calibrated_on: date | None, bumped_on: date | None, tested_on: date | None
) -> tuple[Due, ...]:
    """Return what a head is due for, calibration first."""
    return (
        Due(Care.CALIBRATION, calibrated_on, intervals.calibration_days),
        Due(Care.BUMP, bumped_on, intervals.bump_days),
        Due(Care.FUNCTION_TEST, tested_on, intervals.function_test_days),
    )
