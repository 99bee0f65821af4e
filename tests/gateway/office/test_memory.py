"""What is kept in memory for years: the office holds where things stand, and reads what has been from the journal."""

import gc
import json
from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

from depot_text import SMALLEST, loaded
from journal_lives import DEADLINE_S

from compliance.registers.entries import Entry as Told
from gateway.engine.events import Entry, Json, Record
from gateway.journal import Journal
from gateway.journal.reader import JournalReader
from gateway.office import entries as kept
from gateway.office import findings
from gateway.office.forms import forms
from gateway.office.judge import Judge, changes

RULES = 10
FORMS = forms()


def change(number: int, day: int) -> dict[str, Json]:
    verdict = "VIOLATED" if day % 2 else "COMPLIANT"
    evidence: list[Json] = [{"subject": "area:patio", "name": f"fact_{one}", "value": str(one)} for one in range(9)]
    told: dict[str, Json] = {"rule": f"rule-{number}", "subject": "area:patio", "verdict": verdict, "was": None}
    return told | {"on": "2026-11-30", "statute": "house", "clause": "1", "severity": "minor", "evidence": evidence}


def days(first: int, last: int) -> Iterator[Record]:
    for day in range(first, last):
        entry = Entry(findings.KIND, {"at_ms": day, "changes": [change(number, day) for number in range(RULES)]})
        yield Record(day + 1, (entry,))


def tracked() -> int:
    gc.collect()
    return len(gc.get_objects())


def test_the_steps_of_findings_stand_in_the_journal_and_not_in_memory(tmp_path: Path) -> None:
    depot = loaded(tmp_path, SMALLEST).depot
    judge = Judge(depot, ZoneInfo("America/Sao_Paulo"))
    depot.journal.parent.mkdir(parents=True, exist_ok=True)

    def judged(first: int, last: int) -> int:
        journal = Journal.open(depot.journal, depot=depot.id)
        journal.start(committed=lambda _: None, trouble=lambda *_: None)
        for record in days(first, last):
            assert journal.submit(record)
        assert journal.close(DEADLINE_S)
        with JournalReader(depot.journal) as reader:
            judge.catch_up(reader)
        return tracked()

    judged(0, 2)
    before = judged(2, 4)
    assert judged(4, 200) - before < 2 * RULES, "each of 196 days has 10 changes with 9 facts each"
    history = judge.history("rule-3", "area:patio")
    assert [step["at_ms"] for step in history] == list(range(200))
    assert history[7] == change(3, 7) | {"at_ms": 7}
    assert len(judge.history("rule-3", "")) == 200 and judge.history("rule-99", "") == []
    with JournalReader(depot.journal) as reader:
        assert len(list(changes(reader))) == 200 * RULES


def test_what_is_no_longer_asked_is_forgotten_once_that_was_told() -> None:
    standing: dict[findings.Key, findings.Stand] = {}
    findings.keep(standing, change(1, 1) | {"at_ms": 1})
    findings.forget(standing, ())
    assert len(standing) == 1, "it must still be told"
    findings.keep(standing, change(1, 2) | {"at_ms": 2, "verdict": "NOT_APPLICABLE"})
    findings.forget(standing, ())
    assert not standing


def test_entries_that_say_the_same_share_their_texts() -> None:
    def sale(number: int) -> Told:
        text = f"""{{"at_ms": {number}, "entries": [{{"id": "e{number}", "register": "stock", "subject": "patio",
            "act": "out", "values": {{"state": "full", "brand": "Azul", "units": 1}}, "effective_ms": 1,
            "source": "mqtt"}}]}}"""
        (told,) = kept.entries(json.loads(text), FORMS, "Ana")
        return told

    one, other = sale(1), sale(2)
    for name in ("register", "subject", "source"):
        assert getattr(one, name) is getattr(other, name)
    assert all(mine is its for mine, its in zip(one.values, other.values, strict=True))
    assert one.values["brand"] is other.values["brand"]
