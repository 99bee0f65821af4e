"""The fire brigade's page, as its view says it: what, where, since when, how much, who to call, and how old that is."""

from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest

from dashboards.brigade import BrigadeView, brigade_view, dialled
from dashboards.conformity.phrases import Phrases
from dashboards.past import EventView, Trend
from dashboards.ports import AlarmView, ContactView, DepotView, DetectorView, Snapshot
from dashboards.web.papers import all_words, facts
from dashboards.wording import Locale

AT = "2026-11-30T17:30:59.000Z"
SINCE = "2026-11-30T17:29:59.000Z"


def head(head_id: str, lel: float) -> DetectorView:
    return DetectorView(
        head_id, "patio", "bus", lel, None, "good", "measuring", "", AT, 0.4, 10.0, 20.0, 40.0, True, 1.0, True
    )


def gas(subject: str, level: str = "A2", kind: str = "GAS") -> AlarmView:
    return AlarmView(
        *(f"x-{subject}", subject, kind, level, "unacknowledged", True, False, 23.4, 25.1, "good"),
        *(SINCE, SINCE, SINCE, SINCE, None, False, "", "", "patio", "ALARME"),
    )


def step(seq: int, event: str, subject: str = "GD-2", by: str | None = None, kind: str = "GAS") -> EventView:
    return EventView(seq, f"x-{seq}", subject, kind, event, "A2", 23.4, 25.1, SINCE, SINCE, SINCE, by, "", "")


def seen(*alarms: AlarmView, events: tuple[EventView, ...] = (), current: bool = True, **more: Any) -> BrigadeView:
    depot = DepotView(
        *("centro", "Centro", "Rua das Acácias 120, portão 2", "America/Sao_Paulo", "pt-BR", "0", AT),
        access="Hidrante na esquina",
        contacts=(ContactView("Ana", "owner", "+55 (11) 98888-7777"),),
    )
    heads = more.get("heads", (head("GD-1", 1.0), head("GD-2", 23.4)))
    snapshot = Snapshot(1, AT, depot, heads, alarms, (), (), None, 1.0, True, 120.0)
    phrases = Phrases(Locale("pt-BR", all_words("pt-BR"), ZoneInfo("America/Sao_Paulo")), facts(), {"patio": "Pátio"})
    return brigade_view(
        snapshot, more.get("stock"), events, more.get("trends", ()), phrases, current=current, lost_s=9.0
    )


def test_gas_is_told_with_place_value_age_and_beginning_and_the_highest_head_stands_first() -> None:
    view = seen(gas("GD-2"), gas("depot", kind="COMPLIANCE"))
    (row,) = view.gas
    assert (row.where, row.now) == ("GD-2 · Área patio", "Agora 23,4 % LIE, há 0,4 s · pico 25,1 % LIE")
    assert row.since == "Desde 14:29:59 (há 60 s)"
    assert [(area.title, [card.id for card in area.heads]) for area in view.areas] == [("Área Pátio", ["GD-2", "GD-1"])]
    assert view.headline.tone == "alarm"


def test_no_gas_alarm_is_no_all_clear_while_a_head_does_not_watch_or_contact_is_lost() -> None:
    blind = msgspec.structs.replace(head("GD-2", 0.0), watching=False, quality="bad", status="no-contact")
    assert seen(heads=(head("GD-1", 1.0),)).no_gas == "Nenhum alarme de gás neste momento."
    assert "só 1 de 2 detectores medem" in seen(heads=(head("GD-1", 1.0), blind)).no_gas
    assert "Agora não se sabe" in seen(heads=(head("GD-1", 1.0),), current=False).no_gas


def test_who_to_call_has_a_role_and_a_number_that_a_phone_dials() -> None:
    view = seen()
    (call,) = view.calls
    assert (call.name, call.role, call.dial) == ("Ana", "responsável pelo depósito", "+5511988887777")
    assert (view.access, view.map) == (
        "Hidrante na esquina",
        "geo:0,0?q=Rua%20das%20Ac%C3%A1cias%20120%2C%20port%C3%A3o%202",
    )


@pytest.mark.parametrize(("written", "dial"), [("193", "193"), ("(11) 3333-4444", "1133334444"), ("1+2", "12")])
def test_a_number_is_dialled_by_its_digits(written: str, dial: str) -> None:
    assert dialled(written) == dial


def test_the_steps_of_gas_stand_newest_first_without_reminders_and_other_matters() -> None:
    events = (
        step(1, "raised"),
        step(2, "raised", "multa", kind="COMPLIANCE"),
        step(3, "still"),
        step(4, "acknowledged", by="Ana"),
    )
    assert [one.text for one in seen(events=events).steps] == [
        "GD-2 · reconhecido · 23,4 % LIE · por Ana",
        "GD-2 · alarme A2 · 23,4 % LIE",
    ]


def test_a_minute_without_a_number_is_a_gap_and_not_its_neighbours_value() -> None:
    high = (None, None, None, 23.4, None, 1.0)
    trend = Trend("GD-2", SINCE, AT, 60, high, high, high, (0,) * 6, (None,) * 6, (None,) * 6)
    (minutes,) = seen(trends=(trend,)).minutes
    assert [(one.time, one.text) for one in minutes.moments] == [
        ("14:34", "1,0 % LIE"),
        ("14:33", "sem valor"),
        ("14:32", "23,4 % LIE"),
        ("14:29-14:31", "sem valor"),
    ]


def test_what_was_last_known_is_not_the_present_once_contact_is_lost() -> None:
    view = seen(gas("GD-2"), current=False)
    assert view.headline.tone == "stale" and view.watching == ""
    assert view.gas[0].now.startswith("Sem valor atual") or "23,4 %" not in view.gas[0].now
    assert all(card.struck for area in view.areas for card in area.heads)


def test_a_stock_that_cannot_be_read_is_not_an_empty_one() -> None:
    assert seen().stock is None
    empty = {"areas": [], "limits": [], "doubts": [], "discrepancies": []}
    assert seen(stock=empty).stock == ()
