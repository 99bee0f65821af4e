"""An alarm event as one sentence for a person: where, what, how much, what to do. Pure but for the catalogue's file."""

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from alerts.alarms import AlarmEvent, Cause, EventId, Kind, Phase
from alerts.messages.catalogue import LANGUAGES, Catalogue
from alerts.messages.kinds import values_of
from alerts.messages.phrases import LONGEST, age, clip
from alerts.messages.place import Place
from alerts.messages.standing import StandingAlarm
from alerts.routing import EXERCISE, is_call
from sensors.stamps import SECOND, Instant, Stamp, UtcNanos

YOUNG_S = 60
"""An alarm that stands for less (s) is told as one that has just come."""

_TO_DO = 40
"""Characters that are kept for what to do about a legal duty, however long the duty is."""

_GO_THERE = frozenset({Cause.RAISED, Cause.RISEN, Cause.STILL})
"""Causes after which somebody may have to go there: these carry the street address where it fits."""

_GAS_GONE = frozenset({Phase.RETURNED_UNACKNOWLEDGED, Phase.LATCHED_UNACKNOWLEDGED})
"""Phases in which the gas was last read below its limits and nobody has taken it: a repeat sends nobody away."""

_LIFTED = frozenset({Cause.UNSHELVED, Cause.UNSUPPRESSED})


def learn() -> None:
    """Read every language now, so that the first alarm need not wait for a disk."""
    for language in LANGUAGES:
        Catalogue.load(__package__, language)


def words(event: AlarmEvent, place: Place, language: str) -> str:
    """Return the sentence for an event, at most `LONGEST` characters, whatever its codes and names hold.

    Raises:
        ValueError: if nothing is written in `language`.
    """
    quality = None if event.reading is None else event.reading.quality.value
    if is_call(event):
        event = replace(event, cause=Cause.RAISED)  # news to those who hear it
    return _fitting(event, place, Catalogue.load(__package__, language), quality)


def standing(alarm: StandingAlarm, place: Place, language: str) -> str:
    """Return the sentence for an alarm as it stands, for lists of open alarms.

    Raises:
        ValueError: if nothing is written in `language`.
    """
    match alarm.phase:
        case Phase.UNACKNOWLEDGED:
            cause = Cause.RAISED if alarm.age_s < YOUNG_S else Cause.STILL
        case Phase.ACKNOWLEDGED:
            cause = Cause.ACKNOWLEDGED
        case Phase.RETURNED_UNACKNOWLEDGED | Phase.LATCHED_UNACKNOWLEDGED | Phase.LATCHED_ACKNOWLEDGED | Phase.NORMAL:
            cause = Cause.CLEARED
        case _:
            assert_never(alarm.phase)
    now = Stamp(Instant(alarm.age_s * SECOND), UtcNanos(0))
    event = AlarmEvent(
        seq=0,
        id=EventId(""),
        key=alarm.key,
        cause=cause,
        before=alarm.phase,
        after=alarm.phase,
        level=alarm.level,
        reading=None,
        lel_pct=alarm.lel_pct,
        peak=alarm.peak,
        since=_RAISED,
        sampled=_RAISED,
        at=now,
        by=alarm.by,
        reason=alarm.reason,
        detail=alarm.detail,
        drill=alarm.drill,
        over_range=alarm.over_range,
    )
    return _fitting(event, place, Catalogue.load(__package__, language), alarm.quality)


_RAISED = Stamp(Instant(0), UtcNanos(0))
"""When every standing alarm was raised, as its sentence counts its age."""


def _fitting(event: AlarmEvent, place: Place, catalogue: Catalogue, quality: str | None) -> str:
    """Say it with the street address where that helps, and with the detector's name, as far as they fit."""
    address = place.address if event.cause in _GO_THERE else ""
    told = _sentence(event, place, catalogue, quality, address=address)
    if len(told) <= LONGEST:
        return told  # nearly always
    unnamed = replace(place, detector_name="")
    for there in dict.fromkeys((address, "")):
        for where in dict.fromkeys((place, unnamed)):
            told = _sentence(event, where, catalogue, quality, address=there)
            if len(told) <= LONGEST:
                return told
    return clip(_sentence(event, unnamed, catalogue, quality, address=""), LONGEST)


def _sentence(event: AlarmEvent, place: Place, catalogue: Catalogue, quality: str | None, address: str) -> str:
    say = catalogue.text
    values = {
        "age": age(event.since, event.at, catalogue),
        "by": clip(event.by or "", 24) or say("format.nobody"),
    }
    over = event.suppressed
    values["span"] = say("format.until_ended") if over is None else age(over.since, over.until, catalogue)
    values["note"] = "?" if over is None else clip(over.why, 32)
    values |= values_of(event, place, catalogue, quality, address)
    # An all-clear for what nobody reads any more would be a lie.
    gone = event.cause is Cause.CLEARED and event.reason == "removed" and event.key.kind is not Kind.COMPLIANCE
    cause = "removed" if gone else event.cause.value
    if event.cause in _LIFTED and event.after is Phase.NORMAL:
        cause = Cause.CLEARED.value  # it passed while nobody was to hear of it
    elif event.over_range and cause == Cause.CLEARED.value:
        cause = "reads-clean"  # it passed its range: what it reads is no proof
    elif cause == Cause.STILL.value and _is_gas_gone(event):
        cause = "still-gone"
    key = f"{event.key.kind.value.lower()}.{cause}"
    if event.key == EXERCISE:
        key = "exercise.asked" if event.cause is Cause.RAISED else "exercise.over"
        values["action"] = say("drill.action")
    prefix = say("drill.prefix") if event.drill else ""
    if event.key.kind is Kind.COMPLIANCE:
        values |= _in_the_room(values, LONGEST - len(prefix + say(key, **(values | {"what": "", "do": ""}))))
    return prefix + say(key, **values)


def _is_gas_gone(event: AlarmEvent) -> bool:
    return event.key.kind is Kind.GAS and event.after in _GAS_GONE and not event.over_range


def _in_the_room(values: Mapping[str, str], room: int) -> dict[str, str]:
    """Let what the law asks have the room that a sentence leaves, but for a word on what to do, which has the rest."""
    what = clip(values["what"], room - min(len(values["do"]), _TO_DO))
    return {"what": what, "do": clip(values["do"], max(1, room - len(what)))}
