"""The registers of many years: 200,000 entries read from a journal and folded, and the history of one finding."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from bench.figures import Figure
from compliance.registers.entries import Act, Entry, EntryId, Millis, Scalar, fold
from compliance.registers.stock import levels
from gateway.office.desk import Desk
from gateway.office.findings import Key, Stand, keep
from gateway.office.forms import forms

FOLD_TARGET_S, HISTORY_TARGET_MS = 5.0, 50.0
SUBJECTS = 400
MINUTE_MS = 60_000
VERDICTS = ("COMPLIANT", "VIOLATED")


@dataclass(frozen=True, slots=True)
class Load:
    """How many entries, and how many changes of findings."""

    entries: int
    changes: int


async def run(case: str, load: Load, _folder: Path) -> list[Figure]:
    """Keep and fold all entries as the office does when it opens; then look one finding's steps up among all."""
    told = list(_entries(load.entries))
    desk = Desk(forms(), ["patio"])
    began = time.process_time()
    desk.keep(told)
    fold(desk.entries, Millis(2**62))
    levels([entry for entry in desk.entries if entry.register == "stock"], Millis(2**62))
    folded = time.process_time() - began
    changes = list(_changes(load.changes))
    standing: dict[Key, Stand] = {}
    for change in changes:
        keep(standing, change)
    began = time.process_time()
    steps = [change for change in changes if change["rule"] == "r7" and change["subject"] == "area:patio"]
    looked = (time.process_time() - began) * 1000
    assert steps
    return [
        Figure(case, f"fold of {load.entries:,} entries", folded, "s", target=FOLD_TARGET_S),
        Figure(case, f"one finding's history among {load.changes:,} changes", looked, "ms", target=HISTORY_TARGET_MS),
    ]


def _entries(count: int) -> Iterator[Entry]:
    for number in range(count):
        at = Millis(number * MINUTE_MS)
        act, register, subject, values = Act.ENTER, "stock", "patio", _pile(number)
        if number % 4 == 0:
            act, register, subject = Act.RECORD, "extinguisher", f"EXT-{number % SUBJECTS}"
            values = {"area": "patio", "charge_kg": Decimal(8), "present": True}
        elif number % 4 == 3:
            act = Act.LEAVE
        yield Entry(EntryId(f"e{number}"), register, subject, act, values, at, at, "Ana Souza")


def _pile(number: int) -> dict[str, Scalar]:
    return {"size_kg": Decimal(13), "state": "full", "units": 1 + number % 4 // 2, "brand": "Azul"}


def _changes(count: int) -> Iterator[Mapping[str, Any]]:
    for number in range(count):
        verdict = VERDICTS[number // 200 % 2]
        yield {"rule": f"r{number % 200}", "subject": "area:patio", "verdict": verdict, "on": "2026-11-30"}
