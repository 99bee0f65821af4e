"""Plays one timeline: befalls the field and the machine, lets people act, and settles everything at the end."""

import asyncio
import heapq
from collections.abc import Callable, Sequence
from typing import Final
from zoneinfo import ZoneInfo

from alerts.alarms import AlarmKey, Kind
from alerts.effects import OutputKind
from compliance.registers.entries import Millis
from compliance.registers.facts import day
from dashboards.office import Enter, Reply
from gateway.depot import Depot
from gateway.engine.events import Action, CloseWindow, Command, Drill, OpenWindow, WindowKind
from gateway.journal import check
from sensors.stamps import MILLISECOND, SECOND
from simulator.checker import Checker
from simulator.dice import Dice
from simulator.disks import LossyDisk
from simulator.field import Field
from simulator.lives import Life
from simulator.mishaps import MISHAPS
from simulator.pipes import NetLoop
from simulator.registrars import calls
from simulator.rounds import DRILL_S, Posted, Rounds
from simulator.timelines import MACHINE, PEOPLE, Happening
from simulator.virtual import VirtualClock
from simulator.witness import Witness

LOOKS_S: Final = 10.0
"""How often the bounds are looked at."""

HEALS_S: Final = 60.0
WHY: Final = "peça pedida"
WINDOWS: Final = {
    "test": WindowKind.TEST,
    "inhibit": WindowKind.INHIBIT,
    "out-of-service": WindowKind.OUT_OF_SERVICE,
}
SETTLES_S: Final = 50.0
"""After all faults: time to be read again, and for every message to leave (its longest pause is 30 s)."""


