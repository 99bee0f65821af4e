"""What people are told of an alarm: where, what, how much and what to do, in few words."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.alarms import AlarmEvent, AlarmKey, AlarmState, Cause, EventId, Kind, Level, Phase
from alerts.channels.webhook import _DATES, _FAULTS
from alerts.messages.catalogue import LANGUAGES
from alerts.messages.phrases import LONGEST
from alerts.messages.place import Place
from alerts.messages.standing import StandingAlarm
from alerts.messages.words import standing, words
from sensors.quality import REASONS
from sensors.readings import DetectorId, Quality, Reading, Status
from sensors.stamps import SECOND, Instant, Stamp, UtcNanos

Make = Callable[..., Any]

CENTRO = Place("Depósito Centro", "Rua das Acácias 120, portão 2", "patio", "GD-101")
LONG = Place(
    depot="Depósito Central de Gás do Vale Verde",
    address="Avenida Governador " + "Brigadeiro " * 12,
    area="P" * 60,
    detector="GD-" + "9" * 60,
    detector_name="Portão dos fundos " * 5,
)
SUBJECTS = {
    Kind.GAS: "GD-101",
    Kind.BLIND: "GD-101",
    Kind.SYSTEM: "channel:hook",
    Kind.COMPLIANCE: "ferraz-6-ii-c",
}
CODES = (
    *(status.value for status in Status),
    *("timeout", "refused", "reset", "mute", "exception-2", "exception-11", "garbled", "sentinel"),
    *("never-heard", "not-back", "not-authorised", "closed", "unreachable", "no-answer", "other-device", "nan"),
    *(reason for reason in REASONS.values() if reason),
)
SYSTEM = {
    "journal": ("slow", "hangs", "full", "failing", "dropped"),
    "web": ("ended",),
    "task:web": ("ended",),
    "task:office": ("ended",),
    "task:judge": ("failing",),
    "task:control": ("ended",),
    "channel:hook": ("failing", "refused"),
    "output:sirene": ("no-read-back", "wrong-state"),
    "bus:detectores": ("timeout", "refused", "reset", "mute", "garbled"),
    "task:delivery:hook:1": ("ended",),
    "detector:GD-101": ("assertion",),
    "configuration": ("refused", "needs-restart"),
    "store": ("slow", "hangs", "full", "failing", "damaged", "dropped"),
    "influx": ("credentials", "no-database", "no-answer", "filling", "losing", "lines", "unproved", "spool"),
}


def test_a_gas_alarm_says_where_what_how_much_and_what_to_do(make_event: Make) -> None:
    assert words(make_event(), CENTRO, "pt-BR") == (
        "ALARME DE GÁS nível A1 - Depósito Centro, Rua das Acácias 120, portão 2, área patio, detector GD-101: "
        "12,3 % LIE. Afaste as pessoas, não acione interruptores, ligue 193."
    )


def test_a_detectors_name_stands_beside_its_id_where_it_fits(make_event: Make) -> None:
    named = replace(CENTRO, area="Pátio norte", detector_name="Porta 2")
    assert "área Pátio norte, detector GD-101 (Porta 2): 12,3 % LIE" in words(make_event(), named, "pt-BR")
    assert "area Pátio norte, detector GD-101 (Porta 2): 12.3 % LEL" in words(make_event(), named, "en")
    blind = words(make_event(kind=Kind.BLIND, reason="timeout"), named, "pt-BR")
    assert blind.startswith("GD-101 (Porta 2) sem monitoramento")
    tight = replace(
        named,
        depot="Depósito de Gás Central do Vale Verde",
        area="Pátio de recipientes cheios",
        address="Rua das Acácias Imperiais 1200, fundos, portão 2, Vila Nova",
        detector_name="Porta dos fundos do galpão 2",
    )
    told = words(make_event(level=Level.A2, cause=Cause.STILL, peak=12.3), tight, "pt-BR")
    assert "Acácias" in told and "GD-101: 12,3 %" in told, "the address comes before the name"


@pytest.mark.parametrize(
    "reason", [*(name for _, name in _FAULTS), *_DATES.values(), "refused", "no-answer", "closed", "not-yet"]
)
def test_why_a_channel_did_not_deliver_is_said_in_the_readers_language(make_event: Make, reason: str) -> None:
    event = make_event(kind=Kind.SYSTEM, subject="channel:hook", reason="failing")
    told = words(replace(event, detail=reason), CENTRO, "pt-BR")
    assert "o canal de aviso hook não entrega (" in told and f"({reason})" not in told
    assert "(HTTP 503)" in words(replace(event, detail="HTTP 503"), CENTRO, "pt-BR")


def test_english_says_the_same_with_a_decimal_point(make_event: Make) -> None:
    assert words(make_event(), CENTRO, "en") == (
        "GAS ALARM level A1 - Depósito Centro, Rua das Acácias 120, portão 2, area patio, detector GD-101: "
        "12.3 % LEL. Move people away, touch no switches, call 193."
    )


def test_a_higher_level_asks_for_evacuation(make_event: Make) -> None:
    risen = words(make_event(cause=Cause.RISEN, level=Level.A3, lel_pct=47.0), CENTRO, "pt")
    assert risen.startswith("ALARME DE GÁS SUBIU para nível A3 - ")
    assert "EVACUE JÁ" in risen
    assert "47,0 % LIE" in risen


def test_over_range_is_told_as_gas_not_as_a_fault(make_event: Make, make_reading: Make) -> None:
    reading = make_reading(status=Status.OVER_RANGE, quality=Quality.BAD, lel_pct=None, at_least=100.0)
    told = words(make_event(level=Level.A3, reading=reading, lel_pct=None), CENTRO, "pt")
    assert "acima da faixa (100,0 % LIE ou mais)" in told
    assert "falha" not in told


def test_a_head_without_a_number_tells_its_bound(make_event: Make, make_reading: Make) -> None:
    reading = make_reading(lel_pct=None, at_least=20.0)
    assert "pelo menos 20,0 % LIE" in words(make_event(reading=reading, lel_pct=20.0), CENTRO, "pt")


def test_a_doubtful_value_is_told_as_doubtful(make_event: Make, make_reading: Make) -> None:
    uncertain = make_event(reading=make_reading(quality=Quality.UNCERTAIN))
    assert "12,3 % LIE (leitura incerta)" in words(uncertain, CENTRO, "pt")
    bad = make_event(cause=Cause.STILL, reading=make_reading(quality=Quality.BAD, status=Status.FAULT))
    assert "12,3 % LIE (detector em falha)" in words(bad, CENTRO, "pt")


def test_a_repeat_tells_for_how_long_and_the_peak(make_event: Make, at: Make) -> None:
    still = words(make_event(cause=Cause.STILL, at=at(245_000), peak=31.06), CENTRO, "pt")
    assert "continua há 4 min, nível A1" in still
    assert "pico 31,1 % LIE" in still


def test_a_repeat_of_gas_that_is_gone_sends_nobody_away_and_says_that_nobody_has_taken_it(
    make_event: Make, at: Make
) -> None:
    gone = make_event(cause=Cause.STILL, after=Phase.LATCHED_UNACKNOWLEDGED, at=at(245_000), lel_pct=0.0, peak=31.06)
    told = words(gone, CENTRO, "pt")
    assert told.startswith("GÁS nível A1 há 4 min sem ninguém atender, lido abaixo do limite - ")
    assert "pico 31,1 % LIE" in told
    assert told.endswith("Confira o local e reconheça o alarme.")
    assert "afaste" not in told.lower()


def test_a_repeat_after_over_range_believes_no_low_reading(make_event: Make) -> None:
    after = Phase.LATCHED_UNACKNOWLEDGED
    told = words(make_event(cause=Cause.STILL, after=after, lel_pct=0.0, over_range=True), CENTRO, "pt")
    assert "ALARME DE GÁS continua" in told


@pytest.mark.parametrize(
    ("seconds", "told"), [(0, "0 s"), (59, "59 s"), (60, "1 min"), (7199, "119 min"), (7200, "2 h 0 min")]
)
def test_ages_are_told_in_the_unit_a_person_would_use(seconds: int, told: str, make_event: Make, at: Make) -> None:
    assert f"continua há {told}, " in words(make_event(cause=Cause.STILL, at=at(seconds * 1000)), CENTRO, "pt")


def test_a_held_alarm_asks_for_a_look_and_a_reset(make_event: Make) -> None:
    held = words(make_event(cause=Cause.CLEARED, after=Phase.LATCHED_UNACKNOWLEDGED, lel_pct=3.0), CENTRO, "pt")
    assert held.endswith("Alarme retido: confira o local, reconheça e rearme.")
    over = words(make_event(cause=Cause.RESET, after=Phase.NORMAL, by="Ana"), CENTRO, "pt")
    assert "rearmado por Ana" in over
    assert over.endswith("Alarme encerrado.")


def test_acknowledging_names_the_person(make_event: Make) -> None:
    told = words(make_event(cause=Cause.ACKNOWLEDGED, after=Phase.ACKNOWLEDGED, by="Ana Lima"), CENTRO, "pt")
    assert "reconhecido por Ana Lima" in told


def test_a_dead_head_is_told_as_not_watching_with_the_reason(make_event: Make, make_reading: Make) -> None:
    reading = make_reading(status=Status.NO_CONTACT, quality=Quality.BAD, lel_pct=None, reason="timeout")
    told = words(make_event(kind=Kind.BLIND, reading=reading, reason="no-contact"), CENTRO, "pt")
    assert told.startswith("GD-101 sem monitoramento: sem comunicação (não responde) - Depósito Centro, ")
    assert "vigie o local" in told


def test_a_cut_cable_is_one_notice_that_lists_its_detectors(make_event: Make) -> None:
    few = make_event(kind=Kind.BLIND, subject="GD-101", reason="mute", subjects=("GD-101", "GD-102", "GD-103"))
    assert "GD-101, GD-102, GD-103." in words(few, Place("Depósito Centro"), "pt")
    many = make_event(kind=Kind.BLIND, reason="mute", subjects=tuple(f"GD-{n}" for n in range(101, 133)))
    told = words(many, Place("Depósito Centro"), "pt")
    assert told.startswith("32 detectores sem monitoramento: sem comunicação (a linha não responde)")
    assert "GD-107 e mais 25." in told


def test_a_cables_later_notices_speak_of_the_line_with_the_cables_reason(make_event: Make) -> None:
    still = make_event(kind=Kind.BLIND, cause=Cause.STILL, subject="detectores", reason="link", detail="refused")
    assert words(still, Place("Depósito Centro"), "pt").startswith(
        "Linha detectores ainda sem monitoramento, há 0 s: sem comunicação (conexão recusada) - Depósito Centro. "
    )
    back = make_event(kind=Kind.BLIND, cause=Cause.CLEARED, subject="mqtt", reason="link", detail="refused")
    assert words(back, Place("Depósito Centro"), "pt").startswith("Servidor MQTT: monitoramento restabelecido")


def test_a_modbus_exception_is_told_with_its_number(make_event: Make) -> None:
    told = words(make_event(kind=Kind.BLIND, reason="exception-2"), CENTRO, "pt")
    assert "exceção Modbus 2" in told


def test_an_unknown_code_is_shown(make_event: Make, make_reading: Make) -> None:
    assert "motivo flux-9" in words(make_event(kind=Kind.BLIND, reason="flux-9"), CENTRO, "pt")
    reading = make_reading(status=Status.FAULT, quality=Quality.BAD, reason="lamp-2")  # a newer profile's code
    assert "detector em falha (lamp-2)" in words(make_event(kind=Kind.BLIND, reading=reading), CENTRO, "pt")
    told = words(make_event(kind=Kind.SYSTEM, subject="turbine:7", reason="hot"), Place("Depósito Centro"), "pt")
    assert "turbine:7 com problema (hot)" in told
    told = words(make_event(kind=Kind.SYSTEM, subject="journal", reason="torn"), Place("Depósito Centro"), "pt")
    assert "livro de ocorrências com problema (torn)" in told


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("code", CODES)
def test_every_known_reason_of_blindness_has_words_of_its_own(code: str, language: str, make_event: Make) -> None:
    told = words(make_event(kind=Kind.BLIND, reason=code), CENTRO, language)
    assert ("motivo " if language == "pt-BR" else "reason ") not in told


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_known_system_fault_has_words_of_its_own(language: str, make_event: Make) -> None:
    for subject, reasons in SYSTEM.items():
        told = [
            words(make_event(kind=Kind.SYSTEM, subject=subject, reason=reason), Place("Depósito Centro"), language)
            for reason in reasons
        ]
        assert len(set(told)) == len(reasons)
        for reason, sentence in zip(reasons, told, strict=True):
            assert "Depósito Centro: " in sentence
            assert f"({reason})" not in sentence, "fell back on the bare code"


def test_a_drill_says_so_first_and_never_sends_anyone_to_193(make_event: Make) -> None:
    for kind, cause, level in product(Kind, Cause, Level):
        event = make_event(kind=kind, cause=cause, subject=SUBJECTS[kind], level=level, drill=True)
        told = words(event, CENTRO, "pt")
        assert told.startswith("SIMULADO - ")
        assert "não ligue 193" in told or "193" not in told


def _all_events() -> list[AlarmEvent]:
    now = Stamp(Instant(200_000 * SECOND), UtcNanos(0))
    start = Stamp(Instant(0), UtcNanos(0))
    qualities = list(Quality)
    events = []
    for n, (kind, cause, level, status, after) in enumerate(
        product(Kind, Cause, (None, *Level), (None, *Status), Phase)
    ):
        reading = None
        if status is not None:
            number = None if n % 4 == 0 else 99.99
            reading = Reading(
                DetectorId("x"), number, 100.0 if n % 3 else None, qualities[n % 3], status, 1.0, start, "exception-2"
            )
        events.append(
            AlarmEvent(
                seq=n,
                id=EventId("e"),
                key=AlarmKey(SUBJECTS[kind], kind),
                cause=cause,
                before=Phase.NORMAL,
                after=after,
                level=level,
                reading=reading,
                lel_pct=None if reading is None else reading.lel_pct,
                peak=None if n % 5 == 0 else 99.99,
                since=start,
                sampled=start,
                at=now,
                by=("", None, "Maria do Carmo " * 9)[n % 3],
                reason="" if n % 2 else "reason-" * 20,
                detail="" if n % 7 else "detail " * 20,
                subjects=tuple(f"GD-{i}" for i in range(200)) if kind is Kind.BLIND and n % 2 else (),
                drill=n % 11 == 0,
            )
        )
    return events


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("place", [CENTRO, LONG], ids=["usual", "long"])
def test_every_combination_has_words_within_bounds_with_place_and_level(place: Place, language: str) -> None:
    for event in _all_events():
        told = words(event, place, language)
        assert len(told) <= LONGEST, told
        assert place.depot[:35] in told
        assert not told.endswith("…"), f"cut off: {told}"
        assert "{" not in told
        if event.key.kind is Kind.GAS:
            assert event.level is None or f" {event.level.name} " in told
            assert place.detector[:31] in told
            assert place.area[:19] in told


@given(
    subject=st.text(max_size=400),
    reason=st.text(max_size=400),
    detail=st.text(max_size=400),
    by=st.text(max_size=400),
    place=st.builds(Place, *[st.text(max_size=400)] * 5),
    lel_pct=st.floats() | st.none(),
    kind=st.sampled_from(Kind),
    cause=st.sampled_from(Cause),
    language=st.sampled_from(LANGUAGES),
)
def test_whatever_the_world_puts_into_names_the_sentence_stays_one_bounded_line(
    subject: str,
    reason: str,
    detail: str,
    by: str,
    place: Place,
    lel_pct: float | None,
    kind: Kind,
    cause: Cause,
    language: str,
) -> None:
    moment = Stamp(Instant(0), UtcNanos(0))
    event = AlarmEvent(
        seq=1,
        id=EventId("e"),
        key=AlarmKey(subject, kind),
        cause=cause,
        before=Phase.NORMAL,
        after=Phase.UNACKNOWLEDGED,
        level=None,
        reading=None,
        lel_pct=lel_pct,
        peak=lel_pct,
        since=moment,
        sampled=moment,
        at=moment,
        by=by,
        reason=reason,
        detail=detail,
    )
    told = words(event, place, language)
    assert 0 < len(told) <= LONGEST
    assert told.isprintable()


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("kind", Kind)
def test_every_standing_alarm_has_words(kind: Kind, phase: Phase, at: Make) -> None:
    state = AlarmState(
        key=AlarmKey(SUBJECTS[kind], kind),
        id=EventId("e"),
        phase=phase,
        level=Level.A2 if kind is Kind.GAS else None,
        present=True,
        since=at(0),
        sampled=at(0),
        decided=at(1),
        first_output=None,
        peak=23.0 if kind is Kind.GAS else None,
        lel_pct=21.0 if kind is Kind.GAS else None,
        quality="good",
        muted_until=None,
        acknowledged_by="Ana" if phase is Phase.ACKNOWLEDGED else None,
        reason="timeout",
        detail="",
        annunciated=at(0),
    )
    told = standing(StandingAlarm.of(state, at(300_000)), CENTRO, "pt")
    assert "Depósito Centro" in told
    assert kind is not Kind.GAS or "nível A2" in told
    assert phase is not Phase.ACKNOWLEDGED or "Ana" in told
    assert phase is not Phase.UNACKNOWLEDGED or "há 5 min" in told
