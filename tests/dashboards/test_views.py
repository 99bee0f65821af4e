"""What the page says about a picture: never "all normal" when it is not, never an old value as a present one."""

from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest

from dashboards.detector_cards import detector_card, detector_tone
from dashboards.ports import AlarmView, DepotView, DetectorView, OutputView, Snapshot, SuppressionView, WindowView
from dashboards.views import headline_of, measured_badge, output_row, page_view
from dashboards.web.page import words
from dashboards.wording import Locale

EN = Locale("en", words("en"), ZoneInfo("America/Sao_Paulo"))
PT = Locale("pt-BR", words("pt-BR"), ZoneInfo("America/Sao_Paulo"))
NOW = "2026-11-30T11:10:59.123Z"


def head(head_id: str = "GD-101", lel: float | None = 1.2, **different: Any) -> DetectorView:
    values: dict[str, Any] = {
        "id": head_id, "area": "patio", "source": "bus", "lel_pct": lel, "at_least": None, "quality": "good",
        "status": "measuring", "reason": "", "taken": NOW, "age_s": 0.3, "a1": 10.0, "a2": 20.0, "a3": 40.0,
        "watching": True, "worst_case_s": 1.0, "certified": True,
    }  # fmt: skip
    return DetectorView(**(values | different))


def alarm(subject: str = "GD-101", kind: str = "GAS", **different: Any) -> AlarmView:
    values: dict[str, Any] = {
        "id": f"d-1-{subject}-{kind}", "subject": subject, "kind": kind, "level": "A1" if kind == "GAS" else None,
        "state": "unacknowledged", "present": True, "latched": False, "lel_pct": 12.0, "peak": 12.3, "quality": "good",
        "since": "2026-11-30T11:09:59.123Z", "sampled": "2026-11-30T11:09:59.123Z",
        "decided": "2026-11-30T11:09:59.124Z", "first_output": "2026-11-30T11:09:59.335Z", "acknowledged_by": None,
        "muted": False, "reason": "", "detail": "", "area": "patio", "text": "",
    }  # fmt: skip
    return AlarmView(**(values | different))


def picture(*heads: DetectorView, alarms: tuple[AlarmView, ...] = ()) -> Snapshot:
    about = DepotView("d", "Depósito Centro", "", "America/Sao_Paulo", "pt-BR", "0", NOW)
    return Snapshot(1, NOW, about, heads, alarms, (), (), None, 1.0, True, 120.0)


def said(snapshot: Snapshot, *, current: bool = True, lost_s: float | None = None) -> tuple[str, str]:
    headline = headline_of(snapshot, PT, current=current, lost_s=lost_s)
    return headline.tone, headline.word


def test_all_is_normal_only_when_every_head_watches_and_no_alarm_stands() -> None:
    assert said(picture(head(), head("GD-102"))) == ("normal", "Tudo normal")
    assert said(picture(head(), head("GD-102", watching=False)))[1] == "1 detector sem monitoramento"
    assert said(picture(head(quality="uncertain"))) == ("attention", "1 ponto de atenção")
    assert said(picture()) == ("attention", "Nenhum detector")


def test_gas_comes_before_blindness_before_faults() -> None:
    alarms = (
        alarm(kind="SYSTEM", subject="journal"),
        alarm("GD-102", "BLIND"),
        alarm(),
        alarm("GD-103", kind="COMPLIANCE"),
    )
    heads = (head(), head("GD-102", None, quality="bad", status="no-contact", watching=False), head("GD-103"))
    assert said(picture(*heads, alarms=alarms)) == (
        "alarm",
        "1 alarme de gás · 1 detector sem monitoramento · 1 falha · 1 ponto de atenção",
    )


def test_gas_that_is_gone_and_taken_asks_for_its_reset_and_no_longer_for_leaving() -> None:
    gone = alarm(state="latched-acknowledged", present=False)
    assert said(picture(head(), alarms=(gone,))) == ("attention", "1 alarme de gás a rearmar")
    assert said(picture(head(), head("GD-102"), alarms=(alarm("GD-102"), gone)))[0] == "alarm"
    open_ = alarm(state="latched-unacknowledged", present=False)
    assert said(picture(head(), alarms=(open_,)))[0] == "alarm", "nobody has taken it yet"


