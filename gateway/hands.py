"""The engine's ears and hands: brings it what the parts say, carries its effects out, keeps its one timer.

Opens nothing and owns no clock: the machine's `App` gives it the real ones, the simulator those of its virtual time.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Protocol, assert_never

import structlog

from alerts.alarms import AlarmKey, AlarmState, Delivery, Outcome
from gateway.engine.engine import Engine
from gateway.engine.events import (
    ClockSet,
    Committed,
    Deliver,
    Delivered,
    Effect,
    Entry,
    Event,
    Filed,
    OutputReported,
    Record,
    SetOutput,
    Show,
    SystemCondition,
)
from gateway.engine.losses import Losses
from gateway.engine.pulse import Pulse
from gateway.field.links import Links
from gateway.field.wiring import Ears, Wiring
from gateway.journal import Journal
from sensors.readings import LinkChange, Scan
from sensors.stamps import MILLISECOND, SECOND, Clock, Instant

DEADLINES_SHARE_NS = 10 * MILLISECOND
"""Deadlines of the engine wait for the next multiple of it, which is when the lines wake the process too."""

EARLY_IS_CHEAP_NS = 50 * MILLISECOND
"""A timer that stands earlier than the next deadline by less than this is left alone: setting it has a price too."""

OUTCOMES_WAITING = 100
"""Records of mere outcomes that wait for the next alarm's record or heartbeat, to share its sync of the disk."""


class Keeper(Protocol):
    """Takes readings and records for the history (`gateway.recording.Recording`)."""

    def take(self, scan: Scan) -> None:
        """One scan, after the engine has judged it."""
        ...

    def note(self, record: Record) -> None:
        """What goes into the journal."""
        ...


