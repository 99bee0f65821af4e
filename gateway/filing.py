"""The watch's side of the office: writes what it files into the journal, and hears what it judged. Judges nothing."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from dashboards.office import MOST_BREACHES, File, Judged, Paper
from dashboards.ports import Answer
from gateway.engine import events
from gateway.engine.events import Effect, Entry, Event, Record
from gateway.journal.batches import ready
from gateway.office.shape import read
from sensors.stamps import SECOND, Clock, Instant, Stamp

MOST_WAITING = 16
"""Filings whose commit is awaited; the office has one in hand at a time."""

JUDGED_EVERY_S = 2
"""A judgement that comes sooner after the last one is refused."""

Reply = Callable[[Answer], None]


@dataclass(slots=True)
class _Reading:
    """A filing whose papers are looked through, one in each turn of the loop."""

    ask: File
    reply: Reply
    entries: list[Entry]


class Filing:
    """Brings the office's papers to the engine and answers once the journal holds them.

    Args:
        clock: of the watch.
        hear: brings the engine an event and returns what follows from it.
        later: calls back in the next turn of the loop, so that what the lines bring comes in between.
    """

    def __init__(
        self, clock: Clock, hear: Callable[[Event], list[Effect]], later: Callable[[Callable[[], None]], object]
    ) -> None:
        self._clock = clock
        self._hear = hear
        self._later = later
        self._reading: deque[_Reading] = deque()
        self._waiting: dict[int, tuple[int, Reply]] = {}
        self._settling: list[tuple[int, int, Reply]] = []
        self._judged_at: Instant | None = None

    def take(self, ask: File | Judged, reply: Reply) -> None:
        """Carry it out; `reply` is called once it is refused or heard, or for a `File` when the journal has it.

        One without papers is answered once it is known what became of every filing before it, whoever filed that.
        """
        now = self._clock.now()
        if isinstance(ask, Judged):
            reply(self._judged(ask, now))
            return
        if len(self._waiting) + len(self._reading) + len(self._settling) >= MOST_WAITING:
            reply(Answer(ask.ref, ok=False, error="busy"))
            return
        self._reading.append(_Reading(ask, reply, []))
        if len(self._reading) == 1:
            self._read()

    def _read(self) -> None:
        """Look through one paper of the filing in hand; after the last one the engine hears of all of them at once."""
        reading = self._reading[0]
        if reading.ask.papers:
            self._read_one(reading)
        else:
            self._reading.popleft()
            self._settle(reading)
        if self._reading:
            self._later(self._read)

    def _read_one(self, reading: _Reading) -> None:
        ask, number = reading.ask, len(reading.entries)
        told = _admitted(number, ask.papers[number], ask.by.strip() or None)
        if isinstance(told, str):
            self._reading.popleft()
            reading.reply(Answer(ask.ref, ok=False, error="bad-request", detail=told))
        else:
            reading.entries.append(told)
            if len(reading.entries) == len(ask.papers):
                self._reading.popleft()
                self._file(reading)

    def _settle(self, reading: _Reading) -> None:
        if self._waiting:
            self._settling.append((max(self._waiting), reading.ask.ref, reading.reply))
        else:
            reading.reply(Answer(reading.ask.ref, ok=True))

    def _file(self, reading: _Reading) -> None:
        for effect in self._hear(events.Filed(tuple(reading.entries), self._clock.now())):
            if isinstance(effect, Record):
                self._waiting[effect.ticket] = (reading.ask.ref, reading.reply)

    def _judged(self, ask: Judged, now: Stamp) -> Answer:
        """Hear a judgement, one at a time and of bounded size: nobody at the socket may hold the watch up with them."""
        if len(ask.breaches) > MOST_BREACHES:
            return Answer(ask.ref, ok=False, error="bad-request", detail=f"more than {MOST_BREACHES} breaches")
        if len({found.subject for found in ask.breaches}) < len(ask.breaches):
            return Answer(ask.ref, ok=False, error="bad-request", detail="two breaches of one subject; one is right")
        if self._judged_at is not None and now.mono - self._judged_at < JUDGED_EVERY_S * SECOND:
            return Answer(ask.ref, ok=False, error="busy")
        self._judged_at = now.mono
        breaches = tuple(events.Breach(found.subject, found.reason, found.detail) for found in ask.breaches)
        self._hear(events.Judged(breaches, now))
        return Answer(ask.ref, ok=True)

    def committed(self, ticket: int) -> None:
        """Hear that the journal holds what has this ticket. It writes in order: an earlier one that waits is lost."""
        for earlier in [waiting for waiting in self._waiting if waiting <= ticket]:
            ref, reply = self._waiting.pop(earlier)
            held = earlier == ticket
            reply(Answer(ref, ok=held, error="" if held else "not-recorded"))
        settled = [one for one in self._settling if one[0] <= ticket]
        self._settling = [one for one in self._settling if one[0] > ticket]
        for _, ref, reply in settled:
            reply(Answer(ref, ok=True))


def _admitted(number: int, paper: Paper, person: str | None) -> Entry | str:
    """Return the entry that a paper becomes, ready for the journal, or what is wrong with it."""
    body = read(number, paper)
    if isinstance(body, str):
        return body
    try:
        return ready(Entry(paper.kind, body, person))
    except (TypeError, ValueError) as error:
        return str(error)