def test_lost_contact_is_said_before_anything_else() -> None:
    assert said(picture(head(), alarms=(alarm(),)), current=False, lost_s=12.0) == (
        "stale",
        "Sem contato com o vigia há 12 s",
    )
    assert said(picture(head()), current=False) == ("stale", "Sem contato com o vigia")


@pytest.mark.parametrize(
    ("view", "tone"),
    [
        (head(lel=9.9), "normal"),
        (head(lel=10.0), "alarm"),
        (head(lel=None, at_least=40.0, quality="bad", status="over-range"), "alarm"),
        (head(lel=55.0, quality="bad", status="no-contact", watching=False), "fault"),
        (head(lel=None, quality="bad", status="fault"), "fault"),
        (head(watching=False), "fault"),
        (head(status="warm-up", quality="uncertain"), "attention"),
    ],
)
def test_a_detector_is_drawn_by_what_its_value_can_be_trusted_for(view: DetectorView, tone: str) -> None:
    assert detector_tone(view, current=True) == tone
    assert detector_tone(view, current=False) == "stale"


def test_a_value_is_never_shown_without_its_age_and_quality() -> None:
    card = detector_card(head(lel=12.34, age_s=0.44), PT, current=True)
    assert (card.value, card.age, card.quality) == ("12,3 % LIE", "há 0,4 s", "Qualidade boa")
    assert card.badge.word == "ALARME A1"


def test_where_there_is_no_value_the_age_is_that_of_the_last_try() -> None:
    dead = head(lel=None, quality="bad", status="no-contact", reason="timeout", watching=False, age_s=0.1)
    card = detector_card(dead, PT, current=True)
    assert (card.value, card.age) == ("sem valor", "tentativa há 0,1 s")


def test_a_page_that_hears_nothing_says_what_to_do() -> None:
    view = page_view(picture(head()), PT, current=False, lost_s=9.6)
    assert view.headline.word == "Sem contato com o vigia há 9,6 s"
    assert view.watching.startswith("Não conte com esta página: deixe uma pessoa de vigia")


@pytest.mark.parametrize("current", [True, False])
def test_a_value_nobody_may_trust_is_struck_and_draws_no_bar(current: bool) -> None:
    dead = head(lel=3.4, quality="bad", status="no-contact", reason="timeout", watching=False, age_s=14.0)
    card = detector_card(dead, PT, current=current)
    assert card.struck
    assert card.meter.value is None
    assert card.reason == "Motivo: sem comunicação (não responde)"


def test_a_bound_is_not_written_as_a_measured_value() -> None:
    card = detector_card(head(lel=None, at_least=40.0, quality="bad", status="over-range"), PT, current=True)
    assert (card.value, card.struck, card.badge.word) == ("≥ 40,0 % LIE", False, "ALARME A3")


def test_a_head_that_cannot_promise_three_seconds_says_so() -> None:
    card = detector_card(head(certified=False, worst_case_s=5.24), PT, current=True)
    assert card.promise == "Não garante 3 s (pior caso 5,2 s)"


@pytest.mark.parametrize(
    ("kind", "said"), [("test", "Em teste por Ana até 14:30"), ("inhibit", "Inibido por Ana até 14:30")]
)
def test_a_head_under_a_window_says_what_who_and_until_when_by_the_depots_clock(kind: Any, said: str) -> None:
    under = head(reason="own-alarm", window=WindowView(kind, "Ana", "2026-11-30T17:30:59.999Z"))
    assert detector_card(under, PT, current=True).reason == said


def test_a_window_whose_opener_was_erased_keeps_a_place_for_the_name() -> None:
    under = head(window=WindowView("test", "", "2026-11-30T17:30:00.000Z"))
    assert detector_card(under, PT, current=True).reason == "Em teste por ? até 14:30"


def test_an_alarm_tells_where_how_much_since_when_and_its_times() -> None:
    row = page_view(picture(head(lel=12.0), alarms=(alarm(),)), PT, current=True, lost_s=None).alarms[0]
    assert (row.badge.word, row.where) == ("GÁS A1", "GD-101 · Área patio")
    assert row.now == "Agora 12,0 % LIE, há 0,3 s · pico 12,3 % LIE"
    assert row.since == "Desde 08:09:59 (há 60 s)"
    assert row.times == "Lido 08:09:59,123 → decidido +1 ms → primeira saída +212 ms"


