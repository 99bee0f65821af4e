"""Events to tell of, and a loop whose clock jumps instead of waiting."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from alerts.alarms import AlarmEvent, AlarmKey, Cause, Delivery, EventId, Kind, Level, Notice, Phase
from sensors.readings import DetectorId, Quality, Reading, Status
from sensors.stamps import MILLISECOND, Instant, Stamp, UtcNanos

START_UTC = 1_796_037_059_000_000_000  # 2026-11-30T11:10:59Z


def stamp(ms: float) -> Stamp:
    """The moment `ms` milliseconds after the start of the story."""
    return Stamp(Instant(int(ms * MILLISECOND)), UtcNanos(START_UTC + int(ms * MILLISECOND)))


@pytest.fixture
def at() -> Callable[[float], Stamp]:
    return stamp


@pytest.fixture
def make_reading() -> Callable[..., Reading]:
    def make(**changes: Any) -> Reading:
        values: dict[str, Any] = {
            "detector": DetectorId("GD-101"),
            "lel_pct": 12.34,
            "at_least": None,
            "quality": Quality.GOOD,
            "status": Status.MEASURING,
            "raw": 1234.0,
            "taken": stamp(0),
        }
        return Reading(**(values | changes))

    return make


@pytest.fixture
def make_event() -> Callable[..., AlarmEvent]:
    def make(kind: Kind = Kind.GAS, cause: Cause = Cause.RAISED, subject: str = "GD-101", **changes: Any) -> AlarmEvent:
        values: dict[str, Any] = {
            "seq": 7,
            "id": EventId("deposito-centro-ab12-7"),
            "before": Phase.NORMAL,
            "after": Phase.UNACKNOWLEDGED,
            "level": Level.A1 if kind is Kind.GAS else None,
            "reading": None,
            "lel_pct": 12.34 if kind is Kind.GAS else None,
            "peak": 12.34 if kind is Kind.GAS else None,
            "since": stamp(0),
            "sampled": stamp(0),
            "at": stamp(1.5),
        }
        return AlarmEvent(key=AlarmKey(subject, kind), cause=cause, **(values | changes))

    return make


@pytest.fixture
def make_notice(make_event: Callable[..., AlarmEvent]) -> Callable[..., Notice]:
    def make(event: AlarmEvent | None = None, channel: str = "hook", attempt: int = 1, **changes: Any) -> Notice:
        told = event or make_event()
        values: dict[str, Any] = {
            "depot": "deposito-centro",
            "area": "patio",
            "recorded": True,
            "text": "ALARME DE GÁS nível A1 - Depósito Centro",
        }
        delivery = Delivery(f"{told.id}:{channel}:dona", told.id, "dona", channel, attempt)
        return Notice(delivery=delivery, event=told, **(values | changes))

    return make


class _Jumping(selectors.DefaultSelector):
    """Instead of waiting for the next timer, moves the clock to it."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            raise RuntimeError("everything waits and no timer is set")
        if not ready and timeout:
            self.now += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop without sockets in which time passes only when nothing else can happen."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


class LoopClock:
    """Both clocks, from the running loop's."""

    def now(self) -> Stamp:
        return stamp(asyncio.get_running_loop().time() * 1000)


@pytest.fixture
def clock() -> LoopClock:
    return LoopClock()


@pytest.fixture
def play() -> Callable[[Coroutine[Any, Any, None]], None]:
    """Run a story to its end in virtual time."""

    def run(story: Coroutine[Any, Any, None]) -> None:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            runner.run(story)

    return run
