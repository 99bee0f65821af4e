"""Turns what the watch does into lines for the database and hands them to the spool. Runs on the recorder's thread."""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import apsw

from gateway.store.lines import GasLines, figures, prefix
from gateway.store.reporting import Reporting
from gateway.store.spool import Spool
from sensors.readings import DetectorId, Reading
from sensors.stamps import MILLISECOND

MOST_WAITING = 50_000
"""Lines that wait in memory for a spool that cannot be written; the oldest go first, counted."""

MOST_REMEMBERED = 1_000
"""Alarms whose deliveries are still timed."""


class Feed:
    """One depot's lines on their way into the spool.

    Args:
        areas: area of each detector.
        put: called after each batch that was put (on the same thread).
    """

    def __init__(
        self,
        spool: Spool,
        reporting: Reporting,
        *,
        depot: str,
        areas: Mapping[DetectorId, str],
        most_points: int,
        put: Callable[[], None],
    ) -> None:
        self._spool = spool
        self._reporting = reporting
        self._depot = depot
        self._areas = {str(detector): area for detector, area in areas.items()}
        self._lines = GasLines(depot, areas)
        self._most_points = most_points
        self._put = put
        self._waiting: deque[str] = deque()
        self._raised: OrderedDict[str, tuple[str, int]] = OrderedDict()
        self._span: tuple[int, int] | None = None
        self._dropped: tuple[int, int, int] | None = None

    def readings(self, readings: Iterable[Reading]) -> None:
        """Take readings in the order they were taken."""
        of, choose, waiting = self._lines.of, self._reporting.choose, self._waiting
        for reading in readings:
            line = of(reading)
            if line:
                waiting.extend(choose(reading, line))
                self._widen(reading.taken.utc // MILLISECOND)

    def entry(self, kind: str, body: Mapping[str, Any]) -> None:
        """Take a journal entry: an alarm sets the full rate, an alarm and its deliveries are timed."""
        if kind == "alarm" and body.get("kind") == "GAS":
            self._alarm(body)
        elif kind == "delivery" and body.get("outcome") == "accepted" and body.get("event") in self._raised:
            subject, sampled = self._raised[body["event"]]
            self._time(subject, {"accepted": body["at_ms"] - sampled}, body["at_ms"], channel=body["channel"])

    def health(self, values: Mapping[str, float], ms: int) -> None:
        """Take figures of the watch itself."""
        line = figures(prefix("health", {"depot": self._depot}), values, ms)
        if line:
            self._waiting.append(line)
            self._widen(ms)

    def flush(self) -> None:
        """Hand everything over; what the spool does not take waits, within `MOST_WAITING`.

        Raises:
            apsw.Error: the spool cannot be written.
        """
        span = self._span
        try:
            if self._dropped is not None:
                first, last, points = self._dropped
                self._spool.lose(first, last, points, "disk")
                self._dropped = None
            while self._waiting and span is not None:
                batch = [self._waiting[index] for index in range(min(self._most_points, len(self._waiting)))]
                self._spool.put(batch, *span)
                for _ in batch:
                    self._waiting.popleft()
        except apsw.Error:
            self._drop_what_waits_too_long(span)
            raise
        if span is not None:
            self._span = None
            self._put()

    def _drop_what_waits_too_long(self, span: tuple[int, int] | None) -> None:
        over = len(self._waiting) - MOST_WAITING
        if over > 0 and span is not None:
            for _ in range(over):
                self._waiting.popleft()
            first, _, points = self._dropped or (span[0], 0, 0)
            self._dropped = first, span[1], points + over

    def _alarm(self, body: Mapping[str, Any]) -> None:
        self._waiting.extend(self._reporting.alarm(body["at_ms"] * MILLISECOND))
        if body["event"] in ("raised", "risen"):
            self._raised[body["id"]] = body["subject"], body["sampled_ms"]
            if len(self._raised) > MOST_REMEMBERED:
                self._raised.popitem(last=False)
            self._time(body["subject"], {"decided": body["at_ms"] - body["sampled_ms"]}, body["at_ms"])

    def _time(self, subject: str, parts: Mapping[str, float], ms: int, channel: str = "") -> None:
        tags = {"depot": self._depot, "area": self._areas.get(subject, ""), "detector": subject, "channel": channel}
        self._waiting.append(figures(prefix("latency", tags), {f"{name}_ms": each for name, each in parts.items()}, ms))
        self._widen(ms)

    def _widen(self, ms: int) -> None:
        span = self._span
        if span is None:
            self._span = ms, ms
        elif ms > span[1]:
            self._span = span[0], ms
        elif ms < span[0]:
            self._span = ms, span[1]
