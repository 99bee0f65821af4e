"""A judge who has just opened the books knows of today what the journal proves, as one who follows it does."""

from pathlib import Path

from depot_text import loaded
from journal_lives import DEADLINE_S

from compliance.registers.entries import Millis
from gateway.engine.events import Entry, Record
from gateway.journal import Journal
from gateway.office.books import Books
from simulator.drawn_file import toml
from simulator.draws import DrawnDepot, DrawnHead, DrawnSiren

NOON = 1_795_964_400_000  # 2026-11-29 12:00 in São Paulo
AHEAD_MS = 24 * 3600 * 1000


def measured(books: Books) -> set[object]:
    found = books.judge.findings(books.desk, Millis(NOON), None)["findings"]
    facts = [fact for one in found if one["rule"] == "house-1-measured" for fact in one["evidence"]]
    return {fact["value"] for fact in facts if fact["name"] == "measured_s"}


def test_a_report_of_today_and_the_page_judge_by_the_same_though_a_clock_was_ahead(tmp_path: Path) -> None:
    drawn = DrawnDepot(
        "d", (), (DrawnHead("GD-901", "json"),), (DrawnSiren("sirene", "siren", topic="sirene"),), ("telefone",)
    )
    depot = loaded(tmp_path, toml(drawn, broker=True)).depot
    depot.journal.parent.mkdir(parents=True, exist_ok=True)
    journal = Journal.open(depot.journal, depot=depot.id)
    journal.start(committed=lambda _: None, trouble=lambda *_: None)
    at = NOON + AHEAD_MS
    gas = {
        "kind": "GAS",
        "subject": "GD-901",
        "event": "raised",
        "id": "d-b-1",
        "sampled_ms": at,
        "at_ms": at,
        "seq": 1,
    }
    sounds = {"output": "sirene", "on": True, "reason": "", "at_ms": at + 1500}
    assert journal.submit(Record(1, (Entry("alarm", gas), Entry("output", sounds)))) and journal.close(DEADLINE_S)

    def utc() -> int:
        return NOON * 1_000_000

    just_opened, following = Books(depot, utc=utc), Books(depot, utc=utc)
    following.judge.heard_news(Millis(NOON))
    assert measured(just_opened) == measured(following) == {"1.5"}
