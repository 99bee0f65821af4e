"""What became of findings and alarms over a time, as a report tells it: breaches with their end, alarms taken.

Pure: bodies of journal entries in, JSON out. Times are UTC milliseconds inside, RFC 3339 outside.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any

from compliance.registers.entries import Millis
from gateway.ledger.ledger import Line
from gateway.office.findings import is_bygone
from gateway.office.shown import time

VIOLATED = "VIOLATED"


def breaches(changes: Iterable[Mapping[str, Any]], start: Millis, end: Millis, zone: tzinfo) -> list[dict[str, Any]]:
    """Return every stretch in which a finding was violated, that touches the time from `start` to `end`.

    Each change bears ``at_ms``, when it was judged. A stretch without an end still stood at `end`. It has ``begun``,
    when it became known, and ``effective``, the day since which it was so as was known by its end; ``until`` is the day
    from which it was so no longer. Of days gone by, which late entries show, ``past`` says whether the breach became
    known later or never was; what is known of the time now is told, whenever it became known.
    """
    open_: dict[tuple[str, str], dict[str, Any]] = {}
    found: list[dict[str, Any]] = []
    first, last = (datetime.fromtimestamp(at / 1000, zone).date().isoformat() for at in (start, end - 1))
    for change in changes:
        at = change["at_ms"]
        key = (change["rule"], change["subject"])
        if is_bygone(change):
            if change["effective"] <= last and (change["until"] > first or start <= at < end):
                found.append(_bygone(change))
        elif at >= end:
            continue
        elif change["verdict"] == VIOLATED and key not in open_:
            open_[key] = {**_what(change), "begun": at, "effective": change.get("effective") or change.get("on")}
            open_[key]["because"] = change.get("because", [])
        elif change["verdict"] == VIOLATED and change.get("effective"):
            open_[key]["effective"] = change["effective"]
        elif change["verdict"] != VIOLATED and key in open_:
            until, done = change.get("effective") or change.get("on"), change.get("because", [])
            found.append(open_.pop(key) | {"ended": at, "until": until, "became": change["verdict"], "done": done})
    found += [{**one, "ended": None, "until": None, "became": None, "done": []} for one in open_.values()]
    touching = [one for one in found if one.get("past") or one["ended"] is None or one["ended"] >= start]
    return [_timed(one, end) for one in sorted(touching, key=lambda one: (one["begun"], one["rule"], one["subject"]))]


def _bygone(change: Mapping[str, Any]) -> dict[str, Any]:
    """A breach that was over when it became known, or was told and never was: begun and ended at once."""
    told = {name: change[name] for name in ("effective", "until", "past")}
    because = change.get("because", [])
    times = {"begun": change["at_ms"], "ended": change["at_ms"]}
    return {**_what(change), **told, **times, "because": because, "became": None, "done": because}


def _what(change: Mapping[str, Any]) -> dict[str, Any]:
    return {name: change.get(name) for name in ("statute", "clause", "rule", "subject", "severity", "evidence")}


def _timed(one: dict[str, Any], end: Millis) -> dict[str, Any]:
    begun, ended = one["begun"], one["ended"]
    length = (end if ended is None else ended) - begun
    return {
        "past": None,
        **one,
        "begun": time(begun),
        "ended": None if ended is None else time(ended),
        "duration_s": None if one.get("past") else length // 1000,
    }


@dataclass(slots=True)
class _Alarm:
    """One alarm from its raise to its end, times in ms."""

    body: Mapping[str, Any]
    times: dict[str, int] = field(default_factory=dict)
    by: dict[str, str] = field(default_factory=dict)
    level: str | None = None
    peak_milli: int | None = None


class Alarms:
    """Gathers the alarms of a time from the journal's lines, in their order."""

    def __init__(self) -> None:
        self._standing: dict[tuple[str, str], _Alarm] = {}
        self._all: list[_Alarm] = []
        self._waiting: dict[str, _Alarm] = {}

    def take(self, line: Line) -> None:
        """Take one entry of the journal."""
        if line.kind == "alarm":
            self._event(line.body, line.by)
        elif line.kind == "delivery" and line.body.get("outcome") == "accepted":
            alarm = self._waiting.get(str(line.body.get("event")))
            if alarm is not None:
                alarm.times.setdefault("delivered", int(line.body["at_ms"]))
        elif line.kind == "output" and line.body.get("on") is True:
            for alarm in self._standing.values():
                if alarm.body["kind"] == "GAS" and "acknowledged" not in alarm.times:
                    alarm.times.setdefault("sounded", int(line.body["at_ms"]))

    def between(self, start: Millis, end: Millis) -> list[dict[str, Any]]:
        """Return the alarms that were raised in the time from `start` to before `end`."""
        return [_alarm(one) for one in self._all if start <= one.times["raised"] < end]

    def _event(self, body: Mapping[str, Any], by: str | None) -> None:
        key, event, at = (str(body["subject"]), str(body["kind"])), str(body["event"]), int(body["at_ms"])
        if event == "raised":
            alarm = _Alarm(body)
            self._standing[key] = alarm
            self._all.append(alarm)
            self._waiting[str(body["id"])] = alarm
        found = self._standing.get(key)
        if found is None:
            return
        found.times.setdefault(event, at)
        if by:
            found.by.setdefault(event, by)
        found.level = max(filter(None, (found.level, body.get("level"))), default=None)
        found.peak_milli = max((p for p in (found.peak_milli, body.get("peak_milli")) if p is not None), default=None)
        if body.get("after") == "normal":
            del self._standing[key]


def _alarm(alarm: _Alarm) -> dict[str, Any]:
    body, times = alarm.body, alarm.times
    sampled = int(body["sampled_ms"])
    first = min((times[name] for name in ("sounded", "delivered") if name in times), default=None)
    return {
        "id": body["id"],
        "subject": body["subject"],
        "kind": body["kind"],
        "level": alarm.level,
        "drill": bool(body.get("drill")),
        "reason": body.get("reason", ""),
        "peak_lel_pct": None if alarm.peak_milli is None else f"{alarm.peak_milli / 1000:.6g}",
        "sampled": time(Millis(sampled)),
        "decided": time(Millis(times["raised"])),
        "sounded_ms": None if "sounded" not in times else times["sounded"] - sampled,
        "first_output_ms": None if first is None else first - sampled,
        "acknowledged": _when(times, "acknowledged"),
        "acknowledged_by": alarm.by.get("acknowledged"),
        "acknowledged_after_s": _after_s(times, "acknowledged"),
        "cleared": _when(times, "cleared"),
        "reset": _when(times, "reset"),
        "reset_by": alarm.by.get("reset"),
    }


def _when(times: Mapping[str, int], event: str) -> str | None:
    return time(Millis(times[event])) if event in times else None


def _after_s(times: Mapping[str, int], event: str) -> int | None:
    return (times[event] - times["raised"]) // 1000 if event in times else None


def alarms(lines: Iterable[Line], start: Millis, end: Millis) -> list[dict[str, Any]]:
    """Return the alarms raised from `start` to before `end`, with who did what and after how long."""
    gathered = Alarms()
    for line in lines:
        gathered.take(line)
    return gathered.between(start, end)


def gaps(stretches: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the stretches in which a detector was not watched."""
    return [one for one in stretches if one["state"] != "watched"]
