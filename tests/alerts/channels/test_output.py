"""An output on its line: written at once, believed as read back, put right again and reported."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from alerts.channels.output import ANSWER_MAX_S, CHECK_S, LocalOutput
from sensors.stamps import SECOND

Play = Callable[..., None]
Done = Callable[[bool | None, str], None]
WIRE_S = 0.01


class Board:
    """A relay board on a line: what it is asked, when, and the coil as it really is."""

    def __init__(self, on: bool = False) -> None:
        self.on = on
        self.stuck = False
        self.powered = True
        self.reachable = True
        self.swallows = False
        self.only: bool | None = None
        self.asked: list[tuple[float, str]] = []

    def allows(self, on: bool) -> bool:
        return self.only is None or on is self.only

    def write(self, on: bool, done: Done) -> None:
        def act() -> bool:
            if not self.stuck:
                self.on = on
            return self.on

        self._ask(f"write {'on' if on else 'off'}", act, done)

    def read(self, done: Done) -> bool:
        self._ask("read", lambda: self.on, done)
        return True

    def power_cycle(self) -> None:
        self.on = False

    def writes(self) -> list[tuple[float, str]]:
        return [(round(when, 3), what) for when, what in self.asked if what.startswith("write")]

    def _ask(self, what: str, act: Callable[[], bool], done: Done) -> None:
        loop = asyncio.get_running_loop()
        self.asked.append((loop.time(), what))
        if self.swallows:
            return
        if not self.reachable:
            done(None, "refused")  # a line that is down answers at once
        elif not self.powered:
            loop.call_later(0.2, done, None, "timeout")
        else:
            loop.call_later(WIRE_S, lambda: done(act(), ""))


class Log:
    def __init__(self) -> None:
        self.reports: list[tuple[float, bool | None, str]] = []

    def __call__(self, output: str, on: bool | None, reason: str) -> None:
        assert output == "sirene"
        self.reports.append((round(asyncio.get_running_loop().time(), 3), on, reason))

    def states(self) -> list[tuple[bool | None, str]]:
        return [(on, reason) for _, on, reason in self.reports]


@asynccontextmanager
async def siren(board: Board, clock: Any) -> AsyncIterator[tuple[LocalOutput, Log]]:
    log = Log()
    output = LocalOutput("sirene", board, log, clock)
    task = asyncio.create_task(output.run())
    await asyncio.sleep(0)
    yield output, log
    task.cancel()
    await asyncio.wait([task])


def test_a_set_output_is_written_at_once_and_confirmed_by_read_back(play: Play, clock: Any) -> None:
    async def story() -> None:
        board = Board()
        async with siren(board, clock) as (output, log):
            await asyncio.sleep(0.5)
            log.reports.clear()
            output.set(True)
            assert board.writes() == [(0.5, "write on")]
            await asyncio.sleep(0.1)
            assert log.reports == [(0.51, True, "")]
            assert output.on
            assert output.seen is not None
            assert output.seen.mono == 0.51 * SECOND

    play(story())


def test_asking_again_for_the_same_state_writes_once(play: Play, clock: Any) -> None:
    async def story() -> None:
        board = Board()
        async with siren(board, clock) as (output, log):
            for _ in range(5):
                output.set(True)
            await asyncio.sleep(0.1)
            output.set(True)
            await asyncio.sleep(0.1)
        assert len(board.writes()) == 1
        assert log.states() == [(True, "")]

    play(story())


def test_at_start_it_reads_and_does_not_silence_a_sounding_siren(play: Play, clock: Any) -> None:
    async def story() -> None:
        board = Board(on=True)
        async with siren(board, clock) as (output, log):
            await asyncio.sleep(3 * CHECK_S + 0.1)
            assert board.on
            assert board.writes() == []
            assert log.states() == [(True, "")] * 4
            output.set(False)
            await asyncio.sleep(0.1)
            assert not board.on
            assert log.states()[-1] == (False, "")

    play(story())


def test_a_change_of_mind_overtakes_what_is_under_way_and_only_the_last_counts(play: Play, clock: Any) -> None:
    async def story() -> None:
        board = Board()
        async with siren(board, clock) as (output, log):
            output.set(True)
            output.set(False)
            output.set(True)
            await asyncio.sleep(0.1)
        assert [what for _, what in board.writes()] == ["write on", "write off", "write on"]
        assert [when for when, _ in board.writes()] == [0, 0, 0]
        assert log.states() == [(True, "")]

    play(story())


def test_a_stuck_coil_is_reported_as_wrong_and_tried_again_without_end(play: Play, clock: Any) -> None:
    async def story() -> None:
        board = Board()
        board.stuck = True
        async with siren(board, clock) as (output, log):
            output.set(True)
            await asyncio.sleep(5)
            assert set(log.states()) == {(False, "wrong-state")}
            assert output.on is False
            assert [when for when, _ in board.writes()] == [0, 0.21, 1.22, 2.23, 3.24, 4.25]
            board.stuck = False
            await asyncio.sleep(1.1)
            assert log.states()[-1] == (True, "")
            settled = len(board.writes())
            await asyncio.sleep(1)
            assert len(board.writes()) <= settled + 1

    play(story())


def test_a_failed_write_is_unknown_and_repeated_after_200_ms_then_each_second(play: Play, clock: Any) -> None:
    async def story() -> None:
        board = Board()
        board.powered = False
        async with siren(board, clock) as (output, log):
            output.set(True)
            await asyncio.sleep(3)
            assert log.reports[:3] == [(0.2, None, "timeout"), (0.6, None, "timeout"), (1.8, None, "timeout")]
            assert [when for when, _ in board.writes()] == [0, 0.4, 1.6, 2.8]
            assert output.on is None
            board.powered = True
            await asyncio.sleep(1.5)
            assert log.states()[-1] == (True, "")

    play(story())


def test_a_line_that_is_down_at_once_does_not_spin(play: Play, clock: Any) -> None:
    async def story() -> None:
        board = Board()
        board.reachable = False
        async with siren(board, clock) as (output, log):
            output.set(True)
            await asyncio.sleep(3.05)
            assert log.states() == [(None, "refused")] * len(log.reports)
            assert len(board.asked) <= 8

    play(story())


def test_a_siren_that_lost_its_power_is_reported_and_sounds_again_within_the_check(play: Play, clock: Any) -> None:
    async def story() -> None:
        board = Board()
        async with siren(board, clock) as (output, log):
            output.set(True)
            await asyncio.sleep(CHECK_S + 0.5)
            board.power_cycle()
            log.reports.clear()
            await asyncio.sleep(CHECK_S)
            assert log.states() == [(False, "wrong-state"), (True, "")]
            assert board.on

    play(story())


def test_a_contact_that_lets_go_by_itself_is_held_by_being_told_again(play: Play, clock: Any) -> None:
    class Dropping(Board):
        """Its relay lets go a second after it was last told to close."""

        def __init__(self) -> None:
            super().__init__()
            self.off_s = 0.0
            self._drops: asyncio.TimerHandle | None = None
            self._since = 0.0

        def write(self, on: bool, done: Done) -> None:
            super().write(on, done)
            loop = asyncio.get_running_loop()
            if not self.on and on and self._since:
                self.off_s += loop.time() - self._since
            self._since = 0.0
            if self._drops is not None:
                self._drops.cancel()
            self._drops = loop.call_later(1.0, self._drop)

        def _drop(self) -> None:
            self.on, self._since = False, asyncio.get_running_loop().time()

    async def story() -> None:
        board = Dropping()
        async with siren(board, clock) as (output, _log):
            output.set(True)
            await asyncio.sleep(60)
        assert board.off_s < 3, "two lapses until it is watched more closely"

    play(story())


def test_a_siren_switched_on_by_others_is_reported_and_switched_off(play: Play, clock: Any) -> None:
    async def story() -> None:
        board = Board()
        async with siren(board, clock) as (output, log):
            output.set(False)
            await asyncio.sleep(1)
            log.reports.clear()
            board.on = True
            await asyncio.sleep(CHECK_S)
            assert log.states() == [(True, "wrong-state"), (False, "")]
            assert not board.on

    play(story())


def test_a_sounding_siren_is_told_again_every_check_and_a_quiet_one_is_only_read(play: Play, clock: Any) -> None:
    async def story() -> None:
        board = Board()
        async with siren(board, clock) as (output, _log):
            output.set(True)
            await asyncio.sleep(3 * CHECK_S + 0.5)
            assert len(board.writes()) == 4
            output.set(False)
            await asyncio.sleep(3 * CHECK_S)
            assert len(board.writes()) == 5
            assert len(board.asked) > 10

    play(story())


def test_a_line_that_loses_a_request_is_noticed_and_asked_again(play: Play, clock: Any) -> None:
    async def story() -> None:
        board = Board()
        async with siren(board, clock) as (output, log):
            await asyncio.sleep(0.5)
            log.reports.clear()
            board.swallows = True
            output.set(True)
            await asyncio.sleep(CHECK_S)
            assert log.reports == [(0.5 + ANSWER_MAX_S, None, "no-answer")]
            board.swallows = False
            await asyncio.sleep(CHECK_S)
            assert log.states()[-1] == (True, "")
            assert board.on

    play(story())


def test_a_late_answer_to_an_earlier_request_does_not_count(play: Play, clock: Any) -> None:
    async def story() -> None:
        held: list[Done] = []

        class Slow(Board):
            def write(self, on: bool, done: Done) -> None:
                if on:
                    held.append(done)
                else:
                    super().write(on, done)

        board = Slow()
        async with siren(board, clock) as (output, log):
            output.set(True)
            output.set(False)
            await asyncio.sleep(0.1)
            held[0](True, "")
            await asyncio.sleep(0.1)
            assert log.states() == [(False, "")]
            assert output.on is False

    play(story())


@pytest.mark.parametrize("stuck", [False, True])
def test_an_engine_that_changes_its_mind_when_told_is_obeyed_once(stuck: bool, play: Play, clock: Any) -> None:
    async def story() -> None:
        board = Board()
        board.stuck = stuck
        told: list[tuple[bool | None, str]] = []

        def report(_output: str, on: bool | None, reason: str) -> None:
            told.append((on, reason))
            if len(told) == 1:
                output.set(False)

        output = LocalOutput("sirene", board, report, clock)
        output.set(True)
        await asyncio.sleep(1)
        assert [what for _, what in board.writes()] == ["write on", "write off"]
        assert told[-1] == (False, "")

    play(story())


def test_the_end_of_its_run_leaves_the_siren_as_it_is(play: Play, clock: Any) -> None:
    async def story() -> None:
        board = Board()
        async with siren(board, clock) as (output, _log):
            output.set(True)
            await asyncio.sleep(0.1)
        asked = len(board.asked)
        await asyncio.sleep(10)
        assert board.on
        assert len(board.asked) == asked

    play(story())


@pytest.mark.parametrize("first", [True, False])
def test_it_works_before_its_run_has_started(first: bool, play: Play, clock: Any) -> None:
    async def story() -> None:
        board, log = Board(on=not first), Log()
        LocalOutput("sirene", board, log, clock).set(first)
        await asyncio.sleep(0.1)
        assert board.on is first
        assert log.states() == [(first, "")]

    play(story())


def test_one_that_was_given_up_is_never_heard_of_again_whoever_still_calls_it(play: Play, clock: Any) -> None:
    async def story() -> None:
        board, log = Board(), Log()
        board.reachable = False
        output = LocalOutput("sirene", board, log, clock)
        output.set(True)
        await asyncio.sleep(0.1)
        told = len(log.reports)
        output.give_up()
        output.set(False)
        output.heard(True)
        output.look()
        output.beat()
        await asyncio.sleep(10)
        assert len(log.reports) == told

    play(story())
