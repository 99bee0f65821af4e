"""A report as a spreadsheet takes it: verdicts in the depot's language, for whoever inspects it."""

from zoneinfo import ZoneInfo

import pytest

from compliance.vocabulary import Verdict
from dashboards.reports.tables import tables
from dashboards.web.page import words
from dashboards.wording import Locale

FINDING = {
    "statute": "house", "clause": "regra da casa 23", "rule": "house-23", "subject": "depot:depot",
    "since": "2026-11-30", "margin": None, "holds_until": None, "due": None,
}  # fmt: skip
DAY = "2026-11-30T12:00:00.000Z"


def report(verdict: Verdict) -> dict[str, object]:
    return {
        "depot": {"name": "Depósito Centro", "address": ""},
        "journal": {"entries": 1, "root": "00", "problems": []},
        "from": DAY, "to": DAY, "made": DAY, "timezone": "America/Sao_Paulo",
        "verdicts": {"findings": [{**FINDING, "verdict": verdict.value}]},
        "breaches": [], "alarms": [], "stock": {"areas": []}, "registers": {}, "ledger": [], "gaps": [],
    }  # fmt: skip


@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize("language", ["pt-BR", "en"])
def test_every_verdict_is_said_in_words_and_not_by_its_code(verdict: Verdict, language: str) -> None:
    told = tables(report(verdict), Locale(language, words(language), ZoneInfo("America/Sao_Paulo")))
    assert ";house-23;" in told and verdict.value not in told


def test_what_nobody_told_reads_undetermined_in_portuguese() -> None:
    told = tables(report(Verdict.UNDETERMINED), Locale("pt-BR", words("pt-BR"), ZoneInfo("America/Sao_Paulo")))
    assert "house;regra da casa 23;house-23;depot:depot;a determinar;2026-11-30" in told
