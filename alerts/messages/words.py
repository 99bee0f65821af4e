"""An alarm event as one sentence for a person: where, what, how much, what to do. Pure but for the catalogue's file.

Reason codes are looked up in the catalogue: ``why.<code>`` for what keeps a head or a line from watching,
``what.<part>.<code>`` for the gateway's own parts (a subject is ``<part>`` or ``<part>:<id>``). A code that nobody has
put into words yet is shown as it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import assert_never

from alerts.alarms import AlarmEvent, Cause, EventId, Kind, Phase
from alerts.messages.catalogue import LANGUAGES, Catalogue
from alerts.messages.standing import StandingAlarm
from alerts.messages.told import told_in
from alerts.routing import EXERCISE, is_call
from sensors.readings import Quality, Status
from sensors.stamps import SECOND, Instant, Stamp, UtcNanos

LONGEST = 300
"""Characters of the longest sentence."""

YOUNG_S = 60
"""An alarm that stands for less (s) is told as one that has just come."""

_NAMES = 54
"""Characters for the list of detectors in a grouped notice; the rest is counted."""

_TO_DO = 40
"""Characters that are kept for what to do about a legal duty, however long the duty is."""

_GO_THERE = frozenset({Cause.RAISED, Cause.RISEN, Cause.STILL})
"""Causes after which somebody may have to go there: these carry the street address where it fits."""

_LIFTED = frozenset({Cause.UNSHELVED, Cause.UNSUPPRESSED})

KNOWN_TASKS = frozenset({"web", "office", "judge", "control"})
"""Tasks whose loss is told as the loss of what they do for people."""

_AREA = "area:"
"""How the subject begins of the alarm that says that nobody watches an area."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where it is. `area` and `detector` are empty for what belongs to the whole depot.

    Attributes:
        area: as people call it.
        detector: its id, which is never left out; `detector_name` as people call it, empty where nobody does. Of an
            output, whose subject is its id, only the name stands.
    """

    depot: str
    address: str = ""
    area: str = ""
    detector: str = ""
    detector_name: str = ""


def part_of(subject: str) -> tuple[str, str]:
    """Return which part of the gateway a SYSTEM subject names, and its id; some tasks people know as parts."""
    part, _, name = subject.partition(":")
    return (name, "") if part == "task" and name in KNOWN_TASKS else (part, name)


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
    return _clip(_sentence(event, unnamed, catalogue, quality, address=""), LONGEST)


def _sentence(event: AlarmEvent, place: Place, catalogue: Catalogue, quality: str | None, address: str) -> str:
    say = catalogue.text
    values = {
        "age": _age(event.since, event.at, catalogue),
        "by": _clip(event.by or "", 24) or say("format.nobody"),
    }
    over = event.suppressed
    values["span"] = say("format.until_ended") if over is None else _age(over.since, over.until, catalogue)
    values["note"] = "?" if over is None else _clip(over.why, 32)
    match event.key.kind:
        case Kind.GAS:
            values |= _gas_values(event, place, catalogue, quality, address)
        case Kind.BLIND:
            values |= _blind_values(event, place, catalogue, address)
        case Kind.SYSTEM:
            values |= _system_values(event, place, catalogue)
        case Kind.COMPLIANCE:
            values |= _compliance_values(event, place, catalogue)
        case _:
            assert_never(event.key.kind)
    # An all-clear for what nobody reads any more would be a lie.
    gone = event.cause is Cause.CLEARED and event.reason == "removed" and event.key.kind is not Kind.COMPLIANCE
    cause = "removed" if gone else event.cause.value
    if event.cause in _LIFTED and event.after is Phase.NORMAL:
        cause = Cause.CLEARED.value  # it passed while nobody was to hear of it
    elif event.over_range and cause == Cause.CLEARED.value:
        cause = "reads-clean"  # it passed its range: what it reads is no proof
    key = f"{event.key.kind.value.lower()}.{cause}"
    if event.key == EXERCISE:
        key = "exercise.asked" if event.cause is Cause.RAISED else "exercise.over"
        values["action"] = say("drill.action")
    prefix = say("drill.prefix") if event.drill else ""
    if event.key.kind is Kind.COMPLIANCE:
        values |= _in_the_room(values, LONGEST - len(prefix + say(key, **(values | {"what": "", "do": ""}))))
    return prefix + say(key, **values)


# --- values of each kind -------------------------------------------------------------------------


def _gas_values(
    event: AlarmEvent, place: Place, catalogue: Catalogue, quality: str | None, address: str
) -> dict[str, str]:
    say = catalogue.text
    level = "none" if event.level is None else event.level.name
    peak = _number(event.peak, catalogue)
    return {
        "level": say("format.no_level") if event.level is None else event.level.name,
        "place": _where(place, catalogue, address, _named(place, catalogue) or _clip(event.key.subject, 32)),
        "gas": _gas(event, catalogue, quality),
        "peak": "" if peak is None else say("format.peak", value=peak),
        "action": say("drill.action") if event.drill else say(f"action.gas.{level}"),
        "next": say(f"next.{'over-range' if event.over_range else 'gas'}.{event.after.value}"),
    }


def _blind_values(event: AlarmEvent, place: Place, catalogue: Catalogue, address: str) -> dict[str, str]:
    say = catalogue.text
    where = _where(place, catalogue, address, "")
    if event.key.subject.startswith(_AREA):
        who = say("blind.area", area=_clip(place.area or event.key.subject.removeprefix(_AREA), 30))
        where = _where(replace(place, area=""), catalogue, address, "")
        action = say("action.blind.area")
    elif event.subjects:
        who = say("blind.group", count=len(event.subjects))
        where = say("blind.group_at", place=where, names=_names(event.subjects, catalogue))
        action = say("action.blind.many")
    elif place.detector:
        who = _named(place, catalogue)
        action = say("action.blind.one")
    else:
        subject = event.key.subject
        who = say("blind.broker") if subject == "mqtt" else say("blind.line", id=_clip(subject, 32))
        action = say("action.blind.many")
    return {
        "who": who,
        "place": where,
        "why": _why_blind(event, catalogue),
        "action": say("drill.action") if event.drill else action,
        "next": say(f"next.other.{event.after.value}"),
    }


def _system_values(event: AlarmEvent, place: Place, catalogue: Catalogue) -> dict[str, str]:
    say = catalogue.text
    part, name = part_of(event.key.subject)
    if f"part.{part}" not in catalogue or part == "other":
        part, name = "other", event.key.subject
    name = _clip(name, 40)
    if place.detector_name and not place.detector:
        name = say("format.named", id=name, name=_clip(place.detector_name, 32))
    reason = event.reason or "other"
    key = f"what.{part}.{reason}"
    if event.subjects:
        key = f"what.{part}.listed"
    delivery = f"delivery.{event.detail}"
    detail = say(delivery) if part == "channel" and delivery in catalogue else event.detail
    what = say(
        key if key in catalogue else f"what.{part}.other",
        id=name,
        code=_clip(event.reason or "?", 40),
        detail=_clip(detail, 60) or say("why.none"),
        why=_why(event.reason, catalogue),
        names=_names(event.subjects, catalogue),
    )
    return {
        "place": _where(place, catalogue, "", ""),
        "what": what,
        "part": say(f"part.{part}", id=name),
        "next": say(f"next.other.{event.after.value}"),
    }


def _compliance_values(event: AlarmEvent, place: Place, catalogue: Catalogue) -> dict[str, str]:
    """What the law asks and of what, then what to do: the lines of the detail, as whoever judged it worded them."""
    told, _, rest = told_in(event.detail, catalogue.language).partition("\n")
    return {
        "place": _where(place, catalogue, "", ""),
        "what": _clip(told, LONGEST) or _clip(event.key.subject, 60),
        "do": _clip(rest, LONGEST) or catalogue.text("duty.do"),
        "next": catalogue.text(f"next.other.{event.after.value}"),
    }


def _in_the_room(values: Mapping[str, str], room: int) -> dict[str, str]:
    """Let what the law asks have the room that a sentence leaves, but for a word on what to do, which has the rest."""
    what = _clip(values["what"], room - min(len(values["do"]), _TO_DO))
    return {"what": what, "do": _clip(values["do"], max(1, room - len(what)))}


# --- the parts of a sentence ---------------------------------------------------------------------


def _where(place: Place, catalogue: Catalogue, address: str, detector: str) -> str:
    parts = [_clip(place.depot, 36), _clip(address, 80)]
    if place.area:
        parts.append(catalogue.text("format.area", area=_clip(place.area, 30)))
    if detector:
        parts.append(catalogue.text("format.detector", detector=detector))
    return ", ".join(part for part in parts if part)


def _named(place: Place, catalogue: Catalogue) -> str:
    """Call the detector by its id and, where it has one, by its name."""
    detector, name = _clip(place.detector, 32), _clip(place.detector_name, 32)
    return catalogue.text("format.named", id=detector, name=name) if detector and name else detector


def _gas(event: AlarmEvent, catalogue: Catalogue, quality: str | None) -> str:
    """Say how much gas, and how far to trust it. Over-range is no doubt about the gas: it is the most there can be."""
    say = catalogue.text
    reading = event.reading
    number = _number(event.lel_pct, catalogue)
    if reading is not None and reading.status is Status.OVER_RANGE:
        bound = _number(reading.gas(), catalogue) or number
        return say("format.over_range") if bound is None else say("format.over_range_from", value=bound)
    if reading is not None and reading.lel_pct is None and reading.at_least is not None:
        number = _number(reading.at_least, catalogue)
        gas = say("format.unknown") if number is None else say("format.at_least", value=number)
    else:
        gas = say("format.unknown") if number is None else say("format.amount", value=number)
    if event.over_range:
        gas = say("format.passed_range", gas=gas)
    if quality == Quality.UNCERTAIN.value:
        return say("format.uncertain", gas=gas)
    return say("format.untrusted", gas=gas) if quality == Quality.BAD.value else gas


def _why_blind(event: AlarmEvent, catalogue: Catalogue) -> str:
    """Say why a head does not watch: the most telling of the alarm's code, the reading's code and the head's status."""
    reading, reason = event.reading, event.reason
    if reason == "link" and event.detail:
        return _why(event.detail, catalogue)  # the cable's own reason
    if reading is None:
        return _why(reason, catalogue)
    if reason in ("", Status.NO_CONTACT.value):
        reason = reading.reason or reason
    if not reason:
        return _why(reading.status.value, catalogue)
    if _code(reason) in catalogue or reading.status is Status.MEASURING:
        return _why(reason, catalogue)
    return catalogue.text("why.with_code", why=_why(reading.status.value, catalogue), code=_clip(reason, 40))


