"""A minute packed into a few bytes comes back as it was."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import BEGIN_S, reading

from gateway.store.minutes import MINUTE, Minute, Sheet
from gateway.store.samples import HIGHEST, LOWEST, MISSING, NOTHING, code_of, sample, value_of
from sensors.readings import Quality, Status

CODES = st.sampled_from([code_of(reading("GD-1", 1.0, BEGIN_S, quality=q, status=s)) for q in Quality for s in Status])
SAMPLES = st.tuples(st.one_of(st.just(MISSING), st.integers(LOWEST, HIGHEST), st.integers(95, 105)), CODES)


@given(st.dictionaries(st.integers(0, MINUTE - 1), SAMPLES, min_size=1))
def test_a_minute_comes_back_as_it_was_laid(seconds: dict[int, tuple[int, int]]):
    minute = Minute()
    for second, (value, code) in seconds.items():
        minute.lay(second, value, code)
    row = minute.row()
    assert row is not None
    values, codes = row.values(), row.codes()
    assert values is not None
    for second in range(MINUTE):
        assert (values[second], codes[second]) == seconds.get(second, (MISSING, NOTHING))
    numbers = [value for value, _ in seconds.values() if value != MISSING]
    assert (row.n, row.total) == (len(numbers), sum(numbers))
    assert (row.low, row.high) == (min(numbers, default=None), max(numbers, default=None))


@given(st.lists(st.tuples(st.integers(0, MINUTE - 1), st.dictionaries(st.integers(1, 5), SAMPLES)), max_size=12))
def test_a_sheet_of_all_heads_holds_the_minute_of_each(seconds: list[tuple[int, dict[int, tuple[int, int]]]]):
    sheet, minutes = Sheet(), {num: Minute() for num in range(1, 6)}
    for second, samples in seconds:
        sheet.lay(second, [(num, *each) for num, each in samples.items()])
        for num, each in samples.items():
            minutes[num].lay(second, *each)
    gathered = dict(sheet.minutes())
    assert all(minutes[num] == gathered.get(num, Minute()) for num in minutes)
    again = Sheet()
    for num, minute in gathered.items():
        again.put_back(num, minute)
    assert dict(again.minutes()) == gathered


def test_a_quiet_minute_takes_no_bytes_for_its_seconds_and_a_lively_one_one_each():
    quiet, lively = Minute(), Minute()
    for second in range(MINUTE):
        quiet.lay(second, 100, 0x20)
        lively.lay(second, 100 + second % 7, 0x20)
    still, moving = quiet.row(), lively.row()
    assert still is not None and moving is not None
    assert (still.seconds, still.states) == (b"", None)
    assert moving.seconds is not None and len(moving.seconds) == MINUTE


def test_a_minute_in_which_the_head_was_not_read_has_no_row():
    assert Minute().row() is None


def test_a_second_read_twice_keeps_its_peak():
    minute = Minute()
    minute.lay(3, 900, 0x20)
    minute.lay(3, 200, 0x20)
    assert minute.values[3] == 900


@pytest.mark.parametrize(
    ("given_", "lel_pct", "bound"),
    [
        ({"lel_pct": 12.34}, 12.34, False),
        ({"lel_pct": None}, None, False),
        ({"lel_pct": None, "at_least": 100.0, "status": Status.OVER_RANGE}, 100.0, True),
        ({"lel_pct": float("nan")}, None, False),
        ({"lel_pct": 5000.0}, 327.67, False),
        ({"lel_pct": -0.4}, -0.4, False),
    ],
)
def test_a_reading_is_kept_in_three_bytes(given_: dict[str, Any], lel_pct: float | None, bound: bool):
    value = dict(given_)
    kept = reading("GD-1", value.pop("lel_pct"), BEGIN_S, **value)
    read = sample(value_of(kept), code_of(kept))
    assert read is not None
    assert (read.lel_pct, read.bound) == (lel_pct, bound)
