"""What people told the registers of a head's calibration counts for what it is due for, as it does for the law."""

from datetime import date
from pathlib import Path

from gateway.commissioning.told import told_on
from gateway.engine.events import Entry, Json, Record
from gateway.journal import Journal
from gateway.office import entries as kept


def line(number: int, register: str, subject: str, **more: Json) -> kept.Line:
    said: kept.Line = {
        "id": f"e{number}", "register": register, "subject": subject, "act": "record", "source": "person",
        "effective_ms": 1_700_000_000_000 + number, "values": {},
    }  # fmt: skip
    return {**said, **more}


def test_the_last_day_that_was_told_of_a_head_and_still_counts_is_found(tmp_path: Path) -> None:
    journal = tmp_path / "journal.db"
    assert told_on(journal) == {}
    book = Journal.open(journal, depot="d")
    book.start(committed=lambda _ticket: None, trouble=lambda _unwell, _reason: None)
    lines = [
        line(1, "detector", "GD-1", values={"calibrated_on": "2026-08-01", "ex_certified": True, "note": "ok"}),
        line(2, "extinguisher", "EXT-1", values={"inspected_on": "2026-09-09"}),
        line(3, "detector", "GD-1", values={"calibrated_on": "2036-08-01"}),
        line(4, "detector", "GD-1", act="void", corrects="e3", reason="engano"),
        line(5, "detector", "GD-2", values={"function_tested_on": "2026-10-02"}),
    ]
    for ticket, one in enumerate(lines, start=1):
        book.submit(Record(ticket, (Entry(kept.KIND, kept.body([one], 1_700_000_100_000), "Ana"),)))
    assert book.close(10)

    assert told_on(journal) == {
        "GD-1": {"calibrated_on": date(2026, 8, 1)},
        "GD-2": {"function_tested_on": date(2026, 10, 2)},
    }
