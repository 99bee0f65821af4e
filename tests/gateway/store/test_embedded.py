"""The depot's own readings: seconds, minutes and days come back as they were, and gaps stay gaps."""

import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from recorded import BEGIN_S

from gateway.journal.errors import StoreError
from gateway.store.embedded import DAY, Embedded, Tick
from gateway.store.history import MOST_BUCKETS, ReadingsHistory, TooLongError
from gateway.store.samples import MISSING
from gateway.store.settings import Keeping

GOOD, BAD = 0x20, 0x07


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "readings.db"


def tick(second: int, **values: float | None) -> Tick:
    return Tick(
        BEGIN_S + second,
        {name: (MISSING, BAD) if value is None else (round(value * 100), GOOD) for name, value in values.items()},
    )


def write(path: Path, *ticks: Tick) -> None:
    book = Embedded.open(path)
    for each in ticks:
        book.write([each])
    book.close()


def test_seconds_come_back_and_gaps_stay_gaps(path: Path):
    write(path, *(tick(second, a=float(second)) for second in range(200) if not 70 <= second < 130))
    with ReadingsHistory(path) as history:
        trend = history.trend("a", BEGIN_S, BEGIN_S + 200, 1)
    assert trend is not None
    assert trend.mean == tuple(None if 70 <= second < 130 else float(second) for second in range(200))
    assert trend.quality[60:80] == (2,) * 10 + (None,) * 10
    assert trend.start == "2026-11-30T12:00:00.000Z"


def test_a_head_that_gives_no_number_is_a_gap_with_its_state(path: Path):
    write(path, *(tick(second, a=None if second % 2 else 1.0, b=2.0) for second in range(130)))
    with ReadingsHistory(path) as history:
        trend = history.trend("a", BEGIN_S, BEGIN_S + 130, 1)
    assert trend is not None
    assert trend.mean[:4] == (1.0, None, 1.0, None)
    assert (trend.quality[:2], trend.status[:2]) == ((2, 0), (0, 7))


