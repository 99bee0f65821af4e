"""Takes every scan off the alarm loop at the price of an append, and has it recorded on one thread of its own.

That thread turns once a second: it lays readings into seconds, writes those that are over, and feeds the spool. A disk
that fails or fills stops nobody but this thread; what does not fit its bounds is dropped and counted.
"""

import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import apsw

from gateway.engine.events import Record
from gateway.journal.errors import DamagedError, StoreError, code
from gateway.store.embedded import AROUND_ALARM_S, Embedded, Tick
from gateway.store.feed import Feed
from gateway.store.samples import code_of, value_of
from gateway.store.settings import Keeping
from sensors.readings import Reading, Scan
from sensors.stamps import MILLISECOND, SECOND, Clock, Instant

MOST_READINGS = 60_000
"""Readings that wait for the thread: a minute of 500 heads at two a second."""

ANEW_AFTER_S = 60
"""How long after a fault of ours the thread is started anew."""

MOST_SECONDS = 600
"""Seconds that wait for a disk that does not take them; the oldest go first, counted."""

KEEP_STEP_S = 60
"""A stretch that is kept ends on a multiple of it: of alarms that follow each other one a minute is written down."""

ANEW = ("damaged", "read-only")
"""What an open file does not get over: one opened while nothing could be written beside it is never written."""

TRIM_EVERY_S = 60
REOPEN_EVERY_S = 30
HEALTH_EVERY_S = 10
SLOW_S = 1.0
"""A turn's writing that takes longer is told of: ``slow``."""

TURN_AT_S = 0.3
"""When in each second the thread turns: what the second before brought has arrived."""

NOTHING_KEPT = 0, -1
"""The stretch of all heads that was written down last, before there is one."""

Trouble: TypeAlias = Callable[[bool, str], None]
"""Called on the recorder's thread with (present, code) when the worst of its troubles changes."""


@dataclass(slots=True)
class Counts:
    """Since start: readings refused because too many waited; seconds written, and dropped for a disk that failed."""

    dropped_readings: int = 0
    seconds: int = 0
    dropped_seconds: int = 0


@dataclass(slots=True)
class _Pending:
    """Seconds not written yet, and stretches to be kept for ever."""

    seconds: dict[int, dict[str, tuple[int, int]]] = field(default_factory=dict)
    keeps: list[tuple[str | None, int, int]] = field(default_factory=list)

    def keep(self, head: str | None, first: int, last: int) -> None:
        """Have a stretch kept; one that touches another of the same head makes it longer, so that it costs no more."""
        for number, (other, begin, end) in enumerate(self.keeps):
            if other == head and begin <= last and first <= end:
                self.keeps[number] = head, min(begin, first), max(end, last)
                return
        self.keeps.append((head, first, last))


