"""The one thread that writes the journal: takes what is queued, commits it, answers each ticket, and never gives up.

Knows no alarm. A disk that fails or fills stops nobody but this thread: the queue holds what it has, oldest first, and
refuses what comes beyond its bound.
"""

import os
from collections import deque
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import apsw

from gateway.journal import persons, schema
from gateway.journal.batches import Pen, Prepared, read_head
from gateway.journal.errors import StoreError, code
from gateway.journal.health import JournalHealth
from gateway.journal.jobs import Attempt, Committed, Erasure, Job, Seal, Sealed, Trouble
from gateway.journal.threads import SystemThreads, Thread, Threads
from gateway.journal.tree import Frontier
from sensors.sentences import Sentence

MOST_QUEUED = 10_000
"""Records waiting for the disk, the batch in hand included."""

MOST_IN_BATCH = 1_000
"""Records in one transaction."""

FIRST_RETRY_S = 0.1
LONGEST_RETRY_S = 2.0

SLOW_COMMIT_S = 1.0
"""A commit longer than this is reported as trouble: ``slow``."""

CHECKPOINT_PAGES = 1_000
"""Pages in the write-ahead log above which an idle writer moves them into the file; at four times this it does not wait
to be idle."""

PULSE_S = 60.0
"""How often at most the writer seals what has grown and notes a sign of life; a gas alarm is sealed sooner."""

SEAL_S = 1.0
"""A gas alarm is sealed within this: with the next record that is none, which no output waits for, or alone."""

WINDOW = 1_000
"""Commits over which `JournalHealth` takes its percentiles."""

WORST_FIRST = ("write", "gone", "refused", "dropped", "checkpoint", "slow")
"""The parts that may be in trouble; the first that is gives the reason."""


