"""What a screen says about a snapshot: which sentence, which shape, which word, in which order. Pure; words are given.

The page's script (web/static/depot.js) says the same things in the browser; a test holds the two together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from dashboards.alarm_rows import AlarmRow, alarm_row, is_held, spoken_for, urgency
from dashboards.detector_cards import Badge, DetectorCard, Tone, area_of, detector_card, detector_tone
from dashboards.ports import DetectorView, LinkView, OutputView, Snapshot
from dashboards.wording import Locale

PROMISE_S = 3.0
AREA = "area:"
"""How the subject begins of the alarm that says that nobody watches an area."""


@dataclass(frozen=True, slots=True)
class Row:
    """An output or a link: its name, how it stands, what is known beside."""

    id: str
    badge: Badge
    detail: str


@dataclass(frozen=True, slots=True)
class AreaView:
    """An area with its detectors. `uncovered` says that none of them watches; empty while one does."""

    id: str
    title: str
    uncovered: str
    cards: tuple[DetectorCard, ...]


@dataclass(frozen=True, slots=True)
class PageView:
    """The live page. `areas` keeps the configuration's order of areas and of detectors within."""

    headline: Badge
    watching: str
    title: str
    alarms: tuple[AlarmRow, ...]
    areas: tuple[AreaView, ...]
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
    areas: dict[str, list[DetectorView]] = {}
    for view in snapshot.detectors:
        areas.setdefault(view.area, []).append(view)
    headline = headline_of(snapshot, locale, current=current, lost_s=lost_s)
    return PageView(
        headline=headline,
        watching=watching_text(snapshot.detectors, locale) if current else locale.text("headline.lost_do"),
        title=locale.text(f"title.{headline.tone}", depot=snapshot.depot.name),
        alarms=tuple(
            alarm_row(alarm, known.get(alarm.subject), snapshot.at, locale, current=current)
            for alarm in sorted(snapshot.alarms, key=urgency)
            if not spoken_for(alarm, known.get(alarm.subject), cut)
        ),
        areas=tuple(area_view(area, heads, locale, current=current) for area, heads in areas.items()),
        outputs=tuple(output_row(output, locale, current=current) for output in snapshot.outputs),
        links=tuple(link_row(link, locale, current=current) for link in snapshot.links),
        measured=measured_badge(snapshot.worst_ms, locale),
        computed=computed_badge(snapshot.worst_case_s, locale),
    )


def area_view(area: str, heads: Sequence[DetectorView], locale: Locale, *, current: bool) -> AreaView:
    """Say everything about an area and its detectors."""
    alone = current and not any(view.watching for view in heads)
    return AreaView(
        id=area,
        title=locale.text("page.area", area=area_of(heads[0], "")),
        uncovered=locale.text("page.uncovered") if alone else "",
        cards=tuple(detector_card(view, locale, current=current) for view in heads),
    )


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
    held = sum(map(is_held, snapshot.alarms))
    gas = sum(alarm.kind == "GAS" for alarm in snapshot.alarms) - held
    alone = sum(alarm.kind == "BLIND" and alarm.present and alarm.subject.startswith(AREA) for alarm in snapshot.alarms)
    heard = [alarm for alarm in snapshot.alarms if alarm.suppression is None]
    aside = sum(alarm.suppression is not None and alarm.subject not in blind for alarm in snapshot.alarms)
    faults = sum(alarm.kind == "SYSTEM" for alarm in heard)
    attentions = sum(alarm.kind == "COMPLIANCE" or (alarm.kind == "BLIND" and not alarm.present) for alarm in heard)
    attentions += sum(
        tone == "attention" and view.id not in blind for tone, view in zip(tones, snapshot.detectors, strict=True)
    )
    counts: tuple[tuple[int, str, Tone], ...] = (
        (gas, "headline.gas", "alarm"),
        (alone, "headline.alone", "fault"),
        (len(blind), "headline.blind", "fault"),
        (faults, "headline.fault", "fault"),
        (held, "headline.held", "attention"),
        (attentions, "headline.attention", "attention"),
        (aside, "headline.aside", "attention"),
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
    beside = [locale.ago(output.age_s), locale.reason(output.reason) if output.reason else "", _tested(output, locale)]
    return Row(
        output.name or output.id,
        Badge(tone, locale.text(f"shape.{tone}"), locale.text(key)),
        " · ".join(filter(None, beside)),
    )


def _tested(output: OutputView, locale: Locale) -> str:
    if output.tested is None:
        return ""
    ended = "output.tested" if not output.test_failed else f"output.test_{output.test_failed}"
    return locale.text(ended if ended in locale.words else "output.test_failed", at=locale.day(output.tested))


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
