"""Events as lines on standard output, with their times. It never counts as an output: nobody may be looking."""

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import TextIO

from rich.console import Console as Terminal
from rich.text import Text

from alerts.alarms import AlarmEvent, AlarmKey, Cause, Kind, Notice, Outcome, Verdict
from alerts.messages.catalogue import LANGUAGES, Catalogue
from sensors.stamps import Stamp, milliseconds, rfc3339

LINES_MAX = 500
"""Lines that may wait for a terminal that is held up; the next one is answered RETRY ``console-held-up``."""

FLUSH_S = 0.2
"""How long the end of `run` waits for the last lines to be written."""

_STYLES = {Kind.GAS: "bold red", Kind.BLIND: "yellow", Kind.SYSTEM: "magenta", Kind.COMPLIANCE: "cyan"}
_CALM = frozenset({Cause.CLEARED, Cause.RESET})


class _Terminal(Terminal):
    """Rich's console, which would end the process when the reader of a pipe goes. Alarms go on without one."""

    def on_broken_pipe(self) -> None:
        """Say nothing more; ends nothing."""
        self.quiet = True


class Console:
    """One line for each event, written by a thread of its own: a held-up terminal never holds the loop up."""

    counts = False
    attempt_timeout_s = 1.0
    parallel = 1

    def __init__(
        self,
        id: str,  # noqa: A002 - the noun
        stream: TextIO | None = None,
        language: str = LANGUAGES[0],
        first_output: Callable[[AlarmKey], Stamp | None] = lambda _: None,
    ) -> None:
        """`stream` is standard output unless given; `first_output` tells when a counting output first took an alarm.

        Raises:
            ValueError: if nothing is written in `language`.
        """
        self.id = id
        self._terminal = _Terminal(file=stream, soft_wrap=True, highlight=False, markup=False)
        self._catalogue = Catalogue.load("alerts.messages", language)
        self._first_output = first_output
        self._lines: queue.Queue[Text | None] = queue.Queue(LINES_MAX)

    async def run(self) -> None:
        """Write lines until cancelled."""
        # A daemon: a terminal that never takes its line must not keep the process from ending.
        writer = threading.Thread(target=self._write, name=f"console:{self.id}", daemon=True)
        writer.start()
        try:
            await asyncio.Event().wait()
        finally:
            try:
                self._lines.put_nowait(None)
            except queue.Full:
                pass  # held up: what waits is lost with the terminal, the journal has it
            else:
                writer.join(FLUSH_S)

    async def deliver(self, notice: Notice) -> Outcome:
        """Queue one line."""
        try:
            self._lines.put_nowait(self._line(notice))
        except queue.Full:
            return Outcome(Verdict.RETRY, "console-held-up")
        return Outcome(Verdict.ACCEPTED)

    def _line(self, notice: Notice) -> Text:
        event = notice.event
        style = "green" if event.cause in _CALM else _STYLES[event.key.kind]
        line = Text()
        line.append(f"{rfc3339(event.at.utc)} ", style="dim")
        line.append(notice.text, style=style)
        line.append(f" [{self._times(event)}", style="dim")
        if not notice.recorded:
            line.append(self._catalogue.text("console.unrecorded"), style="yellow")
        line.append("]", style="dim")
        return line

    def _times(self, event: AlarmEvent) -> str:
        say = self._catalogue.text
        decided = say("console.after", ms=f"{milliseconds(event.sampled, event.at):.1f}")
        told = say("console.times", sampled=rfc3339(event.sampled.utc), decided=decided)
        first = self._first_output(event.key)
        # The first output of an earlier level is no news about this event.
        if first is not None and first.mono >= event.at.mono:
            told += say("console.first", first=say("console.after", ms=f"{milliseconds(event.sampled, first):.1f}"))
        return told

    def _write(self) -> None:
        while (line := self._lines.get()) is not None:
            try:
                self._terminal.print(line)
            except (OSError, ValueError):
                continue  # the terminal has gone; alarms go on without it
