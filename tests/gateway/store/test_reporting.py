"""Which readings a database is sent: all, or changes, and all of them around gas."""

import pytest
from recorded import BEGIN_S, reading

from gateway.store.reporting import Reporting
from gateway.store.settings import Changes
from sensors.readings import Status
from sensors.stamps import SECOND


def sent(reporting: Reporting, seconds: range, lel_pct: float = 1.0) -> list[int]:
    """Which seconds' lines go out."""
    out: list[int] = []
    for second in seconds:
        out += [int(line) for line in reporting.choose(reading("GD-1", lel_pct, BEGIN_S + second), str(second))]
    return out


def test_without_changes_everything_is_sent():
    assert sent(Reporting(None, 10.0), range(100)) == list(range(100))


def test_with_changes_a_quiet_head_is_told_of_now_and_then():
    assert sent(Reporting(Changes(0.5, 60.0), 10.0), range(130)) == [0, 60, 120]


@pytest.mark.parametrize(
    ("lel_pct", "status", "news"),
    [(1.4, Status.MEASURING, []), (1.5, Status.MEASURING, [5]), (1.0, Status.INHIBITED, [5])],
)
def test_a_move_or_another_state_is_news(lel_pct: float, status: Status, news: list[int]):
    reporting = Reporting(Changes(0.5, 60.0), 10.0)
    sent(reporting, range(5))
    assert [int(line) for line in reporting.choose(reading("GD-1", lel_pct, BEGIN_S + 5, status=status), "5")] == news


def test_an_alarm_brings_the_minute_before_it_and_ten_after_it_in_full():
    reporting = Reporting(Changes(0.5, 3600.0), 10.0)
    assert sent(reporting, range(200)) == [0]
    held = [int(line) for line in reporting.alarm((BEGIN_S + 200) * SECOND)]
    assert held == list(range(140, 200))
    assert sent(reporting, range(200, 900)) == list(range(200, 800))


def test_gas_brings_them_without_being_told_of_an_alarm():
    reporting = Reporting(Changes(50.0, 3600.0), 10.0)
    assert sent(reporting, range(100)) == [0]
    assert sent(reporting, range(100, 101), lel_pct=10.0) == [*range(40, 100), 100]
    assert sent(reporting, range(101, 1000)) == list(range(101, 700))
