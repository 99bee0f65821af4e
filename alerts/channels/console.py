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

PATIENCE_S = 0.5
"""How long the line of a new alarm waits for its first output, so that it can tell all of its times."""

LOOK_S = 0.02

_STYLES = {Kind.GAS: "bold red", Kind.BLIND: "yellow", Kind.SYSTEM: "magenta", Kind.COMPLIANCE: "cyan"}
_CALM = frozenset({Cause.CLEARED, Cause.RESET})
_TIMED = frozenset({Cause.RAISED, Cause.RISEN})


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
        self._waiting: dict[str, tuple[asyncio.TimerHandle, Notice]] = {}

    async def run(self) -> None:
        """Write lines until cancelled."""
        # A daemon: a terminal that never takes its line must not keep the process from ending.
        writer = threading.Thread(target=self._write, name=f"console:{self.id}", daemon=True)
        writer.start()
        try:
            await asyncio.Event().wait()
        finally:
            for timer, notice in self._waiting.values():
                timer.cancel()
                self._put(notice)
            self._waiting.clear()
            try:
                self._lines.put_nowait(None)
            except queue.Full:
                pass  # held up: what waits is lost with the terminal, the journal has it
            else:
                writer.join(FLUSH_S)

    async def deliver(self, notice: Notice) -> Outcome:
        """Queue one line; that of a gas alarm once a counting output has taken it, or soon without."""
        event = notice.event
        if event.key.kind is Kind.GAS and event.cause in _TIMED and self._taken(event) is None:
            if len(self._waiting) >= LINES_MAX:
                return Outcome(Verdict.RETRY, "console-held-up")
            self._wait(notice, round(PATIENCE_S / LOOK_S))
            return Outcome(Verdict.ACCEPTED)
        return Outcome(Verdict.ACCEPTED) if self._put(notice) else Outcome(Verdict.RETRY, "console-held-up")

    def _wait(self, notice: Notice, looks: int) -> None:
        """Look again in a moment whether the alarm has its first output; after the last look write what is known."""
        self._waiting.pop(notice.delivery.id, None)
        if looks and self._taken(notice.event) is None:
            timer = asyncio.get_running_loop().call_later(LOOK_S, self._wait, notice, looks - 1)
            self._waiting[notice.delivery.id] = (timer, notice)
            return
        self._put(notice)  # a terminal that is held up loses the line; the journal has it

    def _put(self, notice: Notice) -> bool:
        try:
            self._lines.put_nowait(self._line(notice))
        except queue.Full:
            return False
        return True

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
        decided = self._after(event.sampled, event.at)
        told = say("console.times", sampled=rfc3339(event.sampled.utc), decided=decided)
        first = self._taken(event)
        if first is not None:
            told += say("console.first", first=self._after(event.sampled, first))
        return told

    def _after(self, sampled: Stamp, at: Stamp) -> str:
        passed = f"{milliseconds(sampled, at):.1f}".replace(".", self._catalogue.text("format.decimal"))
        return self._catalogue.text("console.after", ms=passed)

    def _taken(self, event: AlarmEvent) -> Stamp | None:
        """When a counting output first took this event; that of an earlier level is no news about it."""
        first = self._first_output(event.key)
        return first if first is not None and first.mono >= event.at.mono else None

    def _write(self) -> None:
        while (line := self._lines.get()) is not None:
            try:
                self._terminal.print(line)
            except (OSError, ValueError):
                continue  # the terminal has gone; alarms go on without it