def test_what_people_call_it_stands_beside_its_id_and_the_areas_name_in_place_of_its_id() -> None:
    named = head(name="Porta 2", area_name="Pátio norte")
    view = page_view(picture(named, head("GD-102", name="GD-102"), alarms=(alarm(),)), PT, current=True, lost_s=None)
    (area,) = view.areas
    assert area.title == "Área Pátio norte"
    assert [(card.id, card.called) for card in area.cards] == [("GD-101", "Porta 2"), ("GD-102", "")]
    assert view.alarms[0].where == "GD-101 (Porta 2) · Área Pátio norte"


def test_an_alarm_speaks_the_pages_language_and_shows_no_code() -> None:
    told = alarm(kind="SYSTEM", subject="journal", reason="slow", detail="2 s", text="Lento.", texts={"en": "Slow."})
    for locale, sentence in ((PT, "Lento."), (EN, "Slow.")):
        row = page_view(picture(head(), alarms=(told,)), locale, current=True, lost_s=None).alarms[0]
        assert (row.advice, row.now) == (sentence, "")


def test_an_alarm_without_an_output_yet_says_so() -> None:
    row = page_view(picture(head(), alarms=(alarm(first_output=None),)), PT, current=True, lost_s=None).alarms[0]
    assert row.times.endswith("primeira saída ainda nenhuma")


@pytest.mark.parametrize(
    ("state", "muted", "can"),
    [
        ("unacknowledged", False, (True, True, False)),
        ("unacknowledged", True, (True, False, False)),
        ("acknowledged", False, (False, False, False)),
        ("returned-unacknowledged", False, (True, True, False)),
        ("latched-unacknowledged", False, (True, True, False)),
        ("latched-acknowledged", False, (False, False, True)),
    ],
)
def test_only_what_is_possible_is_offered(state: str, muted: bool, can: tuple[bool, bool, bool]) -> None:
    shown = picture(head(), alarms=(alarm(state=state, muted=muted, acknowledged_by="Ana"),))
    row = page_view(shown, PT, current=True, lost_s=None).alarms[0]
    assert (row.can_acknowledge, row.can_silence, row.can_reset) == can
    lost = page_view(shown, PT, current=False, lost_s=9.0).alarms[0]
    assert not (lost.can_acknowledge or lost.can_silence or lost.can_reset or lost.flashing)


def test_a_lost_or_faulty_head_gives_its_alarm_no_present_value() -> None:
    gone = head(lel=22.0, quality="bad", status="no-contact", watching=False)
    for shown, current in ((picture(gone, alarms=(alarm(),)), True), (picture(head(), alarms=(alarm(),)), False)):
        row = page_view(shown, PT, current=current, lost_s=5.0).alarms[0]
        assert row.now.startswith("Sem valor presente")


def test_gas_stands_above_blindness_and_the_unacknowledged_above_the_rest() -> None:
    alarms = (
        alarm("GD-104", "BLIND"),
        alarm("GD-101", level="A3", state="acknowledged"),
        alarm("GD-102", level="A1"),
        alarm("GD-103", level="A2"),
    )
    rows = page_view(picture(head(), alarms=alarms), PT, current=True, lost_s=None).alarms
    assert [row.where[:6] for row in rows] == ["GD-103", "GD-102", "GD-101", "GD-104"]


@pytest.mark.parametrize(
    ("wanted", "confirmed", "tone"),
    [
        (True, True, "alarm"),
        (False, False, "normal"),
        (True, None, "attention"),
        (True, False, "fault"),
        (False, True, "fault"),
    ],
)
def test_an_output_that_does_not_do_as_told_is_a_fault(wanted: bool, confirmed: bool | None, tone: str) -> None:
    row = output_row(OutputView("sirene", wanted, confirmed, "", 0.5), PT, current=True)
    assert row.badge.tone == tone


def test_an_output_says_when_it_was_tested_and_whether_it_passed() -> None:
    at = "2026-11-30T17:30:59.000Z"
    passed = OutputView("sirene", wanted=False, confirmed=False, reason="", age_s=0.5, tested=at)
    failed = OutputView("sirene", wanted=False, confirmed=False, reason="", age_s=0.5, tested=at, test_failed="not-on")
    assert output_row(passed, PT, current=True).detail == "há 0,5 s · testada em 30/11 14:30"
    assert output_row(failed, PT, current=True).detail.endswith("REPROVADA no teste de 30/11 14:30")
    broken = msgspec.structs.replace(failed, test_failed="broken-off")
    assert "teste de 30/11 14:30 interrompido" in output_row(broken, PT, current=True).detail