class Game:
    """One timeline being played."""

    def __init__(
        self,
        loop: NetLoop,
        clock: VirtualClock,
        install: Callable[[tuple[str, ...]], Depot],
        field: Field,
        disk: LossyDisk,
        checker: Checker,
        rounds: Rounds,
        witness: Witness,
        dice: Dice,
    ) -> None:
        self._loop = loop
        self._clock = clock
        self._install = install
        self._changes: list[str] = []
        self._depot = install(())
        self._field = field
        self._disk = disk
        self._checker = checker
        self._rounds = rounds
        self._witness = witness
        self._dice = dice
        self._began = loop.time()
        self._lives = 0
        self._agenda: list[tuple[float, int, str, Happening]] = []
        self._count = 0

    async def play(self, happenings: Sequence[Happening], hours: float) -> None:
        """From switching on to the end, or to the first promise that is not kept."""
        await self._field.begin()
        self._start()
        for happening in happenings:
            self._plan(happening.at, "begin", happening)
        self._plan(LOOKS_S, "look", Happening(LOOKS_S, "look"))
        end = hours * 3600.0
        while self._agenda and self._agenda[0][0] <= end and not self._witness.over:
            at, _, stage, happening = heapq.heappop(self._agenda)
            await self._until(at)
            await self._carry_out(stage, happening)
        if not self._witness.over:
            await self._until(end)
            await self._settle()
        if self._witness.life is not None:
            await self._witness.life.kill(None)

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
            self._witness.look()
            self._plan(self._now + LOOKS_S, "look", happening)
        elif stage == "heal" and what in MISHAPS:
            self._witness.note("heal", what, target)
            await self._field.heal(what, target)
        elif what == "leak":
            self._witness.note("leak", target, happening.size)
            self._field.leak(target, happening.lasts, happening.size)
        elif what == "passage":
            self._witness.note("passage", target, happening.size)
            self._field.turnstiles.passes(target, int(happening.size))
        elif what == "entry":
            self._enter(target, int(happening.size))
        elif what in MISHAPS:
            self._witness.note("strike", what, target)
            await self._field.strike(what, target)
            self._plan(self._now + happening.lasts, "heal", happening)
        elif what in PEOPLE:
            self._act(what, target, happening.size)
        elif what in MACHINE:
            await self._machine(stage, happening)

    async def _machine(self, stage: str, happening: Happening) -> None:
        if happening.what == "clock-step":
            self._witness.note("clock", happening.size)
            self._clock.skew_ns += round(happening.size * SECOND)
            self._rounds.quiet.stirred(self._loop.time())
            self._field.papers.stirred(self._loop.time())
            return
        if happening.what == "reload":
            await self._reload(stage, happening)
            return
        if self._disk.failing or self._disk.free_bytes is not None:
            self._plan(self._now + 5.0, stage, happening)  # trials of a disk that is ill at the start are elsewhere
            return
        if stage == "up":
            self._start()
            return
        life = self._witness.life
        if life is None:
            return
        self._witness.note(happening.what)
        self._witness.ends()
        if happening.what == "restart":
            await life.stop()
        else:
            await life.kill(None if happening.what == "kill" else self._survives)
        self._witness.life = None
        self._plan(self._now + happening.lasts, "up", happening)

    async def _reload(self, stage: str, happening: Happening) -> None:
        """The file has changed, or was put back as it was before; whoever starts next reads it so."""
        if stage == "begin":
            self._changes.append(happening.target)
            self._plan(self._now + happening.lasts, "heal", happening)
        else:
            self._changes.remove(happening.target)
        self._witness.note("reload", *self._changes)
        self._depot = self._install(tuple(self._changes))
        now, life = self._loop.time(), self._witness.life
        self._checker.follows(now, {str(head.id) for head in self._depot.detectors})
        self._rounds.follows(now, posted(self._depot, self._changes))
        self._field.stock.stirred(now)
        self._field.papers.stirred(now)
        if life is not None:
            await life.follow(self._depot)

    def _survives(self) -> float:
        """How much of an unsynced write is there after a power cut."""
        roll = self._dice.roll()
        return 0.0 if roll < 0.4 else 1.0 if roll < 0.8 else (roll - 0.8) / 0.2

    def _start(self) -> None:
        self._lives += 1
        life = Life(self._loop, self._clock, self._depot, self._disk, self._field, f"b{self._lives:03d}")
        self._witness.note("start", self._lives, life.reason)
        self._witness.begins(life)

    def _act(self, what: str, head: str, minutes: float) -> None:
        life, now = self._witness.life, self._clock.now()
        if life is None:
            return
        self._witness.note("act", what, head)
        self._checker.asked(self._loop.time(), what, head)
        match what:
            case "test" | "inhibit" | "out-of-service":
                length = round(minutes * 60 * SECOND)
                life.hands.hear(OpenWindow(WINDOWS[what], head, length, "Ana", WHY, now))
            case "shelve" | "unshelve":
                key, length = AlarmKey(head, Kind.BLIND), round(minutes * 60 * SECOND)
                life.hands.hear(Command(Action(what), key, "Ana", WHY, now, length))
            case "drill":
                self._rounds.stirred(self._loop.time(), for_s=DRILL_S)
                life.hands.hear(Drill((), "Ana", WHY, now))
            case "close":
                life.hands.hear(CloseWindow(head, "Ana", now))
            case _:
                kinds = (Kind.GAS, Kind.BLIND) if what == "acknowledge" else (Kind.GAS,)
                for kind_of_alarm in kinds:
                    life.hands.hear(Command(Action(what), AlarmKey(head, kind_of_alarm), "Ana", "", now))

    def _enter(self, kind: str, number: int) -> None:
        """Somebody enters something in a register; who finds no office comes another day."""
        life, papers = self._witness.life, self._field.papers
        if life is None:
            return
        today = day(Millis(self._clock.now().utc // MILLISECOND), ZoneInfo(self._depot.timezone))
        asks = calls(kind, number, today, papers.entered)
        self._witness.note("entry", kind, number)
        for ask in asks:
            papers.asked(self._loop.time(), ask.lines[0])

        def heard(ask: Enter, reply: Reply) -> None:
            self._witness.note("answered", ask.lines[0].id, reply.ok, reply.error)
            papers.answered(self._loop.time(), ask.lines[0], reply)

        life.enter(asks, heard)

    # --- the end ---------------------------------------------------------------------------------

    async def _settle(self) -> None:
        """All faults heal; everybody is read again, takes their alarms, and every message finds its end."""
        self._field.clear_air()
        healing = sorted(self._agenda)
        self._agenda = []
        for _, _, stage, happening in healing:
            if stage == "heal":  # of a fault, or the file as it was
                await self._carry_out(stage, happening)
        if self._witness.life is None:
            self._start()
        await asyncio.sleep(HEALS_S)
        self._take_all()
        await asyncio.sleep(SETTLES_S)
        self._act("drill", "", 0.0)  # a test that failed under a fault stands until one is passed
        await asyncio.sleep(SETTLES_S)
        for _ in range(2):  # a head that was beyond its range is well with its reset, which is then to be taken
            self._take_all()
            await asyncio.sleep(SETTLES_S)
        life = self._witness.life
        if life is None or self._witness.over:
            return
        self._witness.look_at_rest(life)
        self._witness.ends()
        await life.stop()
        self._witness.life = None
        problems = check(self._depot.journal)
        now = self._loop.time()
        self._witness.books.standing(now, "problems of the journal", len(problems), "; ".join(problems[:5]))
        self._witness.note("end", self._witness.events)

    def _take_all(self) -> None:
        life = self._witness.life
        if life is None:
            return
        for head in self._field.heads:
            life.hands.hear(CloseWindow(head, "Ana", self._clock.now()))
        for alarm in list(life.engine.book):
            for action in (Action.UNSHELVE, Action.ACKNOWLEDGE, Action.RESET):
                self._checker.asked(self._loop.time(), action.value, alarm.key.subject)
                life.hands.hear(Command(action, alarm.key, "Ana", "", self._clock.now()))


def posted(depot: Depot, changes: Sequence[str]) -> Posted:
    """Return what these orders call things."""
    sources = {str(head.id): head.source for head in depot.detectors}
    named = {output.id for output in depot.outputs if output.row.kind is OutputKind.SIREN}
    renamed = {change.partition(":")[2] for change in changes if change.startswith("siren-renamed:")}
    outputs = {name.removesuffix("-novo") if name.removesuffix("-novo") in renamed else name: name for name in named}
    return Posted(sources, outputs, [supply.id for supply in depot.supplies], depot.by_design)
