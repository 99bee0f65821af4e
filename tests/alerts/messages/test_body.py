"""The JSON that machines receive of a notice is the contract's."""

import json
from collections.abc import Callable
from dataclasses import replace
from math import inf, nan
from typing import Any

import pytest

from alerts.alarms import AlarmEvent, Cause, Kind, Level, Notice
from alerts.messages.body import body

Make = Callable[..., Any]


def test_the_body_is_the_contract(make_event: Make, make_notice: Make, at: Make) -> None:
    event: AlarmEvent = make_event(
        cause=Cause.RISEN,
        level=Level.A2,
        lel_pct=23.456,
        peak=25.04,
        since=at(0),
        sampled=at(1000.9),
        at=at(1003),
        by="Ana",
        reason="level",
        detail="two",
    )
    notice: Notice = make_notice(
        event, recorded=False, text="Onde, o quê", area_name="Pátio norte", detector_name="Porta 2"
    )
    assert body(notice) == {
        "id": "deposito-centro-ab12-7",
        "seq": 7,
        "depot": "deposito-centro",
        "area": "patio",
        "area_name": "Pátio norte",
        "subject": "GD-101",
        "detector_name": "Porta 2",
        "subjects": [],
        "kind": "GAS",
        "level": "A2",
        "event": "risen",
        "lel_pct": 23.5,
        "peak": 25.0,
        "since": "2026-11-30T11:10:59.000Z",
        "sampled": "2026-11-30T11:11:00.000Z",
        "decided": "2026-11-30T11:11:00.003Z",
        "recorded": False,
        "by": "Ana",
        "reason": "level",
        "detail": "two",
        "text": "Onde, o quê",
        "drill": False,
    }


def test_a_repeat_and_another_recipient_carry_the_same_id(make_notice: Make) -> None:
    first: Notice = make_notice(attempt=1)
    repeat: Notice = make_notice(attempt=2)
    other = replace(first, delivery=replace(first.delivery, id="x:mail:vizinho", recipient="vizinho", channel="mail"))
    assert body(first) == body(repeat) == body(other)


def test_a_notice_without_gas_has_null_level_and_value(make_event: Make, make_notice: Make) -> None:
    event = make_event(kind=Kind.BLIND, subject="detectores", subjects=("GD-101", "GD-102"), reason="timeout")
    told = body(make_notice(event))
    assert (told["level"], told["lel_pct"], told["peak"]) == (None, None, None)
    assert told["subjects"] == ["GD-101", "GD-102"]


@pytest.mark.parametrize("bad", [nan, inf, -inf])
def test_a_number_json_cannot_carry_is_null(bad: float, make_event: Make, make_notice: Make) -> None:
    told = body(make_notice(make_event(lel_pct=bad, peak=bad)))
    assert (told["lel_pct"], told["peak"]) == (None, None)
    json.dumps(told, allow_nan=False)
