"""What every test gets: no task left behind, seeds on show, and a real Mosquitto for those that ask."""

import asyncio
import contextlib
import inspect
import os
import random
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio
from _pytest.runner import runtestprotocol
from hypothesis import settings
from ports import held_port

SETTLE_S = 1.0
"""How long a test's own tasks may take to end after it, before they count as left behind."""
START_S = 10.0
STOP_S = 5.0

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


def wait_until(holds: Callable[[], bool], within_s: float, what: str) -> None:
    """Wait in a test without a loop until a condition holds; fail with `what` after `within_s`."""
    deadline = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > deadline:
            pytest.fail(f"{what}: not within {within_s} s")
        time.sleep(0.02)


class Mosquitto:
    """A Mosquitto of one's own: loopback, free port, nothing persistent unless kept."""

    def __init__(self, binary: str, folder: Path) -> None:
        self._binary = binary
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self.host = "127.0.0.1"
        self.port = held_port(self)

    @property
    def log(self) -> str:
        file = self._folder / "log"
        return file.read_text(errors="replace") if file.exists() else ""

    def start(self, *lines: str) -> None:
        """Start it and wait until it answers. `lines` are added to its configuration."""
        assert self._process is None, "it is running"
        state = self._folder / "state"
        state.mkdir(parents=True, exist_ok=True)
        config = self._folder / "mosquitto.conf"
        config.write_text(
            "\n".join(
                [
                    f"listener {self.port} {self.host}",
                    "allow_anonymous true",
                    "persistence true",
                    f"persistence_location {state}/",
                    "sys_interval 0",
                    *([f"user {os.environ.get('USER', 'root')}"] if os.geteuid() == 0 else []),
                    *lines,
                ]
            )
            + "\n"
        )
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen([self._binary, "-c", str(config), "-v"], stdout=log, stderr=log)
        wait_until(self._answers, START_S, f"Mosquitto on port {self.port}: {self.log[-400:]}")

    def stop(self) -> None:
        """Stop it as an operator would; retained messages are kept for the next start."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        process.send_signal(signal.SIGCONT)  # a frozen one would not hear
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(STOP_S)

    def kill(self) -> None:
        """End it as a power cut does, with nothing said to anybody."""
        process, self._process = self._process, None
        assert process is not None
        process.kill()
        process.wait(STOP_S)

    def freeze(self) -> None:
        """Hold it still with its sockets open; `thaw` lets it go on."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def wipe(self) -> None:
        """Forget every session and retained message, as a recreated broker has; only when stopped."""
        assert self._process is None
        shutil.rmtree(self._folder / "state", ignore_errors=True)

    def _answers(self) -> bool:
        assert self._process is not None
        if (code := self._process.poll()) is not None:
            pytest.fail(f"Mosquitto ended with {code}: {self.log[-400:]}")
        with contextlib.suppress(OSError), socket.create_connection((self.host, self.port), timeout=0.2):
            return True
        return False


def _mosquitto_binary() -> str:
    root = os.environ.get("VIGIA_DEBIAN_ROOT", "/")
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", str(Path(root) / "usr/sbin")])
    found = shutil.which("mosquitto", path=path)
    if found is None:
        pytest.fail("no mosquitto on PATH, in /usr/sbin or under VIGIA_DEBIAN_ROOT; `make test` brings it")
    return found


@pytest.fixture
def idle_mosquitto(tmp_path: Path) -> Iterator[Mosquitto]:
    """A Mosquitto with its port, not started yet."""
    broker = Mosquitto(_mosquitto_binary(), tmp_path / "mosquitto")
    yield broker
    broker.stop()


@pytest.fixture
def mosquitto(idle_mosquitto: Mosquitto) -> Mosquitto:
    """A running Mosquitto."""
    idle_mosquitto.start()
    return idle_mosquitto
