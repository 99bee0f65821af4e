"""What a captain of the fire brigade needs: what, where, since when, how much, what is stored, who to call. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from urllib.parse import quote

from dashboards.alarm_rows import AlarmRow, alarm_row, urgency
from dashboards.conformity.phrases import Phrases
from dashboards.conformity.stock import AreaStock, stock_view
from dashboards.detector_cards import Badge, DetectorCard, detector_card, gas_of
from dashboards.past import EventView, Trend
from dashboards.ports import DetectorView, Snapshot
from dashboards.views import headline_of, watching_text
from dashboards.wording import Locale, parsed

STILL = "still"
"""A reminder; nothing happened."""

MOST_EVENTS = 12
MINUTES = 15
"""How much of the past stands on the page: the alarm's latest steps, and minutes of what the heads in gas read."""


@dataclass(frozen=True, slots=True)
class Call:
    """Somebody to call: who, in which role, the number as written and as a phone dials it."""

    name: str
    role: str
    number: str
    dial: str


@dataclass(frozen=True, slots=True)
class Moment:
    """One step of the past, or one minute's highest value, with its time on the depot's clock."""

    time: str
    text: str


@dataclass(frozen=True, slots=True)
class LastMinutes:
    """The highest value of a head in each of the last minutes; a gap says so."""

    detector: str
    moments: tuple[Moment, ...]


@dataclass(frozen=True, slots=True)
class AreaNow:
    """An area with its heads, those in gas first."""

    title: str
    heads: tuple[DetectorCard, ...]


@dataclass(frozen=True, slots=True)
class BrigadeView:
    """The page. `stock` None where the registers could not be read; empty where nothing is entered.

    Attributes:
        no_gas: what may be said where no gas alarm stands: less than "no gas" while a head does not watch.
        asof: the moment of all that stands here, on the depot's clock.
        map: an address that a phone opens in its own map; empty where the depot has no address.
    """

    headline: Badge
    watching: str
    asof: str
    address: str
    access: str
    map: str
    gas: tuple[AlarmRow, ...]
    areas: tuple[AreaNow, ...]
    stock: tuple[AreaStock, ...] | None
    no_gas: str
    calls: tuple[Call, ...]
    steps: tuple[Moment, ...]
    minutes: tuple[LastMinutes, ...]


def brigade_view(
    snapshot: Snapshot,
    stock: Mapping[str, object] | None,
    events: Sequence[EventView],
    trends: Sequence[Trend],
    phrases: Phrases,
    *,
    current: bool,
    lost_s: float | None,
) -> BrigadeView:
    """Say everything that is known.

    Args:
        snapshot: with its ages brought up to the moment of drawing.
        stock: as the office answers it; None where it does not.
        events: of the journal, oldest first.
        trends: of the heads in gas, a bucket a minute.
        phrases: words, language and zone.
        current: False when the gateway is not heard: then nothing stands as present.
        lost_s: since the gateway was last heard; None when unknown.
    """
    locale, depot = phrases.locale, snapshot.depot
    known = {view.id: view for view in snapshot.detectors}
    return BrigadeView(
        headline=headline_of(snapshot, locale, current=current, lost_s=lost_s),
        watching=watching_text(snapshot.detectors, locale) if current else "",
        asof=locale.clock(snapshot.at, now=snapshot.at),
        address=depot.address,
        access=depot.access,
        map=f"geo:0,0?q={quote(depot.address)}" if depot.address else "",
        gas=tuple(
            alarm_row(alarm, known.get(alarm.subject), snapshot.at, locale, current=current)
            for alarm in sorted(snapshot.alarms, key=urgency)
            if alarm.kind == "GAS"
        ),
        areas=tuple(_areas(snapshot, phrases, current=current)),
        stock=None if stock is None else stock_view(stock, phrases),
        no_gas=_no_gas(snapshot, locale, current=current),
        calls=tuple(
            Call(one.name, locale.text(f"brigade.{one.role}"), one.phone, dialled(one.phone)) for one in depot.contacts
        ),
        steps=tuple(
            Moment(locale.clock(event.at, now=snapshot.at), _step(event, locale))
            for event in reversed(events)
            if event.kind == "GAS" and event.event != STILL
        )[:MOST_EVENTS],
        minutes=tuple(_minutes(trend, locale) for trend in trends),
    )


def heads_in_gas(snapshot: Snapshot) -> tuple[str, ...]:
    """Name the heads whose gas alarm stands, the most urgent first."""
    return tuple(alarm.subject for alarm in sorted(snapshot.alarms, key=urgency) if alarm.kind == "GAS")


def _areas(snapshot: Snapshot, phrases: Phrases, *, current: bool) -> Iterator[AreaNow]:
    """Yield the areas, the one with the most gas first."""
    areas: dict[str, list[DetectorView]] = {}
    for view in sorted(snapshot.detectors, key=lambda view: gas_of(view) or 0.0, reverse=True):
        areas.setdefault(view.area, []).append(view)
    for area, heads in areas.items():
        cards = tuple(detector_card(view, phrases.locale, current=current) for view in heads)
        yield AreaNow(phrases.area(area), cards)


def _no_gas(snapshot: Snapshot, locale: Locale, *, current: bool) -> str:
    if not current:
        return locale.text("brigade.no_gas_old")
    if all(view.watching for view in snapshot.detectors) and snapshot.detectors:
        return locale.text("brigade.no_gas")
    watching = sum(view.watching for view in snapshot.detectors)
    return locale.text("brigade.no_gas_blind", count=watching, total=len(snapshot.detectors))


def dialled(number: str) -> str:
    """Return a number as a phone dials it: digits, and a plus before them."""
    return "".join(sign for place, sign in enumerate(number) if sign.isdigit() or (sign == "+" and place == 0))


def _step(event: EventView, locale: Locale) -> str:
    key = f"brigade.{event.event}"
    what = locale.text(key if key in locale.words else "brigade.other", level=event.level or "", event=event.event)
    value = "" if event.lel_pct is None else locale.text("format.lel", value=locale.number(event.lel_pct))
    by = locale.text("brigade.by", by=event.by) if event.by else ""
    return " · ".join(filter(None, (event.subject, what, value, by, event.note)))


def _minutes(trend: Trend, locale: Locale) -> LastMinutes:
    """The newest minute first; minutes without a number that follow each other are one line, from and to."""
    start = parsed(trend.start)
    times = [
        f"{(start + timedelta(seconds=place * trend.step_s)).astimezone(locale.zone):%H:%M}"
        for place in range(len(trend.high))
    ]
    moments: list[Moment] = []
    for gap, run in groupby(zip(times, trend.high, strict=True), lambda one: one[1] is None):
        if gap:
            dark = [time for time, _ in run]
            moments.append(Moment("-".join(dict.fromkeys((dark[0], dark[-1]))), locale.text("format.none")))
        else:
            moments += [Moment(t, locale.text("format.lel", value=locale.number(h))) for t, h in run if h is not None]
    return LastMinutes(trend.detector, tuple(reversed(moments)))
