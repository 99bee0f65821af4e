"""Plays drawn depots in virtual time, holds every step against the promises, and cuts what fails down to its shortest.

One seed is one depot with its timeline; the same seed leaves the same trace on every machine.
"""

import asyncio
import hashlib
import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from alerts.alarms import AlarmKey, Kind
from alerts.dispatcher import WAITING_MAX
from alerts.effects import OutputKind
from alerts.outbox import MOST_OWED
from gateway.budget import budgets
from gateway.configuration.loading import load
from gateway.depot import Depot
from gateway.events import (
    Action,
    CloseWindow,
    Command,
    Deliver,
    Effect,
    Entry,
    OpenWindow,
    Record,
    SetOutput,
    WindowKind,
)
from gateway.hands import OUTCOMES_WAITING
from gateway.journal import check
from gateway.journal.writer import MOST_QUEUED
from gateway.records import event_from
from sensors.stamps import SECOND
from simulator.bookkeeping import Bookkeeping
from simulator.checker import Broken, Checker, HeadRule, Rules
from simulator.disks import LossyDisk
from simulator.draws import MACHINE, PEOPLE, Dice, DrawnDepot, Happening, timeline
from simulator.draws import depot as drawn_depot
from simulator.field import Field
from simulator.lives import Life, Onlooker
from simulator.mishaps import MISHAPS
from simulator.pipes import NetLoop
from simulator.virtual import VirtualClock, current

LOOKS_S: Final = 10.0
"""How often the bounds are looked at."""

HEALS_S: Final = 60.0
SETTLES_S: Final = 50.0
"""After all faults: time to be read again, and for every message to leave (its longest pause is 30 s)."""

TICKS_S: Final = 0.05
"""Deadlines of the engine share wake-ups."""

MOST_TIMERS: Final = 400
MOST_DEADLINES: Final = 2_000
MOST_TRIES: Final = 300
"""Timelines tried to find the shortest that fails."""

STANDS_LONGER: Final = ("flood", "chatter:")
"""Conditions that tell of the last minutes as a whole."""

