"""The depot's own record of readings: a row for each second, sixty seconds of a head in a row, and a row for each day.

One transaction a second. Used by one thread; nothing here knows a loop, and a disk that fails raises `apsw.Error`.
"""

import contextlib
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from gateway.journal.errors import StoreError
from gateway.store.layout import EVERY_HEAD, open_for_writing
from gateway.store.minutes import MINUTE, Row, Sheet
from gateway.store.samples import NOTHING, values_from_bytes
from gateway.store.settings import Keeping

DAY = 86_400
HOUR = 3_600
AROUND_ALARM_S = 600
"""Seconds before and after each alarm event that are kept for ever, second by second."""

HEADS_AT_ONCE = 8
"""Heads whose old rows are dropped in one transaction: the thread is wanted again within the second."""

Samples = Mapping[str, tuple[int, int]]
"""Value and state by detector, of one second."""


@dataclass(frozen=True, slots=True)
class Tick:
    """What was read in one second (UTC seconds since 1970)."""

    second: int
    samples: Samples


class Embedded:
    """The writer's side of one readings file."""

    def __init__(self, db: apsw.Connection, path: Path) -> None:
        self._db = db
        self.path = path
        self._nums: dict[str, int] = {}
        self._minute: int | None = None
        self._open = Sheet()
        self._latest = 0
        self._fresh = False
        self._chores: deque[int] = deque()
        self._tended_at = 0

    @classmethod
    def open(cls, path: Path, vfs: str | None = None) -> "Embedded":
        """Open or create the file; whatever stands in it of an unfinished minute is gone on with.

        Raises:
            StoreError: see `open_for_writing`.
        """
        return cls(open_for_writing(path, vfs), path)

    def close(self) -> None:
        """Let go of the file; a disk that fails even that has every committed second in its log."""
        with contextlib.suppress(apsw.Error):
            self._db.close(force=True)

    def write(self, ticks: Iterable[Tick]) -> None:
        """Write seconds in one transaction: all or none.

        Raises:
            apsw.Error: nothing was written; the same call may be made again.
            StoreError: a row cannot be read back.
        """
        if not self._fresh:
            self._recover()
        self._fresh = False  # until it is known to be committed, memory may be ahead of the file
        with self._db:
            for tick in ticks:
                self._take(tick)
        self._fresh = True

    def keep(self, detector: str | None, first: int, last: int) -> None:
        """Keep these seconds for ever, of one head or (None) of all.

        Raises:
            apsw.Error: it was not written.
        """
        with self._db:
            head = EVERY_HEAD if detector is None else self._num(detector, remember=False)
            overlap = "head = ? AND first <= ? AND last >= ?"
            overlapping: list[Any] = self._db.execute(
                f"SELECT first, last FROM keep WHERE {overlap}",  # noqa: S608 - a constant
                (head, last, first),
            ).fetchall()
            first, last = min([first, *(row[0] for row in overlapping)]), max([last, *(row[1] for row in overlapping)])
            self._db.execute(f"DELETE FROM keep WHERE {overlap}", (head, last, first))  # noqa: S608 - a constant
            self._db.execute("INSERT INTO keep VALUES (?, ?, ?)", (head, first, last))

    def tend(self, now: int, keeping: Keeping) -> bool:
        """Drop a little of what is too old; True while there is more to do. Begins anew each hour.

        Raises:
            apsw.Error: nothing was dropped.
        """
        if not self._chores:
            if now - self._tended_at < HOUR:
                return False
            self._tended_at = now
            self._chores.extend(num for (num,) in self._db.execute("SELECT num FROM head"))
        with self._db:
            for _ in range(min(HEADS_AT_ONCE, len(self._chores))):
                self._thin(self._chores[0], now - keeping.seconds_s, now - keeping.minutes_s)
                self._chores.popleft()
        return bool(self._chores)

    def trim(self, now: int, keeping: Keeping) -> None:
        """Drop old seconds of all heads, but never those of the minute that is not folded yet."""
        minute = self._minute or 0
        with self._db:
            self._db.execute(
                "DELETE FROM tick WHERE (ts < ? OR ts > ?) AND ts NOT BETWEEN ? AND ?",
                (now - keeping.ticks_s, now + keeping.ticks_s, minute, minute + MINUTE - 1),
            )

    # --- a second --------------------------------------------------------------------------------

    def _take(self, tick: Tick) -> None:
        minute = tick.second - tick.second % MINUTE
        if minute != self._minute:
            self._fold()
            self._begin(minute)
        second, nums = tick.second - minute, self._nums
        self._open.lay(
            second,
            [
                (nums.get(detector) or self._num(detector), value, code)
                for detector, (value, code) in tick.samples.items()
            ],
        )
        self._db.execute("INSERT OR REPLACE INTO tick VALUES (?, ?)", (tick.second, self._open.second(second)))

    def _num(self, detector: str, *, remember: bool = True) -> int:
        """The head's number in the file; a new head gets one, in the transaction of its first second."""
        rows: list[Any] = self._db.execute("SELECT num FROM head WHERE id = ?", (detector,)).fetchall()
        if rows:
            num = int(rows[0][0])
        else:
            self._db.execute("INSERT INTO head (id) VALUES (?)", (detector,))
            num = self._db.last_insert_rowid()
        if remember:
            self._nums[detector] = num
        return num

    # --- a minute --------------------------------------------------------------------------------

    def _begin(self, minute: int) -> None:
        """Open a minute. One that was folded before (the clock was set back) is gone on with."""
        self._minute, self._open = minute, Sheet()
        self._db.execute("INSERT OR REPLACE INTO note VALUES ('open', ?)", (minute,))
        if minute <= self._latest:
            for head, *row in self._db.execute(
                "SELECT head, n, low, high, total, code, seconds, states FROM minute WHERE t0 = ?"
                " AND head IN (SELECT num FROM head)",
                (minute,),
            ):
                self._open.put_back(head, Row(*row).minute())
        self._latest = max(self._latest, minute)

    def _fold(self) -> None:
        """Sum the open minute up, in the transaction of the first second of the next."""
        if self._minute is None:
            return
        minute, day = self._minute, self._minute - self._minute % DAY
        rows = [(num, row) for num, head in self._open.minutes() if (row := head.row()) is not None]
        again = [
            num
            for num, _ in rows
            if minute < self._latest
            and self._db.execute("SELECT 1 FROM minute WHERE head = ? AND t0 = ?", (num, minute)).fetchall()
        ]
        self._db.executemany(
            "INSERT OR REPLACE INTO minute VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            ((num, minute, r.n, r.low, r.high, r.total, r.code, r.seconds, r.states) for num, r in rows),
        )
        self._db.executemany(
            "INSERT INTO day VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n,"
            " low = min(coalesce(low, excluded.low), coalesce(excluded.low, low)),"
            " high = max(coalesce(high, excluded.high), coalesce(excluded.high, high)), total = total + excluded.total,"
            " code = CASE WHEN excluded.code & 48 < code & 48 THEN excluded.code ELSE code END",
            ((num, day, r.n, r.low, r.high, r.total, r.code) for num, r in rows if num not in again),
        )
        for num in again:  # its first version is in the day already
            self._db.execute(
                "INSERT OR REPLACE INTO day SELECT head, ?1, sum(n), min(low), max(high), sum(total),"
                " max(code) FILTER (WHERE code & 48 = (SELECT min(code & 48) FROM minute"
                " WHERE head = ?2 AND t0 >= ?3 AND t0 < ?4)) FROM minute WHERE head = ?2 AND t0 >= ?3 AND t0 < ?4",
                (day, num, day, day + DAY),
            )

    def _recover(self) -> None:
        """Bring memory in line with the file: names, and the minute that was not folded."""
        self._nums = {str(name): int(num) for num, name in self._db.execute("SELECT num, id FROM head")}
        noted: list[Any] = self._db.execute("SELECT value FROM note WHERE name = 'open'").fetchall()
        self._minute, self._open = (int(noted[0][0]) if noted else None), Sheet()
        latest: Any
        ((latest,),) = self._db.execute(
            "SELECT max((SELECT max(t0) FROM minute WHERE head = num)) FROM head"
        ).fetchall()
        self._latest = max(int(latest or 0), self._minute or 0)
        if self._minute is None:
            return
        for head, *row in self._db.execute(
            "SELECT m.head, m.n, m.low, m.high, m.total, m.code, m.seconds, m.states FROM head h"
            " JOIN minute m ON m.head = h.num AND m.t0 = ?",
            (self._minute,),
        ):
            self._open.put_back(head, Row(*row).minute())
        for ts, data in self._db.execute(
            "SELECT ts, heads FROM tick WHERE ts BETWEEN ? AND ?", (self._minute, self._minute + MINUTE - 1)
        ):
            self._open.lay(ts - self._minute, samples_in(self.path, data))

    def _thin(self, head: int, seconds_before: int, minutes_before: int) -> None:
        kept = "EXISTS (SELECT 1 FROM keep k WHERE k.head IN (0, minute.head) AND t0 + 59 >= k.first AND t0 <= k.last)"
        thinned: Any
        ((thinned,),) = self._db.execute("SELECT thinned FROM head WHERE num = ?", (head,)).fetchall()
        self._db.execute(
            "UPDATE minute SET seconds = NULL, states = NULL WHERE head = ? AND t0 >= ? AND t0 < ?"  # noqa: S608 - a constant
            f" AND seconds IS NOT NULL AND NOT {kept}",
            (head, thinned, seconds_before),
        )
        self._db.execute("UPDATE head SET thinned = ? WHERE num = ?", (max(thinned, seconds_before), head))
        self._db.execute(f"DELETE FROM minute WHERE head = ? AND t0 < ? AND NOT {kept}", (head, minutes_before))  # noqa: S608 - a constant


def samples_in(path: Path, data: bytes) -> list[tuple[int, int, int]]:
    """Number, value and state of every head read in a tick's blob.

    Raises:
        StoreError: the bytes are none of ours.
    """
    width, rest = divmod(len(data), 3)
    if rest:
        raise StoreError(path, "a second cannot be read back", "keep the file, let Vigia begin a new one")
    values, codes = values_from_bytes(data[: 2 * width]), data[2 * width :]
    return [
        (num, value, code)
        for num, value, code in zip(range(1, width + 1), values, codes, strict=True)
        if code != NOTHING
    ]
