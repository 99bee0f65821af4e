"""Looks on at every life of the gateway: writes the trace, and holds what is done against the promises."""

import asyncio
import hashlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final

from alerts.alarms import Kind
from alerts.dispatcher import WAITING_MAX
from alerts.outbox import MOST_OWED
from gateway.engine.events import Deliver, Effect, Entry, Record, SetOutput
from gateway.engine.records import event_from
from gateway.hands import OUTCOMES_WAITING
from gateway.journal.errors import StoreError
from gateway.journal.writer import MOST_QUEUED
from simulator.bookkeeping import Bookkeeping
from simulator.checker import Checker
from simulator.field import Field
from simulator.lives import Life, Onlooker
from simulator.oracle import held, rests_on_the_live
from simulator.pipes import NetLoop
from simulator.promises import NEVER, Broken
from simulator.rounds import Rounds
from simulator.virtual import VirtualClock

MOST_TIMERS: Final = 400
MOST_DEADLINES: Final = 2_000
MOST_TASKS: Final = 100

STOCK_LOOKS_S: Final = 50.0
"""The books are looked at so often at most: each look opens the journal."""

PAPERS_LOOKS_S: Final = 300.0
"""Fresh books are opened so often at most: each judges everything anew."""

COMPLIANCE: Final = Kind.COMPLIANCE

STANDS_LONGER: Final = ("flood", "chatter:")
"""Conditions that tell of the last minutes as a whole."""

DROPPED: Final = ("superseded", "outbox full", "expired")


