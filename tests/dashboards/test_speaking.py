"""What the watch sends is said where it is shown: as before, once for each alarm, and in every language."""

import msgspec
import pytest

from alerts.messages.catalogue import LANGUAGES
from dashboards.ports import AlarmView, Change, DepotView, PlaceView, Snapshot, Unsaid
from dashboards.speaking import Speaker

PLACE = PlaceView("Depósito Centro", "Rua 1", "pátio", "GD-101", "Porta")


NOW = "2026-11-30T11:10:00.000Z"


def alarm(**different):
    values = {
        "id": "d-1", "subject": "GD-101", "kind": "GAS", "level": "A1", "state": "unacknowledged", "present": True,
        "latched": False, "lel_pct": 12.0, "peak": 12.0, "quality": "good", "since": NOW, "sampled": NOW,
        "decided": NOW, "first_output": None, "acknowledged_by": None, "muted": False, "reason": "", "detail": "",
        "area": "patio", "text": "",
    }  # fmt: skip
    return AlarmView(**(values | different))


def bare(*, age_s=5, drill=False, **different):
    return alarm(unsaid=Unsaid(PLACE, age_s, drill=drill, over_range=False), **different)


def picture(*alarms):
    about = DepotView("d", "Depósito Centro", "", "America/Sao_Paulo", "pt-BR", "0", NOW)
    return Snapshot(1, NOW, about, (), alarms, (), (), None, 1.0, True, 120.0)


def test_an_alarm_is_said_in_every_language_with_its_place_and_what_to_do():
    (said,) = Speaker().snapshot(picture(bare())).alarms
    assert set(said.texts) == set(said.guidance) == set(LANGUAGES)
    assert said.text == said.texts["pt-BR"]
    assert "pátio, detector GD-101 (Porta): 12,0 % LIE" in said.text
    assert said.likely_cause == said.guidance["pt-BR"].likely_cause != ""
    assert said.next_action == said.guidance["pt-BR"].next_action != ""
    assert b"unsaid" not in msgspec.json.encode(said), "who reads the page's interface sees sentences only"


@pytest.mark.parametrize(("age_s", "age"), [(59, "GÁS nível"), (61, "há 1 min"), (7200, "há 2 h")])
def test_an_alarm_is_as_old_as_the_watch_says(age_s, age):
    (said,) = Speaker().snapshot(picture(bare(age_s=age_s))).alarms
    assert age in said.text


@pytest.mark.parametrize("state", ["unacknowledged", "acknowledged", "latched-acknowledged"])
def test_an_exercise_is_said_to_be_one_wherever_it_is_listed(state):
    (said,) = Speaker().snapshot(picture(bare(drill=True, state=state))).alarms
    assert said.texts["pt-BR"].startswith("SIMULADO") and said.texts["en"].startswith("DRILL")
    assert "ligue 193" not in said.text.replace("não ligue 193", "")
    assert "call 193" not in said.texts["en"].replace("do not call 193", "")


def test_an_alarm_that_is_sent_again_as_it_was_is_not_said_again():
    speaker, one, other = Speaker(), bare(id="a"), bare(id="b", subject="GD-102")
    before = speaker.snapshot(picture(one, other)).alarms
    risen = msgspec.structs.replace(other, level="A2", lel_pct=22.0)
    (same, new) = speaker.change(Change(2, NOW, alarms=(one, risen))).alarms
    assert same is before[0]
    assert "nível A2" in new.text
    assert speaker.change(Change(3, NOW)).alarms is None


def test_an_alarm_that_was_said_already_stays_as_it_is():
    told = alarm(text="Lento.", texts={"en": "Slow."})
    assert Speaker().snapshot(picture(told)).alarms == (told,)