class Hands:
    """Between the engine and everything that a configuration has built.

    Attributes:
        pulse: whether the loop turns as it should.
        links: which lines and brokers are up.
        written: told of each ticket that the journal holds, after the engine.
    """

    def __init__(
        self, clock: Clock, journal: Journal, *, keeper: Callable[[], Keeper], show: Callable[[], None]
    ) -> None:
        """`keeper` gives whoever keeps the history now; `show` is called when screens want the new picture."""
        self._clock = clock
        self._journal = journal
        self._keeper = keeper
        self._show = show
        self._loop = asyncio.get_running_loop()
        self._log = structlog.get_logger("hands")
        self._engine: Engine
        self._wiring: Wiring
        self._timer: asyncio.TimerHandle | None = None
        self._armed: Instant | None = None
        self._outcomes: list[Record] = []
        self._tickets: deque[int] = deque()
        self.written: Callable[[int], None] = lambda _ticket: None
        self._office_unwell: bool | None = None
        self._losses, self._journal_told = Losses(), ""
        self.pulse = Pulse(clock.now())
        self.links = Links()

    @property
    def outcomes_waiting(self) -> int:
        """How many records of mere outcomes wait to be written."""
        return len(self._outcomes)

    def ears(self) -> Ears:
        """What the parts are to be built with."""
        return Ears(self._scan, self._link, self._output, self._outcome, self._alarm, self._condition, self._keep)

    def take(self, engine: Engine, wiring: Wiring) -> None:
        """Work for this engine with these parts from now on; before anything is heard or performed."""
        self._engine, self._wiring = engine, wiring
        self._office_unwell = None  # the office is another one too: its first sign of life says how it is

    def hear(self, event: Event) -> list[Effect]:
        """Bring the engine one event and carry out what follows."""
        effects = self._engine.receive(event, self._clock.now())
        self.perform(effects)
        return effects

    def perform(self, effects: list[Effect]) -> None:
        """Carry effects out, in their order."""
        for effect in effects:
            match effect:
                case SetOutput():
                    self._wiring.outputs[effect.output].set(effect.on)
                case Record():
                    self._record(effect)
                case Deliver():
                    self._wiring.dispatcher.submit(effect.delivery, effect.event, effect.recorded)
                case Show():
                    self._show()
                case _:
                    assert_never(effect)
        self._arm()

    def beat(self, *, clock_is_set: Callable[[], bool]) -> None:
        """Once a second, from the loop that watches. `clock_is_set` is asked only while the civil time is doubted."""
        self.record_outcomes()
        self._notice_sleep()
        now = self._clock.now()
        self.perform(self._engine.advance(now))  # so that somebody looks at the civil clock, however quiet it is
        self.pulse.beat(now)
        self._losses.look(now.mono, self._journal.stands_s())
        self._say_journal()
        for relay in self._wiring.heartbeats:
            relay.beat()
        if self._engine.time.trusted:
            self._journal.alive(now.utc // MILLISECOND)
        elif clock_is_set():
            self.hear(ClockSet(now))

    def end(self) -> None:
        """Stop the timer and hand the last outcomes to the journal."""
        if self._timer is not None:
            self._timer.cancel()
        self.record_outcomes()

    def record_outcomes(self) -> None:
        """Have written what channels answered."""
        waiting, self._outcomes = self._outcomes, []
        if waiting and (reason := self._lost(*waiting)):
            self._losses.lost(reason, self._clock.now().mono)
            self._say_journal()

    def _lost(self, *records: Record) -> str:
        """Have records written; return why they cannot be. Notices leave all the same, marked as not recorded."""
        try:
            return "" if self._journal.submit(*records) else "dropped"
        except (TypeError, ValueError) as error:
            if len(records) > 1:  # the others are none the worse for it
                return next(filter(None, [self._lost(record) for record in records]), "")
            kinds = sorted({entry.kind for entry in records[0].entries})
            self._log.error("record cannot be journalled", kinds=kinds, reason=str(error))
            return "refused"

    # --- ears ------------------------------------------------------------------------------------

    def system(self, subject: str, *, present: bool, reason: str, detail: str) -> None:
        """A part of the gateway is unwell, or well again; heard in the next step of the loop."""
        self._loop.call_soon(self.hear, SystemCondition(subject, present, reason, detail, self._clock.now()))

    def part_trouble(self, part: str, unwell: bool, reason: str) -> None:
        """A supervised part has ended by itself, or has run well for a while since."""
        self.system(f"task:{part}", present=unwell, reason="ended", detail=reason)

    def office_unwell(self, unwell: bool) -> None:
        """The office is there, and a part of it fails again and again, or no longer does."""
        if unwell != self._office_unwell:
            self._office_unwell = unwell
            self.system("task:judge", present=unwell, reason="failing", detail="")

    def committed(self, ticket: int) -> None:
        """The journal's thread tells of a commit; the engine hears it on its own loop, of several at once."""
        self._tickets.append(ticket)
        if len(self._tickets) == 1:  # else the loop is about to take it with the others
            self._loop.call_soon_threadsafe(self._hear_commits)

    def journal_trouble(self, unwell: bool, reason: str) -> None:
        """The journal's thread is in trouble, or out of it."""

        def hear() -> None:
            self._losses.writer(reason if unwell else "", self._clock.now().mono)
            self._say_journal()

        self._loop.call_soon_threadsafe(hear)

    def _say_journal(self) -> None:
        if self._losses.reason != self._journal_told:
            self._journal_told = self._losses.reason
            self.system("journal", present=bool(self._journal_told), reason=self._journal_told, detail="")

    def _hear_commits(self) -> None:
        tickets = tuple(self._tickets.popleft() for _ in range(len(self._tickets)))
        if self._tickets:  # came meanwhile, and counted on us
            self._loop.call_soon(self._hear_commits)
        if tickets:
            self._losses.kept()
            self.hear(Committed(tickets, self._clock.now()))
        for ticket in tickets:
            self.written(ticket)

    def _scan(self, scan: Scan) -> None:
        if not self._engine.passes(scan):
            effects = self._engine.receive(scan, self._clock.now())
            if effects:
                self.perform(effects)
        self._keeper().take(scan)

    def _link(self, change: LinkChange) -> None:
        self.links.hear(change)
        self.hear(change)

    def _output(self, output: str, on: bool | None, reason: str) -> None:
        self.hear(OutputReported(output, on, reason, self._clock.now()))

    def _condition(self, condition: SystemCondition) -> None:
        self.hear(condition)

    def _keep(self, entry: Entry) -> None:
        self.hear(Filed((entry,), self._clock.now()))

    def _outcome(self, delivery: Delivery, outcome: Outcome) -> None:
        self.hear(Delivered(delivery, outcome, self._clock.now()))

    def _alarm(self, key: AlarmKey) -> AlarmState | None:
        return self._engine.book.get(key)

    # --- hands -----------------------------------------------------------------------------------

    def _record(self, record: Record) -> None:
        """Have it written. What channels answered may wait a second: a crash repeats a notice, it never loses one."""
        self._keeper().note(record)
        self._outcomes.append(record)
        if len(self._outcomes) > OUTCOMES_WAITING or any(entry.kind != "delivery" for entry in record.entries):
            self.record_outcomes()

    def _arm(self) -> None:
        """Keep one timer, set to the engine's next deadline or a little before it."""
        due = self._engine.next_deadline()
        if due is None:
            return
        due = Instant(-(-due // DEADLINES_SHARE_NS) * DEADLINES_SHARE_NS)
        if self._armed is not None and self._armed <= due < self._armed + EARLY_IS_CHEAP_NS:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._armed = due
        self._timer = self._loop.call_later(max(0, due - self._clock.now().mono) / SECOND, self._advance)

    def _advance(self) -> None:
        self._timer = self._armed = None
        self._notice_sleep()
        self.perform(self._engine.advance(self._clock.now()))
        self._arm()

    def _notice_sleep(self) -> None:
        """Tell when this loop itself stood still: nobody watched meanwhile, and no head is to blame for its age."""
        now = self._clock.now()
        if length := self.pulse.stood_still(now):
            self.perform(self._engine.slept(length, now))
        elif self.pulse.well_again(now):
            self.system("watch", present=False, reason="", detail="")
