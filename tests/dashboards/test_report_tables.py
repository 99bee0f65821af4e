"""A report as a spreadsheet takes it: verdicts in the depot's language, for whoever inspects it."""

from zoneinfo import ZoneInfo

import pytest

from compliance import catalogue
from compliance.vocabulary import Verdict
from dashboards.conformity.phrases import Phrases
from dashboards.reports.tables import month_sheet, tables
from dashboards.reports.wording import report_words
from dashboards.wording import Locale

FINDING = {
    "statute": "house", "clause": "regra da casa 23", "rule": "house-23", "subject": "depot:depot",
    "since": "2026-11-30", "margin": None, "holds_until": None, "due": None,
}  # fmt: skip
DAY = "2026-11-30T12:00:00.000Z"
PILE = {"area": "patio", "lot": "", "size_kg": "13", "state": "empty", "brand": "A", "place": "area"}
GAP = {"detector": "GD-1", "state": "blind", "start": DAY, "end": DAY, "seconds": 1, "by": ""}
TOLD = {"by": "Ana", "effective": DAY, "recorded": DAY, "late": True}
ALARM = {"id": "d-1-1", "level": None, "drill": False, "sampled": DAY}


def report(verdict: Verdict) -> dict[str, object]:
    return {
        "depot": {"name": "Depósito Centro", "address": "", "detectors": {"GD-1": "Porta 2"}, "lines": ["detectores"]},
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
            "evidence": [
                {"subject": "extinguisher:EXT-7", "name": "charge_until", "value": "2026-11-15"},
                {"subject": "extinguisher:EXT-7", "name": "area", "value": "patio"},
            ],
        }],
        "alarms": [
            {**ALARM, "subject": "GD-1", "kind": "BLIND", "reason": "head-fault"},
            {**ALARM, "subject": "detectores", "kind": "BLIND", "reason": "link"},
            {**ALARM, "subject": "area:patio", "kind": "BLIND", "reason": "uncovered"},
            {**ALARM, "subject": "output:sirene", "kind": "SYSTEM", "reason": "wrong-state"},
            {**ALARM, "subject": "flood", "kind": "SYSTEM", "reason": "many"},
            {**ALARM, "subject": "house-23/depot:depot", "kind": "COMPLIANCE", "reason": "due-30"},
        ],
        "ledger": [{"detector": "GD-1", "month": "2026-11", "seconds": 60.0, "out_of_service_pct": 2.5}],
        "stock": {
            "areas": [{"piles": [{**PILE, "units": 4}]}],
            "discrepancies": [
                {**PILE, "booked": 9, "counted": 4, "at": "2026-11-30T13:00:00.000Z", "by": "João"},
                {**PILE, "booked": 77, "counted": 4, "at": "2026-10-30T13:00:00.000Z", "by": "João"},
            ],
        },
        "movements": [{
            "size_kg": "13", "state": "full", "brand": "A", "opening": 0, "in": 60, "out": 1, "changed": -45,
            "counted": 295, "closing": 309,
        }],
        "mended": [{
            "register": "stock", "subject": "patio", "act": "void", "entry": "e2", "corrects": "e1", "reason": "engano",
            "by": "Ana", "recorded": DAY,
        }],
        "registers": {"extinguisher": [{
            "subject": "EXT-7", "values": {"agent": "powder-bc", "area": "patio"},
            "told": {"agent": TOLD, "area": TOLD},
        }]},
        "gaps": [{**GAP, "cause": cause} for cause in ("crash", "never-heard", "")],
    }  # fmt: skip


def phrases(language: str) -> Phrases:
    return Phrases(
        Locale(language, report_words(language), ZoneInfo("America/Sao_Paulo")), catalogue.load(), {"patio": "Pátio"}
    )


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
    assert ";Extintor EXT-7: Validade da carga: 15/11/2026; Extintor EXT-7: Área: Pátio" in told.replace('"', "")
    assert "patio;;13;empty;A;area;4;Área Pátio;vazio;" in told
    assert "extinguisher;EXT-7;agent;powder-bc;Ana;" in told
    assert ";Extintor EXT-7;Agente;" in told and ";sem monitoramento" in told


def test_alarms_and_watched_time_are_said_in_words_beside_their_codes() -> None:
    told = tables(report(Verdict.COMPLIANT), phrases("pt-BR"))

    assert ";GD-1;BLIND;" in told and ";Detector GD-1 (Porta 2);sem monitoramento;detector em falha\r\n" in told
    assert ";linha detectores;sem monitoramento;" in told and "Detector detectores" not in told
    assert ";Área Pátio;sem monitoramento;nenhum detector em operação\r\n" in told
    assert ";saída sirene;falha no sistema;não obedece ao comando\r\n" in told
    assert ";Telefones à vista: Depósito;pendência legal;vence em até 30 dias\r\n" in told
    assert "GD-1;2026-11;60,000;;;;;;2,500;Detector GD-1 (Porta 2)\r\n" in told
    assert ";crash;;sem monitoramento;parou sem aviso (falta de energia ou defeito);Detector GD-1 (Porta 2)\r\n" in told
    assert ";never-heard;;sem monitoramento;sem comunicação desde a partida;" in told


@pytest.mark.parametrize("language", ["pt-BR", "en"])
def test_every_kind_reason_of_the_law_and_cause_of_the_ledger_has_words(language: str) -> None:
    words = report_words(language)
    assert {f"report.kind.{kind}" for kind in ("GAS", "BLIND", "SYSTEM", "COMPLIANCE")} <= words.keys()
    assert {f"report.reason.{code}" for code in ("violated", "due-30", "due-7", "due-0")} <= words.keys()
    assert {f"report.cause.{code}" for code in ("signal", "crash", "slept", "clock")} <= words.keys()


def test_what_an_inspector_asks_of_the_stock_is_in_the_report_and_said_in_words() -> None:
    told = tables(report(Verdict.COMPLIANT), phrases("pt-BR"))

    assert "2026-11-30 10:00:00;patio;;13;empty;A;area;9;4;-5;João;Área Pátio;vazio;\r\n" in told
    assert ";77;" not in told, "a count of before the time is not of the time"
    assert "13;full;A;0;60;1;-45;295;309;cheio\r\n" in told
    assert ";stock;patio;void;e2;e1;engano;Ana;Estoque em Pátio;anulação\r\n" in told
    assert "extinguisher;EXT-7;area;patio;Ana;2026-11-30 09:00:00;" in told
    assert ";Extintor EXT-7;Área;Pátio;2026-11-30 09:00:00;sim\r\n" in told
    assert ";muitos avisos juntos;falha no sistema;muitos avisos juntos\r\n" in told


def test_a_months_map_is_a_sheet_of_its_own_and_a_brand_becomes_no_formula() -> None:
    (row,) = report(Verdict.COMPLIANT)["movements"]  # type: ignore[misc]
    sheet = month_sheet([row, {**row, "brand": "=1+1"}], phrases("pt-BR"))
    head, first, second, end = sheet.split("\r\n")
    assert head.endswith(
        "Capacidade (kg);Estado;Marca;Saldo inicial;Entradas;Saídas;Mudança de estado;Acerto de contagem;Saldo final"
    )
    assert (first, second, end) == ("13;cheio;A;0;60;1;-45;295;309", "13;cheio;'=1+1;0;60;1;-45;295;309", "")
