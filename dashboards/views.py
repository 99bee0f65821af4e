"""What a screen says about a snapshot: which sentence, which shape, which word, in which order. Pure; words are given.

The page's script (web/static/vigia.js) says the same things in the browser; a test holds the two together.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal

from dashboards.ports import AlarmView, DetectorView, LinkView, OutputView, Snapshot
from dashboards.wording import Locale, milliseconds_between

Tone = Literal["normal", "attention", "alarm", "fault", "stale"]
"""How a thing is drawn: grey, ▲ yellow, ■ red, ? blue, or struck because nobody knows."""

PROMISE_S = 3.0
UNACKNOWLEDGED = frozenset({"unacknowledged", "returned-unacknowledged", "latched-unacknowledged"})
_KINDS = ("GAS", "BLIND", "SYSTEM", "COMPLIANCE")


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


@dataclass(frozen=True, slots=True)
class AlarmRow:
    """One standing alarm, ready to be drawn."""

    id: str
    badge: Badge
    where: str
    now: str
    since: str
    times: str
    state: str
    advice: str
    flashing: bool
    can_acknowledge: bool
    can_silence: bool
    can_reset: bool
    seq: int


@dataclass(frozen=True, slots=True)
class Row:
    """An output or a link: its name, how it stands, what is known beside."""

    id: str
    badge: Badge
    detail: str


@dataclass(frozen=True, slots=True)
class PageView:
    """The live page. `areas` keeps the configuration's order of areas and of detectors within."""

    headline: Badge
    watching: str
    title: str
    alarms: tuple[AlarmRow, ...]
    areas: tuple[tuple[str, tuple[DetectorCard, ...]], ...]
    outputs: tuple[Row, ...]
    links: tuple[Row, ...]
    measured: Badge
    computed: Badge


def page_view(snapshot: Snapshot, locale: Locale, *, current: bool, lost_s: float | None) -> PageView:
    """Say everything about a snapshot.

    Args:
        snapshot: with its ages brought up to the moment of drawing.
        locale: language, words and time zone.
        current: False when the gateway is not heard or its alarm loop does not live: then nothing stands as present.
        lost_s: since the gateway was last heard, for the sentence; None when unknown.
    """
    known = {view.id: view for view in snapshot.detectors}
    cut = {alarm.subject for alarm in snapshot.alarms if alarm.kind == "BLIND" and alarm.present}
    areas: dict[str, tuple[DetectorView, list[DetectorCard]]] = {}
    for view in snapshot.detectors:
        areas.setdefault(view.area, (view, []))[1].append(detector_card(view, locale, current=current))
    headline = headline_of(snapshot, locale, current=current, lost_s=lost_s)
    return PageView(
        headline=headline,
        watching=watching_text(snapshot.detectors, locale) if current else "",
        title=locale.text(f"title.{headline.tone}", depot=snapshot.depot.name),
        alarms=tuple(
            alarm_row(alarm, known.get(alarm.subject), snapshot.at, locale, current=current)
            for alarm in sorted(snapshot.alarms, key=_urgency)
            if not _spoken_for(alarm, known.get(alarm.subject), cut)
        ),
        areas=tuple((locale.text("page.area", area=_area(head, "")), tuple(cards)) for head, cards in areas.values()),
        outputs=tuple(output_row(output, locale, current=current) for output in snapshot.outputs),
        links=tuple(link_row(link, locale, current=current) for link in snapshot.links),
        measured=measured_badge(snapshot.worst_ms, locale),
        computed=computed_badge(snapshot.worst_case_s, locale),
    )


def _spoken_for(alarm: AlarmView, detector: DetectorView | None, cut: AbstractSet[str]) -> bool:
    """Tell whether a head's row may stay away because the row of its cut cable speaks for it."""
    return alarm.kind == "BLIND" and alarm.reason == "link" and detector is not None and detector.source in cut


def headline_of(snapshot: Snapshot, locale: Locale, *, current: bool, lost_s: float | None) -> Badge:
    """Answer the one question: is all well?"""
    if not current:
        lost = (
            locale.text("headline.lost") if lost_s is None else locale.text("headline.lost_for", age=locale.age(lost_s))
        )
        return Badge("stale", locale.text("shape.stale"), lost)
    tones = [detector_tone(view, current=True) for view in snapshot.detectors]
    blind = {view.id for view in snapshot.detectors if not view.watching}
    heads = {view.id for view in snapshot.detectors}
    blind |= {alarm.subject for alarm in snapshot.alarms if alarm.kind == "BLIND" and alarm.present} & heads
    gas = sum(alarm.kind == "GAS" for alarm in snapshot.alarms)
    faults = sum(alarm.kind == "SYSTEM" for alarm in snapshot.alarms)
    attentions = sum(
        alarm.kind == "COMPLIANCE" or (alarm.kind == "BLIND" and not alarm.present) for alarm in snapshot.alarms
    )
    attentions += sum(
        tone == "attention" and view.id not in blind for tone, view in zip(tones, snapshot.detectors, strict=True)
    )
    counts: tuple[tuple[int, str, Tone], ...] = (
        (gas, "headline.gas", "alarm"),
        (len(blind), "headline.blind", "fault"),
        (faults, "headline.fault", "fault"),
        (attentions, "headline.attention", "attention"),
    )
    said = [(locale.count(key, count), tone) for count, key, tone in counts if count]
    if not said and not snapshot.detectors:
        said = [(locale.text("headline.none"), "attention")]
    if not said:
        return Badge("normal", locale.text("shape.normal"), locale.text("headline.normal"))
    tone = said[0][1]
    return Badge(tone, locale.text(f"shape.{tone}"), " · ".join(text for text, _ in said))


