"""A notice as the JSON object that machines receive: the webhook contract, shared by every channel that speaks JSON."""

from math import isfinite

from alerts.alarms import Notice
from alerts.messages.told import told_in
from sensors.stamps import rfc3339


def body(notice: Notice) -> dict[str, object]:
    """Return the JSON object of one notice.

    `id` is the event's, so it is the same on every repeat and to every recipient. %LEL is rounded to 0.1; times are
    RFC 3339 UTC with milliseconds: `since` the occurrence began, `sampled` the value was taken, `decided` the
    gateway judged it. `recorded` is false when the journal had not confirmed the event as this left.
    """
    event = notice.event
    return {
        "id": event.id,
        "seq": event.seq,
        "depot": notice.depot,
        "area": notice.area,
        "area_name": notice.area_name,
        "subject": event.key.subject,
        "detector_name": notice.detector_name,
        "subjects": list(event.subjects),
        "kind": event.key.kind.value,
        "level": None if event.level is None else event.level.name,
        "event": event.cause.value,
        "lel_pct": _tenths(event.lel_pct),
        "peak": _tenths(event.peak),
        "since": rfc3339(event.since.utc),
        "sampled": rfc3339(event.sampled.utc),
        "decided": rfc3339(event.at.utc),
        "recorded": notice.recorded,
        "by": event.by,
        "reason": event.reason,
        "detail": told_in(event.detail),
        "text": notice.text,
        "drill": event.drill,
    }


def _tenths(lel_pct: float | None) -> float | None:
    """Round for people; a number that JSON cannot carry is no number."""
    return None if lel_pct is None or not isfinite(lel_pct) else round(lel_pct, 1)
