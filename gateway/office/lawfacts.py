"""Where the law's facts of a depot come from: its configuration, its journal, the registers in its journal."""

import math
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from compliance.catalogue import Catalogue
from compliance.registers.entries import Millis, fold
from compliance.registers.facts import CONTAINER, lots_named, of_registers, of_stock
from compliance.vocabulary import DEPOT, Fact, Subject, Value
from gateway.budget import budgets
from gateway.commissioning.bump_history import bumped_on
from gateway.commissioning.bump_verdict import limits_of
from gateway.depot import Depot
from gateway.journal import schema
from gateway.journal.reader import JournalReader
from gateway.ledger.measures import Measures, Moment, until
from gateway.ledger.watchbook import lines
from gateway.office import entries as kept
from gateway.office.desk import Desk
from gateway.office.forms import forms
from sensors.drivers.modbus import ModbusHead
from sensors.drivers.mqtt import MqttHead
from sensors.readings import DetectorId
from sensors.wire.payload_points import PayloadPoints
from sensors.wire.units import reference_lel_pct_per

SINCE = date(1970, 1, 1)
"""From when the configuration holds: it tells no day."""

ALIVE_WITHIN_MS = 180_000
"""The watch leaves a sign of life each minute; one older than this says that it does not run."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The day that is judged, the present (UTC ms), and by when what counts was recorded (None: by now)."""

    on: date
    now_ms: int
    known_ms: int | None = None


# --- the configuration ----------------------------------------------------------------------------


def configured(depot: Depot) -> Iterator[Fact]:
    """Yield what depot.toml says of areas, heads and outputs, and that it lists them all."""
    for kind in ("areas", "detectors", "outputs"):
        yield _said(DEPOT, f"{kind}_listed", value=True)
    for area in depot.areas:
        yield _said(Subject("area", area.id), "licensed_kg", float(area.licensed_kg))
        yield _said(Subject("area", area.id), "use", area.use)
    for output in depot.outputs:
        yield _said(Subject("output", output.id), "audible", output.row.audible)
    yield from _heads(depot)


def _heads(depot: Depot) -> Iterator[Fact]:
    worst = {budget.detector: budget.audible_s for budget in budgets(depot)}
    heads: dict[DetectorId, ModbusHead | MqttHead] = {head.detector: head for head in depot.mqtt_heads}
    heads |= {head.detector: head for bus in depot.buses for head in bus.heads}
    for detector in depot.detectors:
        subject, head = Subject("detector", str(detector.id)), heads[detector.id]
        told: dict[str, Value | None] = {
            "area": detector.area,
            "set_point_lel_pct": _set_point(head, depot.levels.a1),
            "reference_vol_pct": depot.reference_vol_pct,
            "basis_vol_pct": head.basis.head_vol_pct,
            "certified_s": _round_up(worst[detector.id]),
        }
        for name, value in told.items():
            if value is not None:
                yield _said(subject, name, value)
        for name, day in (("calibrated_on", detector.calibrated_on), ("function_tested_on", detector.tested_on)):
            if day is not None:
                yield Fact(subject, name, day, day, source="depot.toml")


def _set_point(head: ModbusHead | MqttHead, a1: float) -> float:
    """The first alarm of a head in %LEL of the reference; one that only says yes or no trips where it is set."""
    points = head.profile.points
    if not isinstance(points, PayloadPoints) or not points.says_yes_or_no or points.trip is None:
        return a1
    return max(a1, points.trip * reference_lel_pct_per(points.unit_of_value, head.basis))


def _round_up(seconds: float | None) -> float | None:
    """Whole milliseconds, never in the depot's favour."""
    return None if seconds is None else math.ceil(round(seconds * 1000, 6)) / 1000


def _said(subject: Subject, name: str, value: Value) -> Fact:
    return Fact(subject, name, value, SINCE, source="depot.toml")


# --- the journal ----------------------------------------------------------------------------------


def measured(depot: Depot, journal: JournalReader, asked: Asked) -> Iterator[Fact]:
    """Yield what the journal proves of heads and outputs: watching, times to the siren, bump tests, leaks.

    Raises:
        StoreError: the journal cannot be read.
    """
    zone = ZoneInfo(depot.timezone)
    at_ms = min(asked.now_ms, end_of(asked.on, zone), _or(asked.known_ms, asked.now_ms))
    measures = measures_of(depot)
    of_now = asked.known_ms is None and at_ms == asked.now_ms  # what a clock wrote that was ahead counts now too
    for line in lines(journal) if of_now else until(lines(journal), at_ms):
        measures.take(line)
    yield from proven(measures, journal, asked, at_ms, zone)
    yield from bumps_passed(depot, zone)