def test_a_first_output_past_three_seconds_is_marked() -> None:
    assert measured_badge(3000.0, PT).tone == "normal"
    late = measured_badge(3000.6, PT)
    assert (late.tone, late.word) == ("alarm", "3001 ms (acima de 3 s)")


SHELF = SuppressionView("shelved", "Ana", "peça pedida", "2026-11-30T11:00:00.000Z", "2026-11-30T19:00:00.000Z")


def test_a_shelved_fault_is_grey_says_who_until_when_and_why_and_is_never_all_normal() -> None:
    quiet = alarm("influx", "SYSTEM", suppression=SHELF, can_shelve=False)
    view = page_view(picture(head(), alarms=(quiet,)), PT, current=True, lost_s=None)
    (row,) = view.alarms
    assert row.badge.tone == "aside" and not row.flashing
    assert row.state == "Suspenso por Ana até 30/11 16:00: peça pedida"
    assert (row.can_acknowledge, row.can_shelve, row.can_unshelve) == (False, False, True)
    assert (view.headline.tone, view.headline.word) == ("attention", "1 aviso suspenso")


def test_a_shelf_over_what_has_passed_says_so() -> None:
    quiet = alarm("influx", "SYSTEM", suppression=SHELF, present=False, state="normal")
    (row,) = page_view(picture(head(), alarms=(quiet,)), PT, current=True, lost_s=None).alarms
    assert row.state.endswith("peça pedida · a condição já passou")


def test_an_alarm_of_an_output_is_headed_by_its_name_and_not_by_a_code() -> None:
    (row,) = page_view(
        picture(alarms=(alarm("output:sirene", "SYSTEM", area=""),)), PT, current=True, lost_s=None
    ).alarms
    assert row.where == "sirene"


def test_what_is_set_aside_stands_below_what_is_not() -> None:
    alarms = (alarm("influx", "SYSTEM", suppression=SHELF), alarm("journal", "SYSTEM", since=NOW))
    rows = page_view(picture(head(), alarms=alarms), PT, current=True, lost_s=None).alarms
    assert [row.where for row in rows] == ["journal · Área patio", "influx · Área patio"]


def test_a_head_out_of_service_is_grey_with_who_until_when_and_why() -> None:
    out = WindowView("out-of-service", "Ana", "2026-12-02T17:30:00.000Z", "calibração")
    card = detector_card(head(watching=False, window=out), PT, current=True)
    assert (card.badge.tone, card.badge.word, card.struck) == ("aside", "Fora de serviço", True)
    assert card.reason == "Fora de serviço por Ana até 02/12 14:30: calibração"
    assert detector_card(head(lel=12.0, watching=False, window=out), PT, current=True).badge.tone == "alarm"


def test_an_area_that_nobody_watches_is_said_above_its_detectors_and_first_of_all_but_gas() -> None:
    out = WindowView("out-of-service", "Ana", "2026-12-02T17:30:00.000Z", "calibração")
    heads = (head(watching=False, window=out), head("GD-201", area="deposito"))
    alone = alarm("area:patio", "BLIND", reason="uncovered", area="Pátio")
    view = page_view(picture(*heads, alarms=(alone,)), PT, current=True, lost_s=None)
    assert [bool(area.uncovered) for area in view.areas] == [True, False]
    assert view.headline.word == "1 área sem cobertura · 1 detector sem monitoramento"
    assert view.alarms[0].where == "Área Pátio"


def test_a_row_says_the_likely_cause_and_for_gas_not_the_same_action_twice() -> None:
    guide = {"likely_cause": "Cabo partido.", "next_action": "Confira o cabo."}
    rows = page_view(
        picture(head(lel=12.0), alarms=(alarm(**guide), alarm("journal", "SYSTEM", **guide))),
        PT,
        current=True,
        lost_s=None,
    ).alarms
    assert [row.guide for row in rows] == [
        "Causa provável: Cabo partido.",
        "Causa provável: Cabo partido. Faça: Confira o cabo.",
    ]
