"""What the pages say of findings, stock, forms and the survey: pure, from the office's answers."""

from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from compliance.registers.cells import Marks
from dashboards.conformity.asking import answers
from dashboards.conformity.breaches import breaks_view
from dashboards.conformity.entering import (
    daily_form,
    last_price,
    lines_of,
    record_form,
    record_line,
    ticket_of,
    weighed,
)
from dashboards.conformity.findings import findings_view, steps
from dashboards.conformity.phrases import Phrases
from dashboards.conformity.stock import due_view, stock_view
from dashboards.office import Fault, Value
from dashboards.web.papers import all_words, facts
from dashboards.wording import Locale


def phrases(language: str = "pt-BR") -> Phrases:
    return Phrases(
        Locale(language, all_words(language), ZoneInfo("America/Sao_Paulo")), facts(), {"patio": "Pátio norte"}
    )


def finding(rule: str, verdict: str, **different: Any) -> dict[str, Any]:
    values = {
        "statute": "lei", "rule": rule, "clause": "Art. 4", "subject": "area:patio", "verdict": verdict,
        "severity": "serious", "soon": "", "margin": None, "holds_until": None, "due": None, "together": [],
        "evidence": [], "since": "2026-11-01",
    }  # fmt: skip
    return values | different


def answer(*found: dict[str, Any], kind: str = "statute") -> dict[str, Any]:
    return {
        "on": "2026-11-30",
        "statutes": [
            {
                "id": "lei",
                "title": "Armazenamento",
                "citation": "Lei 1",
                "kind": kind,
                "clauses": {"Art. 4": {"summary": {}}},
            }
        ],
        "rules": {
            one["rule"]: {
                "text": {"pt": f"Regra {one['rule']}", "en": f"Rule {one['rule']}"},
                "remedy": {"pt": "Conserte.", "en": "Mend it."},
            }
            for one in found
        },
        "findings": list(found),
    }


def test_the_broken_stand_first_by_danger_then_what_is_soon_due_by_its_day() -> None:
    view = findings_view(
        answer(
            finding("a", "COMPLIANT"),
            finding("b", "COMPLIANT", soon="30", holds_until="2026-12-20"),
            finding("c", "COMPLIANT", soon="7", holds_until="2026-12-03"),
            finding("d", "VIOLATED"),
            finding("e", "VIOLATED", severity="danger"),
            finding("f", "UNDETERMINED"),
        ),
        phrases(),
    )
    assert [row.what[-1] for row in view.first] == ["e", "d", "c", "b"]
    assert view.headline.word == "2 infrações · 2 a vencer · 1 a determinar"
    assert view.headline.tone == "alarm"
    assert view.first[2].holds == "vale até 02/12/2026", "the last good day, not the first bad one"
    assert view.first[0].remedy == "Conserte."


def test_what_ends_this_year_is_shown_by_its_day_and_disturbs_no_headline() -> None:
    view = findings_view(answer(finding("a", "COMPLIANT", soon="year", holds_until="2027-01-01")), phrases())
    assert [(row.badge.word, row.badge.tone, row.holds) for row in view.first] == [
        ("vence este ano", "attention", "vale até 31/12/2026")
    ]
    assert view.headline.tone == "normal"


def test_what_is_unknown_is_never_well_and_names_what_is_missing() -> None:
    missing = [{"subject": "area:patio", "name": name, "value": None} for name in ("roofed", "roof_height_m")]
    view = findings_view(answer(finding("a", "COMPLIANT"), finding("b", "UNDETERMINED", evidence=missing)), phrases())
    assert view.headline.tone == "stale" and view.headline.word == "1 a determinar"
    row = view.laws[0].groups[1].row
    assert row.badge.word == "a determinar"
    assert row.missing == "Falta informar: Área Pátio norte: Área coberta; Área Pátio norte: Pé-direito (m)"


def test_a_reference_is_marked_counts_for_nothing_and_alarms_nobody() -> None:
    view = findings_view(answer(finding("a", "VIOLATED", severity="danger"), kind="reference"), phrases())
    assert view.first == () and view.headline.tone == "normal"
    (law,) = view.laws
    assert law.mark == "referência, não é esta lei" and not law.open
    assert law.groups[0].row.badge.tone == "normal"