def measured_each(
    depot: Depot, journal: JournalReader, days: Sequence[date], now_ms: int
) -> dict[date, tuple[Fact, ...]]:
    """Return what `measured` yields of each of several days gone by, reading the journal once.

    A day over whose end a clock was set back is read on its own.

    Raises:
        StoreError: the journal cannot be read.
    """
    zone = ZoneInfo(depot.timezone)
    bumps = tuple(bumps_passed(depot, zone))
    measures, found = measures_of(depot), dict[date, tuple[Fact, ...]]()
    ends = {day: end_of(day, zone) for day in sorted(days)}
    left, at_odds, settled_to = deque(ends), set[date](), -1

    def settle(day: date) -> None:  # of a copy: to ask it settles what a clock that is put right may still move
        asked = Asked(day, now_ms)
        found[day] = (*proven(deepcopy(measures), journal, asked, ends[day], zone), *bumps)

    for line in lines(journal):
        at_ms = int(line.body.get("at_ms", 0))
        while left and at_ms > ends[left[0]]:
            settled_to = ends[left[0]]
            settle(left.popleft())
        if 0 < at_ms <= settled_to and line.body.get("time_trusted", True) is not False:
            at_odds |= {day for day in found if ends[day] >= at_ms}
        measures.take(line)
    for day in left:
        settle(day)
    return found | {day: tuple(measured(depot, journal, Asked(day, now_ms))) for day in at_odds}


def measures_of(depot: Depot) -> Measures:
    """Return an empty fold for a depot's heads and sirens."""
    areas = {str(detector.id): detector.area for detector in depot.detectors}
    return Measures(areas, frozenset(output.id for output in depot.outputs if output.row.audible))


def proven(measures: Measures, journal: JournalReader, asked: Asked, at_ms: int, zone: ZoneInfo) -> Iterator[Fact]:
    """Yield what a fold proves at a moment (UTC ms), and whether the watch ran then.

    The watch alone writes the journal: every entry is a sign of its life, before the first minute is over too.
    """
    seen_ms = max(measures.written_ms, _last_alive(journal))
    alive = at_ms < asked.now_ms - ALIVE_WITHIN_MS or seen_ms >= asked.now_ms - ALIVE_WITHIN_MS
    yield from measures.facts(Moment(at_ms, asked.on, alive), zone)


def bumps_passed(depot: Depot, zone: ZoneInfo) -> Iterator[Fact]:
    """Yield the day of each head's last bump test that it passed.

    Raises:
        StoreError: the journal cannot be read.
    """
    limits = {str(detector.id): limits_of(depot, detector) for detector in depot.detectors}
    for name, day in bumped_on(depot.journal, limits, zone).items():
        yield Fact(Subject("detector", name), "bumped_on", day, day, source="journal")


def _last_alive(journal: JournalReader) -> int:
    if journal.version < schema.CHECKPOINTS_SINCE:
        return 0
    return next(
        (int(value) for (value,) in journal.ask("SELECT value FROM meta WHERE name = ?", (schema.LAST_ALIVE,))), 0
    )


def registered(depot: Depot, journal: JournalReader, catalogue: Catalogue, asked: Asked) -> Iterator[Fact]:
    """Yield what the registers hold at the end of the day, stock included.

    What the office's books pass over, an entry that nobody can read or a movement that cannot be, counts for nothing.

    Raises:
        StoreError: the journal cannot be read.
    """
    zone, known = ZoneInfo(depot.timezone), forms()
    desk = Desk(known, (area.id for area in depot.areas))
    for _, body, by in journal.filed(kept.KIND):
        with suppress(*kept.UNREADABLE):
            desk.keep(kept.entries(body, known, by))
    end = Millis(end_of(asked.on, zone))
    by_then = None if asked.known_ms is None else Millis(asked.known_ms)
    standing = fold(desk.entries, end, by_then)
    noted = {subject: held for (register, subject), held in standing.items() if register == CONTAINER}
    facts = [
        *of_registers(standing.values(), catalogue, zone),
        *of_stock(desk.stock(end, by_then), noted, asked.on, zone),
    ]
    yield from facts
    yield from lots_named(facts)


def end_of(day: date, zone: ZoneInfo) -> int:
    """Return the last millisecond (UTC) of a local day."""
    midnight = datetime.combine(day + timedelta(days=1), time(), zone)
    return int(midnight.timestamp() * 1000) - 1


def _or(value: int | None, otherwise: int) -> int:
    return otherwise if value is None else value
