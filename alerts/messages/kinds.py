"""What each kind of alarm puts into its sentence. Knows neither how long that may be nor which sentence it is.

``what.<part>.<code>`` in the catalogue says what is wrong with the gateway's own parts (a subject is ``<part>`` or
``<part>:<id>``).
"""

from dataclasses import replace
from typing import assert_never

from alerts.alarms import AlarmEvent, Kind
from alerts.messages.catalogue import Catalogue
from alerts.messages.phrases import LONGEST, clip, listed, number, why, why_key
from alerts.messages.place import Place, named, where
from alerts.messages.told import told_in
from sensors.readings import Quality, Status

KNOWN_TASKS = frozenset({"web", "office", "judge", "control"})
"""Tasks whose loss is told as the loss of what they do for people."""

_AREA = "area:"
"""How the subject begins of the alarm that says that nobody watches an area."""


def part_of(subject: str) -> tuple[str, str]:
    """Return which part of the gateway a SYSTEM subject names, and its id; some tasks people know as parts."""
    part, _, name = subject.partition(":")
    return (name, "") if part == "task" and name in KNOWN_TASKS else (part, name)


def values_of(
    event: AlarmEvent, place: Place, catalogue: Catalogue, quality: str | None, address: str
) -> dict[str, str]:
    """Return the texts by their names in the catalogue's sentences of this kind."""
    match event.key.kind:
        case Kind.GAS:
            return _gas_values(event, place, catalogue, quality, address)
        case Kind.BLIND:
            return _blind_values(event, place, catalogue, address)
        case Kind.SYSTEM:
            return _system_values(event, place, catalogue)
        case Kind.COMPLIANCE:
            return _compliance_values(event, place, catalogue)
        case _:
            assert_never(event.key.kind)


def _gas_values(
    event: AlarmEvent, place: Place, catalogue: Catalogue, quality: str | None, address: str
) -> dict[str, str]:
    say = catalogue.text
    level = "none" if event.level is None else event.level.name
    peak = number(event.peak, catalogue)
    return {
        "level": say("format.no_level") if event.level is None else event.level.name,
        "place": where(place, catalogue, address, named(place, catalogue) or clip(event.key.subject, 32)),
        "gas": _gas(event, catalogue, quality),
        "peak": "" if peak is None else say("format.peak", value=peak),
        "action": say("drill.action") if event.drill else say(f"action.gas.{level}"),
        "next": say(f"next.{'over-range' if event.over_range else 'gas'}.{event.after.value}"),
    }


def _blind_values(event: AlarmEvent, place: Place, catalogue: Catalogue, address: str) -> dict[str, str]:
    say = catalogue.text
    there = where(place, catalogue, address, "")
    if event.key.subject.startswith(_AREA):
        who = say("blind.area", area=clip(place.area or event.key.subject.removeprefix(_AREA), 30))
        there = where(replace(place, area=""), catalogue, address, "")
        action = say("action.blind.area")
    elif event.subjects:
        who = say("blind.group", count=len(event.subjects))
        there = say("blind.group_at", place=there, names=listed(event.subjects, catalogue))
        action = say("action.blind.many")
    elif place.detector:
        who = named(place, catalogue)
        action = say("action.blind.one")
    else:
        subject = event.key.subject
        who = say("blind.broker") if subject == "mqtt" else say("blind.line", id=clip(subject, 32))
        action = say("action.blind.many")
    return {
        "who": who,
        "place": there,
        "why": _why_blind(event, catalogue),
        "action": say("drill.action") if event.drill else action,
        "next": say(f"next.other.{event.after.value}"),
    }


def _system_values(event: AlarmEvent, place: Place, catalogue: Catalogue) -> dict[str, str]:
    say = catalogue.text
    part, name = part_of(event.key.subject)
    if f"part.{part}" not in catalogue or part == "other":
        part, name = "other", event.key.subject
    name = clip(name, 40)
    if place.detector_name and not place.detector:
        name = say("format.named", id=name, name=clip(place.detector_name, 32))
    reason = event.reason or "other"
    key = f"what.{part}.{reason}"
    if event.subjects:
        key = f"what.{part}.listed"
    delivery = f"delivery.{event.detail}"
    detail = say(delivery) if part == "channel" and delivery in catalogue else event.detail
    what = say(
        key if key in catalogue else f"what.{part}.other",
        id=name,
        code=clip(event.reason or "?", 40),
        detail=clip(detail, 60) or say("why.none"),
        why=why(event.reason, catalogue),
        names=listed(event.subjects, catalogue),
    )
    return {
        "place": where(place, catalogue, "", ""),
        "what": what,
        "part": say(f"part.{part}", id=name),
        "next": say(f"next.other.{event.after.value}"),
    }


def _compliance_values(event: AlarmEvent, place: Place, catalogue: Catalogue) -> dict[str, str]:
    """What the law asks and of what, then what to do: the lines of the detail, as whoever judged it worded them."""
    told, _, rest = told_in(event.detail, catalogue.language).partition("\n")
    return {
        "place": where(place, catalogue, "", ""),
        "what": clip(told, LONGEST) or clip(event.key.subject, 60),
        "do": clip(rest, LONGEST) or catalogue.text("duty.do"),
        "next": catalogue.text(f"next.other.{event.after.value}"),
    }


def _gas(event: AlarmEvent, catalogue: Catalogue, quality: str | None) -> str:
    """Say how much gas, and how far to trust it. Over-range is no doubt about the gas: it is the most there can be."""
    say = catalogue.text
    reading = event.reading
    amount = number(event.lel_pct, catalogue)
    if reading is not None and reading.status is Status.OVER_RANGE:
        bound = number(reading.gas(), catalogue) or amount
        return say("format.over_range") if bound is None else say("format.over_range_from", value=bound)
    if reading is not None and reading.lel_pct is None and reading.at_least is not None:
        amount = number(reading.at_least, catalogue)
        gas = say("format.unknown") if amount is None else say("format.at_least", value=amount)
    else:
        gas = say("format.unknown") if amount is None else say("format.amount", value=amount)
    if event.over_range:
        gas = say("format.passed_range", gas=gas)
    if quality == Quality.UNCERTAIN.value:
        return say("format.uncertain", gas=gas)
    return say("format.untrusted", gas=gas) if quality == Quality.BAD.value else gas


def _why_blind(event: AlarmEvent, catalogue: Catalogue) -> str:
    """Say why a head does not watch: the most telling of the alarm's code, the reading's code and the head's status."""
    reading, reason = event.reading, event.reason
    if reason == "link" and event.detail:
        return why(event.detail, catalogue)  # the cable's own reason
    if reading is None:
        return why(reason, catalogue)
    if reason in ("", Status.NO_CONTACT.value):
        reason = reading.reason or reason
    if not reason:
        return why(reading.status.value, catalogue)
    if why_key(reason) in catalogue or reading.status is Status.MEASURING:
        return why(reason, catalogue)
    return catalogue.text("why.with_code", why=why(reading.status.value, catalogue), code=clip(reason, 40))
