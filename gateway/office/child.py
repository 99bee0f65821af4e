"""The office's entry: reads the configuration, opens the books, serves its socket until told to stop.

``python -m gateway.office.child depot.toml``

It ends with SIGTERM, and with its parent when standard input is a pipe or a socket from it.
"""

import asyncio
import os
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from gateway.children.tie import Tie
from gateway.configuration.apart import load_apart
from gateway.configuration.problems import ConfigError
from gateway.depot import Depot
from gateway.machine import limits, logs
from gateway.machine.clock import SystemClock
from gateway.machine.sockets import ControlError, answers
from gateway.office.clerk import Clerk
from gateway.office.door import Door
from gateway.office.gate import Gate
from gateway.runtime import Runtime

MOST_FAILURES = 8
"""A part that failed so often without a well minute in between is told; with its pauses that takes some seconds."""

JUDGE_AGAIN_S = 10.0
"""Between two tries of a judge that fails again and again: each reads the journal and judges every rule."""

EXIT_FAILED = 1
EXIT_CONFIG = 78


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until stopped; return the exit code: 0 stopped, 1 the socket is taken, 78 the configuration is refused."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        depot = load_apart(Path(given[0]), os.environ).depot
    except ConfigError as error:
        sys.stderr.writelines(f"{problem}\n" for problem in error.problems)
        return EXIT_CONFIG
    try:
        return asyncio.run(_serve(depot))
    except ControlError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_FAILED


class Failures:
    """Which parts of the office fail again and again: their work is not done, while the office itself is there."""

    def __init__(self) -> None:
        self._times: Counter[str] = Counter()

    def hear(self, part: str, unwell: bool, _: str) -> None:
        """A part has failed, or has run well for a while since."""
        self._times[part] = self._times[part] + 1 if unwell else 0

    def none(self) -> bool:
        """Tell whether every part does its work."""
        return all(times < MOST_FAILURES for times in self._times.values())


async def _serve(depot: Depot) -> int:
    """Serve until stopped.

    Raises:
        ControlError: another office answers: two would judge and sell the same stock side by side.
    """
    if answers(depot.office):
        raise ControlError(f"{depot.office}: another office is running there; stop the `vigia run` it belongs to")
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    clerk = Clerk(depot)  # reads every statute; the first sign of life is waited for longer than others
    failures = Failures()
    Tie(stopping.set, failures.none).hold()
    runtime = Runtime(failures.hear)
    runtime.start("door", Door(depot.office, clerk.answer).run, "office")
    runtime.start("judge", clerk.judge_for_ever, "office", longest_pause_s=JUDGE_AGAIN_S)
    if depot.mqtt is not None and depot.stock_sources:
        gate = Gate(depot.mqtt, depot.stock_sources, clerk.take, SystemClock())
        runtime.start("gate", gate.listen, "office")
        runtime.start("gate entries", gate.enter, "office")
    if depot.scales:
        runtime.start("weighings", clerk.weigh_for_ever, "office")
    while not stopping.is_set():
        await stopping.wait()
    await runtime.end("office")
    return 0


if __name__ == "__main__":
    logs.install()
    limits.raise_descriptors()
    sys.exit(main())
