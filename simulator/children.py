"""The demo's child processes: started tied to us, watched, and ended in order, by their ids only."""

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import IO, Self

import msgspec

STOP_S = 2.0
"""A child has this long to end by itself; then it is killed."""
READY_S = 20.0
"""A child has this long to report that it serves."""


LOOK_S = 0.1
"""How often the children are looked at."""


class ChildError(Exception):
    """A child did not come up, or ended before its time. `how` is its exit code or signal, once it has ended."""

    def __init__(self, child: str, how: str | None) -> None:
        super().__init__(f"{child}: {how or 'not ready in time'}")
        self.child = child
        self.how = how


class _Ready(msgspec.Struct, frozen=True):
    """A child's first line."""

    ready: dict[str, int]


@dataclass(slots=True)
class Child:
    """One process of ours."""

    name: str
    process: subprocess.Popen[bytes]

    def ports(self, deadline_s: float = READY_S) -> Mapping[str, int]:
        """Wait for the child's line of JSON that says what it serves on which ports.

        Raises:
            ChildError: if it ends first, takes too long, or says something else.
        """
        output = self._pipe(self.process.stdout)
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            line = output.readline() if selector.select(deadline_s) else b""
        try:
            return msgspec.json.decode(line, type=_Ready).ready
        except msgspec.DecodeError as error:
            raise ChildError(self.name, self.how()) from error

    def order(self, text: str) -> None:
        """Write one line to the child's standard input.

        Raises:
            ChildError: if it has ended.
        """
        pipe = self._pipe(self.process.stdin)
        try:
            pipe.write(f"{text}\n".encode())
            pipe.flush()
        except BrokenPipeError as error:
            raise ChildError(self.name, self.how()) from error

    def stop(self) -> None:
        """End it: ask, wait up to `STOP_S`, kill. A child that has ended already is only gathered."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    def how(self) -> str | None:
        """Return how it ended, or None while it lives."""
        code = self.process.poll()
        if code is None:
            return None
        return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit {code}"

    def _pipe(self, pipe: IO[bytes] | None) -> IO[bytes]:
        assert pipe is not None, f"{self.name} was started without pipes"
        return pipe


@dataclass(slots=True)
class Children:
    """All of them, ended in the reverse order of `start` on leaving the context."""

    _alive: list[Child] = field(default_factory=list)

    def start(self, name: str, *arguments: str, pipes: bool) -> Child:
        """Run ``python arguments`` as a child; with `pipes` its standard input and output are ours."""
        child = Child(name, self._spawn([sys.executable, "-P", *arguments], pipes=pipes))
        self._alive.append(child)
        return child

    def dismiss(self, name: str, *, kill: bool = False) -> None:
        """End the child of this name, if it lives, and look after it no longer; with `kill` as a power cut would."""
        for child in [child for child in self._alive if child.name == name]:
            self._alive.remove(child)
            if kill:
                child.process.kill()
            child.stop()

    def ended(self) -> Child | None:
        """Return a child that has ended, if any."""
        return next((child for child in self._alive if child.process.poll() is not None), None)

    def check(self) -> None:
        """Look at all of them.

        Raises:
            ChildError: if one has ended.
        """
        if child := self.ended():
            raise ChildError(child.name, child.how())

    def wait(self, ready: Callable[[], bool], stop: Event, deadline_s: float = READY_S) -> None:
        """Wait until `ready()` or `stop`; look after the children meanwhile.

        Raises:
            ChildError: if a child ends, or the time is up.
        """
        end = time.monotonic() + deadline_s
        while not ready() and not stop.wait(LOOK_S):
            self.check()
            if time.monotonic() > end:
                raise ChildError(self._alive[-1].name, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while self._alive:
            self._alive.pop().stop()

    def _spawn(self, command: Sequence[str], *, pipes: bool) -> subprocess.Popen[bytes]:
        tied = [sys.executable, "-P", "-m", "simulator.lifeline", str(os.getpid()), *command]
        # Its own session: Ctrl-C on the terminal reaches us alone, and we end the children in order.
        pipe = subprocess.PIPE if pipes else None
        return subprocess.Popen(tied, stdin=pipe or subprocess.DEVNULL, stdout=pipe, start_new_session=True)  # noqa: S603
