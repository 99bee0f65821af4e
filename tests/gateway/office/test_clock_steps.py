"""The office when the civil clock is set: a new day is judged whichever way, what is told later counts later."""

import asyncio
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from depot_text import SMALLEST

from compliance.registers.entries import Act, Entry, EntryId, Millis, fold
from gateway.configuration.loading import load
from gateway.office import clerk
from gateway.office.clerk import Clerk
from gateway.office.desk import SET_BACK_MS, Desk
from gateway.office.forms import forms
from gateway.office.judge import until_midnight_s
from sensors.stamps import SECOND, Instant, Stamp, UtcNanos, parse_rfc3339

HOUR_MS = 3_600_000
NOON = parse_rfc3339("2026-11-30T15:00:00.000Z")  # of São Paulo


class Clock:
    def __init__(self) -> None:
        self.utc = NOON

    def now(self) -> Stamp:
        return Stamp(Instant(0), UtcNanos(self.utc))


@pytest.mark.asyncio
@pytest.mark.parametrize("hours", [-72, -13, 13, 72])
async def test_a_day_that_a_clock_was_set_to_is_judged_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    (tmp_path / "depot.toml").write_text(SMALLEST, encoding="utf-8")
    monkeypatch.setattr(clerk, "FIRST_LOOK_S", 0.01)
    office, clock, looks = Clerk(load(tmp_path / "depot.toml", {}).depot), Clock(), asyncio.Event()
    monkeypatch.setattr(office, "_clock", clock)
    monkeypatch.setattr(office, "_judged_on", clerk.day(office._now(), office._books.zone))

    def no_news(_: Millis) -> bool:
        loop.call_soon_threadsafe(looks.set)
        return False

    loop = asyncio.get_running_loop()
    monkeypatch.setattr(office._books.judge, "heard_news", no_news)
    reason = asyncio.ensure_future(office._reason_to_judge())
    async with asyncio.timeout(5):
        await looks.wait()
        assert not reason.done(), "nothing has changed yet"
        clock.utc += hours * 3600 * SECOND
        await reason


def record(number: int, at_ms: int, **values: bool) -> Entry:
    at = Millis(at_ms)
    return Entry(EntryId(f"e{number}"), "extinguisher", "EXT-1", Act.RECORD, values, at, at, "Ana")


def test_what_is_told_after_the_clock_was_set_back_counts_after_what_was_told_before() -> None:
    now = NOON // 1_000_000
    desk = Desk(forms(), ["patio"])
    desk.keep([record(1, now + 2 * HOUR_MS, present=False)])  # by a clock that was two hours ahead
    at = desk.told_at(Millis(now))
    desk.keep([record(2, at, present=True)])
    assert fold(desk.entries, Millis(2**62))["extinguisher", "EXT-1"].values["present"] is True
    assert desk.told_at(Millis(now)) > at
    assert desk.told_at(Millis(now + 3 * HOUR_MS)) == now + 3 * HOUR_MS, "the clock has come past it"


def test_a_clock_that_was_wrong_by_years_does_not_date_what_is_told_later() -> None:
    now = NOON // 1_000_000
    desk = Desk(forms(), ["patio"])
    desk.keep([record(1, now + SET_BACK_MS + 1, present=False)])
    assert desk.told_at(Millis(now)) == now


@pytest.mark.parametrize(
    ("at", "zone", "hours"),
    [
        ("2026-11-30T03:00:00+00:00", "America/Sao_Paulo", 24),
        ("2026-11-30T02:00:00+00:00", "America/Sao_Paulo", 1),
        ("2026-03-29T00:30:00+00:00", "Europe/Lisbon", 22.5),
        ("2026-10-24T23:00:00+00:00", "Europe/Lisbon", 25),
    ],
)
def test_midnight_comes_when_the_day_is_over_however_long_it_is(at: str, zone: str, hours: float) -> None:
    utc = int(datetime.fromisoformat(at).timestamp()) * SECOND

    assert until_midnight_s(utc, ZoneInfo(zone)) == hours * 3600 + 1
