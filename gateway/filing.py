"""The watch's side of the office: writes what it files into the journal, and hears what it judged. Judges nothing."""

from collections.abc import Callable

from dashboards.office import File, Judged
from dashboards.ports import Answer
from gateway import events
from gateway.events import Effect, Entry, Event, Record
from gateway.journal.batches import refusal
from sensors.stamps import SECOND, Clock, Instant

MOST_WAITING = 16
"""Filings whose commit is awaited; the office has one in hand at a time."""

FORGOTTEN_S = 60
"""How long a commit is awaited: by then the office has given up, and the journal may have dropped it."""

Reply = Callable[[Answer], None]


class Filing:
    """Brings the office's papers to the engine and answers once the journal holds them.

    Args:
        clock: of the watch.
        hear: brings the engine an event and returns what follows from it.
    """

    def __init__(self, clock: Clock, hear: Callable[[Event], list[Effect]]) -> None:
        self._clock = clock
        self._hear = hear
        self._waiting: dict[int, tuple[int, Reply, Instant]] = {}

    def take(self, ask: File | Judged, reply: Reply) -> None:
        """Carry it out; `reply` is called at once, or for a `File` when the journal has it."""
        now = self._clock.now()
        if isinstance(ask, Judged):
            breaches = tuple(events.Breach(found.subject, found.reason, found.detail) for found in ask.breaches)
            self._hear(events.Judged(breaches, now))
            reply(Answer(ask.ref, ok=True))
            return
        self._forget(now.mono)
        if not ask.papers or len(self._waiting) >= MOST_WAITING:
            reply(Answer(ask.ref, ok=not ask.papers, error="busy" if ask.papers else ""))
            return
        person = ask.by.strip() or None
        entries = tuple(Entry(paper.kind, paper.body, person) for paper in ask.papers)
        if wrong := refusal(entries):
            reply(Answer(ask.ref, ok=False, error="bad-request", detail=wrong))
            return
        for effect in self._hear(events.Filed(entries, now)):
            if isinstance(effect, Record):
                self._waiting[effect.ticket] = (ask.ref, reply, now.mono)

    def committed(self, ticket: int) -> None:
        """Hear that the journal holds what has this ticket."""
        waiting = self._waiting.pop(ticket, None)
        if waiting is not None:
            ref, reply, _ = waiting
            reply(Answer(ref, ok=True))

    def _forget(self, now: Instant) -> None:
        gone = [ticket for ticket, (_, _, since) in self._waiting.items() if now - since > FORGOTTEN_S * SECOND]
        for ticket in gone:
            del self._waiting[ticket]
