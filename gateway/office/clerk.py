"""The clerk: answers what screens and commands ask of the registers, and has entered what the desk admits.

An entry counts once the journal holds it: it goes to the watch, which is the only writer, and comes back from the file.
"""

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, Protocol, TypeVar, assert_never

import structlog

from compliance.registers.entries import Act, Entry, EntryId, Millis
from compliance.registers.facts import day
from compliance.registers.forms import Problem, to_json
from compliance.vocabulary import Severity
from dashboards.office import (
    MOST_BREACHES,
    Attach,
    Breach,
    Enter,
    Import,
    Look,
    Paper,
    Reply,
    ToOffice,
    paper,
)
from gateway.depot import Depot
from gateway.journal.errors import StoreError
from gateway.machine.clock import SystemClock
from gateway.machine.sockets import ControlError
from gateway.office import attachments, findings, parts, shown
from gateway.office import entries as kept
from gateway.office.asked import from_lines, from_sheet
from gateway.office.books import Books
from gateway.office.counting import StockSource
from gateway.office.desk import STOCK, Admitted, Told
from gateway.office.forms import ATTACHMENT
from gateway.office.intake import Intake
from gateway.office.judge import until_midnight_s
from gateway.office.law import Law
from gateway.office.looking import look, refused, report_of, unknown_register
from gateway.office.repeats import Sifted, sift
from gateway.office.watchline import UnsettledError, WatchLine
from sensors.stamps import MILLISECOND, Clock

T = TypeVar("T")

WRITTEN_WITHIN_S = 10.0
"""How long the journal may take; a disk that is slower is told by the watch itself."""

LICENCE, CONFIGURATION = "licensed_kg", "depot.toml"
"""The fact that only the configuration tells, and who is said to tell it."""

LOOK_S = 60.0
"""How often the office looks at what the watch has proven."""

WEIGHED_EVERY_S = 1.0
"""How often it looks whether a scale has weighed something, where there are scales."""

PAUSE_S = 2.5
"""Between two judgements: the watch hears no more, and those who ask are not kept waiting by them."""

OF_THE_WHOLE = frozenset({"not-that-many", "too-many"})
"""Problems that only all lines together can have."""

FIRST_LOOKS, FIRST_LOOK_S = 12, 5.0
"""At first it looks more often: heads warm up and outputs are read for the first time."""


class Watch(Protocol):
    """The line to the watch (`gateway.office.watchline.WatchLine`)."""

    async def settle(self) -> None:
        """Wait for what became of the last filing."""

    async def file(self, by: str, papers: tuple[Paper, ...]) -> None:
        """Have papers written in one transaction."""

    async def judged(self, breaches: tuple[Breach, ...]) -> bool:
        """Tell which conditions of the law stand; return whether the watch took it."""


class Aside(Protocol):
    """Does slow work away from the loop (`asyncio.to_thread`)."""

    async def __call__(self, work: Callable[..., T], /, *given: Any) -> T:  # noqa: ANN401 - whatever the work takes
        """Do it and return what came of it."""


