"""What a notice says of a finding: no code of ours, the clause, where, by how much, until when, what to do."""

from datetime import date
from zoneinfo import ZoneInfo

from alerts.alarmbook import AlarmBook
from alerts.alarms import AlarmEvent, AlarmKey, Cause, Kind
from alerts.messages.phrases import LONGEST
from alerts.messages.place import Place
from alerts.messages.words import words
from compliance import catalogue
from compliance.registers.entries import Millis
from compliance.statutes import load
from compliance.vocabulary import Finding, Margin, Subject, Verdict
from dashboards.office import MOST_DETAIL_CHARS
from gateway.office.doubts import Doubt
from gateway.office.saying import Speaker, sayer
from sensors.stamps import Instant, Stamp, UtcNanos

STATUTES = {name: load(name) for name in ("house", "ferraz-de-vasconcelos-3190-2013")}
ZONE = ZoneInfo("America/Sao_Paulo")


def finding(rule_id: str, subject: str, verdict: Verdict = Verdict.VIOLATED, **more: object) -> Finding:
    statute, rule = next((each, rule) for each in STATUTES.values() for rule in each.rules if rule.id == rule_id)
    kind, _, name = subject.partition(":")
    return Finding(statute.id, rule, Subject(kind, name), verdict, date(2026, 11, 30), (), **more)  # type: ignore[arg-type]


NOW = Stamp(Instant(0), UtcNanos(1_796_037_059_000_000_000))


def told_of(subject: str, detail: str, cause: Cause) -> AlarmEvent:
    book, key = AlarmBook("deposito", "ab12"), AlarmKey(subject, Kind.COMPLIANCE)
    raised = book.raise_(key, NOW, reason="violated", detail=detail)
    return raised if cause is Cause.RAISED else book.clear(key, NOW)


def said(found: Finding, language: str = "pt-BR", cause: Cause = Cause.RAISED) -> str:
    say = sayer(STATUTES, catalogue.load(), {"patio": "Pátio norte"}, language, ZONE)
    event = told_of(f"{found.rule.id}/{found.subject}", say(found), cause)
    return words(event, Place("Depósito Centro"), language)


def test_a_breach_says_the_clause_the_place_the_margin_and_the_remedy() -> None:
    stock = finding("ferraz-4-stock", "area:patio", margin=Margin(-156.0, -156.0, "kg"))
    told = said(stock)
    assert told.startswith(
        "PENDÊNCIA LEGAL - Depósito Centro: Capacidade nominal guardada dentro da licenciada, vazios incluídos "
        "(Lei 3.190/2013, de Ferraz de Vasconcelos, Art. 4), Área Pátio norte. "
        "Não cumprido: fora do limite por 156 kg. Tire recipientes da área agora"
    )
    assert len(told) <= LONGEST
    assert "ferraz-4-stock" not in told and "area:" not in told


def test_what_is_soon_due_says_its_last_good_day() -> None:
    worse_on = date(2026, 12, 13)
    soon = finding("house-9-dates", "extinguisher:EXT-3", Verdict.COMPLIANT, holds_until=worse_on)
    assert said(soon) == (
        "PENDÊNCIA LEGAL - Depósito Centro: Extintor na validade: carga, teste hidrostático e inspeção de 12 meses "
        "(regra da casa 9), Extintor EXT-3. Vale só até 12/12/2026. Mande recarregar ou inspecionar por empresa "
        "registrada e anote as datas."
    )
    assert "Holds only until 2026-12-12" in said(soon, "en")


def test_what_is_over_no_longer_says_what_to_do() -> None:
    over = said(finding("house-23-fire-brigade", "depot:depot"), cause=Cause.CLEARED)
    assert over.startswith("Pendência legal resolvida - Depósito Centro: Vistoria dos bombeiros em vigor (regra da")
    assert "Não cumprido" not in over and "Peça a vistoria" not in over


def test_every_rule_can_be_said_in_both_languages_without_a_code() -> None:
    for statute in STATUTES.values():
        for rule in statute.rules:
            found = finding(rule.id, f"{rule.each}:X-1")
            for language in ("pt-BR", "en"):
                assert rule.id not in said(found, language)


def test_a_notice_is_kept_in_both_languages_and_each_reader_has_their_own() -> None:
    speaker = Speaker(STATUTES, catalogue.load(), {"patio": "Pátio norte"}, "pt-BR", ZONE)
    event = told_of("ferraz-4-stock/area:patio", speaker.finding(finding("ferraz-4-stock", "area:patio")), Cause.RAISED)
    portuguese, english = (words(event, Place("Depósito Centro"), language) for language in ("pt-BR", "en"))
    assert "Tire recipientes da área agora" in portuguese and "Tire" not in english
    assert "Not kept" in english or "not kept" in english or "Not met" in english, english
    longest = max(
        len(speaker.finding(finding(rule.id, "area:patio"))) for law in STATUTES.values() for rule in law.rules
    )
    assert longest <= MOST_DETAIL_CHARS


def test_a_stock_in_doubt_says_which_source_why_and_that_somebody_must_count() -> None:
    speaker = Speaker(STATUTES, catalogue.load(), {"patio": "Pátio norte"}, "pt-BR", ZONE)
    breach = speaker.doubt(Doubt("patio", "portao-saida", "jump", Millis(1_796_037_059_000)))
    event = told_of(breach.subject, breach.detail, Cause.RAISED)
    said = words(event, Place("Depósito Centro"), "pt-BR")
    assert "Estoque a conferir: Área Pátio norte, origem portao-saida" in said and "Conte os recipientes" in said
    assert "Count the containers" in words(event, Place("Depósito Centro"), "en")
