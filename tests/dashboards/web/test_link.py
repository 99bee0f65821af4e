"""The line to the gateway: a fresh picture after every trouble, and never an old value for a new one."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dashboards.ports import Act, Change, Snapshot
from dashboards.web.link import ANSWER_TIMEOUT_S, REST_AFTER_S, SILENCE_S, GatewayLink, LinkLostError
from dashboards.web.picture import Picture

pytestmark = pytest.mark.measured


class Ears:
    """Hears what the link tells. `skew` moves the link's monotonic clock, `behind` its civil one."""

    def __init__(self, path: Path) -> None:
        self.renewals: list[int] = []
        self.changes: list[int] = []
        self.losses: list[float | None] = []
        self.skew = 0.0
        self.behind = 0.0
        self.watched = True
        self.link = GatewayLink(
            path,
            self,
            watched=lambda: self.watched,
            monotonic=lambda: time.monotonic() + self.skew,
            civil=lambda: time.time() + self.behind,
        )

    def renewed(self, snapshot: Snapshot) -> None:
        self.renewals.append(snapshot.seq)

    def changed(self, change: Change) -> None:
        self.changes.append(change.seq)

    def lost(self, age_s: float | None) -> None:
        self.losses.append(age_s)


@pytest.fixture
async def ears(gateway: Any) -> AsyncIterator[Ears]:
    made = Ears(gateway.path)
    made.link.start()
    await gateway.until(lambda: made.link.current)
    yield made
    made.link.close()


async def test_a_snapshot_comes_first_and_changes_follow_without_a_gap(gateway: Any, ears: Ears) -> None:
    for _ in range(20):
        gateway.push(gateway.head("GD-101", 3.0))
    await gateway.until(lambda: gateway.picture.seq in ears.changes)
    first = ears.renewals[0]
    assert ears.changes == list(range(first + 1, first + 1 + len(ears.changes)))
    snapshot = ears.link.snapshot()
    assert snapshot is not None
    assert snapshot.detectors[0].lel_pct == 3.0


async def test_a_missed_change_makes_it_ask_for_a_fresh_picture(gateway: Any, ears: Ears) -> None:
    gateway.picture = msgspec.structs.replace(gateway.picture, seq=gateway.picture.seq + 5)
    gateway.push()
    await gateway.until(lambda: len(ears.renewals) == 2)
    assert ears.renewals[1] >= gateway.picture.seq - 1
    await gateway.until(lambda: ears.link.current)
    assert ears.losses == []


async def test_a_gateway_that_falls_silent_with_the_line_open_is_lost(gateway: Any, ears: Ears) -> None:
    gateway.fall_silent()
    ears.skew = SILENCE_S + 0.1
    assert not ears.link.current
    await gateway.until(lambda: ears.losses)
    with pytest.raises(LinkLostError):
        await ears.link.metrics()


async def test_a_closed_line_is_lost_at_once_and_found_again(gateway: Any, ears: Ears) -> None:
    await gateway.stop()
    await gateway.until(lambda: ears.losses, 1.0)
    assert not ears.link.current
    await gateway.start()
    await gateway.until(lambda: ears.link.current, 3.0)
    assert len(ears.renewals) == 2


async def test_what_piled_up_while_the_child_slept_is_thrown_away(gateway: Any, ears: Ears) -> None:
    loop_time_of_sleep = SILENCE_S + 5
    gateway.push(gateway.head("GD-101", 50.0))
    ears.skew = loop_time_of_sleep  # the change above is still unread when the link wakes up, seven seconds later
    seq = gateway.picture.seq
    await gateway.until(lambda: len(ears.renewals) == 2)
    assert seq not in ears.changes
    assert len(ears.losses) == 1


async def test_a_message_that_was_long_under_way_does_not_count(gateway: Any, ears: Ears) -> None:
    ears.behind = SILENCE_S + 1
    await gateway.until(lambda: ears.losses)
    assert not ears.link.current


