"""The registers of many years: 200,000 entries read from a journal and folded, and the history of one finding."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from bench.figures import Figure
from bench.processes import BenchError
from compliance.registers.entries import Act, EntryId, Millis, Scalar, fold
from compliance.registers.entries import Entry as Told
from compliance.registers.stock import levels
from gateway.engine.events import Entry, Json, Record
from gateway.journal import Journal
from gateway.journal.reader import JournalReader
from gateway.office import findings
from gateway.office.desk import Desk
from gateway.office.forms import forms
from gateway.office.judge import steps

FOLD_TARGET_S, HISTORY_TARGET_MS = 5.0, 50.0
SUBJECTS = 400
RULES = 200
WRITTEN_WITHIN_S = 60.0
MINUTE_MS = 60_000
VERDICTS = ("COMPLIANT", "VIOLATED")


@dataclass(frozen=True, slots=True)
class Load:
    """How many entries, and how many changes of findings."""

    entries: int
    changes: int


async def run(case: str, load: Load, folder: Path) -> list[Figure]:
    """Keep and fold all entries as the office does when it opens; then read one finding's steps out of the journal."""
    told = list(_entries(load.entries))
    desk = Desk(forms(), ["patio"])
    began = time.process_time()
    desk.keep(told)
    fold(desk.entries, Millis(2**62))
    levels([entry for entry in desk.entries if entry.register == "stock"], Millis(2**62))
    folded = time.process_time() - began
    journal = folder / "journal.db"
    held_by = range(_judged(journal, load.changes))
    began = time.process_time()
    with JournalReader(journal) as reader:
        assert len(list(steps(reader, held_by, "r7", "area:patio"))) == load.changes // RULES
    looked = (time.process_time() - began) * 1000
    return [
        Figure(case, f"fold of {load.entries:,} entries", folded, "s", target=FOLD_TARGET_S),
        Figure(case, f"one finding's history among {load.changes:,} changes", looked, "ms", target=HISTORY_TARGET_MS),
    ]


def _entries(count: int) -> Iterator[Told]:
    for number in range(count):
        at = Millis(number * MINUTE_MS)
        act, register, subject, values = Act.ENTER, "stock", "patio", _pile(number)
        if number % 4 == 0:
            act, register, subject = Act.RECORD, "extinguisher", f"EXT-{number % SUBJECTS}"
            values = {"area": "patio", "charge_kg": Decimal(8), "present": True}
        elif number % 4 == 3:
            act = Act.LEAVE
        yield Told(EntryId(f"e{number}"), register, subject, act, values, at, at, "Ana Souza")


def _pile(number: int) -> dict[str, Scalar]:
    return {"size_kg": Decimal(13), "state": "full", "units": 1 + number % 4 // 2, "brand": "Azul"}


def _judged(journal: Path, count: int) -> int:
    """Write so many changes of findings, all of `RULES` in each judgement; return how many entries hold them."""
    book = Journal.open(journal, depot="bench")
    book.start(committed=lambda _ticket: None, trouble=lambda _unwell, _reason: None)
    judgements = count // RULES
    for number in range(judgements):
        changes: list[Json] = [_change(f"r{rule}", VERDICTS[number % 2]) for rule in range(RULES)]
        book.submit(Record(number + 1, (Entry(findings.KIND, {"at_ms": number, "changes": changes}),)))
    if not book.close(WRITTEN_WITHIN_S):
        raise BenchError("the journal did not take the changes in time")
    return judgements


def _change(rule: str, verdict: str) -> dict[str, Json]:
    return {"rule": rule, "subject": "area:patio", "verdict": verdict, "on": "2026-11-30"}