def watching_text(detectors: Sequence[DetectorView], locale: Locale) -> str:
    """Say how many detectors watch."""
    watching = sum(view.watching for view in detectors)
    if watching == len(detectors):
        return locale.count("headline.watching", watching) if detectors else ""
    return locale.text("headline.watching_some", count=watching, total=len(detectors))


def detector_tone(view: DetectorView, *, current: bool) -> Tone:
    """How a detector is drawn. Over-range is gas; any other bad value is none."""
    if not current:
        return "stale"
    gas = _gas(view)
    if gas is not None and gas >= view.a1 and (view.quality != "bad" or view.status == "over-range"):
        return "alarm"
    if view.quality == "bad" or not view.watching:
        return "fault"
    if view.quality != "good" or view.status != "measuring":
        return "attention"
    return "normal"


def detector_card(view: DetectorView, locale: Locale, *, current: bool) -> DetectorCard:
    """Say everything about one detector."""
    tone = detector_tone(view, current=current)
    full = view.a3 * 1.25
    gas = _gas(view)
    struck = tone == "stale" or (tone == "fault" and gas is not None)
    value = value_text(view, locale)
    return DetectorCard(
        id=view.id,
        called=_called(view),
        badge=Badge(tone, locale.text(f"shape.{tone}"), _status_word(view, tone, locale)),
        value=value,
        struck=struck,
        age=locale.ago(view.age_s),
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
        by = view.window.by or "?"
        return locale.text(f"detector.in_{view.window.kind}", by=by, until=locale.minute(view.window.until))
    return locale.text("detector.reason", reason=locale.reason(view.reason)) if view.reason else ""


def value_text(view: DetectorView, locale: Locale) -> str:
    """Write a detector's value: a number, a bound, or that there is none."""
    if view.at_least is not None and (view.lel_pct is None or view.at_least >= view.lel_pct):
        return locale.text("format.at_least", value=locale.number(view.at_least))
    if view.lel_pct is None:
        return locale.text("format.none")
    return locale.text("format.lel", value=locale.number(view.lel_pct))


def alarm_row(alarm: AlarmView, detector: DetectorView | None, now: str, locale: Locale, *, current: bool) -> AlarmRow:
    """Say everything about one alarm. `detector` is the head it is about, if it is about one."""
    tone: Tone = {"GAS": "alarm", "COMPLIANCE": "attention"}.get(alarm.kind, "fault")  # type: ignore[assignment]
    open_ = alarm.state in UNACKNOWLEDGED
    state = locale.text(f"alarm.{alarm.state}", by=alarm.acknowledged_by or "?")
    if alarm.muted:
        state += f" · {locale.text('alarm.muted')}"
    return AlarmRow(
        id=alarm.id,
        badge=Badge(
            tone,
            locale.text(f"shape.{tone}"),
            locale.text(f"alarm.{alarm.kind.lower()}", level=alarm.level or "").strip(),
        ),
        where=_alarm_where(alarm, detector, locale),
        now=_alarm_now(alarm, detector, locale, current=current),
        since=locale.text(
            "alarm.since",
            time=locale.clock(alarm.since, now=now),
            age=locale.ago(milliseconds_between(alarm.since, now) / 1000),
        ),
        times=_alarm_times(alarm, now, locale),
        state=state,
        advice=alarm.texts.get(locale.language, alarm.text),
        flashing=open_ and current,
        can_acknowledge=open_ and current,
        can_silence=alarm.kind == "GAS" and open_ and not alarm.muted and current,
        can_reset=alarm.state == "latched-acknowledged" and current,
        seq=alarm.seq,
    )


def output_row(output: OutputView, locale: Locale, *, current: bool) -> Row:
    """Say what an output was told and what it does."""
    wanted = "on" if output.wanted else "off"
    if output.confirmed is None:
        tone: Tone = "attention"
        key = f"output.{wanted}_unconfirmed"
    elif output.confirmed != output.wanted:
        tone, key = "fault", f"output.{wanted}_wrong"
    else:
        tone, key = ("alarm" if output.wanted else "normal"), f"output.{wanted}"
    tone = tone if current else "stale"
    beside = [locale.ago(output.age_s), locale.reason(output.reason) if output.reason else ""]
    return Row(output.id, Badge(tone, locale.text(f"shape.{tone}"), locale.text(key)), " · ".join(filter(None, beside)))


def link_row(link: LinkView, locale: Locale, *, current: bool) -> Row:
    """Say whether a bus, broker or channel is up."""
    tone: Tone = "stale" if not current else "normal" if link.up else "fault"
    word = locale.text("link.up" if link.up else "link.down", age=locale.age(link.age_s))
    reason = locale.reason(link.reason) if link.reason else ""
    return Row(link.id, Badge(tone, locale.text(f"shape.{tone}"), word), reason)


def measured_badge(worst_ms: float | None, locale: Locale) -> Badge:
    """Hold the slowest measured first output against the promise."""
    if worst_ms is None:
        return Badge("normal", "", locale.text("promise.no_measure"))
    late = worst_ms > PROMISE_S * 1000
    word = locale.text("format.ms", count=locale.number(worst_ms, 0))
    return Badge("alarm" if late else "normal", "", f"{word} ({locale.text('promise.late')})" if late else word)


def computed_badge(worst_case_s: float, locale: Locale) -> Badge:
    """Hold the slowest computed detector against the promise."""
    late = worst_case_s > PROMISE_S
    word = locale.text("promise.seconds", value=locale.number(worst_case_s))
    return Badge("attention" if late else "normal", "", f"{word} ({locale.text('promise.late')})" if late else word)


# --- details ---------------------------------------------------------------------------------------


def _status_word(view: DetectorView, tone: Tone, locale: Locale) -> str:
    match tone:
        case "alarm":
            gas = _gas(view) or 0.0
            level = "A3" if gas >= view.a3 else "A2" if gas >= view.a2 else "A1"
            return locale.text("detector.level", level=level)
        case "fault":
            return locale.text("status.not-watching" if view.status == "measuring" else f"status.{view.status}")
        case "attention":
            return locale.text("status.uncertain" if view.status == "measuring" else f"status.{view.status}")
        case "stale":
            return locale.text("tone.stale")
        case "normal":
            return locale.text("status.measuring")


def _alarm_where(alarm: AlarmView, detector: DetectorView | None, locale: Locale) -> str:
    name = "" if detector is None else _called(detector)
    who = locale.text("format.named", id=alarm.subject, name=name) if name else alarm.subject
    area = _area(detector, alarm.area)
    return f"{who} · {locale.text('page.area', area=area)}" if area else who


def _alarm_now(alarm: AlarmView, detector: DetectorView | None, locale: Locale, *, current: bool) -> str:
    """Say how much gas there is now. What else can be wrong has no present value: the alarm's sentence says it all."""
    if alarm.kind != "GAS":
        return ""
    peak = (
        ""
        if alarm.peak is None
        else locale.text("alarm.peak", value=locale.text("format.lel", value=locale.number(alarm.peak)))
    )
    if not current or detector is None or detector_tone(detector, current=True) == "fault" or _gas(detector) is None:
        now = locale.text("alarm.no_value")
    else:
        now = locale.text("alarm.now", value=value_text(detector, locale), age=locale.ago(detector.age_s))
    return " · ".join(filter(None, (now, peak)))


def _alarm_times(alarm: AlarmView, now: str, locale: Locale) -> str:
    if alarm.kind == "COMPLIANCE":
        return ""

    def after(moment: str) -> str:
        return locale.text("alarm.plus", ms=locale.number(milliseconds_between(alarm.sampled, moment), 0))

    return locale.text(
        "alarm.times",
        sampled=locale.clock(alarm.sampled, now=now, thousandths=True),
        decided=after(alarm.decided),
        output=locale.text("alarm.waiting") if alarm.first_output is None else after(alarm.first_output),
    )


def _urgency(alarm: AlarmView) -> tuple[int, bool, str, str]:
    level = {"A3": "0", "A2": "1", "A1": "2"}.get(alarm.level or "", "3")
    return _KINDS.index(alarm.kind), alarm.state not in UNACKNOWLEDGED, level, alarm.since


def _called(view: DetectorView) -> str:
    return "" if view.name == view.id else view.name


def _area(detector: DetectorView | None, otherwise: str) -> str:
    return otherwise if detector is None else detector.area_name or detector.area


def _gas(view: DetectorView) -> float | None:
    if view.at_least is None:
        return view.lel_pct
    return view.at_least if view.lel_pct is None else max(view.lel_pct, view.at_least)


def _on_bar(value: float, full: float) -> float:
    return round(min(max(value / full, 0.0), 1.0) * 100, 1)


def _plain(value: float, locale: Locale) -> str:
    return locale.number(value, 0 if float(value).is_integer() else 1)