@pytest.mark.parametrize("step", [5, 7, 10, 60, 120])
@pytest.mark.parametrize("gaps", [0, 11])
def test_buckets_hold_lowest_highest_and_mean_of_what_was_read(path: Path, step: int, gaps: int):
    values = {
        second: (second * 37 % 101 + 500 * (second // 300)) / 50 for second in range(600) if not gaps or second % gaps
    }
    write(path, *(tick(second, a=value) for second, value in values.items()))
    with ReadingsHistory(path) as history:
        trend = history.trend("a", BEGIN_S, BEGIN_S + 600, step)
    assert trend is not None and trend.step_s == step
    offset = (BEGIN_S - int(BEGIN_S // step * step)) % step
    for index in range(len(trend.n)):
        begin = index * step - offset
        inside = [values[second] for second in range(begin, begin + step) if second in values]
        assert trend.n[index] == len(inside)
        if inside:
            assert trend.low[index] == pytest.approx(min(inside))
            assert trend.high[index] == pytest.approx(max(inside))
            assert trend.mean[index] == pytest.approx(sum(inside) / len(inside), abs=0.001)


def test_the_day_holds_what_its_minutes_hold(path: Path):
    write(path, *(tick(second, a=second / 100) for second in range(0, 7200, 7)))
    with ReadingsHistory(path) as history:
        by_day = history.trend("a", BEGIN_S - BEGIN_S % DAY, BEGIN_S + 7200, DAY)
        by_minute = history.trend("a", BEGIN_S, BEGIN_S + 7200, 60)
    assert by_day is not None and by_minute is not None
    assert by_day.n == (sum(by_minute.n),) == (len(range(0, 7200, 7)),)
    assert by_day.high == (max(value for value in by_minute.high if value is not None),) == (71.96,)
    assert by_day.quality == (2,)


def test_a_step_is_chosen_that_a_screen_can_draw_and_too_many_buckets_are_refused(path: Path):
    write(path, tick(0, a=1.0))
    with ReadingsHistory(path) as history:
        day = history.trend("a", BEGIN_S, BEGIN_S + DAY, None)
        assert day is not None and (day.step_s, len(day.n)) == (60, 1440)
        assert history.trend("nobody", BEGIN_S, BEGIN_S + 60, 1) is None
        with pytest.raises(TooLongError, match=str(MOST_BUCKETS)):
            history.trend("a", BEGIN_S, BEGIN_S + DAY, 1)


def test_a_restart_in_the_middle_of_a_minute_goes_on_with_it(path: Path):
    write(path, *(tick(second, a=1.0) for second in range(90)))
    write(path, *(tick(second, a=2.0) for second in range(95, 130)))
    with ReadingsHistory(path) as history:
        trend = history.trend("a", BEGIN_S + 60, BEGIN_S + 120, 60)
        seconds = history.trend("a", BEGIN_S + 80, BEGIN_S + 100, 1)
    assert trend is not None and seconds is not None
    assert (trend.n, trend.low, trend.high) == ((55,), (1.0,), (2.0,))
    assert seconds.mean == (1.0,) * 10 + (None,) * 5 + (2.0,) * 5


def test_a_clock_set_back_adds_to_what_was_there_and_counts_nothing_twice(path: Path):
    write(path, *(tick(second, a=1.0) for second in range(180)))
    write(path, *(tick(second, a=3.0 if second == 30 else 0.5) for second in range(20, 180)))
    with ReadingsHistory(path) as history:
        trend = history.trend("a", BEGIN_S, BEGIN_S + 180, 60)
        day = history.trend("a", BEGIN_S, BEGIN_S + 180, DAY)
    assert trend is not None and day is not None
    assert trend.n == (60, 60, 60)
    assert trend.high == (3.0, 1.0, 1.0)
    assert trend.low == (1.0, 1.0, 1.0), "the higher of two stays"
    assert day.n == (180,)


def test_years_without_a_reading_cost_an_export_nothing(path: Path):
    book = Embedded.open(path)
    for second in (0, 30, 5000, 5001):
        book.write([tick(second, a=1.0)])
    with ReadingsHistory(path) as history:
        asked: list[int] = []
        minutes = history._minutes
        history._minutes = lambda head, first, last: asked.append(first) or minutes(head, first, last)
        kept = [t0 - BEGIN_S for t0, _ in history.minutes("a", 0, 4_000_000_000)]
        assert kept == [0, 4980], "the unfinished minute included"
        assert len(asked) == 2, "an hour each"
        assert list(history.minutes("nobody", 0, 4_000_000_000)) == []


def test_old_seconds_go_minutes_stay_and_what_stands_around_an_alarm_is_kept_for_ever(path: Path):
    book = Embedded.open(path)
    for second in range(3600):
        book.write([tick(second, a=1.0, b=2.0)])
    book.keep(None, BEGIN_S + 600, BEGIN_S + 1200)
    book.keep("b", BEGIN_S + 1800, BEGIN_S + 1860)
    later = BEGIN_S + 10 * DAY
    book.write([Tick(later, {"a": (100, GOOD)})])
    while book.tend(later, Keeping(seconds_s=DAY, minutes_s=100 * DAY)):
        pass
    book.trim(later, Keeping())
    rows = {
        head: [
            t0 - BEGIN_S
            for (t0,) in apsw.Connection(str(path)).execute(
                "SELECT t0 FROM minute JOIN head ON num = head WHERE id = ? AND seconds IS NOT NULL ORDER BY t0",
                (head,),
            )
        ]
        for head in "ab"
    }
    assert rows["a"] == list(range(600, 1260, 60))
    assert rows["b"] == [*range(600, 1260, 60), 1800, 1860]
    with ReadingsHistory(path) as history:
        trend = history.trend("a", BEGIN_S, BEGIN_S + 3600, 60)
        assert trend is not None and trend.n == (60,) * 60
        coarser = history.trend("a", BEGIN_S, BEGIN_S + 60, 1)
        assert coarser is not None and coarser.step_s == 60, "no finer than what is kept"
    for _ in range(2):
        later += 400 * DAY
        while book.tend(later, Keeping(seconds_s=DAY, minutes_s=100 * DAY)):
            pass
    book.close()
    with ReadingsHistory(path) as history:
        kept = [t0 - BEGIN_S for t0, _ in history.minutes("a", BEGIN_S, BEGIN_S + 3600)]
        assert kept == list(range(600, 1260, 60))
        day = history.trend("a", BEGIN_S, BEGIN_S + 3600, DAY)
        assert day is not None and day.n == (3600,), "day rows stay"


def test_a_failed_write_leaves_nothing_behind_and_can_be_made_again(path: Path, monkeypatch: pytest.MonkeyPatch):
    book = Embedded.open(path)
    book.write([tick(0, a=1.0)])
    book._db.set_exec_trace(_refusing_once("INSERT OR REPLACE INTO minute"))  # as a disk that fails in the middle
    ticks = [tick(60, a=2.0, new=3.0)]
    with pytest.raises(apsw.Error):
        book.write(ticks)
    book.write(ticks)
    book.close()
    with ReadingsHistory(path) as history:
        trend = history.trend("new", BEGIN_S, BEGIN_S + 120, 60)
        first = history.trend("a", BEGIN_S, BEGIN_S + 120, 60)
    assert trend is not None and trend.n == (0, 1)
    assert first is not None and first.n == (1, 1)


def _refusing_once(begin: str):
    left = [1]

    def trace(_cursor: object, statement: str, _values: object) -> bool:
        if statement.startswith(begin) and left:
            left.pop()
            raise apsw.IOError("simulated")
        return True

    return trace


WRITER = """
import sys, pathlib
from gateway.store.embedded import Embedded, Tick
book = Embedded.open(pathlib.Path(sys.argv[1]))
for second in range(100000):
    book.write([Tick(int(sys.argv[2]) + second, {"a": (second % 30000, 0x20), "b": (1, 0x20)})])
    print(second, flush=True)
"""


def test_a_killed_writer_loses_no_second_that_it_had_written(path: Path):
    root = Path(__file__).parents[3]
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(BEGIN_S)],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(root)},
    )
    assert process.stdout is not None
    last = -1
    while last < 500:
        last = int(process.stdout.readline())
    process.kill()
    rest = process.stdout.read().split()
    process.wait()
    process.stdout.close()
    last = int(rest[-1]) if rest else last
    with ReadingsHistory(path) as history:
        trend = history.trend("a", BEGIN_S, BEGIN_S + last + 1, 1)
    assert trend is not None
    assert [round((each or 0) * 100) for each in trend.mean] == list(range(last + 1))
    assert Embedded.open(path)._db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_file_of_something_else_is_not_touched(path: Path):
    other = apsw.Connection(str(path))
    other.execute("CREATE TABLE mine (x)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="not a file of readings"):
        Embedded.open(path)
    assert path.read_bytes() == before
    with pytest.raises(StoreError, match="no readings are there"):
        ReadingsHistory(path.with_name("gone.db"))