class Recorder:
    """One depot's recorder.

    `take`, `note`, `beat` and `revive` are called on the alarm loop and never wait; `turn` is the thread's (or a
    test's).
    """

    def __init__(self, path: Path, keeping: Keeping, clock: Clock, trouble: Trouble, vfs: str | None = None) -> None:
        self.keeping = keeping
        self.feed: Feed | None = None
        self.counts = Counts()
        self._path = path
        self._vfs = vfs
        self._clock = clock
        self._trouble = trouble
        self._scans: deque[Scan] = deque()
        self._records: deque[Record] = deque()
        self._figures: deque[tuple[int, Mapping[str, float]]] = deque(maxlen=TRIM_EVERY_S)
        self._put = self._got = 0
        self._pending = _Pending()
        self._kept = NOTHING_KEPT
        self._book: Embedded | None = None
        self._reopen_at = self._trim_at = self._health_at = 0
        self._troubles: dict[str, str] = {}
        self._told = ""
        self._closing = threading.Event()
        self._turning: Instant | None = None
        self._fell: Instant | None = None
        self._thread: threading.Thread | None = None

    # --- on the alarm loop ------------------------------------------------------------------------

    def take(self, scan: Scan) -> None:
        """Have a scan recorded."""
        count = len(scan.readings)
        if self._put - self._got + count > MOST_READINGS:
            self.counts.dropped_readings += count
            return
        self._put += count
        self._scans.append(scan)

    def note(self, record: Record) -> None:
        """Hear of what goes into the journal: alarms decide what is kept for ever."""
        if len(self._records) < MOST_SECONDS and any(entry.kind in ("alarm", "delivery") for entry in record.entries):
            self._records.append(record)

    def beat(self, utc: int, figures: Callable[[], Mapping[str, float]]) -> None:
        """Ask for the watch's own figures, once in `HEALTH_EVERY_S` however often this is called."""
        if not 0 <= utc // SECOND - self._health_at < HEALTH_EVERY_S:
            self._health_at = utc // SECOND
            self._figures.append((utc // MILLISECOND, figures()))

    def stands_s(self) -> float:
        """For how long the thread has been at one turn, in seconds; 0 between two."""
        began = self._turning
        return 0.0 if began is None else (self._clock.now().mono - began) / SECOND

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    def revive(self) -> None:
        """Start a thread anew that a fault of ours has ended, without what it had in hand, which may end that too."""
        if self._fell is None or self._closing.is_set() or self._clock.now().mono - self._fell < ANEW_AFTER_S * SECOND:
            return
        self._fell = None
        self.counts.dropped_seconds += len(self._pending.seconds)
        self._pending = _Pending()
        self.start()

    def close(self, timeout_s: float) -> bool:
        """Record what is there, then end. False when something was left."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join(timeout_s)
            if self._thread.is_alive():
                return False
        return not self._pending.seconds and not self._scans

    # --- the thread -------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while not self._closing.wait(self._until_next()):
                self.turn()
            self.turn(all_of_it=True)
        finally:
            if not self._closing.is_set():  # a fault of ours: nothing is recorded any more, and that must be heard
                self._turning = None
                self._note(thread="failing")
            if self._book is not None:
                self._book.close()
                self._book = None
            self._fell = self._clock.now().mono

    def _until_next(self) -> float:
        into = self._clock.now().utc % SECOND / SECOND
        return (TURN_AT_S - into) % 1.0 or 1.0

    def turn(self, *, all_of_it: bool = False) -> None:
        """Record what came; seconds that are over are written, with `all_of_it` also the one that is running."""
        dropped = self.counts.dropped_readings + self.counts.dropped_seconds
        now = self._clock.now()
        self._turning = now.mono
        readings = self._drain()
        self._lay(readings)
        self._hear()
        self._feed(readings)
        self._write(now.utc // SECOND, all_of_it=all_of_it)
        took = self.stands_s()
        self._turning = None
        lost = self.counts.dropped_readings + self.counts.dropped_seconds > dropped
        self._note(thread="", dropped="dropped" if lost else "", slow="slow" if took > SLOW_S else "")

    def _drain(self) -> list[Reading]:
        readings: list[Reading] = []
        for _ in range(len(self._scans)):
            readings += self._scans.popleft().readings
        self._got += len(readings)
        return readings

    def _lay(self, readings: list[Reading]) -> None:
        """Lay readings into their seconds; where two meet the higher value stays, so that no peak is lost."""
        seconds = self._pending.seconds
        for reading in readings:
            samples = seconds.setdefault(reading.taken.utc // SECOND, {})
            value = value_of(reading)
            before = samples.get(reading.detector)
            if before is None or value >= before[0]:
                samples[reading.detector] = value, code_of(reading)

    def _hear(self) -> None:
        for _ in range(len(self._records)):
            for entry in self._records.popleft().entries:
                if self.feed is not None:
                    self.feed.entry(entry.kind, entry.body)
                if entry.kind == "alarm":
                    self._keep(entry.body)
        while self._figures:
            ms, figures = self._figures.popleft()
            if self.feed is not None:
                self.feed.health(figures, ms)
        self._pending.keeps = self._pending.keeps[-MOST_SECONDS:]

    def _keep(self, body: Mapping[str, Any]) -> None:
        """Gas: everything around it of all heads. Blindness: of the head that did not see."""
        at, kind = body["at_ms"] // 1000, body["kind"]
        if kind in ("GAS", "BLIND"):
            head = None if kind == "GAS" else str(body["subject"])
            first, last = at - AROUND_ALARM_S, -(-(at + AROUND_ALARM_S) // KEEP_STEP_S) * KEEP_STEP_S
            if first < self._kept[0] or last > self._kept[1]:
                self._pending.keep(head, first, last)

    def _feed(self, readings: list[Reading]) -> None:
        if self.feed is None:
            return
        self.feed.readings(readings)
        try:
            self.feed.flush()
        except apsw.Error as error:
            self._note(spool=code(error))
        else:
            self._note(spool="")

    # --- the readings file ------------------------------------------------------------------------

    def _write(self, second: int, *, all_of_it: bool) -> None:
        """Write the seconds that are over. What fails waits for the next turn."""
        over = sorted(each for each in self._pending.seconds if all_of_it or each < second)
        for each in over[:-MOST_SECONDS]:
            del self._pending.seconds[each]
            self.counts.dropped_seconds += 1
        book = self._opened(second)
        if book is None:
            return
        ticks = [Tick(each, self._pending.seconds[each]) for each in over[-MOST_SECONDS:]]
        try:
            if ticks:
                book.write(ticks)
                for tick in ticks:
                    del self._pending.seconds[tick.second]
                self.counts.seconds += len(ticks)
            while self._pending.keeps:
                head, first, last = self._pending.keeps[0]
                book.keep(head, first, last)
                self._pending.keeps.pop(0)
                if head is None:
                    self._kept = first, last
            self._tend(book, second)
        except (apsw.Error, StoreError) as error:
            self._failed(error)
        else:
            self._note(write="")

    def _tend(self, book: Embedded, second: int) -> None:
        if not 0 <= second - self._trim_at < TRIM_EVERY_S:
            self._trim_at = second
            book.trim(second, self.keeping)
        book.tend(second, self.keeping)

    def _opened(self, second: int) -> Embedded | None:
        if self._book is None and not 0 <= second - self._reopen_at < REOPEN_EVERY_S:
            try:
                self._book = Embedded.open(self._path, self._vfs)
            except StoreError as error:
                self._reopen_at = second
                self._set_aside(second, error)
        return self._book

    def _failed(self, error: apsw.Error | StoreError) -> None:
        reason = "damaged" if isinstance(error, StoreError) else code(error)
        self._note(write=reason)
        if reason in ANEW and self._book is not None:
            self._book.close()
            self._book = None
            if reason == "damaged":
                self._move_aside()

    def _set_aside(self, second: int, error: StoreError) -> None:
        if not isinstance(error, DamagedError):
            cause = error.__cause__
            self._note(write=code(cause) if isinstance(cause, apsw.Error) else "failing")
            return
        self._move_aside()
        self._reopen_at = second - REOPEN_EVERY_S

    def _move_aside(self) -> None:
        """Begin a new file beside the damaged one, which is kept: it may still be read in part."""
        self._kept = NOTHING_KEPT
        stamp = self._clock.now().utc // SECOND
        try:
            for suffix in ("", "-wal", "-shm"):
                file = self._path.with_name(self._path.name + suffix)
                if file.exists():
                    file.rename(self._path.with_name(f"{self._path.name}.damaged-{stamp}{suffix}"))
        except OSError:
            self._note(write="failing")
            return
        self._note(aside="damaged")

    def _note(self, **troubles: str) -> None:
        self._troubles.update(troubles)
        worst = next((reason for name in WORST_FIRST if (reason := self._troubles.get(name, ""))), "")
        if worst != self._told:
            self._told = worst
            self._trouble(bool(worst), worst)


WORST_FIRST = ("thread", "dropped", "write", "spool", "aside", "slow")
"""The parts that may be in trouble; the first that is gives the reason."""
