"""The hands: what the journal cannot take is told, and keeps no notice from leaving and no timer from running."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from alerts.alarms import Delivery
from gateway.clock import SystemClock
from gateway.events import Deliver, Entry, Record
from gateway.hands import Hands

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
