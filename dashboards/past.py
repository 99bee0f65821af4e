"""What the screens read of the past: alarm events, watched time and trends, out of the journal and the readings.

Every value is JSON-ready. Times are RFC 3339 UTC with milliseconds.
"""

from collections.abc import Sequence
from typing import Protocol

import msgspec


class EventView(msgspec.Struct, frozen=True):
    """One alarm event out of the journal, as ``GET events`` answers it.

    `time_trusted` is False when the gateway's civil clock was known to be wrong as it was written.
    """

    seq: int
    id: str
    subject: str
    kind: str
    event: str
    level: str | None
    lel_pct: float | None
    peak: float | None
    since: str
    sampled: str
    at: str
    by: str | None
    note: str
    text: str
    time_trusted: bool = True


class History(Protocol):
    """The journal as the screens may read it: read-only, from another process."""

    def events(self, after: int, limit: int) -> Sequence[EventView]:
        """Return alarm events with seq > `after`, oldest first, at most `limit`."""
        ...

    def latest(self, limit: int) -> Sequence[EventView]:
        """Return the last alarm events, oldest first, at most `limit`."""
        ...


class StretchView(msgspec.Struct, frozen=True):
    """A time in which one detector was in one state for one cause.

    Attributes:
        state: ``watched``, ``blind``, ``inhibited``, ``in-test``, ``out-of-service``, ``off`` (the gateway did not
            run, or the time is not known to have been).
        cause: reason code; empty for watched.
        by: the person whose doing it was; None for nobody's.
    """

    detector: str
    state: str
    start: str
    end: str
    seconds: float
    cause: str
    by: str | None


class MonthView(msgspec.Struct, frozen=True):
    """One detector's local calendar month, in percent of the `seconds` of it that the ledger knows."""

    detector: str
    month: str
    seconds: float
    watched_pct: float
    blind_pct: float
    inhibited_pct: float
    in_test_pct: float
    out_of_service_pct: float
    off_pct: float


class LedgerView(msgspec.Struct, frozen=True):
    """The ledger of watched time, as ``GET ledger`` answers it. Months are those of `timezone`."""

    timezone: str
    start: str
    end: str
    stretches: tuple[StretchView, ...]
    months: tuple[MonthView, ...]


class WatchedTime(Protocol):
    """The ledger as the screens may read it: read-only, from another process."""

    def ledger(self, start_ms: int | None, end_ms: int, now_ms: int) -> LedgerView:
        """Return what touches the time from `start_ms` (None: the month's first) to `end_ms`, UTC."""
        ...


class Trend(msgspec.Struct, frozen=True):
    """What one detector read over a stretch of time, as ``GET readings`` answers it.

    Bucket `i` begins `i` steps after `start`. Every list has one entry a bucket; null is a gap: no number was read in
    it. Nothing is interpolated, and a bucket without a number has no neighbour's.

    Attributes:
        step_s: length of a bucket in seconds; longer than asked for where only minute values are kept of that time.
        mean, low, high: %LEL of the depot's reference.
        n: seconds with a number.
        quality: worst in the bucket: 0 bad, 1 uncertain, 2 good; null where the head was not read at all.
        status: number of the status that goes with the worst quality (docs/api.md).
    """

    detector: str
    start: str
    end: str
    step_s: int
    mean: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    n: tuple[int, ...]
    quality: tuple[int | None, ...]
    status: tuple[int | None, ...]


class Trends(Protocol):
    """The readings as the screens may read them: read-only, from another process."""

    def trend(self, detector: str, start_s: int, end_s: int, step_s: int | None) -> Trend | None:
        """Return the buckets from `start_s` to `end_s` (UTC seconds, the end excluded); None: no such detector.

        `step_s` None chooses one that a screen can draw.
        """
        ...
