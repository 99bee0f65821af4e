"""What the process says on its terminal or pipe: queued and written by a thread, so that nobody waits for a reader.

A terminal held with Ctrl-S, a pager, a hung log service: whatever takes the lines may cease to, for good. `install`
puts streams in the place of `sys.stdout` and `sys.stderr` that never block, so that loggers, warnings, tracebacks and
the loop's own complaints all go the same way. What found no room is counted, and told when there is room again.
"""

import atexit
import io
import logging
import os
import queue
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TextIO

from gateway.machine import limits

with limits.without("rich"):  # it would draw traces, for 5 MiB of each process; what needs it loads it itself
    import structlog

LINES_MAX = 2_000
"""Pieces of text that may wait for a reader; the next ones are dropped and counted."""

PIECE_MAX_CHARS = 16_384
"""A longer piece is cut: some traces and refused configurations are endless."""

FLUSH_S = 0.2
"""How long the end of the process waits for the last lines to be written."""

BURST = 10
WINDOW_S = 60.0
"""So many lines of one kind are written in such a time; the rest are counted and told with the next that is."""

ALL_MAX = 600
"""So many lines in all are written in `WINDOW_S`."""

KINDS_MAX = 500
"""Kinds of lines that are counted apart; beyond it the one not seen for longest is forgotten."""


class UnblockedStream(io.TextIOBase):
    """A text stream onto a file descriptor that takes everything at once and never waits for the other end."""

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, descriptor: int) -> None:
        """Write to `descriptor`, which stays the caller's to close."""
        self._descriptor = descriptor
        self._pieces: queue.Queue[str | None] = queue.Queue(LINES_MAX)
        self._dropped = 0
        self._counting = threading.Lock()
        self._terminal = os.isatty(descriptor)
        # A daemon: a reader that never comes back must not keep the process from ending.
        self._thread = threading.Thread(target=self._write_out, name=f"output:{descriptor}", daemon=True)
        self._thread.start()

    def writable(self) -> bool:
        """It is for writing."""
        return True

    def isatty(self) -> bool:
        """Tell whether a person's terminal is at the other end."""
        return self._terminal

    def fileno(self) -> int:
        """Return the descriptor behind, for what asks about the terminal."""
        return self._descriptor

    def write(self, text: str, /) -> int:
        """Queue a piece of text.

        Raises:
            TypeError: it is no text.
        """
        if not isinstance(text, str):
            raise TypeError(f"a text is written here, not {type(text).__name__}")
        if text:
            piece = text if len(text) <= PIECE_MAX_CHARS else f"{text[:PIECE_MAX_CHARS]}…\n"
            try:
                self._pieces.put_nowait(piece)
            except queue.Full:
                with self._counting:
                    self._dropped += 1
        return len(text)

    def flush(self) -> None:
        """Wait for nothing: the thread writes as soon as somebody reads."""

    def end(self) -> None:
        """Give the last lines their chance, then let go."""
        with suppress(queue.Full):  # held up: what waits is lost with its reader
            self._pieces.put_nowait(None)
            self._thread.join(FLUSH_S)

    def _write_out(self) -> None:
        while (piece := self._pieces.get()) is not None:
            with self._counting:
                dropped, self._dropped = self._dropped, 0
            if dropped:
                piece += self._told(dropped)
            data = piece.encode(self.encoding, self.errors)
            while data:
                try:
                    data = data[os.write(self._descriptor, data) :]
                except BlockingIOError:  # whoever shares the descriptor made it so; this thread may wait for room
                    time.sleep(FLUSH_S)
                except OSError:
                    break  # the reader has gone; the watch goes on without

    def _told(self, dropped: int) -> str:
        if self._terminal:
            return f"({dropped} lines dropped, nobody read them)\n"
        return f'{{"event": "lines dropped, nobody read them", "level": "warning", "count": {dropped}}}\n'


@dataclass(slots=True)
class _Kind:
    """How many lines of a kind passed since `began`, and how many were left out since the last that did."""

    began: float
    passed: int = 0
    left_out: int = 0

    def passes(self, most: int, now: float) -> bool:
        if now - self.began >= WINDOW_S:
            self.began, self.passed = now, 0
        self.passed += 1
        return self.passed <= most


class Repeats:
    """A structlog processor that lets `BURST` lines of one kind pass in `WINDOW_S`, and counts the others."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._kinds: OrderedDict[tuple[object, ...], _Kind] = OrderedDict()
        self._all = _Kind(monotonic())

    def __call__(self, _logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        """Pass the line on, with how many of its kind were left out since the last one.

        Raises:
            structlog.DropEvent: there were enough of its kind, or of all, lately.
        """
        now = self._monotonic()
        name = (event.get("event"), event.get("part"), event.get("logger"))
        kind = self._kinds[name] = self._kinds.pop(name, _Kind(now))
        if len(self._kinds) > KINDS_MAX:
            self._kinds.popitem(last=False)
        if not (kind.passes(BURST, now) and self._all.passes(ALL_MAX, now)):
            kind.left_out += 1
            raise structlog.DropEvent
        if kind.left_out:
            event["left_out"], kind.left_out = kind.left_out, 0
        return event


class _Handler(logging.Handler):
    """What libraries log, and Python's warnings, said as everything else is."""

    def emit(self, record: logging.LogRecord) -> None:
        """Hand one record on. Its kind is the first line of its text before the values are filled in."""
        kind = (str(record.msg).splitlines() or [""])[0][:200]
        try:
            message = record.getMessage()
        except (TypeError, ValueError):  # values that do not fit the text
            message = str(record.msg)
        log = structlog.get_logger()
        say = log.warning if record.levelno <= logging.WARNING else log.error
        details = {} if message == kind else {"message": message[:PIECE_MAX_CHARS]}
        say(kind, logger=record.name, exc_info=record.exc_info or False, **details)


def install() -> None:
    """Put streams that never block in the place of `sys.stdout` and `sys.stderr`, and every log line on the latter.

    For the whole life of the process: what it says last, a traceback too, must not wait for a reader either. Streams
    without a descriptor behind them are left as they are.
    """
    out, err = _unblocked(sys.stdout), _unblocked(sys.stderr)
    if out is None or err is None:
        return
    sys.stdout, sys.stderr = out, err
    logging.getLogger().addHandler(_Handler(logging.WARNING))
    logging.captureWarnings(capture=True)
    _say_on(err)


def _unblocked(stream: TextIO) -> UnblockedStream | None:
    try:
        stream.flush()
        unblocked = UnblockedStream(stream.fileno())
    except (AttributeError, OSError, ValueError):  # AttributeError: there is none, as under pythonw
        return None
    atexit.register(unblocked.end)
    return unblocked


def _say_on(stream: UnblockedStream) -> None:
    """Pretty for a person at a terminal, JSON lines for everything else."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            Repeats(),
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *(
                [structlog.dev.ConsoleRenderer()]
                if stream.isatty()
                else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(ensure_ascii=False)]
            ),
        ],
        logger_factory=structlog.WriteLoggerFactory(file=stream),  # type: ignore[arg-type]  # it writes and flushes, no more
    )