async def test_time_under_way_is_part_of_the_age(gateway: Any, ears: Ears) -> None:
    ears.behind = 1.5
    gateway.push(gateway.head("GD-101", 3.0, age_s=0.2))
    await gateway.until(lambda: gateway.picture.seq in ears.changes)
    snapshot = ears.link.snapshot()
    assert snapshot is not None
    assert snapshot.detectors[0].age_s is not None
    assert snapshot.detectors[0].age_s >= 1.7


async def test_an_action_that_the_gateway_never_answers_ends_in_an_error_in_time(gateway: Any, ears: Ears) -> None:
    assert (await ears.link.act(Act(0, "silence", "x", "Ana"))).ok
    gateway.fall_silent()
    async with asyncio.timeout(ANSWER_TIMEOUT_S + 1):
        with pytest.raises(LinkLostError):
            await ears.link.act(Act(0, "silence", "x", "Ana"))


async def test_an_action_under_way_fails_at_once_when_the_line_breaks(gateway: Any, ears: Ears) -> None:
    gateway.fall_silent()
    under_way = asyncio.create_task(ears.link.act(Act(0, "silence", "x", "Ana")))
    await asyncio.sleep(0)
    await gateway.stop()
    async with asyncio.timeout(1):
        with pytest.raises(LinkLostError):
            await under_way


def test_ages_grow_from_the_moment_each_part_was_heard(tmp_path: Path) -> None:
    from dashboards.ports import DepotView, DetectorView

    now = "2026-11-30T11:10:59.123Z"
    first, second = (
        DetectorView(name, "a", "b", 1.0, None, "good", "measuring", "", now, 0.5, 10, 20, 40, True, 1.0, True)
        for name in ("GD-1", "GD-2")
    )
    about = DepotView("d", "D", "", "UTC", "pt-BR", "0", now)
    picture = Picture(Snapshot(1, now, about, (first, second), (), (), (), None, 1.0, True, 120.0), heard=100.0)
    picture.fold(Change(2, now, (first,)), heard=103.0)
    assert [view.age_s for view in picture.as_at(104.0).detectors] == [1.5, 4.5]
    assert picture.seq == 2


@pytest.fixture
async def resting(gateway: Any, ears: Ears) -> Ears:
    """The ears of a line at which nobody has looked for long."""
    ears.watched = False
    ears.skew = REST_AFTER_S + 0.1
    await gateway.until(lambda: ears.link.resting and not gateway.server.watched)
    return ears


async def test_a_line_at_which_nobody_looks_hears_of_alarms_but_not_of_heads(gateway: Any, resting: Ears) -> None:
    gateway.push(gateway.head("GD-101", 23.4), alarms=(gateway.gas(),))
    await gateway.until(lambda: resting.link.picture is not None and resting.link.picture.alarms)
    snapshot = resting.link.snapshot()
    assert snapshot is not None
    assert snapshot.detectors[0].lel_pct != 23.4
    assert resting.link.current
    assert resting.link.resting


async def test_a_look_brings_the_heads_before_it_returns(gateway: Any, resting: Ears) -> None:
    gateway.push(gateway.head("GD-101", 23.4))
    await asyncio.gather(resting.link.look(), resting.link.look())
    assert resting.link.current
    assert not resting.link.resting
    snapshot = resting.link.snapshot()
    assert snapshot is not None
    assert snapshot.detectors[0].lel_pct == 23.4
    gateway.push(gateway.head("GD-101", 30.0))
    await gateway.until(lambda: gateway.picture.seq in resting.changes)


async def test_a_look_at_a_gateway_that_was_lost_during_the_rest_shows_that_it_is_lost(
    gateway: Any, resting: Ears
) -> None:
    await gateway.stop()
    await gateway.until(lambda: resting.losses)
    await resting.link.look()
    assert not resting.link.current


async def test_a_line_that_is_watched_never_rests(gateway: Any, ears: Ears) -> None:
    ears.skew = REST_AFTER_S + 0.1
    await gateway.until(lambda: len(ears.renewals) == 2)  # the leap of time has ended the line
    await gateway.until(lambda: len(ears.changes) >= 2)
    assert not ears.link.resting