def test_a_house_rule_is_marked() -> None:
    (law,) = findings_view(answer(finding("a", "COMPLIANT"), kind="house"), phrases()).laws
    assert law.mark == "regra da casa"


def test_twelve_heads_of_which_a_rule_says_the_same_are_one_line() -> None:
    heads = [finding("bump", "UNDETERMINED", subject=f"detector:GD-{number}") for number in range(12)]
    (law,) = findings_view(answer(*heads), phrases()).laws
    (group,) = law.groups
    assert len(group.rows) == 12 and {row.where for row in group.rows} >= {"Detector GD-0", "Detector GD-11"}


@pytest.mark.parametrize(
    ("margin", "said"),
    [
        ({"low": "-156", "high": "-156", "unit": "kg"}, "fora do limite por 156 kg"),
        ({"low": "1500.5", "high": "1500.5", "unit": "kg"}, "folga de 1.500,5 kg"),
        ({"low": "1", "high": "1", "unit": "extinguishers"}, "folga de 1 extintor"),
        ({"low": None, "high": "-13", "unit": "kg"}, "fora do limite por pelo menos 13 kg"),
        ({"low": "2", "high": "5", "unit": "m"}, "margem entre 2 e 5 m"),
        ({"low": None, "high": None, "unit": "m"}, ""),
        (None, ""),
    ],
)
def test_a_margin_is_said_with_its_unit(margin: dict[str, Any] | None, said: str) -> None:
    assert phrases().margin(margin) == said


def test_a_history_has_the_latest_step_first_and_says_who_changed_it() -> None:
    changes = [
        {"on": "2026-10-01", "verdict": "UNDETERMINED", "soon": "", "because": [], "evidence": []},
        {
            "on": "2026-11-01", "verdict": "COMPLIANT", "soon": "", "evidence": [],
            "because": [{"register": "extinguisher", "subject": "EXT-7", "by": "Ana"}],
        },
    ]  # fmt: skip
    latest, first = steps(changes, phrases())
    assert (latest.on, latest.badge.word) == ("01/11/2026", "conforme")
    assert latest.because == ("Extintor EXT-7 (por Ana)",)
    assert first.badge.word == "a determinar"


def test_a_history_names_once_who_told_several_things_in_a_row() -> None:
    told = [
        ("stock", "patio", "Ana"),
        ("stock", "patio", "Ana"),
        ("extinguisher", "EXT-7", "Ana"),
        ("depot", "", "Bia"),
    ]
    because = [{"register": register, "subject": subject, "by": by} for register, subject, by in told]
    change = {"on": "2026-10-01", "verdict": "VIOLATED", "soon": "", "because": because, "evidence": []}
    (step,) = steps([change], phrases())
    assert step.because == ("estoque: Área Pátio norte, Extintor EXT-7 (por Ana)", "Depósito (por Bia)")


def test_a_history_tells_of_days_gone_by_which_they_were_and_when_that_became_known() -> None:
    days = {"on": "2026-11-20", "effective": "2026-11-05", "soon": "", "verdict": "VIOLATED", "severity": "danger"}
    later = {**days, "until": "2026-11-08", "past": "known-later"}
    slip = {**days, "until": "2026-11-06", "past": "never-was"}
    first, second = steps([slip, later], phrases())
    assert (first.on, first.badge.word) == (
        "de 05/11/2026 a 07/11/2026, conhecido em 20/11/2026",
        "infração que só se soube depois",
    )
    assert (second.on, second.badge.word) == ("05/11/2026, conhecido em 20/11/2026", "não houve infração")
    assert {first.badge.tone, second.badge.tone} == {"aside"}, "nothing is to be done about it today"


# --- stock and dates ------------------------------------------------------------------------------

LIMITS = [
    {
        "area": "patio",
        "licensed_kg": "6240",
        "classes": [{"statute": "lei", "citation": "Lei 1", "class": "III", "up_to_kg": "6240"}],
    }
]


