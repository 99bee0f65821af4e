"""The intake: has entered what counters, tag readers and scales tell. Whoever calls it holds the clerk's lock.

What a source tells is no request: what cannot be booked moves nothing and stands as a doubt, until a person counts.
"""

import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol
from zoneinfo import ZoneInfo

import structlog

from compliance.registers.counters import Step
from compliance.registers.entries import Entry, Millis
from compliance.registers.forms import Problem
from gateway.depot import Depot
from gateway.engine.weighing import WEIGHED, Scale, Weighed, weighed_in
from gateway.journal.reader import JournalReader
from gateway.office import counting, tickets
from gateway.office import entries as kept
from gateway.office.counting import StockSource
from gateway.office.desk import Admitted, Desk, Told

LONGEST_AGAIN_MS = 86_400_000
"""How long a tag is remembered: the longest `again_s` there is."""

BESIDE_MS, AFTER_MS = 20_000, 5_000
"""How long before and after a weighing its container's tag may have been read."""


class Shelf(Protocol):
    """The registers, as far as the intake needs them (`gateway.office.books.Books`)."""

    depot: Depot
    desk: Desk
    zone: ZoneInfo


Write = Callable[[str, Sequence[kept.Line], Millis], Awaitable[None]]


class Intake:
    """One depot's intake.

    Args:
        write: has lines entered, signed with the source's id.
    """

    def __init__(self, depot: Depot, books: Shelf, write: Write) -> None:
        self._books = books
        self._scales = {scale.id: scale for scale in depot.scales}
        self._write = write
        self._tags: dict[tuple[str, str], Millis] = {}
        self._weighed_to = -1
        self._log = structlog.get_logger("office")

    async def heard(self, source: StockSource, payload: bytes, now: Millis) -> bool:
        """Take a message of a counter or a reader; tell whether anything was entered."""
        entries = self._passed(source, payload, now) if source.kind == "tags" else self._counted(source, payload, now)
        if entries:
            await self._write(source.id, [kept.line(entry) for entry in entries], now)
        return bool(entries)

    def unweighed(self) -> Sequence[tuple[int, Weighed]]:
        """Return what scales have weighed and no ticket tells of yet, each with its entry of the journal. It blocks.

        Raises:
            StoreError: the journal cannot be read.
        """
        found: list[tuple[int, Weighed]] = []
        with JournalReader(self._books.depot.journal) as journal:
            for idx, body, _ in journal.filed(WEIGHED, self._weighed_to):
                try:
                    weighed = weighed_in(body)
                except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                    self._log.error("weighing of the journal is none", entry=idx, reason=repr(error)[:200])
                    continue
                if self._books.desk.find(tickets.id_of(weighed)) is None:
                    found.append((idx, weighed))
                elif not found:
                    self._weighed_to = idx
        return found

    async def take_weighed(self, idx: int, weighed: Weighed, now: Millis) -> None:
        """Take one of `unweighed`. What is refused is said, and tried once more by the office's next life."""
        problems = await self.weighed(weighed, now)
        if problems:
            codes = [problem.problem for problem in problems]
            self._log.error("weighing refused", source=weighed.source, kg=weighed.kg, problems=codes)
        self._weighed_to = idx

    async def weighed(self, ask: Weighed, now: Millis) -> tuple[Problem, ...]:
        """Take one weighing: a weigh ticket, and the stock movement that its scale stands for. Twice counts once."""
        scale = self._scales.get(ask.source)
        if scale is None:  # it left the configuration while its weighing waited
            return (Problem(0, "source", "unknown-source", ask.source, ", ".join(self._scales)),)
        ticket = tickets.ticket(scale, ask, now, self._books.zone, self._tag_beside(scale, Millis(ask.at_ms)))
        if self._books.desk.find(ticket.id) is not None:  # told again
            return ()
        answer = self._books.desk.admit([Told(ticket)], now)
        if not isinstance(answer, Admitted):
            return answer.problems
        entries = list(answer.entries)
        if scale.act:
            moved, doubt = self._moved(tickets.movement(scale, ask, now), now)
            entries += moved
            if doubt:
                entries.append(tickets.doubted(scale, ask, now, doubt, _new_id))
        await self._write(scale.id, [kept.line(entry) for entry in entries], now)
        return ()

    def _tag_beside(self, scale: Scale, weighed: Millis) -> str:
        """The tag that the scale's reader has read then; none where it read several: nobody guesses which."""
        lately = {
            tag
            for (source, tag), at in self._tags.items()
            if source == scale.tags and -AFTER_MS <= weighed - at <= BESIDE_MS
        }
        return lately.pop() if len(lately) == 1 else ""

    def _passed(self, source: StockSource, payload: bytes, now: Millis) -> list[Entry]:
        tags = counting.tags(source, payload)
        if not tags:
            self._log.warning("stock message without a tag", source=source.id)
        self._tags = {key: at for key, at in self._tags.items() if now - at <= LONGEST_AGAIN_MS}
        fresh = 0
        for tag in tags:
            seen = self._tags.get((source.id, tag))
            self._tags[source.id, tag] = now
            fresh += seen is None or now - seen >= source.again_s * 1000
        if not fresh:
            return []
        moved, doubt = self._moved(counting.movement(source, fresh, now, _new_id), now)
        return moved if not doubt else [counting.doubted(source, now, _new_id, doubt)]

    def _counted(self, source: StockSource, payload: bytes, now: Millis) -> list[Entry]:
        held = self._books.desk.last_told(counting.MARKS, source.id)
        passed = counting.heard(source, payload, None if held is None else counting.mark_of(held.values))
        if passed is None:
            self._log.warning("stock message without a count", source=source.id)
            return []
        if passed.step is Step.REPEATED or (passed.step is Step.COUNTED and not passed.units):
            return []
        entries: list[Entry] = []
        doubt = ""
        if passed.step is Step.DOUBTFUL:
            doubt = "jump"
            self._doubts(source.id, doubt)
        elif passed.units:
            entries, doubt = self._moved(counting.movement(source, passed.units, now, _new_id), now)
        return [*entries, counting.marked(source, passed.mark, now, _new_id, doubt)]

    def _moved(self, movement: Entry, now: Millis) -> tuple[list[Entry], str]:
        """The movement as it is to be entered; without one, why it is in doubt."""
        answer = self._books.desk.admit([Told(movement)], now)
        if isinstance(answer, Admitted):
            return list(answer.entries), ""
        self._doubts(movement.by, answer.problems[0].problem)
        return [], answer.problems[0].problem

    def _doubts(self, source: str, reason: str) -> None:
        self._log.error("stock count in doubt: somebody must count", source=source, reason=reason)


def _new_id() -> str:
    return secrets.token_hex(8)