class Witness(Onlooker):
    """Sees everything, from the first life to the last.

    Attributes:
        life: the gateway that runs now.
        events: alarm events so far.
    """

    def __init__(
        self,
        loop: NetLoop,
        clock: VirtualClock,
        checker: Checker,
        rounds: Rounds,
        field: Field,
        looks: Callable[[float], None],
    ) -> None:
        self.life: Life | None = None
        self.events = 0
        self.books = Bookkeeping()
        self._loop = loop
        self._clock = clock
        self._checker = checker
        self._rounds = rounds
        self._stock, self._field = field.stock, field
        self._stock_seen = NEVER
        self._papers_seen = loop.time()
        self._looks = looks
        self._began = loop.time()
        self._trace = hashlib.sha256()
        self._dropped = 0
        checker.when_due = lambda at: loop.call_at(at, self.inspect)

    @property
    def now(self) -> float:
        """Seconds since the beginning."""
        return self._loop.time() - self._began

    @property
    def trace(self) -> str:
        """A hash over everything so far."""
        return self._trace.hexdigest()[:16]

    @property
    def over(self) -> bool:
        """Whether a promise was not kept."""
        return bool(self._checker.broken or self._rounds.broken or self.books.broken or self._loop.faults)

    def broken(self) -> tuple[Broken, ...]:
        """Every promise that was not kept, oldest first, with seconds since the beginning."""
        broken = sorted((*self._checker.broken, *self._rounds.broken, *self.books.broken), key=lambda each: each.at)
        faults = [Broken(self._loop.time(), "no-crash", fault) for fault in self._loop.faults]
        return tuple(Broken(round(each.at - self._began, 3), each.promise, each.detail) for each in broken + faults)

    def kept(self) -> dict[str, int]:
        """How often each promise was put to the test."""
        return (
            self._checker.kept
            | self._rounds.kept
            | {f"messages {how}": count for how, count in self.books.settled.items()}
        )

    def note(self, *said: object) -> None:
        """Write one line of the trace."""
        self._trace.update(f"{round(self.now * 1000)} {said!r}\n".encode())

    # --- lives -----------------------------------------------------------------------------------

    def begins(self, life: Life) -> None:
        """A life begins: what it was given by the journal is held against what was committed."""
        now = self._loop.time()
        if life.reason:
            self.books.standing(now, "journal", 1, f"{life.reason} after a crash")
        self._dropped = 0
        self.life = life
        if self._rounds.board is not None:
            self._rounds.board.doubt(self.books.uncommitted())
        self.books.restored(now, life.journal.restored)
        life.begin(self)
        owed = (owed.delivery.id for owed in life.engine.telling.outbox)
        self.books.put_back(now, life.journal.restored, life.engine.book, owed)
        self._checker.began(now)
        self._rounds.stirred(now)
        self._stock.stirred(now)
        self._field.papers.stirred(now)
        self.inspect()

    def ends(self) -> None:
        """It is about to end, in whatever way."""
        if self.life is not None:
            self.look_at_drops(self.life)
        self._checker.ended(self._loop.time())

    # --- what it does ----------------------------------------------------------------------------

    def performs(self, effects: list[Effect]) -> None:
        """Hold what the engine asks for against the promises, before it is done."""
        now = self._loop.time()
        if self.life is None:
            return
        for effect in effects:
            match effect:
                case Record():
                    self.books.recorded(now, effect)
                    self._entries(effect.entries)
                    alarms = (entry.body for entry in effect.entries if entry.kind == "alarm")
                    events = [event_from(body, self._clock.now()) for body in alarms]
                    self._checker.heard(now, events)
                    self._rounds.heard(now, events)
                case Deliver():
                    self.note("deliver", effect.delivery.id, effect.delivery.attempt, effect.recorded)
                    self.books.leaves(now, effect.event, recorded=effect.recorded)
                case SetOutput():
                    self.note("output", effect.output, effect.on)
                case _:
                    pass
        self.inspect()

    def committed(self, ticket: int) -> None:
        """The journal holds this."""
        self.note("commit", ticket)
        self.books.committed(self._loop.time(), ticket)

    def _entries(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            body = entry.body
            if entry.kind == "alarm":
                self.events += 1
                said = (body["seq"], body["subject"], body["kind"], body["event"], body["level"], body["lel_milli"])
                self.note("alarm", *said)
            elif entry.kind == "delivery":
                self.note("answer", body["delivery"], body["outcome"], body["reason"])
                self._dropped += str(body["reason"]).startswith(DROPPED)
            else:
                self.note(entry.kind)

    # --- looking around --------------------------------------------------------------------------

    def inspect(self) -> None:
        """See to the duties that are due."""
        if self.life is not None:
            self._checker.due(self._loop.time(), self.life.engine.book)

    def look(self) -> None:
        """Look at every bound."""
        life, now = self.life, self._loop.time()
        self.inspect()
        self._looks(self.now)
        if life is None:
            return
        owed = {owing.delivery.channel for owing in life.engine.telling.outbox}
        self._rounds.look(now, self._clock.now().utc, life.engine.book, owed)
        self._look_at_stock(now, life)
        if now - self._papers_seen >= PAPERS_LOOKS_S:
            self._papers_seen = now
            self.look_at_papers(life, live=False)
        lanes = life.wiring.dispatcher.counts()
        figures = {
            "outbox": (len(life.engine.telling.outbox), MOST_OWED),
            "journal": (life.journal.health().queued, MOST_QUEUED),
            "deadlines": (len(life.engine.deadlines), MOST_DEADLINES),
            "outcomes": (life.hands.outcomes_waiting, OUTCOMES_WAITING + 1),
            "timers": (self._loop.pending, MOST_TIMERS),
            "tasks": (len(asyncio.all_tasks(self._loop)), MOST_TASKS),
        }
        figures |= {f"lane {name}": (lane.waiting, WAITING_MAX) for name, lane in lanes.items()}
        self.books.bounded(now, figures)

    def _look_at_stock(self, now: float, life: Life) -> None:
        if life.office is not None and not self._stock.ill and now - self._stock_seen >= STOCK_LOOKS_S:
            self._stock_seen = now
            with suppress(StoreError):  # a journal that was just cut off; it is looked at again
                life.office.catch_up()
                self._stock.look(now, life.office.desk)

    def look_at_papers(self, life: Life, *, live: bool) -> None:
        """Hold registers and findings against fresh books; `live`: what rests on the heads and outputs of now, too."""
        now, papers, law = self._loop.time(), self._field.papers, self._field.law
        if law is None or life.office is None or not papers.calm(now):
            return
        with suppress(StoreError):
            found = held(life.depot, law, lambda: self._clock.now().utc)
            papers.look_at_entries(now, found.entries)
            standing = papers.look_at_changes(now, found.changes)
            alarms = [each.key.subject for each in life.engine.book if each.key.kind is COMPLIANCE and each.present]
            fresh = (one for one in found.fresh if live or not rests_on_the_live(one))
            papers.look_at_verdicts(now, standing, fresh, alarms)

    def look_at_drops(self, life: Life) -> None:
        """Nothing goes without being counted, and nothing at all where there is room."""
        now, health, outbox = self._loop.time(), life.journal.health(), life.engine.telling.outbox
        if outbox.dropped != self._dropped:
            self.books.standing(
                now, "messages", outbox.dropped, f"the outbox dropped {outbox.dropped} and recorded {self._dropped}"
            )
        lost = {"dropped": health.dropped, "refused": health.refused, "orphans": health.orphans}
        self.books.standing(now, "records", sum(lost.values()), str(lost))

    def look_at_rest(self, life: Life) -> None:
        """All faults are over, and everybody has taken their alarms: nothing is left."""
        self.look()
        self.look_at_papers(life, live=True)
        now, engine = self._loop.time(), life.engine
        left = [
            f"{alarm.key.subject} {alarm.key.kind.value} {alarm.phase.value} {alarm.reason}"
            for alarm in engine.book
            if not alarm.key.subject.startswith(STANDS_LONGER) and alarm.key.kind is not COMPLIANCE
        ]
        self.books.standing(now, "alarms", len(left), "; ".join(left))
        owed = [owed.delivery.id for owed in engine.telling.outbox]
        self.books.standing(now, "messages", len(owed), "; ".join(owed[:5]))
        blind = [str(name) for name, head in engine.sight.heads.items() if not engine.sight.watching(head)]
        self.books.standing(now, "blind heads", len(blind), "; ".join(blind))