def test_stock_is_held_against_the_licence_and_names_the_class_with_kg_and_law() -> None:
    pile = {"area": "patio", "lot": "", "size_kg": "13", "state": "full", "place": "", "brand": "", "units": 470}
    other = {**pile, "booked": 475, "counted": 470, "at": "2026-11-30T12:00:00.000Z", "by": "João"}
    data = {
        "areas": [{"area": "patio", "kg": "6110", "units": 470, "piles": [pile]}],
        "limits": LIMITS,
        "doubts": [],
        "discrepancies": [{**other, "area": "fundos"}, other],
    }
    (area,) = stock_view(data, phrases())
    assert area.kg == "6.110 de 6.240 kg licenciados" and area.filled == 97
    assert area.badge.word == "quase cheio: cabem 130 kg (10 P-13)"
    assert area.classes == ("Classe III, até 6.240 kg (Lei 1)",)
    assert area.states == ("cheio: 470",)
    assert area.counts == ("Contagem de 30/11/2026 09:00 por João: 470 P-13 cheio, no livro 475 (faltavam 5)",)


def test_due_dates_stand_in_their_order_and_an_untold_one_at_the_top() -> None:
    held = [
        {"subject": "EXT-1", "values": {"charge_until": "2027-05-01", "hydrostatic_until": "2029-01-01"}},
        {"subject": "EXT-2", "values": {"charge_until": "2026-12-05", "hydrostatic_until": "2029-01-01"}},
        {"subject": "EXT-3", "values": {"charge_until": "2026-11-01", "hydrostatic_until": None}},
    ]
    papers = [{"subject": "anp", "values": {"no_expiry": True}}]
    rows = due_view({"extinguisher": held, "document": papers}, date(2026, 11, 30), phrases())
    assert [(row.what, row.badge.word) for row in rows] == [
        ("Extintor EXT-3", "data não informada"),
        ("Extintor EXT-2", "vence em 5 dias"),
        ("Extintor EXT-1", "vence em 152 dias"),
    ]


# --- entries --------------------------------------------------------------------------------------


def broken(margin: str, **different: Any) -> dict[str, Any]:
    values = {
        "statute": "lei", "clause": "Art. 4", "subject": "area:patio", "text": {"pt": "Estoque na licença"},
        "severity": "danger", "remedy": {"pt": "Não descarregue."},
        "margin": {"low": margin, "high": margin, "unit": "kg"},
    }  # fmt: skip
    return values | different


def test_a_delivery_too_large_is_said_in_units_of_what_comes_and_by_the_class() -> None:
    stock = {"areas": [{"area": "patio", "kg": "5610"}], "limits": LIMITS}
    given = {"units": "60", "size_kg": "P-13"}
    (one,) = breaks_view([broken("-150")], stock, given, phrases())
    assert one.what == "Esta entrega de 60 P-13 passaria da classe III (6.240 kg, Área Pátio norte) em 12 unidades."
    odd = stock | {"limits": [{**LIMITS[0], "licensed_kg": "6000"}]}
    (one,) = breaks_view([broken("-2310", statute="house")], odd, {"units": "60", "size_kg": "P-45"}, phrases())
    assert "licença de 6.000 kg" in one.what and "em 52 unidades" in one.what


def test_kg_of_extinguishers_that_are_missing_are_no_cylinders_too_many_and_stand_after_the_danger() -> None:
    stock = {"areas": [{"area": "patio", "kg": "5610"}], "limits": LIMITS}
    powder = broken("-24", severity="minor", text={"pt": "Quilos de pó"})
    danger, minor = breaks_view([powder, broken("-150")], stock, {"units": "60", "size_kg": "P-13"}, phrases())
    assert "12 unidades" in danger.what
    assert minor.what == "Depois deste movimento: Área Pátio norte, fora do limite por 24 kg."


@pytest.mark.parametrize(
    ("kind", "act", "states"),
    [
        ("exchange", "state", {"state": "full", "to_state": "empty"}),
        ("sold", "out", {"state": "full"}),
        ("returned", "in", {"state": "empty"}),
        ("collected", "out", {"state": "empty"}),
    ],
)
def test_a_sale_is_the_movement_that_it_is(kind: str, act: str, states: dict[str, str]) -> None:
    (line,) = lines_of("sale", {"area": "patio", "units": "2", "kind": kind}, "rid", "2026-11-30")
    assert (line.register, line.subject, line.act, line.id) == ("stock", "patio", act, "rid")
    assert line.values == {"size_kg": "P-13", "units": 2} | states


