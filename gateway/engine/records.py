"""Alarm events and states as the journal keeps them, and back again after a restart."""

from collections.abc import Mapping
from typing import Any

from alerts.alarms import AlarmEvent, AlarmKey, AlarmState, Cause, EventId, Kind, Level, Phase, Suppressed, Suppression
from gateway.engine.events import Json
from sensors.readings import DetectorId, Quality, Reading, Status
from sensors.stamps import MILLISECOND, Instant, Stamp, UtcNanos


def milli(value: float | None) -> int | None:
    """%LEL -> whole thousandths, so that the canonical bytes hold no float. Infinite values are cut at 10^9."""
    return None if value is None else round(min(max(value, -1e6), 1e6) * 1000)


def percent(value: int | None) -> float | None:
    """Whole thousandths -> %LEL."""
    return None if value is None else value / 1000


def utc_ms(stamp: Stamp) -> int:
    """Civil milliseconds of a stamp."""
    return stamp.utc // MILLISECOND


def as_of(ms: int, now: Stamp) -> Stamp:
    """A stamp for a civil time of an earlier life, placed on this life's monotonic clock.

    A time in the future (the civil clock was set back meanwhile) counts as now: nothing is younger than the restart.
    """
    utc = ms * MILLISECOND
    age = max(0, now.utc - utc)
    return Stamp(Instant(now.mono - age), UtcNanos(utc))


def event_body(event: AlarmEvent) -> dict[str, Json]:
    """An alarm event as the body of its journal entry. The person goes beside it, not in it."""
    reading = event.reading
    return {
        "seq": event.seq,
        "id": event.id,
        "subject": event.key.subject,
        "kind": event.key.kind.value,
        "event": event.cause.value,
        "before": event.before.value,
        "after": event.after.value,
        "level": None if event.level is None else event.level.name,
        "lel_milli": milli(event.lel_pct),
        "peak_milli": milli(event.peak),
        "quality": None if reading is None else reading.quality.value,
        "status": None if reading is None else reading.status.value,
        "reading_reason": None if reading is None else reading.reason,
        "since_ms": utc_ms(event.since),
        "sampled_ms": utc_ms(event.sampled),
        "at_ms": utc_ms(event.at),
        "note": event.note,
        "reason": event.reason,
        "detail": event.detail,
        "subjects": list(event.subjects),
        "drill": event.drill,
        "suppression": _suppression(event.suppressed),
        "over_range": event.over_range,
    }


def event_from(body: Mapping[str, Any], now: Stamp) -> AlarmEvent:
    """The alarm event of a journal body, on this life's clock. The person's name is not asked back."""
    sampled = as_of(body["sampled_ms"], now)
    reading = None
    if body["status"] is not None:
        reading = Reading(
            detector=DetectorId(body["subject"]),
            lel_pct=percent(body["lel_milli"]),
            at_least=None,
            quality=Quality(body["quality"]),
            status=Status(body["status"]),
            raw=None,
            taken=sampled,
            reason=body["reading_reason"],
        )
    return AlarmEvent(
        seq=body["seq"],
        id=EventId(body["id"]),
        key=AlarmKey(body["subject"], Kind(body["kind"])),
        cause=Cause(body["event"]),
        before=Phase(body["before"]),
        after=Phase(body["after"]),
        level=_level(body["level"]),
        reading=reading,
        lel_pct=percent(body["lel_milli"]),
        peak=percent(body["peak_milli"]),
        since=as_of(body["since_ms"], now),
        sampled=sampled,
        at=as_of(body["at_ms"], now),
        note=body["note"],
        reason=body["reason"],
        detail=body["detail"],
        subjects=tuple(body["subjects"]),
        drill=body["drill"],
        suppressed=_suppressed(body.get("suppression"), now),
        over_range=bool(body.get("over_range")),
    )


def state_body(alarm: AlarmState) -> dict[str, Json]:
    """A standing alarm as its restart row."""
    return {
        "id": alarm.id,
        "phase": alarm.phase.value,
        "level": None if alarm.level is None else alarm.level.name,
        "present": alarm.present,
        "since_ms": utc_ms(alarm.since),
        "sampled_ms": utc_ms(alarm.sampled),
        "decided_ms": utc_ms(alarm.decided),
        "first_output_ms": None if alarm.first_output is None else utc_ms(alarm.first_output),
        "peak_milli": milli(alarm.peak),
        "lel_milli": milli(alarm.lel_pct),
        "quality": alarm.quality,
        "muted_until_ms": None if alarm.muted_until is None else utc_ms(alarm.muted_until),
        "acknowledged_by": alarm.acknowledged_by,
        "reason": alarm.reason,
        "detail": alarm.detail,
        "annunciated_ms": utc_ms(alarm.annunciated),
        "told": list(alarm.told),
        "until_ms": None if alarm.until is None else utc_ms(alarm.until),
        "drill": alarm.drill,
        "ended_ms": None if alarm.ended is None else utc_ms(alarm.ended),
        "seq": alarm.seq,
        "opened_by": alarm.opened_by,
        "suppression": _suppression(alarm.suppressed),
        "suppressed_by": None if alarm.suppressed is None else alarm.suppressed.by,
        "holds": list(alarm.holds),
        "over_range": alarm.over_range,
    }


def state_from(key: AlarmKey, body: Mapping[str, Any], now: Stamp) -> AlarmState:
    """A standing alarm of an earlier life, on this life's clock."""
    first_output, muted, until = body["first_output_ms"], body["muted_until_ms"], body.get("until_ms")
    return AlarmState(
        key=key,
        id=EventId(body["id"]),
        phase=Phase(body["phase"]),
        level=_level(body["level"]),
        present=body["present"],
        since=as_of(body["since_ms"], now),
        sampled=as_of(body["sampled_ms"], now),
        decided=as_of(body["decided_ms"], now),
        first_output=None if first_output is None else as_of(first_output, now),
        peak=percent(body["peak_milli"]),
        lel_pct=percent(body["lel_milli"]),
        quality=body["quality"],
        muted_until=None if muted is None else _until(muted, now),
        acknowledged_by=body["acknowledged_by"],
        reason=body["reason"],
        detail=body["detail"],
        annunciated=as_of(body["annunciated_ms"], now),
        told=tuple(body["told"]),
        until=None if until is None else _until(until, now),
        drill=bool(body.get("drill")),
        opened_by=body.get("opened_by"),
        suppressed=_suppressed(body.get("suppression"), now, body.get("suppressed_by")),
        holds=tuple(body.get("holds", ())),
        over_range=bool(body.get("over_range")),
        seq=body.get("seq", 0),
        ended=None if body.get("ended_ms") is None else as_of(body["ended_ms"], now),
    )


def _suppression(over: Suppressed | None) -> dict[str, Json] | None:
    """What keeps an alarm quiet, without the person, whose name has places of its own."""
    if over is None:
        return None
    return {
        "what": over.what.value,
        "why": over.why,
        "since_ms": utc_ms(over.since),
        "until_ms": utc_ms(over.until),
    }


def _suppressed(body: Mapping[str, Any] | None, now: Stamp, by: str | None = None) -> Suppressed | None:
    if body is None:
        return None
    since, until = as_of(body["since_ms"], now), _until(body["until_ms"], now)
    return Suppressed(Suppression(body["what"]), by, body["why"], since, until)


def _until(ms: int, now: Stamp) -> Stamp:
    utc = ms * MILLISECOND
    return Stamp(Instant(now.mono + max(0, utc - now.utc)), UtcNanos(utc))


def _level(name: str | None) -> Level | None:
    return None if name is None else Level[name]
