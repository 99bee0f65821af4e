"""What ``--from`` and ``--to`` take: days and times that people mean, the rest refused as wrong usage."""

from types import SimpleNamespace
from typing import Any, cast

import click
import pytest

from gateway.commands.moments import moment

TALK = cast("Any", SimpleNamespace(text=lambda key, **_: key))


@pytest.mark.parametrize(
    "text", ["0001-01-01", "9999-12-31", "0001-01-01T00:00:00Z", "9999-12-31T23:00:00Z", "2027-02-29"]
)
def test_a_time_that_nobody_means_is_wrong_usage(text: str) -> None:
    with pytest.raises(click.UsageError):
        moment(TALK, text, "America/Sao_Paulo")


def test_leap_days_and_times_of_any_zone_are_taken() -> None:
    assert moment(TALK, "2028-02-29", "America/Sao_Paulo") == 1_835_406_000
    assert moment(TALK, "2028-02-29T00:00:00-03:00", "UTC") == 1_835_406_000


def test_a_report_to_a_day_has_the_whole_of_it() -> None:
    day = 24 * 3600
    first = moment(TALK, "30/11/2026", "America/Sao_Paulo")
    assert moment(TALK, "2026-11-30", "America/Sao_Paulo", beyond=True) == first + day
    at = moment(TALK, "30/11/2026 14:30", "America/Sao_Paulo")
    assert at == moment(TALK, "2026-11-30T14:30:00-03:00", "UTC") == first + 14 * 3600 + 1800
    assert moment(TALK, "30/11/2026 14:30", "America/Sao_Paulo", beyond=True) == at
