"""Reads a depot.toml in a process of its own that ends with it: what only reading needs is no part of the watch.

The schema and its library take 13 MiB and reading a large depot half a second of the interpreter, which neither the
watch nor the office has to spare (docs/decisions/0012). ``python -m gateway.configuration.apart`` is that process: it
hears path and variables on standard input, and puts a `Loaded` or the problems on standard output.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from gateway.configuration.loaded import Loaded
from gateway.configuration.problems import ConfigError, Problem

WITHIN_S = 60.0
"""How long reading may take: a whole Python, and a depot of thousands of heads on a small board."""


def load_apart(path: Path, environ: Mapping[str, str]) -> Loaded:
    """As `gateway.configuration.loading.load`, in a process of its own where one can be had. It blocks.

    Raises:
        ConfigError: with every problem found.
    """
    return FileReading(path, environ).loaded()


class FileReading:
    """A file that is being read; whoever began it may do something else meanwhile."""

    def __init__(self, path: Path, environ: Mapping[str, str]) -> None:
        self._path = path
        self._environ = environ
        self._process = _begun()

    def loaded(self) -> Loaded:
        """Wait for what was read. Without a process that says so it is read here.

        Raises:
            ConfigError: with every problem found.
        """
        answer = self._answer()
        if answer is None:
            return _loading()(self._path, self._environ)
        if isinstance(answer, Loaded):
            return answer
        raise ConfigError(answer)

    def _answer(self) -> Loaded | tuple[Problem, ...] | None:
        """Ask the process; None where it does not answer. What it said of that is on our standard error."""
        if self._process is None:
            return None
        with self._process as process:
            try:
                said, _ = process.communicate(pickle.dumps((self._path, dict(self._environ))), WITHIN_S)
                answer: Loaded | tuple[Problem, ...] = pickle.loads(said)  # noqa: S301 - what a child of ours said
            except (OSError, subprocess.TimeoutExpired, pickle.UnpicklingError, EOFError):
                return None
            finally:
                process.kill()
        return answer


def _begun() -> "subprocess.Popen[bytes] | None":
    """Start the process that reads, apart from the terminal, so that who interrupts us there does not interrupt it."""
    command = [sys.executable, "-m", __name__]
    try:
        return subprocess.Popen(  # noqa: S603 - ourselves
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
    except OSError:
        return None


def _loading() -> Callable[[Path, Mapping[str, str]], Loaded]:
    from gateway.configuration.loading import load  # and with it the schema and its library

    return load


def main() -> None:
    """Read what is asked for, and answer."""
    load = _loading()
    try:
        path, environ = pickle.load(sys.stdin.buffer)  # noqa: S301 - what our parent said
    except (EOFError, pickle.UnpicklingError):  # it has ended before it had asked, or while it did
        return
    answer: Loaded | tuple[Problem, ...]
    try:
        answer = load(path, environ)
    except ConfigError as error:
        answer = error.problems
    with suppress(BrokenPipeError):  # whoever asked has ended, and needs no answer
        sys.stdout.buffer.write(pickle.dumps(answer))
        sys.stdout.buffer.flush()
        return
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter complains at its end


if __name__ == "__main__":
    main()