def _why(reason: str, catalogue: Catalogue) -> str:
    if not reason:
        return catalogue.text("why.none")
    code = _clip(reason, 40)
    key = _code(reason)
    if key not in catalogue:
        return catalogue.text("why.unknown", code=code)
    return catalogue.text(key, code=code, number=_clip(reason.rpartition("-")[2], 8), why=code)


def _code(reason: str) -> str:
    """Return the catalogue key of a reason; numbered exceptions share one."""
    return "why.exception" if reason.startswith("exception-") else f"why.{reason}"


def _names(subjects: Sequence[str], catalogue: Catalogue) -> str:
    """List as many names as fit; say how many more there are."""
    shown: list[str] = []
    for name in subjects:
        if shown and len(", ".join([*shown, name])) > _NAMES:
            break
        shown.append(_clip(name, 32))
    left = len(subjects) - len(shown)
    listed = ", ".join(shown)
    return listed if not left else catalogue.text("format.more", names=listed, count=left)


def _number(lel_pct: float | None, catalogue: Catalogue) -> str | None:
    """Write a number with one decimal, within what a sentence can hold; None where there is no number."""
    if lel_pct is None or not isfinite(lel_pct):
        return None
    return f"{min(max(lel_pct, -999.9), 999.9):.1f}".replace(".", catalogue.text("format.decimal"))


def _age(since: Stamp, at: Stamp, catalogue: Catalogue) -> str:
    seconds = max(at.mono - since.mono, 0) // SECOND
    if seconds < 60:
        return catalogue.text("format.seconds", count=seconds)
    if seconds < 7200:
        return catalogue.text("format.minutes", count=seconds // 60)
    return catalogue.text("format.hours", hours=min(seconds // 3600, 99_999), minutes=seconds // 60 % 60)


def _clip(text: str, longest: int) -> str:
    """Bring foreign text to one printable line of at most `longest` characters."""
    if not text.isprintable():
        text = "".join(char if char.isprintable() else " " for char in text)
    line = text if " " not in text else " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"