@pytest.mark.parametrize(("back", "credit"), [("15,8", "0.8"), ("15", "0"), ("14,2", "0"), ("", None)])
def test_the_credit_is_what_comes_back_above_the_stamped_tare_and_never_below_nothing(
    back: str, credit: str | None
) -> None:
    given = {"full_weighed_kg": "28,1", "full_tare_kg": "15", "empty_weighed_kg": back, "empty_tare_kg": "15"}
    ticket = weighed(given | {"price_per_kg": "8,50"}, "2026-11-30")
    assert ticket.get("credited_kg") == credit
    assert ticket["exchange"] is bool(back)
    if back == "15,8":
        assert ticket_of(ticket, phrases()) == "Líquido 13,1 kg; abatido 0,8 kg; a cobrar R$ 104,55"


def test_a_kept_ticket_is_said_as_it_is_kept_and_its_price_is_offered_for_the_next() -> None:
    kept: dict[str, Value] = {"full_weighed_kg": "28.125", "full_tare_kg": "15.125", "price_per_kg": "8.5"}
    assert ticket_of(kept, phrases(), Marks.POINT) == "Líquido 13 kg; abatido 0 kg; a cobrar R$ 110,50"
    tickets = [
        {"values": {"price_per_kg": price}, "told": {"price_per_kg": {"recorded": f"2026-11-{day}T12:00:00.000Z"}}}
        for day, price in ((12, "8.9"), (28, "8.5"), (29, None))
    ]
    assert (last_price(tickets), last_price([])) == ("8.5", "")


FORM = {
    "register": "extinguisher",
    "key": "id",
    "fields": [
        {
            "name": "charge_kg",
            "type": "number",
            "label": {"pt-BR": "Carga (kg)"},
            "ask": {},
            "choices": {},
            "needed": True,
        },
        {
            "name": "present",
            "type": "boolean",
            "label": {"pt-BR": "No lugar"},
            "ask": {},
            "choices": {},
            "needed": True,
        },
    ],
}


def test_a_record_asks_only_for_what_was_changed_and_wipes_what_was_emptied() -> None:
    held = {"values": {"charge_kg": "8.5", "present": True}, "last": "e1"}
    form = record_form(FORM, held, "EXT-1", ["patio"], phrases())
    assert [one.value for one in form.fields] == ["EXT-1", "8,5", "sim"]
    given = {one.name: one.value for one in form.fields}
    assert record_line(FORM, held, given, "rid").values == {}
    line = record_line(FORM, held, given | {"present": "", "charge_kg": "6"}, "rid")
    assert line.values == {"present": None, "charge_kg": "6"}


def test_a_fault_stands_beside_its_field_and_what_was_typed_stays() -> None:
    form = daily_form("delivery", ["patio"], phrases())
    faults = [
        Fault(1, "units", "no-units", "", "", {"pt-BR": "falta a quantidade"}),
        Fault(0, "by", "needs-name", "", ""),
    ]
    back = form.filled({"units": "doze"}, faults)
    (units,) = [one for one in back.fields if one.name == "units"]
    assert (units.value, units.error) == ("doze", "falta a quantidade")
    assert back.beside(faults, "pt-BR") == ("needs-name",)


def test_survey_answers_are_one_line_for_each_thing_and_not_knowing_is_no_answer() -> None:
    given = {
        "area|patio|roofed": "não",
        "area|patio|ventilated": "",
        "area|patio|distance_drain_m": "3,5",
        "area|patio|expect": "e7",
        "between|patio|fundos|distance_m": "12",
        "by": "Ana",
    }
    area, between = answers(given, "rid")
    assert (area.values, area.expect, area.id) == ({"roofed": "não", "distance_drain_m": "3,5"}, "e7", "rid-0")
    assert between.subject == "patio|fundos"
    assert between.values == {"distance_m": "12", "one": "patio", "other": "fundos"}