class Writer:
    """Queue, thread and retry around one connection, which it owns from `start` to the end."""

    def __init__(
        self,
        path: Path,
        db: apsw.Connection,
        frontier: Frontier,
        seal: Seal | None = None,
        threads: Threads | None = None,
    ) -> None:
        """`threads` is where its thread and its time come from; None is this machine."""
        self._threads = threads or SystemThreads()
        self._path = path
        self._file = _identity(path)
        self._db = db
        self._frontier = frontier
        self._seal = seal
        self._sealed_size = _sealed_size(db)
        self._pulse_at = 0.0
        self._seal_at = float("inf")
        self._alive_ms: int | None = None
        self._alive_kept: int | None = None
        self._fresh: Sealed | None = None
        self._root = frontier.root()
        self._attempted: Attempt | None = None
        self._jobs: deque[Job] = deque()
        self._moved_at = 0.0
        self._awake = self._threads.condition()
        self._closing = False
        self._deadline = float("inf")
        self._thread: Thread | None = None
        self._on_commit: Committed = lambda _ticket: None
        self._on_trouble: Trouble = lambda _present, _reason: None
        self._on_seal: Callable[[Sealed], None] = lambda _sealed: None
        self._unwell: dict[str, str] = {}
        self._dropped = self._dropped_reported = self._refused = self._orphans = 0
        self._last_error = ""
        self._commits: deque[float] = deque(maxlen=WINDOW)
        self._wal_pages, self._truncate, self._tidy_at = 0, False, 0.0
        db.set_wal_hook(self._count_pages)

    # --- called from anywhere --------------------------------------------------------------------

    def start(self, committed: Committed, trouble: Trouble, sealed: Callable[[Sealed], None] | None = None) -> None:
        """Start the thread. The callbacks are called on it."""
        assert self._thread is None, "the journal's writer was started twice"
        self._on_commit, self._on_trouble = committed, trouble
        self._on_seal = sealed or self._on_seal
        self._thread = self._threads.start(self._run, "journal")

    def put(self, *jobs: Job) -> bool:
        """Queue jobs; never waits for the disk. False when the queue is full or closed: what was left is counted."""
        with self._awake:
            if not self._jobs:
                self._moved_at = self._threads.monotonic()
            room = 0 if self._closing else MOST_QUEUED - len(self._jobs)
            self._jobs.extend(jobs[:room])
            self._dropped += max(0, len(jobs) - room)
            self._awake.notify()
        return len(jobs) <= room

    def alive(self, utc_ms: int) -> None:
        """Have it noted that the watch runs at this civil time; written with the next pulse."""
        with self._awake:
            news, self._alive_ms = self._alive_ms == self._alive_kept, utc_ms
            if news:  # since the last pulse: the thread may be waiting for ever
                self._awake.notify()

    def close(self, timeout_s: float) -> bool:
        """Write what is queued, then end the thread and the connection. False when something was left unwritten."""
        with self._awake:
            if not self._closing:
                self._deadline = self._threads.monotonic() + timeout_s
            self._closing = True
            self._awake.notify()
        if self._thread is None:
            self._finish()
            return not self._jobs
        self._thread.join(timeout_s)
        return not self._jobs

    def stands_s(self) -> float:
        """For how long the queue has not moved, in seconds; 0 while nothing waits."""
        with self._awake:
            return self._threads.monotonic() - self._moved_at if self._jobs else 0.0

    def health(self) -> JournalHealth:
        """Return the figures of this moment."""
        with self._awake:
            commits = sorted(self._commits)
            return JournalHealth(
                writing=self._thread is not None and self._thread.is_alive(),
                queued=len(self._jobs),
                dropped=self._dropped,
                refused=self._refused,
                orphans=self._orphans,
                size=self._frontier.size,
                trouble=self._worst(),
                last_error=self._last_error,
                last_commit_ms=self._commits[-1] if commits else 0.0,
                median_commit_ms=commits[len(commits) // 2] if commits else 0.0,
                p99_commit_ms=commits[len(commits) * 99 // 100] if commits else 0.0,
            )

    # --- the thread --------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._work()
        finally:
            if not self._closing:  # a fault of ours: nobody writes any more, and that must be heard
                self._note(write="failing")
            self._finish()

    def _work(self) -> None:
        while (batch := self._next_batch()) is not None:
            if not batch and self._pulse_left() > 0:
                self._tidy()
                continue
            results = self._persist(batch)
            if results is None:
                return
            self._settle(batch, results)
            if self._wal_pages >= 4 * CHECKPOINT_PAGES:
                self._tidy()
        self._pulse_at = 0.0
        if self._pulse_left() == 0 and (results := self._persist([])) is not None:
            self._settle([], results)
        if self._truncate:
            self._tidy()

    def _next_batch(self) -> list[Job] | None:
        """Wait for work. An empty batch is leave to pulse or tidy up; None is the end."""
        with self._awake:
            while not self._jobs:
                if self._closing:
                    return None
                left = self._pulse_left()
                if self._truncate or self._wal_pages >= CHECKPOINT_PAGES:
                    left = min(left, self._tidy_at - self._threads.monotonic())
                if left <= 0:
                    return []
                self._awake.wait(None if left == float("inf") else left)
            return list(islice(self._jobs, MOST_IN_BATCH))

    def _persist(self, batch: list[Job]) -> list[bool] | None:
        """Commit a batch, however often it takes. None when the time to close was over first."""
        pause = FIRST_RETRY_S
        while True:
            started = self._threads.monotonic()
            try:
                results = self._commit(batch)
            except (apsw.Error, StoreError) as error:
                self._last_error = f"write: {type(error).__name__}: {error}"
                self._note(write=code(error))
            else:
                with self._awake:
                    self._commits.append((self._threads.monotonic() - started) * 1000)
                return results
            if not self._rest(pause):
                return None
            pause = min(2 * pause, LONGEST_RETRY_S)

    def _commit(self, batch: list[Job]) -> list[bool]:
        """Write a batch in one transaction.

        Returns:
            For each job: a record was written (False: a constraint refused it), a person was there to erase.

        Raises:
            apsw.Error: nothing of the batch is written, or so it seems: the next call finds out.
            StoreError: somebody else wrote into the journal.
        """
        db = self._db
        try:
            db.execute("BEGIN IMMEDIATE")
            landed = self._landed()
            if landed is not None:
                return landed
            try:
                pen, results = self._written(batch, Pen.write)
            except apsw.ConstraintError:
                db.execute("ROLLBACK")
                db.execute("BEGIN IMMEDIATE")  # again, each apart from the one that is refused
                pen, results = self._written(batch, Pen.write_apart)
            root = pen.seal()
            urgent = any(isinstance(job, Prepared) and job.seal for job in batch)
            sealed, alive_ms = self._pulse(pen.frontier.size, root, urgent=urgent)
            self._attempted = Attempt(pen.frontier, root, results, pen.orphans, sealed, alive_ms, urgent)
            db.execute("COMMIT")
        finally:
            if db.in_transaction:
                db.execute("ROLLBACK")
        return self._take(self._attempted)

    def _written(self, batch: list[Job], write: Callable[[Pen, Prepared], bool]) -> tuple[Pen, list[bool]]:
        pen = Pen(self._db, self._frontier)
        return pen, [
            write(pen, job) if isinstance(job, Prepared) else persons.erase(self._db, job.ref) for job in batch
        ]

    def _landed(self) -> list[bool] | None:
        """Compare the stored head with ours: equal, or that of a COMMIT whose error came too late to undo it."""
        _, size, root = read_head(self._db)
        if (size, root) == (self._frontier.size, self._root):
            return None
        attempt = self._attempted
        if attempt is not None and (size, root) == (attempt.frontier.size, attempt.root):
            return self._take(attempt)
        raise StoreError(
            self._path,
            Sentence("another program wrote entry {idx}", idx=size - 1),
            "only one Vigia may write a journal",
        )

    def _take(self, attempt: Attempt) -> list[bool]:
        with self._awake:
            self._frontier, self._root, self._attempted = attempt.frontier, attempt.root, None
            self._orphans += attempt.orphans
        if attempt.sealed is not None:
            self._fresh, self._sealed_size, self._seal_at = attempt.sealed, attempt.sealed.size, float("inf")
        elif attempt.urgent:
            self._seal_at = min(self._seal_at, self._threads.monotonic() + SEAL_S)
        self._alive_kept = attempt.alive_ms
        if self._threads.monotonic() >= self._pulse_at:
            self._pulse_at = self._threads.monotonic() + PULSE_S
        return attempt.results

    def _pulse(self, size: int, root: bytes, *, urgent: bool) -> tuple[Sealed | None, int | None]:
        """Within the open transaction: seal what has grown and note the last sign of life, where it is time."""
        now, sealed, alive_ms = self._threads.monotonic(), None, self._alive_kept
        due = now >= self._pulse_at
        wanted = self._seal_at < float("inf") and (now >= self._seal_at or not urgent)
        if self._seal is not None and size > self._sealed_size and (due or wanted):
            sealed = Sealed(size, root, self._seal(size, root))
            self._db.execute("INSERT INTO checkpoint (size, note) VALUES (?, ?)", (size, sealed.note))
        if due and self._alive_ms != alive_ms:
            alive_ms = self._alive_ms
            self._db.execute(
                "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
                (schema.LAST_ALIVE, alive_ms),
            )
        return sealed, alive_ms

    def _pulse_left(self) -> float:
        """Seconds until a pulse is due: 0 when it is, infinite while it would have nothing to write."""
        grown = self._seal is not None and self._frontier.size > self._sealed_size
        if not grown and self._alive_ms == self._alive_kept:
            return float("inf")
        at = min(self._pulse_at, self._seal_at) if grown else self._pulse_at
        return max(0.0, at - self._threads.monotonic())

    def _settle(self, batch: list[Job], results: list[bool]) -> None:
        """Take a written batch off the queue and answer it."""
        refused = sum(isinstance(job, Prepared) and not result for job, result in zip(batch, results, strict=True))
        with self._awake:
            for _ in batch:
                self._jobs.popleft()
            self._moved_at = self._threads.monotonic()
            dropped, self._dropped_reported = self._dropped - self._dropped_reported, self._dropped
            self._refused += refused
        gone = self._file != _identity(self._path)
        if self._fresh is not None:
            fresh, self._fresh = self._fresh, None
            self._on_seal(fresh)
        self._note(
            write="",
            gone="gone" if gone else "",
            refused="refused" if refused else "",
            dropped="dropped" if dropped else "",
            slow="slow" if self._commits[-1] > 1000 * SLOW_COMMIT_S else "",
        )
        for job, result in zip(batch, results, strict=True):  # last: it wakes the loop, which wants the interpreter
            if isinstance(job, Erasure):
                job.done.set_result(result)
                self._truncate = True
            elif result and not gone:  # what a deleted file took ends with this process: it is on no record
                self._on_commit(job.ticket)

    def _tidy(self) -> None:
        """Move the write-ahead log into the file; after an erasure also cut it, so that no copy of the name stays."""
        mode = apsw.SQLITE_CHECKPOINT_TRUNCATE if self._truncate else apsw.SQLITE_CHECKPOINT_PASSIVE
        self._tidy_at = self._threads.monotonic() + LONGEST_RETRY_S
        try:
            self._db.wal_checkpoint("main", mode)
        except apsw.BusyError:
            return  # a reader still looks at the old pages; the next round finds it gone
        except apsw.Error as error:
            self._last_error = f"checkpoint: {type(error).__name__}: {error}"
            self._note(checkpoint=code(error))
            return
        self._wal_pages, self._truncate, self._tidy_at = 0, False, 0.0
        self._note(checkpoint="")

    def _finish(self) -> None:
        for job in self._jobs:
            if isinstance(job, Erasure):
                job.done.cancel()
        try:
            self._db.close(force=True)
        except apsw.Error as error:
            self._last_error = str(error)

    def _rest(self, seconds: float) -> bool:
        """Wait before the next try; False when the time to close is over."""
        until = self._threads.monotonic() + seconds
        with self._awake:
            while (left := min(until, self._deadline) - self._threads.monotonic()) > 0:
                self._awake.wait(left)
        return self._threads.monotonic() < self._deadline

    def _note(self, **troubles: str) -> None:
        """Keep the trouble of some parts (empty: none), and report when the worst of all has changed."""
        before = self._worst()
        if not before and not any(troubles.values()):
            return  # nearly always
        with self._awake:
            self._unwell.update(troubles)
        now = self._worst()
        if now != before:
            self._on_trouble(bool(now), now)

    def _worst(self) -> str:
        unwell = self._unwell  # empty from the start until something was unwell
        return next((reason for part in WORST_FIRST if (reason := unwell.get(part, ""))), "") if unwell else ""

    def _count_pages(self, _db: apsw.Connection, _schema: str, pages: int) -> int:
        self._wal_pages = pages
        return apsw.SQLITE_OK


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file stands under this name; None for none. One that was deleted takes commits without an error."""
    try:
        found = os.stat(path)  # noqa: PTH116 - with each commit, and four times quicker than the path's own
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _sealed_size(db: apsw.Connection) -> int:
    """The size that the last stored checkpoint covers."""
    ((size,),) = db.execute("SELECT max(size) FROM checkpoint").fetchall()
    return int(size or 0)
