"""Every alarm says why it is probably there and what to do next: no code is left without, in both languages."""

from collections.abc import Callable
from typing import Any

import pytest

from alerts.alarms import AlarmKey, Kind, Level, Phase
from alerts.messages.catalogue import LANGUAGES, Catalogue
from alerts.messages.guidance import GUIDES, PARTS, UNKNOWN, guidance, of_code, of_part
from alerts.messages.standing import StandingAlarm
from sensors.quality import REASONS
from sensors.readings import Status

TEXTS = Catalogue.load("alerts.messages", "pt-BR").texts
NO_CODES = {"with_code", "unknown", "none"}
WHY = sorted({key.removeprefix("why.") for key in TEXTS if key.startswith("why.")} - NO_CODES)
WHAT = sorted(tuple(key.split(".")[1:]) for key in TEXTS if key.startswith("what.") and not key.endswith(".other"))
PART = sorted({key.removeprefix("part.") for key in TEXTS if key.startswith("part.")} - {"other"})
LONGEST = 110
Make = Callable[..., Any]


def standing(kind: Kind, subject: str = "GD-101", **different: Any) -> StandingAlarm:
    values: dict[str, Any] = {
        "key": AlarmKey(subject, kind), "phase": Phase.UNACKNOWLEDGED, "level": None, "present": True, "age_s": 0,
        "lel_pct": None, "peak": None, "quality": "", "by": None, "reason": "", "detail": "",
    }  # fmt: skip
    return StandingAlarm(**(values | different))


@pytest.mark.parametrize("code", [*WHY, *(status.value for status in Status), *filter(None, REASONS.values())])
def test_every_reason_code_has_a_guide(code: str) -> None:
    assert of_code(code) != UNKNOWN, f"give {code} a guide in alerts/messages/guidance.py"


@pytest.mark.parametrize(("part", "reason"), WHAT)
def test_every_fault_of_a_part_has_a_guide(part: str, reason: str) -> None:
    assert part in PARTS, f"give {part} a guide in alerts/messages/guidance.py"
    assert of_part(part, reason)


@pytest.mark.parametrize("part", PART)
def test_every_part_has_a_guide(part: str) -> None:
    assert part in PARTS, f"give {part} a guide in alerts/messages/guidance.py"


def test_no_guide_is_written_for_nothing_and_no_code_stands_twice() -> None:
    used = {*GUIDES, *PARTS.values(), "gas", "drill", "compliance", UNKNOWN}
    assert {key.split(".")[1] for key in TEXTS if key.startswith("guide.")} == used
    codes = [code for codes in GUIDES.values() for code in codes]
    assert len(codes) == len(set(codes))
    assert set(codes) <= {*WHY, *(status.value for status in Status)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_guide_is_two_short_sentences(language: str) -> None:
    for key, text in Catalogue.load("alerts.messages", language).texts.items():
        if key.startswith("guide."):
            assert len(text) <= LONGEST, key
            assert text[0].isupper() and text.endswith("."), key


@pytest.mark.parametrize("level", Level)
def test_gas_says_what_its_level_asks_for(level: Level) -> None:
    told = guidance(standing(Kind.GAS, level=level), "pt-BR")
    assert "Vazamento" in told.likely_cause
    assert "193" in told.next_action and ("EVACUE" in told.next_action) is (level is not Level.A1)


def test_gas_that_has_gone_asks_for_a_look_and_a_reset() -> None:
    gone = standing(Kind.GAS, level=Level.A2, present=False, phase=Phase.LATCHED_ACKNOWLEDGED)
    assert guidance(gone, "pt-BR").next_action == "Alarme retido: confira o local e rearme."


def test_a_drill_sends_nobody_to_193() -> None:
    told = guidance(standing(Kind.GAS, level=Level.A3, drill=True), "pt-BR")
    assert told.next_action == "É um exercício: não ligue 193."


def test_a_head_behind_a_cut_cable_has_the_guide_of_the_cable() -> None:
    cut = standing(Kind.BLIND, "detectores", reason="link", detail="unplugged")
    assert "adaptador serial" in guidance(cut, "pt-BR").likely_cause
    assert "converter" in guidance(standing(Kind.BLIND, reason="link"), "en").likely_cause.lower()


def test_a_code_that_only_a_device_knows_leads_to_its_manual() -> None:
    assert "manual" in guidance(standing(Kind.BLIND, reason="lamp-2"), "pt-BR").next_action


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_standing_alarm_has_both(kind: Kind, phase: Phase, language: str) -> None:
    for present in (True, False):
        told = guidance(standing(kind, "other:x", phase=phase, present=present, reason="torn"), language)
        assert told.likely_cause and told.next_action
