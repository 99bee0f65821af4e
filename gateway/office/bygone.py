"""Breaches that were over before anybody told of them, and those that what is told now shows never to have been.

Pure: what was broken on a day, as known now and as known before, is asked of whoever can judge it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import Enum

from gateway.office.findings import Key

DAY = timedelta(days=1)

BrokenOn = Callable[[date], Collection[Key]]


class Told(Enum):
    """What is told of days gone by."""

    KNOWN_LATER = "known-later"  # it was a breach, and nobody knew
    NEVER_WAS = "never-was"  # it was told to be a breach, and was none


@dataclass(frozen=True, slots=True)
class Bygone:
    """One stretch of days: from `first` to before `until`."""

    key: Key
    told: Told
    first: date
    until: date


@dataclass(frozen=True, slots=True)
class Course:
    """Since when a breach stood until now, and since when it stands; None: it did not, it does not."""

    stood: date | None
    stands: date | None


@dataclass(frozen=True, slots=True)
class Past:
    """What days gone by have to tell.

    Attributes:
        bygones: in the order of their keys and days.
        mended: breaches that stood until now and are over: the day from which they were so no longer.
    """

    bygones: Sequence[Bygone]
    mended: Mapping[Key, date]


def past(turns: Iterable[date], on: date, now: BrokenOn, before: BrokenOn, courses: Mapping[Key, Course]) -> Past:
    """Compare the days from the first turn to before `on`, as known now, with how they were known before.

    What a standing breach tells by its first day, and one that is over by its last, is not told again.

    Args:
        turns: the days on which an entry became true, the first one that is looked at among them.
        on: the day of the judgement.
        now: what was broken on a day, as known now.
        before: what was broken on a day, as known before what is told now.
        courses: the breaches that stood until now or stand now.
    """
    starts = sorted({day for day in turns if day < on})
    if not starts:
        return Past((), {})
    known, knew = _days(starts, on, now), _days(starts, on, before)
    mended = {
        key: max((*known.get(key, ()), max(course.stood, starts[0]) - DAY)) + DAY
        for key, course in courses.items()
        if course.stood is not None and course.stands is None
    }
    bygones: list[Bygone] = []
    for key in sorted({*known, *knew}):
        course = courses.get(key, Course(None, None))
        is_so, was_so = known.get(key, set()), knew.get(key, set())
        over = mended.get(key)
        lost = {day for day in is_so if course.stood and course.stands and course.stood <= day < course.stands}
        later = {day for day in is_so - was_so if not _is_told(day, course, over)} | lost
        never = {day for day in was_so - is_so if over is None or day < over}
        if course.stood and course.stands and not lost:
            never = {day for day in never if not course.stood <= day < course.stands}
        bygones += [Bygone(key, Told.KNOWN_LATER, *run) for run in _runs(later)]
        bygones += [Bygone(key, Told.NEVER_WAS, *run) for run in _runs(never)]
    return Past(bygones, mended)


def _is_told(day: date, course: Course, over: date | None) -> bool:
    """Tell whether a broken day lies in what the finding itself tells: its breach that stands, or is over by now."""
    if course.stands is not None:
        return day >= course.stands
    return course.stood is not None and over is not None and course.stood <= day < over


def _days(starts: Sequence[date], on: date, broken_on: BrokenOn) -> dict[Key, set[date]]:
    """The days on which each was broken. Between two turns only time passes: what changes there changes once."""
    days: dict[Key, set[date]] = {}
    for start, following in zip(starts, (*starts[1:], on), strict=True):
        end = following - DAY
        first, last = set(broken_on(start)), set(broken_on(end))
        for key in first | last:
            from_, to = start, end
            if (key in first) != (key in last):
                turn = _turn(key, start, end, broken_on, was=key in first)
                from_, to = (start, turn - DAY) if key in first else (turn, end)
            days.setdefault(key, set()).update(from_ + DAY * ago for ago in range((to - from_).days + 1))
    return days


def _turn(key: Key, start: date, end: date, broken_on: BrokenOn, *, was: bool) -> date:
    """The first day on which it is other than it `was` on the first."""
    while end - start > DAY:
        middle = start + (end - start) // 2
        if (key in broken_on(middle)) == was:
            start = middle
        else:
            end = middle
    return end


def _runs(days: Collection[date]) -> Iterator[tuple[date, date]]:
    """The unbroken runs among days: the first day of each, and the first after it."""
    for first in sorted(day for day in days if day - DAY not in days):
        until = first
        while until in days:
            until += DAY
        yield first, until