class Clerk:
    """One depot's clerk.

    Args:
        watch, clock, aside, law: given where the office is not a process of its own.
    """

    def __init__(
        self,
        depot: Depot,
        watch: Watch | None = None,
        clock: Clock | None = None,
        aside: Aside = asyncio.to_thread,
        law: Law | None = None,
    ) -> None:
        self._depot = depot
        self._clock = clock or SystemClock()
        self._books = Books(depot, law, lambda: self._clock.now().utc)
        self._aside = aside
        self._watch = watch or WatchLine(depot.socket, WRITTEN_WITHIN_S)
        self._one_at_a_time = asyncio.Lock()
        self._looks = 0
        self._watch_knows = True
        self._judged_on: date | None = None
        self._stirred = asyncio.Event()
        self._intake = Intake(depot, self._books, self._write)
        self._log = structlog.get_logger("office")

    @property
    def books(self) -> Books:
        """What it goes by: as it read them last."""
        return self._books

    async def answer(self, ask: ToOffice) -> Reply:
        """Answer one ask."""
        try:
            match ask:
                case Look(what="report"):
                    return await self._aside(report_of, ask, self._depot, self._books, self._now())
                case Attach():
                    return await self._aside(self._attach, ask)
                case _:
                    pass
            async with self._one_at_a_time:
                return await self._in_turn(ask)
        except (StoreError, ControlError) as error:
            code = "unsettled" if isinstance(error, UnsettledError) else "busy"
            return Reply(ask.ref, ok=False, error=code, data=str(error))
        except (
            ArithmeticError,
            LookupError,
            TypeError,
            ValueError,
        ) as error:  # a fault of ours: whoever asked hears so
            self._log.exception("ask not answered", ask=type(ask).__name__)
            return Reply(ask.ref, ok=False, error="failed", data=f"{type(error).__name__}: {error}"[:200])

    async def _in_turn(self, ask: Enter | Import | Look) -> Reply:
        match ask:
            case Look():
                await self._catch_up()
                return await self._aside(look, ask, self._books, self._now())
            case Enter() | Import():
                return await self._enter(ask)
            case _:
                assert_never(ask)

    # --- entering -------------------------------------------------------------------------------

    async def _enter(self, ask: Enter | Import) -> Reply:
        await self._watch.settle()
        await self._catch_up()
        now = self._told_at()
        told, problems = self._told(ask, now)
        problems += self._not_kept(told)
        sifted = self._sifted(ask, told)
        told, problems = list(sifted.fresh), [*problems, *sifted.problems]
        if problems:
            return self._refused(ask.ref, sorted((*problems, *self._also(told, now)), key=lambda one: one.line))
        answer = self._books.desk.admit(told, now)
        if not isinstance(answer, Admitted):
            return self._refused(ask.ref, answer.problems)
        ids = [one.entry.id for one in told]
        moved = [entry for entry in answer.entries if entry.register == STOCK and entry.source != "csv"]
        breaks = await self._aside(self._books.judge.would_break, self._books.desk, moved, now) if moved else []
        if breaks and not ask.dry and not ask.anyway:
            return Reply(ask.ref, ok=False, error="would-break-law", data={"breaks": breaks})
        lines = [kept.line(entry) for entry in answer.entries]
        if too_many := parts.beyond_one_filing(lines):
            return self._refused(ask.ref, [Problem(0, "", "too-many", str(len(lines)), str(too_many))])
        if lines and not ask.dry:
            await self._write(ask.by.strip(), lines, now)
            await self._catch_up()
        gone = sorted({one.entry.subject for one in told if one.entry.register == STOCK} - self._books.desk.areas)
        data = {"entered": ids, "again": list(answer.again), "dry": ask.dry, "breaks": breaks, "left_areas": gone}
        data["unchanged"] = [{"line": one.line, "subject": one.entry.subject} for one in sifted.known]
        data["discrepancies"] = self._found(answer.entries, dry=ask.dry)
        return Reply(ask.ref, ok=True, data=data)

    def _found(self, entries: Sequence[Entry], *, dry: bool) -> list[dict[str, Any]]:
        """What the counts among these entries found that the book did not have."""
        counts = {entry.id for entry in entries if entry.act is Act.COUNT}
        if not counts:
            return []
        desk = self._books.desk
        held = desk.after(entries) if dry else desk.stock()
        found = shown.discrepancies(one for one in held.discrepancies if one.entry in counts)
        told = {entry.id: {"at": shown.time(entry.effective), "by": entry.by} for entry in entries}
        return [{**one, **told[EntryId(one["entry"])]} for one in found]

    def _also(self, told: Sequence[Told], now: Millis) -> Iterator[Problem]:
        """What else is wrong with the lines that can be read, where others cannot: all of it is told at once."""
        answer = self._books.desk.admit(told, now)
        if not isinstance(answer, Admitted):
            yield from (one for one in answer.problems if one.problem not in OF_THE_WHOLE)

    def _sifted(self, ask: Enter | Import, told: Sequence[Told]) -> Sifted:
        """Part what a sheet says anew from what the book says already; what a person tells is told."""
        if isinstance(ask, Enter):
            return Sifted(tuple(told))
        doubted = frozenset(doubt.area for doubt in self._books.judge.doubts(self._books.desk))
        return sift(told, self._books.desk, self._books.zone, dated=bool(ask.effective), doubted=doubted)

    def _told(self, ask: Enter | Import, now: Millis) -> tuple[list[Told], list[Problem]]:
        if isinstance(ask, Enter):
            return from_lines(ask, self._books.forms, self._books.zone, now, _new_id)
        form = self._books.forms.get(ask.register)
        if form is None:
            return [], [unknown_register(ask.register, self._books.forms)]
        return from_sheet(ask, form, self._books.zone, now, _new_id)

    def _not_kept(self, told: Sequence[Told]) -> list[Problem]:
        """Name the attachments that entries refer to and nobody has sent."""
        folder = attachments.folder_of(self._depot.journal)
        named = [(one.line, one.entry.values.get(ATTACHMENT.name)) for one in told]
        return [
            Problem(line, ATTACHMENT.name, "no-such-attachment", str(name), "SHA-256")
            for line, name in named
            if name is not None and not attachments.is_kept(folder, str(name))
        ]

    def _attach(self, ask: Attach) -> Reply:
        """Keep a file. It counts for nothing until an entry names it."""
        try:
            name, kind = attachments.keep(attachments.folder_of(self._depot.journal), ask.content)
        except attachments.AttachmentError as error:
            return self._refused(ask.ref, [Problem(0, ATTACHMENT.name, error.problem, error.got, error.right)])
        except OSError as error:
            return Reply(ask.ref, ok=False, error="busy", data=str(error))
        return Reply(ask.ref, ok=True, data={"attachment": name, "type": kind, "bytes": len(ask.content)})

    async def _write(self, by: str, lines: Sequence[kept.Line], now: Millis) -> None:
        """Have lines entered in one transaction, however many entries of the journal they fill, and judged."""
        papers = tuple(paper(kept.KIND, kept.body(some, now)) for some in parts.of_entries(lines))
        try:
            await self._watch.file(by, papers)
        finally:
            self._stirred.set()  # what is not known to be entered may still come to be

    def _refused(self, ref: int, problems: Sequence[Problem]) -> Reply:
        return refused(ref, problems, self._books.forms)

    def _told_at(self) -> Millis:
        return self._books.desk.told_at(self._now())

    async def _catch_up(self) -> None:
        """Read what the journal holds by now; on a thread, since years of it take seconds and the loop must turn."""
        await self._aside(self._books.catch_up)

    def _now(self) -> Millis:
        return Millis(self._clock.now().utc // MILLISECOND)

    # --- counting -------------------------------------------------------------------------------

    async def take(self, source: StockSource, payload: bytes) -> None:
        """Enter what a counter or a tag reader told. What the journal cannot take now a counter tells again."""
        try:
            async with self._one_at_a_time:
                await self._watch.settle()
                await self._catch_up()
                await self._intake.heard(source, payload, self._told_at())
        except (StoreError, ControlError) as error:
            self._log.error("stock message not entered", source=source.id, reason=str(error))

    async def weigh_for_ever(self) -> None:
        """Make tickets of what the scales weigh: the watch keeps each in the journal at once."""
        while True:
            pause = WEIGHED_EVERY_S
            try:
                async with self._one_at_a_time:
                    await self._weigh()
            except (StoreError, ControlError) as error:
                self._log.error("weighings not entered yet", reason=str(error))
                pause = LOOK_S
            await asyncio.sleep(pause)

    async def _weigh(self) -> None:
        if not await self._aside(self._intake.unweighed):
            return
        await self._watch.settle()
        await self._catch_up()
        for idx, weighed in await self._aside(self._intake.unweighed):
            await self._intake.take_weighed(idx, weighed, self._told_at())
            await self._catch_up()

    # --- judging --------------------------------------------------------------------------------

    async def judge_for_ever(self) -> None:
        """Judge the law at the start, on every change of a register and of the watch, and at local midnight."""
        async with self._one_at_a_time:
            await self._note_licences()
        while True:
            async with self._one_at_a_time:
                await self._judge_now()
                self._stirred.clear()
            await asyncio.sleep(PAUSE_S)
            await self._reason_to_judge()

    async def _reason_to_judge(self) -> None:
        """Wait for a change of a register, for local midnight, or for a change of what the watch proves.

        What the watch proves is looked at once a minute, at first every few seconds: a head that is blind for less is
        told as blind, and is hardly ever a breach of the law as well.
        """
        zone = self._books.zone
        while self._watch_knows and day(self._now(), zone) == self._judged_on:  # whichever way the clock was set
            left = until_midnight_s(self._clock.now().utc, zone)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(left, FIRST_LOOK_S if self._looks < FIRST_LOOKS else LOOK_S)):
                    await self._stirred.wait()
                    return
            self._looks += 1
            async with self._one_at_a_time:
                if await self._aside(self._books.judge.heard_news, self._now()):
                    return

    async def _note_licences(self) -> None:
        """Enter what each area is licensed for where the configuration changed it: measures are asked again for it."""
        await self._watch.settle()
        await self._catch_up()
        now = self._told_at()
        held = self._books.desk.holdings("area")
        entries = [
            Entry(
                EntryId(_new_id()), "area", area.id, Act.RECORD, {LICENCE: kg}, now, now, CONFIGURATION, "configuration"
            )
            for area in self._depot.areas
            if (kg := Decimal(str(area.licensed_kg)))
            and str(held[area.id].values.get(LICENCE) if area.id in held else "") != str(to_json(kg))
        ]
        if entries:
            await self._write(CONFIGURATION, [kept.line(entry) for entry in entries], now)
            await self._catch_up()

    async def _judge_now(self) -> None:
        await self._watch.settle()
        await self._catch_up()
        now = self._now()
        self._judged_on = day(now, self._books.zone)
        verdicts = await self._aside(self._books.judge.judge, self._books.desk, now)
        for some in parts.of_entries(verdicts.changes):
            await self._watch.file("", (paper(findings.KIND, {"at_ms": now, "changes": some}),))
        await self._catch_up()
        await self._tell(verdicts.breaches)

    async def _tell(self, breaches: tuple[Breach, ...]) -> None:
        """Tell the watch which conditions of the law stand, the gravest first; it hears one judgement in 2 s."""
        worst = sorted(breaches, key=lambda breach: (breach.severity != Severity.DANGER.value, breach.subject))
        self._watch_knows = await self._watch.judged(tuple(worst[:MOST_BREACHES]))


def _new_id() -> str:
    return secrets.token_hex(8)
