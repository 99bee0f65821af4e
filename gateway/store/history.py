"""The readings as another process may read them: trends for the screens, seconds for an export. Reads only.

Every question is one short transaction, so that the writer's log is never held back.
"""

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dashboards.past import Trend
from gateway.journal.view import FileView
from gateway.store.embedded import DAY, HOUR, samples_in
from gateway.store.layout import open_for_reading
from gateway.store.minutes import MINUTE, Minute, Row
from gateway.store.samples import MISSING, NOTHING, SCALE, quality_in, status_in
from sensors.stamps import SECOND, UtcNanos, rfc3339

MOST_BUCKETS = 11_000
"""Buckets in one answer: three hours by the second, a week by the minute."""

DRAWN = 1_500
"""Buckets that a step chosen by us makes at most."""

STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, HOUR, 2 * HOUR, 6 * HOUR, 12 * HOUR, DAY)


class TooLongError(ValueError):
    """The stretch has more buckets than one answer may hold."""


class Buckets:
    """What is gathered of each step, in columns. Values in hundredths of a %LEL."""

    __slots__ = ("codes", "high", "low", "n", "total")

    def __init__(self, count: int) -> None:
        self.n = [0] * count
        self.low: list[int | None] = [None] * count
        self.high: list[int | None] = [None] * count
        self.total = [0] * count
        self.codes = [NOTHING] * count

    def add(self, at: int, n: int, low: int | None, high: int | None, total: int, code: int) -> None:
        """Take another stretch into the bucket `at`."""
        if low is not None and high is not None:
            lowest, highest = self.low[at], self.high[at]
            self.low[at] = low if lowest is None or low < lowest else lowest
            self.high[at] = high if highest is None or high > highest else highest
        self.n[at] += n
        self.total[at] += total
        known = self.codes[at]
        if code != NOTHING and (known == NOTHING or quality_in(code) < quality_in(known)):
            self.codes[at] = code


