"""What every test gets: no task left behind, seeds on show, and a real Mosquitto for those that ask."""

import asyncio
import inspect
import random
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio
from _pytest.runner import runtestprotocol
from brokers import Mosquitto
from hypothesis import settings

SETTLE_S = 1.0
"""How long a test's own tasks may take to end after it, before they count as left behind."""

settings.register_profile("vigia", print_blob=True, deadline=None)
settings.load_profile("vigia")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", type=int, default=None, help="seed of the chance in tests (default: a new one)")


def pytest_configure(config: pytest.Config) -> None:
    chosen = config.getoption("--seed")
    config.stash[TO_TRY_AGAIN], config.stash[TRIED_AGAIN] = [], []
    config.stash[SEED] = random.SystemRandom().randrange(2**32) if chosen is None else chosen


def pytest_report_header(config: pytest.Config) -> str:
    return (
        f"seed of the chance in tests: {config.stash[SEED]} (repeat it with --seed, hypothesis with --hypothesis-seed)"
    )


SEED: pytest.StashKey[int] = pytest.StashKey()


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """The seed of this run, for tests that roll dice."""
    return request.config.stash[SEED]


@pytest.fixture(autouse=True)
def seeded_chance(seed: int) -> None:
    random.seed(seed)


@pytest.fixture(autouse=True)
def watch_tasks(request: pytest.FixtureRequest) -> None:
    """Ask for the task check where there can be tasks: in tests that are coroutines. First in, so it is out last."""
    if inspect.iscoroutinefunction(request.function):
        request.getfixturevalue("no_task_left_behind")


@pytest_asyncio.fixture
async def no_task_left_behind() -> AsyncIterator[None]:
    """Fail a test that leaves asyncio tasks running: whoever starts one waits for its end."""
    before = asyncio.all_tasks()
    yield
    deadline = asyncio.get_running_loop().time() + SETTLE_S
    while (left := _left(before)) and asyncio.get_running_loop().time() < deadline:
        await asyncio.wait(left, timeout=0.05)
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left, timeout=SETTLE_S)
        pytest.fail("tasks left behind: " + ", ".join(repr(task.get_coro()) for task in left))


def _left(before: set[asyncio.Task[object]]) -> set[asyncio.Task[object]]:
    return {task for task in asyncio.all_tasks() - before if task is not asyncio.current_task()}


# --- measurements in real time


TRIES: Final = 3
"""A busy machine makes a measurement in real time worse, never better: so the best of three counts."""

TO_TRY_AGAIN: pytest.StashKey[list[pytest.Item]] = pytest.StashKey()
TRIED_AGAIN: pytest.StashKey[list[str]] = pytest.StashKey()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Put off a test marked `measured` that fails, until all others have had their turn."""
    if item.get_closest_marker("measured") is None:
        return None
    _reported(item, _tried(item, nextitem, last=False))
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Iterator[None]:
    """Try again, at the end, what was put off: then the other parts of the suite have mostly ended and it is quiet."""
    done = yield
    for left in reversed(range(TRIES - 1)):
        put_off, session.config.stash[TO_TRY_AGAIN] = session.config.stash[TO_TRY_AGAIN], []
        for item, nextitem in zip(put_off, [*put_off[1:], None], strict=False):
            _reported(item, _tried(item, nextitem, last=not left))
    return done


def _tried(item: pytest.Item, nextitem: pytest.Item | None, *, last: bool) -> list[pytest.TestReport]:
    """Run it once. Returns what is to be reported: nothing where it failed and is put off."""
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    failed = next((report for report in reports if report.failed), None)
    if failed is None or last:
        return reports
    item.config.stash[TO_TRY_AGAIN].append(item)
    item.config.stash[TRIED_AGAIN].append(f"{item.nodeid}: {failed.longreprtext.splitlines()[-1]}")
    return []


def _reported(item: pytest.Item, reports: list[pytest.TestReport]) -> None:
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if tried := config.stash[TRIED_AGAIN]:
        terminalreporter.section("measured again, for the machine was busy or a promise is only just kept")
        for line in tried:
            terminalreporter.write_line(line)


# --- a real broker


@pytest.fixture
def idle_mosquitto(tmp_path: Path) -> Iterator[Mosquitto]:
    """A Mosquitto with its port, not started yet."""
    broker = Mosquitto(tmp_path / "mosquitto")
    yield broker
    broker.stop()


@pytest.fixture
def mosquitto(idle_mosquitto: Mosquitto) -> Mosquitto:
    """A running Mosquitto."""
    idle_mosquitto.start()
    return idle_mosquitto
