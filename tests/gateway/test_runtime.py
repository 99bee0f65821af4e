"""Parts that end by themselves, in virtual time: how soon they are started again, and how often it is told."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
import structlog
from structlog.testing import capture_logs

from gateway.runtime import LONGEST_RESTART_S, MOST_REASONS, WELL_AFTER_S, Runtime


class _Jumping(selectors.DefaultSelector):
    """Instead of waiting for the next timer, moves the clock to it."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout:
            self.now += timeout
        return ready


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def play(story: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=_VirtualLoop) as runner:
        runner.run(story)


@pytest.fixture
def lines() -> Iterator[list[dict[str, Any]]]:
    structlog.reset_defaults()
    with capture_logs() as captured:
        yield captured  # type: ignore[misc]  # structlog's own mapping type


class Life:
    """A part that lives so long and then dies of the next reason; when it was started is kept."""

    def __init__(self, lives_s: float, reason: Callable[[int], str] = lambda _: "port taken") -> None:
        self.lives_s = lives_s
        self.reason = reason
        self.starts: list[float] = []

    async def run(self) -> None:
        self.starts.append(asyncio.get_running_loop().time())
        await asyncio.sleep(self.lives_s)
        raise OSError(self.reason(len(self.starts)))


def test_a_part_that_dies_every_few_seconds_is_one_notice_and_never_called_well(lines: list[dict[str, Any]]) -> None:
    told: list[tuple[str, bool]] = []

    async def story() -> None:
        runtime = Runtime(lambda part, unwell, _: told.append((part, unwell)))
        life = Life(6.5)
        runtime.start("web", life.run, "screens")
        await asyncio.sleep(300)
        assert {unwell for _, unwell in told} == {True}  # the engine makes one notice of them: it stands already
        life.lives_s = 1000.0
        await asyncio.sleep(8.5 + WELL_AFTER_S)
        assert told[-1] == ("web", False)
        await runtime.end("screens")

    play(story())


@pytest.mark.parametrize(("longest_s", "most_starts"), [(None, 10 + 600 / LONGEST_RESTART_S), (30.0, 12 + 600 / 30)])
def test_the_pause_between_starts_grows_to_what_the_part_asks_for(
    lines: list[dict[str, Any]], longest_s: float | None, most_starts: float
) -> None:
    async def story() -> None:
        runtime, life = Runtime(lambda *_: None), Life(0.0)
        if longest_s is None:
            runtime.start("part", life.run, "group")
        else:
            runtime.start("part", life.run, "group", longest_pause_s=longest_s)
        await asyncio.sleep(600)
        await runtime.end("group")
        pauses = [later - sooner for sooner, later in zip(life.starts, life.starts[1:], strict=False)]
        assert pauses[0] == 0.0
        assert max(pauses) == pytest.approx(longest_s or LONGEST_RESTART_S)
        assert len(life.starts) < most_starts

    play(story())


def test_a_reason_is_told_with_its_trace_once_and_then_how_often_it_was(lines: list[dict[str, Any]]) -> None:
    async def story() -> None:
        runtime = Runtime(lambda *_: None)
        life = Life(1.0, lambda count: "port taken" if count < 5 or count % 2 else "out of memory")
        runtime.start("web", life.run, "screens", longest_pause_s=1.0)
        await asyncio.sleep(7 * 3600)
        await runtime.end("screens")

    play(story())
    told = [(line["event"], line["error"], "trace" in line) for line in lines]
    assert told[:2] == [("part failed", "port taken", True), ("part failed", "out of memory", True)]
    again = lines[2:]
    assert {line["event"] for line in again} == {"part fails again and again"}
    assert len(again) == 6 + 5, "after 1, 2, 4, 8, 16 and 32 minutes more, then each hour"
    assert [line["times"] for line in again] == sorted({line["times"] for line in again})
    assert again[-1]["times"] > 10_000 and not any("trace" in line for line in again)


def test_a_part_that_ran_well_for_a_while_is_told_anew_with_its_trace(lines: list[dict[str, Any]]) -> None:
    async def story() -> None:
        runtime, life = Runtime(lambda *_: None), Life(1.0)
        runtime.start("web", life.run, "screens")
        await asyncio.sleep(10)
        life.lives_s = WELL_AFTER_S + 10
        await asyncio.sleep(2 * WELL_AFTER_S + 30)
        await runtime.end("screens")

    play(story())
    assert [line["event"] for line in lines].count("part failed") == 2


def test_reasons_that_are_never_the_same_twice_are_told_to_a_bound(lines: list[dict[str, Any]]) -> None:
    async def story() -> None:
        runtime = Runtime(lambda *_: None)
        runtime.start("web", Life(1.0, lambda count: f"no answer after {count} ms").run, "screens")
        await asyncio.sleep(600)
        await runtime.end("screens")

    play(story())
    assert sum("trace" in line for line in lines) == MOST_REASONS
    assert len(lines) < MOST_REASONS + 5


def test_what_runs_once_is_told_when_it_fails(lines: list[dict[str, Any]]) -> None:
    told: list[tuple[str, bool, str]] = []

    async def story() -> None:
        runtime = Runtime(lambda *trouble: told.append(trouble))
        runtime.once("reload", Life(0.1).run)
        await asyncio.sleep(1)

    play(story())
    assert told == [("reload", True, "OSError: port taken")]
