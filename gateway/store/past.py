"""Readings of the past for an export or a database: by the second where seconds are kept, else by the minute."""

import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TextIO

from gateway.store.history import ReadingsHistory
from gateway.store.lines import GasLines
from gateway.store.minutes import MINUTE, Row
from gateway.store.samples import (
    QUALITY_OF_NUMBER,
    SCALE,
    STATUS_OF_NUMBER,
    quality_in,
    sample,
    status_in,
)
from sensors.readings import DetectorId
from sensors.stamps import SECOND, UtcNanos, rfc3339


@dataclass(frozen=True, slots=True)
class Kept:
    """One row of an export. %LEL of the depot's reference.

    Attributes:
        resolution_s: 1, or 60 for a minute whose seconds are no longer kept.
        lel_pct: the value; of a minute its mean. None without a number.
        low, high: equal to it for a second.
        bound: the value is a lower bound.
        n: seconds with a number.
    """

    time: str
    detector: str
    resolution_s: int
    lel_pct: float | None
    low: float | None
    high: float | None
    bound: bool
    quality: str
    status: str
    n: int


def kept(history: ReadingsHistory, detectors: Iterable[str], start_s: int, end_s: int) -> Iterator[Kept]:
    """Yield what is kept of these detectors, one after the other, each oldest first. Gaps have no row.

    Raises:
        StoreError: the file cannot be read.
    """
    for detector in detectors:
        for t0, row in history.minutes(detector, start_s - start_s % MINUTE, end_s):
            if row.seconds is None:
                if t0 >= start_s:
                    yield _minute(detector, t0, row)
                continue
            yield from (each for at, each in _seconds(detector, t0, row) if start_s <= at < end_s)


def _minute(detector: str, t0: int, row: Row) -> Kept:
    return Kept(
        time=rfc3339(UtcNanos(t0 * SECOND)),
        detector=detector,
        resolution_s=MINUTE,
        lel_pct=round(row.total / row.n / SCALE, 3) if row.n else None,
        low=None if row.low is None else row.low / SCALE,
        high=None if row.high is None else row.high / SCALE,
        bound=False,
        quality=QUALITY_OF_NUMBER[quality_in(row.code)].value,
        status=STATUS_OF_NUMBER[status_in(row.code)].value,
        n=row.n,
    )


def _seconds(detector: str, t0: int, row: Row) -> Iterator[tuple[int, Kept]]:
    values = row.values()
    assert values is not None
    for second, (value, code) in enumerate(zip(values, row.codes(), strict=True)):
        read = sample(value, code)
        if read is not None:
            yield (
                t0 + second,
                Kept(
                    time=rfc3339(UtcNanos((t0 + second) * SECOND)),
                    detector=detector,
                    resolution_s=1,
                    lel_pct=read.lel_pct,
                    low=read.lel_pct,
                    high=read.lel_pct,
                    bound=read.bound,
                    quality=QUALITY_OF_NUMBER[read.quality].value,
                    status=STATUS_OF_NUMBER[read.status].value,
                    n=int(read.lel_pct is not None),
                ),
            )


def write_csv(rows: Iterable[Kept], out: TextIO) -> int:
    """Write rows under a heading; return how many."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(Kept.__slots__)
    count = 0
    for row in rows:
        fields = asdict(row)
        fields["bound"] = int(row.bound)
        writer.writerow(["" if value is None else value for value in fields.values()])
        count += 1
    return count


def write_jsonl(rows: Iterable[Kept], out: TextIO) -> int:
    """Write a JSON object a line; return how many."""
    count = 0
    for row in rows:
        out.write(json.dumps(asdict(row), ensure_ascii=False, separators=(",", ":")) + "\n")
        count += 1
    return count


def lines_of_hour(
    history: ReadingsHistory, lines: GasLines, detectors: Iterable[str], start_s: int, end_s: int
) -> tuple[list[str], int]:
    """The seconds of a stretch (an hour, say) as lines, oldest first, and how many minutes had no seconds any more.

    Raises:
        StoreError: the file cannot be read.
    """
    found: list[tuple[int, str]] = []
    gone = 0
    for detector in detectors:
        name = DetectorId(detector)
        for t0, row in history.minutes(detector, start_s - start_s % MINUTE, end_s):
            values = row.values()
            if values is None:
                gone += 1
                continue
            for second, (value, code) in enumerate(zip(values, row.codes(), strict=True)):
                read = sample(value, code)
                at = t0 + second
                if read is not None and start_s <= at < end_s:
                    found.append((at, lines.sample(name, read, at * 1000)))
    found.sort(key=lambda each: each[0])
    return [line for _, line in found if line], gone
