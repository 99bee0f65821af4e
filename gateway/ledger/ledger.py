"""The ledger of watched time: journal entries in, stretches of watched and unwatched time per detector out.

Knows no file and no clock. A stretch is a time in which one detector was in one state for one cause. What cannot be
known to have been watched is not counted as watched: a crash ends at the last sign of life, and a civil clock that was
behind is put right by the jump that corrected it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from enum import Enum
from typing import Any

WATCHED_CAUSE = ""
CRASH = "crash"
CLOCK = "clock"
SLEPT = "slept"
EPOCH_S = 1000


class Watch(Enum):
    """What a detector was good for."""

    WATCHED = "watched"
    BLIND = "blind"
    INHIBITED = "inhibited"
    IN_TEST = "in-test"
    OUT_OF_SERVICE = "out-of-service"
    OFF = "off"


STATE_OF_REASON = {
    "test-window": Watch.IN_TEST,
    "inhibited-by-person": Watch.INHIBITED,
    "out-of-service": Watch.OUT_OF_SERVICE,
    "inhibited": Watch.INHIBITED,
}
"""Reasons of a BLIND alarm that mean something else than blind: a person's doing, or the head's own inhibit switch."""

BEGINS = frozenset({"raised", "risen", "still"})
"""Events of a BLIND alarm after which its reason says what the detector is good for."""


@dataclass(frozen=True, slots=True)
class Line:
    """One entry of the journal: its kind, its body, and the name behind its ``by``."""

    kind: str
    body: Mapping[str, Any]
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Stretch:
    """A detector was in one state from `start_ms` to `end_ms` (UTC, the end excluded).

    Attributes:
        cause: reason code; empty for watched.
        by: the person whose doing it was, if one's.
    """

    detector: str
    state: Watch
    start_ms: int
    end_ms: int
    cause: str = ""
    by: str | None = None


@dataclass(slots=True)
class _Open:
    """A stretch that has not ended."""

    state: Watch
    start_ms: int
    cause: str
    by: str | None


class Ledger:
    """The fold. Feed `take` with every line in the order of the journal, then ask `close` for what is still open.

    With `latest` it keeps of each detector only the stretch that ended last, for who follows a journal for years.
    """

    def __init__(self, *, latest: bool = False) -> None:
        self._done: list[Stretch] = []
        self._latest: dict[str, Stretch] | None = {} if latest else None
        self._open: dict[str, _Open] = {}
        self._blind: dict[str, _Open] = {}
        self._since: dict[str, int] = {}
        self._now = self._ended = 0
        self._running = False
        self._pending: list[Line] = []

    def take(self, line: Line) -> None:
        """Take one entry."""
        if line.body.get("time_trusted", True) is False:
            if line.kind == "boot":
                self._flush(0)  # an earlier life that never learned the time
            self._pending.append(line)
            return
        if self._pending:
            corrects = line.kind == "clock" and line.body.get("trusted") is True
            self._flush(int(line.body["step_ms"]) if corrects else 0)
            if corrects:
                self._tick(int(line.body["at_ms"]))
                return
        self._take(line, int(line.body.get("at_ms", self._now)))

    def close(self, now_ms: int) -> list[Stretch]:
        """Return every stretch up to `now_ms`, in order of time. The ledger may go on afterwards."""
        self._flush(0)
        end = max(now_ms, self._now)
        still = [
            Stretch(name, one.state, one.start_ms, end, one.cause, one.by)
            for name, one in self._open.items()
            if one.start_ms < end
        ]
        done = self._done if self._latest is None else self._latest.values()
        return sorted([*done, *still], key=lambda stretch: (stretch.start_ms, stretch.detector))

    # --- entries -----------------------------------------------------------------------------------

    def _flush(self, step_ms: int) -> None:
        """Take what was written while the time was not known, moved by the jump that put it right."""
        pending, self._pending = self._pending, []
        for line in pending:
            self._take(line, int(line.body.get("at_ms", 0)) + step_ms)

    def _take(self, line: Line, at: int) -> None:
        body = line.body
        match line.kind:
            case "boot":
                self._boot(body, at)
            case "reload":
                self._tick(at)
                self._follow(body)
            case "stop":
                self._tick(at)
                self._off(str(body.get("reason", "")) or "stop")
            case "clock":
                self._gap(at, int(body.get("step_ms", 0)), CLOCK)
            case "slept":
                self._gap(at, int(body.get("length_ms", 0)), SLEPT)
            case "never-watched":
                self._tick(at)
                self._unwatch(str(body["detector"]))
            case "alarm" if body.get("kind") == "BLIND":
                self._tick(at)
                self._alarm(body, line.by)
            case _:
                self._tick(at)

    def _tick(self, at: int) -> None:
        """Time does not run backwards here: an hour that a clock set back shows twice is counted once."""
        self._now = max(self._now, at)

    def _boot(self, body: Mapping[str, Any], at: int) -> None:
        alive = body.get("last_alive_ms")
        if self._running:  # no stop: the earlier life ended at its last sign of life
            if isinstance(alive, int) and alive <= max(at, self._now):
                # what stands between is of the new life already, such as an output read before its boot was noted
                self._now = max([alive, self._ended, *(one.start_ms for one in self._open.values())])
            self._off(CRASH)
        self._tick(at)
        self._running = True
        self._follow(body)

    def _follow(self, body: Mapping[str, Any]) -> None:
        """Take the list of who is watched from now on; entries without one (older journals) say nothing."""
        names = body.get("watches")
        if names is None:
            return
        for name in [name for name in self._open if name not in names]:
            self._end(name)
            self._blind.pop(name, None)
        for name in names:
            blind = self._blind.get(name)
            if blind is None:
                if name not in self._open or self._open[name].state is Watch.OFF:
                    self._since[name] = self._now
                self._begin(name, Watch.WATCHED, WATCHED_CAUSE, None)
            else:
                self._begin(name, blind.state, blind.cause, blind.by)

    def _off(self, cause: str) -> None:
        self._running = False
        for name in list(self._open):
            self._begin(name, Watch.OFF, cause, None)

    def _gap(self, at: int, length_ms: int, cause: str) -> None:
        """Time up to `at` in which nobody watched: the watch stood still, the machine slept, or the clock was wrong.

        A clock that was set back leaves none, and what was watched up to then counts.
        """
        self._tick(at - length_ms)
        if length_ms <= 0:
            return
        before = {name: _Open(one.state, 0, one.cause, one.by) for name, one in self._open.items()}
        if self._running:
            for name in before:
                self._begin(name, Watch.OFF, cause, None)
        self._tick(at)
        for name, one in before.items():
            self._begin(name, one.state, one.cause, one.by)

    def _alarm(self, body: Mapping[str, Any], by: str | None) -> None:
        name, event, reason = str(body["subject"]), body["event"], str(body.get("reason", ""))
        if event == "cleared":
            self._blind.pop(name, None)
            if name in self._open and self._running:
                self._begin(name, Watch.WATCHED, WATCHED_CAUSE, None)
        elif event in BEGINS:
            known = self._blind.get(name)
            state = STATE_OF_REASON.get(reason, Watch.BLIND)
            if known is not None and (known.state is state or (event == "still" and reason not in STATE_OF_REASON)):
                return
            self._blind[name] = _Open(state, 0, reason, by)
            if name not in self._open or not self._running:
                return
            if reason == "never-heard":
                self._unwatch(name)
            self._begin(name, state, reason, by)

    # --- stretches ---------------------------------------------------------------------------------

    def _unwatch(self, name: str) -> None:
        """A head that was never heard did not watch since the start either."""
        open_ = self._open.get(name)
        if open_ is not None and open_.state is Watch.WATCHED and open_.start_ms == self._since.get(name):
            open_.state, open_.cause = Watch.BLIND, "never-heard"

    def _begin(self, name: str, state: Watch, cause: str, by: str | None) -> None:
        now = self._open.get(name)
        if now is not None and (now.state, now.cause, now.by) == (state, cause, by):
            return
        self._end(name)
        self._open[name] = _Open(state, self._now, cause, by)

    def _end(self, name: str) -> None:
        one = self._open.pop(name, None)
        if one is not None and one.start_ms < self._now:
            self._ended = max(self._ended, self._now)
            stretch = Stretch(name, one.state, one.start_ms, self._now, one.cause, one.by)
            if self._latest is None:
                self._done.append(stretch)
            else:
                self._latest[name] = stretch


# --- figures -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Share:
    """How one detector's month went: milliseconds in each state, of the part of the month the ledger knows."""

    detector: str
    month: str
    ms: Mapping[Watch, int]

    def percent(self, state: Watch) -> float:
        """The share of a state in the known time, in percent."""
        return 100.0 * self.ms.get(state, 0) / sum(self.ms.values())