DROPPED: Final = ("superseded", "outbox full", "expired")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one timeline.

    Attributes:
        trace: a hash over everything that the gateway did and when.
        broken: the promises that were not kept; the first is what counts.
        kept: how often each promise was put to the test.
    """

    seed: int
    hours: float
    trace: str
    events: int
    broken: tuple[Broken, ...]
    kept: dict[str, int] = field(default_factory=dict)
    timeline: tuple[Happening, ...] = ()


def judge(seed: int, hours: float) -> Verdict:
    """Draw the depot and the timeline of this seed and play them."""
    drawn = drawn_depot(seed)
    return play(seed, drawn, timeline(seed, drawn, hours), hours)


def play(
    seed: int,
    drawn: DrawnDepot,
    happenings: Sequence[Happening],
    hours: float,
    looks: Callable[[float], None] = lambda _: None,
) -> Verdict:
    """Play one timeline to its end, or to the first promise that is not kept.

    `looks` is called every `LOOKS_S`, with the seconds since the beginning.
    """
    with TemporaryDirectory(prefix="vigia-swarm-", dir=_memory()) as folder:
        loop = NetLoop()  # type: ignore[abstract]  # what is not there, nothing here asks for
        try:
            game = _Game(seed, drawn, happenings, hours, Path(folder), loop, looks)
            try:
                loop.run_until_complete(game.play())
            finally:
                game.disk.unregister()
        finally:
            loop.close()
    return game.verdict()


def shortest(verdict: Verdict, most_tries: int = MOST_TRIES) -> Verdict:
    """Return the shortest timeline found that still breaks the same promise."""
    drawn, tries = drawn_depot(verdict.seed), 0
    promise, at = verdict.broken[0].promise, verdict.broken[0].at
    entries = [each for each in verdict.timeline if each.at <= at]
    best = replace(verdict, timeline=tuple(entries))
    size = max(1, len(entries) // 2)
    while size and tries < most_tries:
        start = 0
        while start < len(entries) and tries < most_tries:
            fewer = entries[:start] + entries[start + size :]
            tries += 1
            found = play(verdict.seed, drawn, fewer, verdict.hours)
            if found.broken and found.broken[0].promise == promise:
                entries, best = fewer, found
            else:
                start += size
        size //= 2
    return best


class _Game(Onlooker):
    """One timeline being played."""

    def __init__(
        self,
        seed: int,
        drawn: DrawnDepot,
        happenings: Sequence[Happening],
        hours: float,
        folder: Path,
        loop: NetLoop,
        looks: Callable[[float], None],
    ) -> None:
        self._looks = looks
        file = folder / "depot.toml"
        file.write_text(drawn.toml(), encoding="utf-8")
        self._depot = load(file, {}).depot
        self._depot.data.mkdir(parents=True, exist_ok=True)
        self._seed, self._hours, self._happenings = seed, hours, tuple(happenings)
        self._loop, self._clock = loop, VirtualClock(loop)
        self._dice = Dice(seed * 2 + 3)
        self.disk = LossyDisk(f"swarm-{seed}", _waiting)
        self._checker = Checker(rules_of(self._depot))
        self._checker.when_due = lambda at: loop.call_at(at, self._inspect)
        self._books = Bookkeeping()
        self._field = Field(loop, drawn, self._depot, self.disk, self._checker)
        self._field.last_taken = lambda phone, event: self._note("took", phone, event.id)
        self._life: Life | None = None
        self._lives = 0
        self._trace = hashlib.sha256()
        self._events = 0
        self._began = loop.time()
        self._dropped = 0
        self._agenda: list[tuple[float, int, str, Happening]] = []
        self._count = 0

    # --- the whole -------------------------------------------------------------------------------

    async def play(self) -> None:
        """From switching on to the end."""
        await self._field.begin()
        self._start()
        for happening in self._happenings:
            self._plan(happening.at, "begin", happening)
        self._plan(LOOKS_S, "look", Happening(LOOKS_S, "look"))
        end = self._hours * 3600.0
        while self._agenda and self._agenda[0][0] <= end and not self._over:
            at, _, stage, happening = heapq.heappop(self._agenda)
            await self._until(at)
            await self._carry_out(stage, happening)
        if not self._over:
            await self._until(end)
            await self._settle()
        if self._life is not None:
            await self._life.kill(None)

    def verdict(self) -> Verdict:
        """Return what came of it."""
        broken = sorted((*self._checker.broken, *self._books.broken), key=lambda each: each.at)
        faults = [Broken(self._loop.time(), "no-crash", fault) for fault in self._loop.faults]
        moved = tuple(Broken(round(each.at - self._began, 3), each.promise, each.detail) for each in broken + faults)
        kept = self._checker.kept | {f"messages {how}": count for how, count in self._books.settled.items()}
        return Verdict(
            self._seed, self._hours, self._trace.hexdigest()[:16], self._events, moved, kept, self._happenings
        )

    @property
    def _over(self) -> bool:
        return bool(self._checker.broken or self._books.broken or self._loop.faults)

    def _plan(self, at: float, stage: str, happening: Happening) -> None:
        self._count += 1
        heapq.heappush(self._agenda, (at, self._count, stage, happening))

    async def _until(self, at: float) -> None:
        wait = self._began + at - self._loop.time()
        if wait > 0:
            await asyncio.sleep(wait)

    @property
    def _now(self) -> float:
        return self._loop.time() - self._began

    # --- what happens ----------------------------------------------------------------------------

    async def _carry_out(self, stage: str, happening: Happening) -> None:
        what, target = happening.what, happening.target
        if what == "look":
            self._look()
            self._plan(self._now + LOOKS_S, "look", happening)
        elif stage == "heal":
            self._note("heal", what, target)
            await self._field.heal(what, target)
        elif what == "leak":
            self._note("leak", target, happening.size)
            self._field.leak(target, happening.lasts, happening.size)
        elif what in MISHAPS:
            self._note("strike", what, target)
            await self._field.strike(what, target)
            self._plan(self._now + happening.lasts, "heal", happening)
        elif what in PEOPLE:
            self._act(what, target, happening.size)
        elif what in MACHINE:
            await self._machine(stage, happening)

    async def _machine(self, stage: str, happening: Happening) -> None:
        if happening.what == "clock-step":
            self._note("clock", happening.size)
            self._clock.skew_ns += round(happening.size * SECOND)
            return
        if self.disk.failing or self.disk.free_bytes is not None:
            self._plan(self._now + 5.0, stage, happening)  # trials of a disk that is ill at the start are elsewhere
            return
        if stage == "up":
            self._start()
            return
        life = self._life
        if life is None:
            return
        self._note(happening.what)
        self._look_at_drops(life)
        self._checker.ended(self._loop.time())
        if happening.what == "restart":
            await life.stop()
        else:
            await life.kill(None if happening.what == "kill" else self._survives)
        self._life = None
        self._plan(self._now + happening.lasts, "up", happening)

    def _survives(self) -> float:
        """How much of an unsynced write is there after a power cut."""
        roll = self._dice.roll()
        return 0.0 if roll < 0.4 else 1.0 if roll < 0.8 else (roll - 0.8) / 0.2

    def _start(self) -> None:
        self._lives += 1
        life = Life(self._loop, self._clock, self._depot, self.disk, self._field, f"b{self._lives:03d}")
        now = self._loop.time()
        self._note("start", self._lives, life.reason)
        if life.reason:
            self._books.standing(now, "journal", 1, f"{life.reason} after a crash")
        self._dropped = 0
        self._life = life
        self._books.restored(now, life.journal.restored)
        life.begin(self)
        self._books.put_back(
            now, life.journal.restored, life.engine.book, (owed.delivery.id for owed in life.engine.telling.outbox)
        )
        self._checker.began(now)
        self._inspect()

    def _act(self, what: str, head: str, minutes: float) -> None:
        life, now = self._life, self._clock.now()
        if life is None:
            return
        self._note("act", what, head)
        self._checker.asked(self._loop.time(), what, head)
        match what:
            case "test" | "inhibit":
                kind = WindowKind.TEST if what == "test" else WindowKind.INHIBIT
                life.hands.hear(OpenWindow(kind, head, round(minutes * 60 * SECOND), "Ana", "", now))
            case "close":
                life.hands.hear(CloseWindow(head, "Ana", now))
            case _:
                kinds = (Kind.GAS, Kind.BLIND) if what == "acknowledge" else (Kind.GAS,)
                for kind_of_alarm in kinds:
                    life.hands.hear(Command(Action(what), AlarmKey(head, kind_of_alarm), "Ana", "", now))

    # --- looking on ------------------------------------------------------------------------------

    def performs(self, effects: list[Effect]) -> None:
        """Hold what the engine asks for against the promises, before it is done."""
        life, now = self._life, self._loop.time()
        if life is None:
            return
        for effect in effects:
            match effect:
                case Record():
                    self._books.recorded(now, effect)
                    self._entries(effect.entries)
                    alarms = (entry.body for entry in effect.entries if entry.kind == "alarm")
                    self._checker.heard(now, [event_from(body, self._clock.now()) for body in alarms])
                case Deliver():
                    self._note("deliver", effect.delivery.id, effect.delivery.attempt, effect.recorded)
                    self._books.leaves(now, effect.event, recorded=effect.recorded)
                case SetOutput():
                    self._note("output", effect.output, effect.on)
                case _:
                    pass
        self._inspect()

    def committed(self, ticket: int) -> None:
        """The journal holds this."""
        self._note("commit", ticket)
        self._books.committed(self._loop.time(), ticket)

    def _entries(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            body = entry.body
            if entry.kind == "alarm":
                self._events += 1
                said = (body["seq"], body["subject"], body["kind"], body["event"], body["level"], body["lel_milli"])
                self._note("alarm", *said)
            elif entry.kind == "delivery":
                self._note("answer", body["delivery"], body["outcome"], body["reason"])
                self._dropped += str(body["reason"]).startswith(DROPPED)
            else:
                self._note(entry.kind)

    def _note(self, *said: object) -> None:
        self._trace.update(f"{round(self._now * 1000)} {said!r}\n".encode())

    def _inspect(self) -> None:
        """See to the duties that are due."""
        now, life = self._loop.time(), self._life
        if life is None:
            return
        self._checker.due(now, life.engine.book)

    def _look(self) -> None:
        life, now = self._life, self._loop.time()
        self._inspect()
        self._looks(self._now)
        if life is None:
            return
        lanes = life.wiring.dispatcher.counts()
        figures = {
            "outbox": (len(life.engine.telling.outbox), MOST_OWED),
            "journal": (life.journal.health().queued, MOST_QUEUED),
            "deadlines": (len(life.engine.deadlines), MOST_DEADLINES),
            "outcomes": (life.hands.outcomes_waiting, OUTCOMES_WAITING + 1),
            "timers": (self._loop.pending, MOST_TIMERS),
            "tasks": (len(asyncio.all_tasks(self._loop)), 100),
        }
        figures |= {f"lane {name}": (lane.waiting, WAITING_MAX) for name, lane in lanes.items()}
        self._books.bounded(now, figures)

    def _look_at_drops(self, life: Life) -> None:
        """Nothing goes without being counted, and nothing at all where there is room."""
        now, health, outbox = self._loop.time(), life.journal.health(), life.engine.telling.outbox
        if outbox.dropped != self._dropped:
            self._books.standing(
                now, "messages", outbox.dropped, f"the outbox dropped {outbox.dropped} and recorded {self._dropped}"
            )
        lost = {"dropped": health.dropped, "refused": health.refused, "orphans": health.orphans}
        self._books.standing(now, "records", sum(lost.values()), str(lost))

    # --- the end ---------------------------------------------------------------------------------

    async def _settle(self) -> None:
        """All faults heal; everybody is read again, takes their alarms, and every message finds its end."""
        healing = sorted(self._agenda)
        self._agenda = []
        for _, _, stage, happening in healing:
            if stage == "heal":
                await self._carry_out(stage, happening)
        if self._life is None:
            self._start()
        await asyncio.sleep(HEALS_S)
        for _ in range(2):
            self._take_all()
            await asyncio.sleep(SETTLES_S)
        life, now = self._life, self._loop.time()
        if life is None or self._over:
            return
        self._look()
        left = [
            f"{alarm.key.subject} {alarm.key.kind.value} {alarm.phase.value} {alarm.reason}"
            for alarm in life.engine.book
            if not alarm.key.subject.startswith(STANDS_LONGER)
        ]
        self._books.standing(now, "alarms", len(left), "; ".join(left))
        owed = [owed.delivery.id for owed in life.engine.telling.outbox]
        self._books.standing(now, "messages", len(owed), "; ".join(owed[:5]))
        blind = [str(name) for name, head in life.engine.sight.heads.items() if not life.engine.sight.watching(head)]
        self._books.standing(now, "blind heads", len(blind), "; ".join(blind))
        self._look_at_drops(life)
        self._checker.ended(now)
        await life.stop()
        self._life = None
        problems = check(self._depot.journal)
        self._books.standing(now, "problems of the journal", len(problems), "; ".join(problems[:5]))
        self._note("end", self._events)

    def _take_all(self) -> None:
        life = self._life
        if life is None:
            return
        for head in self._field.heads:
            life.hands.hear(CloseWindow(head, "Ana", self._clock.now()))
        for alarm in list(life.engine.book):
            for action in (Action.ACKNOWLEDGE, Action.RESET):
                self._checker.asked(self._loop.time(), action.value, alarm.key.subject)
                life.hands.hear(Command(action, alarm.key, "Ana", "", self._clock.now()))


def rules_of(depot: Depot) -> Rules:
    """Return what is promised of this depot."""
    worst = {figure.detector: figure.total_s for figure in budgets(depot)}
    heads = {
        str(head.id): HeadRule(
            head.source,
            alarm_s=max(depot.within_s, worst[head.id]),
            blind_s=max((head.detects_silence_s or 0.0) + depot.within_s, head.blind_after_s + TICKS_S),
        )
        for head in depot.detectors
    }
    sirens = frozenset(output.id for output in depot.outputs if output.row.kind is OutputKind.SIREN)
    return Rules(depot.levels, heads, sirens, frozenset(channel.id for channel in depot.channels))


def _waiting(seconds: float) -> None:
    """Wait for a slow disk, where that can be done: whoever opens a journal does so outside the watch."""
    thread = current()
    if thread is not None:
        thread.sleep(seconds)


def _memory() -> str | None:
    """Where files need no disk; None for the system's own folder of temporary files."""
    folder = Path("/dev/shm")  # noqa: S108 - a folder with a random name is made in it
    return str(folder) if folder.is_dir() else None
