"""Since when a breach has been one: late entries, or days on which nobody judged, may put that before its judgement.

Pure: which breaches there were on a day is asked of whoever can judge it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta

from gateway.office.findings import Key

MOST_LOOKS = 366
"""Days that are judged for one answer; a breach older than these reach is said to be as old as they reach."""

DAY = timedelta(days=1)


class _SpentError(Exception):
    """No more days may be judged."""


@dataclass(slots=True)
class _Days:
    """What was broken on the days looked at."""

    broken_on: Callable[[date], Collection[Key]]
    looks: int
    _seen: dict[date, Collection[Key]] = field(default_factory=dict)

    def broken(self, key: Key, day: date) -> bool:
        if day not in self._seen:
            if len(self._seen) >= self.looks:
                raise _SpentError
            self._seen[day] = self.broken_on(day)
        return key in self._seen[day]


def beginnings(
    keys: Iterable[Key],
    turns: Iterable[date],
    on: date,
    broken_on: Callable[[date], Collection[Key]],
    known: Mapping[Key, date],
    looks: int = MOST_LOOKS,
) -> dict[Key, date]:
    """Return the first day of the unbroken run of days that ends with `on`, for each breach of that day.

    Args:
        keys: what is broken on `on`.
        turns: the days on which an entry became true, from the first day that is to be looked at; those before `on`
            count. Between two of them only time passes, which breaks things and mends none.
        on: the day of the judgement.
        broken_on: what was broken on an earlier day.
        known: the first day as it was known until now; it stands where the run reaches back beyond the days looked at.
        looks: how many days may be judged.
    """
    starts = sorted({day for day in turns if day < on}, reverse=True)
    ends = [on - DAY, *(start - DAY for start in starts)]
    days = _Days(broken_on, looks)
    stretches = list(zip(starts, ends, strict=False))
    return {key: _first(key, stretches, on, days, known.get(key, on)) for key in keys}


def _first(key: Key, stretches: Iterable[tuple[date, date]], on: date, days: _Days, known: date) -> date:
    first = on
    try:
        for start, end in stretches:
            if not days.broken(key, end):
                return first
            first = end
            if days.broken(key, start):
                first = start
                continue
            whole = start
            while first - whole > DAY:
                middle = whole + (first - whole) // 2
                if days.broken(key, middle):
                    first = middle
                else:
                    whole = middle
            return first
    except _SpentError:
        pass
    return min(first, known)
