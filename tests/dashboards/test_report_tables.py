"""A report as a spreadsheet takes it: verdicts in the depot's language, for whoever inspects it."""

from zoneinfo import ZoneInfo

import pytest

from alerts.messages.catalogue import Catalogue
from compliance import catalogue
from compliance.vocabulary import Verdict
from dashboards.conformity.phrases import Phrases
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
        "verdicts": {
            "findings": [{**FINDING, "verdict": verdict.value}],
            "statutes": [{"id": "house", "citation": "Regras da casa"}],
            "rules": {"house-23": {"text": {"pt": "Telefones à vista", "en": "Telephones in sight"}}},
        },
        "breaches": [{
            "statute": "house", "clause": "regra da casa 9", "rule": "house-9", "subject": "extinguisher:EXT-7",
            "severity": "serious", "begun": DAY, "ended": None, "duration_s": 1,
            "done": [{"register": "extinguisher", "subject": "EXT-7"}],
        }],
        "alarms": [], "ledger": [],
        "stock": {"areas": [{"piles": [
            {"area": "patio", "lot": "", "size_kg": "13", "state": "empty", "brand": "A", "place": "area", "units": 4}
        ]}]},
        "registers": {"extinguisher": [{
            "subject": "EXT-7", "values": {"agent": "powder-bc"}, "told": {"agent": {"by": "Ana", "effective": DAY}}
        }]},
        "gaps": [{"detector": "GD-1", "state": "blind", "start": DAY, "end": DAY, "seconds": 1, "cause": "", "by": ""}],
    }  # fmt: skip


def phrases(language: str) -> Phrases:
    told = {**words(language), **Catalogue.load("dashboards.conformity", language).texts}
    return Phrases(Locale(language, told, ZoneInfo("America/Sao_Paulo")), catalogue.load(), {"patio": "Pátio"})


@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize("language", ["pt-BR", "en"])
def test_every_verdict_is_said_in_words_and_not_by_its_code(verdict: Verdict, language: str) -> None:
    told = tables(report(verdict), phrases(language))
    assert ";house-23;" in told and verdict.value not in told


def test_what_nobody_told_reads_undetermined_in_portuguese() -> None:
    told = tables(report(Verdict.UNDETERMINED), phrases("pt-BR"))
    assert "house;regra da casa 23;house-23;depot:depot;a determinar;2026-11-30" in told


def test_words_stand_beside_ids_and_keys_that_keep_their_places() -> None:
    told = tables(report(Verdict.VIOLATED), phrases("pt-BR"))

    assert "house;regra da casa 23;house-23;depot:depot;infração;2026-11-30;;;;" in told
    assert ";Regras da casa;Telefones à vista;Depósito;" in told
    assert ";extinguisher EXT-7;Regras da casa;;Extintor EXT-7;grave;Extintor EXT-7" in told
    assert "patio;;13;empty;A;area;4;Área Pátio;vazio;" in told
    assert "extinguisher;EXT-7;agent;powder-bc;Ana;" in told
    assert ";Extintor EXT-7;Agente;" in told and ";sem monitoramento" in told
