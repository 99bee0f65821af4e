"""The hands: what the journal cannot take is told, and keeps no notice from leaving and no timer from running."""

import asyncio
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest

from alerts.alarms import Delivery
from gateway.engine.events import Deliver, Entry, Record, SystemCondition
from gateway.hands import Hands
from gateway.machine.clock import SystemClock
from sensors.stamps import SECOND, Instant, Stamp, UtcNanos

pytestmark = pytest.mark.asyncio


class Broken:
    """A journal that cannot hold what it is given."""

    def submit(self, record: Record) -> bool:
        raise ValueError(f"{len(record.entries)} entries are too long")


async def test_a_record_that_cannot_be_journalled_keeps_no_notice_from_leaving() -> None:
    heard: list[Any] = []
    sent: list[Any] = []
    armed: list[None] = []
    keeper = SimpleNamespace(note=lambda _record: None)
    hands = Hands(SystemClock(), cast("Any", Broken()), keeper=lambda: cast("Any", keeper), show=lambda: None)
    engine = SimpleNamespace(
        receive=lambda event, _now: heard.append(event) or [], next_deadline=lambda: armed.append(None)
    )
    wiring = SimpleNamespace(dispatcher=SimpleNamespace(submit=lambda *given: sent.append(given)))
    hands.take(cast("Any", engine), cast("Any", wiring))
    record = Record(1, (Entry("alarm", {"seq": 1}),))
    delivery = cast("Delivery", object())
    hands.perform([record, Deliver(delivery, cast("Any", object()), recorded=False)])
    assert len(sent) == 1
    assert armed
    await asyncio.sleep(0)
    assert [(event.subject, event.present, event.reason) for event in heard] == [("journal", True, "refused")]


class Picky:
    """A journal that refuses what is marked so and keeps the rest."""

    def __init__(self) -> None:
        self.kept: list[int] = []
        self.stands = 0.0

    def submit(self, *records: Record) -> bool:
        if any(entry.kind == "wrong" for record in records for entry in record.entries):
            raise TypeError("1.5 (float) has no canonical form")
        self.kept += [record.ticket for record in records]
        return True

    def alive(self, utc_ms: int) -> None:
        """It is not asked about."""

    def stands_s(self) -> float:
        return self.stands


class Hour:
    """A clock that stands where it was put."""

    def __init__(self) -> None:
        self.at_s = 1000.0

    def now(self) -> Stamp:
        return Stamp(Instant(round(self.at_s * SECOND)), UtcNanos(round(self.at_s * SECOND)))


def hands_of(clock: Hour, journal: Picky, heard: list[SystemCondition]) -> Hands:
    """Hands whose engine only notes the conditions that it hears of."""
    keeper = SimpleNamespace(note=lambda _record: None)
    hands = Hands(clock, cast("Any", journal), keeper=lambda: cast("Any", keeper), show=lambda: None)
    engine = SimpleNamespace(
        receive=lambda event, _now: (isinstance(event, SystemCondition) and heard.append(event)) or [],
        advance=lambda _now: [],
        slept=lambda _length, _now: [],
        next_deadline=lambda: None,
        time=SimpleNamespace(trusted=True),
    )
    hands.take(cast("Any", engine), cast("Any", SimpleNamespace(heartbeats=())))
    return hands


async def beaten(hands: Hands, heard: list[SystemCondition]) -> list[tuple[str, bool, str]]:
    """Let a second's beat pass; return what was told of the journal so far."""
    hands.beat(clock_is_set=lambda: True)
    for _ in range(3):
        await asyncio.sleep(0)
    return [(one.subject, one.present, one.reason) for one in heard if one.subject == "journal"]


async def test_a_record_that_was_refused_stands_for_a_minute_and_until_the_journal_keeps_another() -> None:
    heard: list[SystemCondition] = []
    clock, journal = Hour(), Picky()
    hands = hands_of(clock, journal, heard)
    told = partial(beaten, hands, heard)

    hands.perform([Record(1, (Entry("wrong", {}),))])
    assert await told() == [("journal", True, "refused")]
    clock.at_s += 61
    assert len(await told()) == 1, "the journal has kept nothing since"
    hands.perform([Record(2, (Entry("alarm", {"seq": 1}),))])
    hands.committed(2)
    await told()
    assert await told() == [("journal", True, "refused"), ("journal", False, "")]
    hands.journal_trouble(True, "full")
    hands.perform([Record(3, (Entry("wrong", {}),))])
    await told()
    assert (await told())[-1] == ("journal", True, "full"), "what the writer says weighs more"
    hands.journal_trouble(False, "")
    await told()
    assert (await told())[-1] == ("journal", True, "refused")


async def test_a_disk_that_neither_takes_a_record_nor_fails_is_told_until_it_goes_on() -> None:
    heard: list[SystemCondition] = []
    clock, journal = Hour(), Picky()
    hands = hands_of(clock, journal, heard)
    told = partial(beaten, hands, heard)
    journal.stands = 4.9
    assert await told() == []
    journal.stands = 5.1
    assert await told() == [("journal", True, "hangs")]
    hands.journal_trouble(True, "full")
    await told()
    assert (await told())[-1] == ("journal", True, "full"), "it has said itself what the matter is"
    hands.journal_trouble(False, "")
    await told()
    assert (await told())[-1] == ("journal", True, "hangs")
    journal.stands = 0.0
    await told()
    assert (await told())[-1] == ("journal", False, "")


async def test_a_disk_now_slow_now_quick_is_told_once_until_it_was_quick_for_a_minute() -> None:
    heard: list[SystemCondition] = []
    clock, journal = Hour(), Picky()
    hands = hands_of(clock, journal, heard)
    told = partial(beaten, hands, heard)
    for _ in range(5):
        hands.journal_trouble(True, "slow")
        hands.journal_trouble(False, "")
        clock.at_s += 20
        await told()
    assert await told() == [("journal", True, "slow")]
    clock.at_s += 61
    await told()
    assert await told() == [("journal", True, "slow"), ("journal", False, "")]
