"""What a screen says about one detector: shape, word, value, age, and why it does not watch. Pure; words are given."""

from dataclasses import dataclass
from typing import Literal

from dashboards.ports import DetectorView
from dashboards.wording import Locale

Tone = Literal["normal", "attention", "alarm", "fault", "aside", "stale"]
"""How a thing is drawn: grey, ▲ yellow, ■ red, ? blue, grey and set aside, or struck because nobody knows."""


@dataclass(frozen=True, slots=True)
class Badge:
    """A shape and a word, never the one without the other."""

    tone: Tone
    shape: str
    word: str


@dataclass(frozen=True, slots=True)
class Meter:
    """A value on a bar of 100 units with its three set-points; `value` None draws none."""

    value: float | None
    a1: float
    a2: float
    a3: float
    label: str


@dataclass(frozen=True, slots=True)
class DetectorCard:
    """One detector, ready to be drawn. `struck`: the value must not be read as the present one.

    `called` is the name people have for it; empty where they have none.
    """

    id: str
    called: str
    badge: Badge
    value: str
    struck: bool
    age: str
    quality: str
    reason: str
    set_points: str
    promise: str
    meter: Meter


def detector_tone(view: DetectorView, *, current: bool) -> Tone:
    """How a detector is drawn. Over-range is gas; any other bad value is none."""
    if not current:
        return "stale"
    gas = gas_of(view)
    if gas is not None and gas >= view.a1 and (view.quality != "bad" or view.status == "over-range"):
        return "alarm"
    if view.window is not None and view.window.kind == "out-of-service":
        return "aside"
    if view.quality == "bad" or not view.watching:
        return "fault"
    if view.quality != "good" or view.status != "measuring":
        return "attention"
    return "normal"


def detector_card(view: DetectorView, locale: Locale, *, current: bool) -> DetectorCard:
    """Say everything about one detector."""
    tone = detector_tone(view, current=current)
    full = view.a3 * 1.25
    gas = gas_of(view)
    struck = tone == "stale" or (tone in ("fault", "aside") and gas is not None)
    value = value_text(view, locale)
    return DetectorCard(
        id=view.id,
        called=called(view),
        badge=Badge(tone, locale.text(f"shape.{tone}"), _status_word(view, tone, locale)),
        value=value,
        struck=struck,
        age=_age_text(view, locale),
        quality=locale.text("detector.quality", quality=locale.text(f"quality.{view.quality}")),
        reason=reason_text(view, locale),
        set_points=locale.text(
            "detector.set_points", a1=_plain(view.a1, locale), a2=_plain(view.a2, locale), a3=_plain(view.a3, locale)
        ),
        promise=""
        if view.certified
        else locale.text("detector.not_certified", seconds=locale.number(view.worst_case_s)),
        meter=Meter(
            value=None if gas is None or struck else _on_bar(gas, full),
            a1=_on_bar(view.a1, full),
            a2=_on_bar(view.a2, full),
            a3=_on_bar(view.a3, full),
            label=locale.text("detector.scale", value=value, full=_plain(full, locale)),
        ),
    )


def reason_text(view: DetectorView, locale: Locale) -> str:
    """Say why a head does not stand as it should: what a person declared over it, else its own reason."""
    if view.window is not None:
        by, until = view.window.by or "?", view.window.until
        if view.window.kind == "out-of-service":
            return locale.text("detector.out_of_service", by=by, until=locale.day(until), why=view.window.why)
        return locale.text(f"detector.in_{view.window.kind}", by=by, until=locale.minute(until))
    return locale.text("detector.reason", reason=locale.reason(view.reason)) if view.reason else ""


def value_text(view: DetectorView, locale: Locale) -> str:
    """Write a detector's value: a number, a bound, or that there is none."""
    if view.at_least is not None and (view.lel_pct is None or view.at_least >= view.lel_pct):
        return locale.text("format.at_least", value=locale.number(view.at_least))
    if view.lel_pct is None:
        return locale.text("format.none")
    return locale.text("format.lel", value=locale.number(view.lel_pct))


def _age_text(view: DetectorView, locale: Locale) -> str:
    """How old the value is; where there is none, how long ago it was asked for."""
    tried = view.lel_pct is None and view.at_least is None and view.age_s is not None
    return locale.text("format.tried", ago=locale.ago(view.age_s)) if tried else locale.ago(view.age_s)


def _status_word(view: DetectorView, tone: Tone, locale: Locale) -> str:
    match tone:
        case "alarm":
            gas = gas_of(view) or 0.0
            level = "A3" if gas >= view.a3 else "A2" if gas >= view.a2 else "A1"
            return locale.text("detector.level", level=level)
        case "fault":
            return locale.text("status.not-watching" if view.status == "measuring" else f"status.{view.status}")
        case "attention":
            return locale.text("status.uncertain" if view.status == "measuring" else f"status.{view.status}")
        case "aside" | "stale":
            return locale.text(f"tone.{tone}")
        case "normal":
            return locale.text("status.measuring")


def called(view: DetectorView) -> str:
    """Return the name people have for a head; empty where they have none."""
    return "" if view.name == view.id else view.name


def area_of(detector: DetectorView | None, otherwise: str) -> str:
    """Return the area of a head as people call it."""
    return otherwise if detector is None else detector.area_name or detector.area


def gas_of(view: DetectorView) -> float | None:
    """Return the gas a head reads: its number or its bound, whichever is more."""
    if view.at_least is None:
        return view.lel_pct
    return view.at_least if view.lel_pct is None else max(view.lel_pct, view.at_least)


def _on_bar(value: float, full: float) -> float:
    return round(min(max(value / full, 0.0), 1.0) * 100, 1)


def _plain(value: float, locale: Locale) -> str:
    return locale.number(value, 0 if float(value).is_integer() else 1)