class ReadingsHistory(FileView):
    """A read-only view of a readings file."""

    def __init__(self, path: Path) -> None:
        """Open the file.

        Raises:
            StoreError: it is not there, no file of readings, or of a newer format.
        """
        super().__init__(path, open_for_reading(path))

    def detectors(self) -> list[str]:
        """Every detector that was ever read, by name."""
        return sorted(str(name) for (name,) in self._once(lambda: self._ask("SELECT id FROM head")))

    def trend(self, detector: str, start_s: int, end_s: int, step_s: int | None) -> Trend | None:
        """Return the buckets of this stretch (the end excluded), gaps as gaps; None: no such detector.

        Raises:
            TooLongError: more than `MOST_BUCKETS`.
            StoreError: the file cannot be read.
        """
        return self._once(lambda: self._trend(detector, start_s, end_s, step_s))

    def minutes(self, detector: str, start_s: int, end_s: int) -> Iterator[tuple[int, Row]]:
        """Yield the minutes that begin in this stretch, an hour of them at a time, the unfinished one included.

        Raises:
            StoreError: the file cannot be read.
        """
        begin, end = self._once(lambda: self._span(detector))
        begin, end = max(begin, start_s), min(end, end_s)
        for hour in range(begin - begin % HOUR, end, HOUR):
            first, last = max(hour, begin), min(hour + HOUR, end)
            yield from self._once(lambda first=first, last=last: self._minutes(detector, first, last))  # type: ignore[misc]

    # --- inside one transaction ------------------------------------------------------------------

    def _trend(self, detector: str, start: int, end: int, step: int | None) -> Trend | None:
        head = self._head(detector)
        if head is None:
            return None
        if step is None:
            step = next((each for each in STEPS_S if (end - start) <= each * DRAWN), DAY)
        if step % MINUTE and not self._has_seconds(head, start):
            step += MINUTE - step % MINUTE
        start -= start % step
        count = max(0, -(-(end - start) // step))
        if count > MOST_BUCKETS:
            raise TooLongError(f"{count} buckets; at most {MOST_BUCKETS}: ask for a shorter stretch or a longer step")
        end = start + count * step
        if step == 1:
            return _by_the_second(detector, start, end, self._minutes(detector, start - start % MINUTE, end))
        buckets = Buckets(count)
        if step % MINUTE == 0:
            self._sum_up("minute" if step % DAY else "day", head, start, end, step, buckets)
        else:
            for t0, row in self._minutes(detector, start - start % MINUTE, end):
                _by_second(t0, row, start, step, buckets)
        return _trend_of(detector, start, end, step, buckets)

    def _sum_up(self, table: str, head: int, start: int, end: int, step: int, buckets: Buckets) -> None:
        """Fill buckets from rows, and from the minute that is not folded yet (or being gone on with)."""
        rows = self._ask(
            f"SELECT t0, n, low, high, total, code FROM {table} WHERE head = ? AND t0 >= ? AND t0 < ?",  # noqa: S608 - one of two constants
            (head, start, end),
        )
        running = {t0: row for t0, row in self._open(head) if start <= t0 < end}
        if table == "day" and running and self._folded(head, next(iter(running))):
            running = {}  # the day has its first version already
        for t0, *sums in rows:
            if table == "day" or t0 not in running:
                buckets.add((t0 - start) // step, *sums)
        for t0, row in running.items():
            buckets.add((t0 - start) // step, row.n, row.low, row.high, row.total, row.code)

    def _span(self, detector: str) -> tuple[int, int]:
        """From when until when something of it may be kept, so that nobody looks through years without any."""
        head = self._head(detector)
        ((first, last),) = self._ask(
            "SELECT min(t0), max(t0) FROM minute WHERE head = ?", (-1 if head is None else head,)
        )
        known = [each for each in (first, last) if each is not None]
        known += [] if head is None else [t0 for t0, _ in self._open(head)]
        return (min(known), max(known) + MINUTE) if known else (0, 0)

    def _minutes(self, detector: str, first: int, last: int) -> list[tuple[int, Row]]:
        head = self._head(detector)
        if head is None:
            return []
        found = {
            t0: Row(*row)
            for t0, *row in self._ask(
                "SELECT t0, n, low, high, total, code, seconds, states FROM minute"
                " WHERE head = ? AND t0 >= ? AND t0 < ? ORDER BY t0",
                (head, first, last),
            )
        }
        found |= {t0: row for t0, row in self._open(head) if first <= t0 < last}
        return list(found.items())

    def _open(self, head: int) -> list[tuple[int, Row]]:
        """The minute that is not folded yet, from its seconds (and what was folded of it before, if ever)."""
        noted = self._ask("SELECT value FROM note WHERE name = 'open'")
        if not noted:
            return []
        t0 = int(noted[0][0])
        folded = self._folded(head, t0)
        minute = Row(*folded[0]).minute() if folded else Minute()
        for ts, data in self._ask("SELECT ts, heads FROM tick WHERE ts BETWEEN ? AND ?", (t0, t0 + MINUTE - 1)):
            for num, value, code in samples_in(self.path, data):
                if num == head:
                    minute.lay(ts - t0, value, code)
        row = minute.row()
        return [] if row is None else [(t0, row)]

    def _folded(self, head: int, t0: int) -> list[Any]:
        return self._ask(
            "SELECT n, low, high, total, code, seconds, states FROM minute WHERE head = ? AND t0 = ?", (head, t0)
        )

    def _head(self, detector: str) -> int | None:
        return next((int(num) for (num,) in self._ask("SELECT num FROM head WHERE id = ?", (detector,))), None)

    def _has_seconds(self, head: int, start: int) -> bool:
        """Tell whether the first minute from `start` on still has its seconds."""
        first = self._ask(
            "SELECT seconds IS NOT NULL FROM minute WHERE head = ? AND t0 >= ? ORDER BY t0 LIMIT 1", (head, start - 59)
        )
        return not first or bool(first[0][0])

    def _ask(self, question: str, values: tuple[int | str, ...] = ()) -> list[Any]:
        return self._db.execute(question, values).fetchall()


def _by_second(t0: int, row: Row, start: int, step: int, buckets: Buckets) -> None:
    """Spread a minute over its buckets; one whose seconds were dropped goes where it begins."""
    if row.n == MINUTE and row.states is None and MINUTE % step == 0 and t0 >= start and row.is_narrow():
        _evenly((t0 - start) // step, row, step, buckets)
        return
    values = row.values()
    if values is None:
        if t0 >= start:
            buckets.add((t0 - start) // step, row.n, row.low, row.high, row.total, row.code)
        return
    codes = row.codes()
    second = 0
    while second < MINUTE:
        index, into = divmod(t0 + second - start, step)
        last = min(MINUTE, second + step - into)
        if 0 <= index < len(buckets.n):
            numbers = [each for each in values[second:last] if each != MISSING]
            low, high = min(numbers, default=None), max(numbers, default=None)
            buckets.add(index, len(numbers), low, high, sum(numbers), _worst(codes[second:last]))
        second = last


def _evenly(first: int, row: Row, step: int, buckets: Buckets) -> None:
    """The same for a minute without gaps in one state, on its packed bytes: most minutes are, and it is soon done."""
    assert row.low is not None
    assert row.seconds is not None
    low, offsets = row.low, row.seconds or bytes(MINUTE)
    index = min(len(buckets.n), first + MINUTE // step)
    for at in range(first, index):
        part = offsets[(at - first) * step : (at - first + 1) * step]
        buckets.n[at] = step
        buckets.low[at], buckets.high[at] = low + min(part), low + max(part)
        buckets.total[at] = low * step + sum(part)
        buckets.codes[at] = row.code


def _worst(codes: bytes) -> int:
    read = [code for code in codes if code != NOTHING]
    return min(read, key=quality_in, default=NOTHING)


def _by_the_second(detector: str, start: int, end: int, minutes: list[tuple[int, Row]]) -> Trend:
    """Every second as it was: no summing up, so a tenth of the work."""
    values, codes = array("h", [MISSING]) * (end - start), bytearray([NOTHING]) * (end - start)
    for t0, row in minutes:
        seconds = row.values()
        if seconds is None:
            continue
        first, last = max(t0, start), min(t0 + MINUTE, end)
        values[first - start : last - start] = seconds[first - t0 : last - t0]
        codes[first - start : last - start] = row.codes()[first - t0 : last - t0]
    lel_pct = tuple([None if each == MISSING else each / SCALE for each in values])
    return Trend(
        detector=detector,
        start=rfc3339(UtcNanos(start * SECOND)),
        end=rfc3339(UtcNanos(end * SECOND)),
        step_s=1,
        mean=lel_pct,
        low=lel_pct,
        high=lel_pct,
        n=tuple([0 if each is None else 1 for each in lel_pct]),
        quality=tuple([_QUALITIES[code] for code in codes]),
        status=tuple([_STATUSES[code] for code in codes]),
    )


_QUALITIES = [None if code == NOTHING else quality_in(code) for code in range(256)]
_STATUSES = [None if code == NOTHING else status_in(code) for code in range(256)]


def _trend_of(detector: str, start: int, end: int, step: int, buckets: Buckets) -> Trend:
    return Trend(
        detector=detector,
        start=rfc3339(UtcNanos(start * SECOND)),
        end=rfc3339(UtcNanos(end * SECOND)),
        step_s=step,
        mean=tuple(
            [round(total / n / SCALE, 3) if n else None for total, n in zip(buckets.total, buckets.n, strict=True)]
        ),
        low=tuple([None if each is None else each / SCALE for each in buckets.low]),
        high=tuple([None if each is None else each / SCALE for each in buckets.high]),
        n=tuple(buckets.n),
        quality=tuple([_QUALITIES[code] for code in buckets.codes]),
        status=tuple([_STATUSES[code] for code in buckets.codes]),
    )