def fold(lines: Iterable[Line], now_ms: int) -> list[Stretch]:
    """Fold a whole journal."""
    ledger = Ledger()
    for line in lines:
        ledger.take(line)
    return ledger.close(now_ms)


def within(stretches: Iterable[Stretch], start_ms: int, end_ms: int) -> list[Stretch]:
    """Return the stretches that touch a time, cut to it."""
    return [
        Stretch(one.detector, one.state, max(one.start_ms, start_ms), min(one.end_ms, end_ms), one.cause, one.by)
        for one in stretches
        if one.start_ms < end_ms and one.end_ms > start_ms
    ]


def months(stretches: Sequence[Stretch], zone: tzinfo) -> list[Share]:
    """Sum the stretches by detector and local calendar month, months in order, detectors by name."""
    sums: dict[tuple[str, str], dict[Watch, int]] = {}
    bounds = _remembered(zone)
    for stretch in stretches:
        for month, start, end in bounds(stretch.start_ms, stretch.end_ms):
            found = sums.setdefault((month, stretch.detector), {})
            found[stretch.state] = found.get(stretch.state, 0) + end - start
    return [Share(detector, month, sums[month, detector]) for month, detector in sorted(sums)]


def month_start_ms(at_ms: int, zone: tzinfo) -> int:
    """Return when the local month that holds this time began."""
    local = _local(at_ms, zone)
    return _ms(datetime(local.year, local.month, 1, tzinfo=zone))


def _remembered(zone: tzinfo) -> Callable[[int, int], Iterator[tuple[str, int, int]]]:
    """Cut stretches at local midnights of the first; consecutive stretches mostly lie in one month."""
    month, first, after = "", 0, 0

    def cut(start: int, end: int) -> Iterator[tuple[str, int, int]]:
        nonlocal month, first, after
        while start < end:
            if not first <= start < after:
                local = _local(start, zone)
                begin = datetime(local.year, local.month, 1, tzinfo=zone)
                month, first, after = f"{begin:%Y-%m}", _ms(begin), _ms(_next_month(begin))
            yield month, start, min(end, after)
            start = after

    return cut


def _next_month(begin: datetime) -> datetime:
    later = begin.replace(tzinfo=None) + timedelta(days=32)
    return datetime(later.year, later.month, 1, tzinfo=begin.tzinfo)


def _local(at_ms: int, zone: tzinfo) -> datetime:
    return datetime.fromtimestamp(at_ms / EPOCH_S, zone)


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * EPOCH_S)
