"""What a run's journal says about its alarms: how many, and how long the slowest took. Only reads."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw

from sensors.sentences import Sentence

UNCOUNTED_CHANNELS = frozenset({"console"})
"""Channels of the demo's depot.toml that only show an alarm to whoever happens to look."""


class JournalUnreadableError(Exception):
    """There is no journal, or it is not one."""


@dataclass(slots=True)
class GasAlarm:
    """A gas alarm raised or risen. `first_ms` is when the first counting output took it; None if none did."""

    subject: str
    level: str
    sampled_ms: int
    decided_ms: int
    first_ms: int | None = None

    @property
    def took_ms(self) -> int | None:
        """Milliseconds from the sample to the first output."""
        return None if self.first_ms is None else self.first_ms - self.sampled_ms


@dataclass(frozen=True, slots=True)
class Summary:
    """The gas alarms of a run, in the order they were decided."""

    alarms: tuple[GasAlarm, ...] = field(default_factory=tuple)

    @property
    def worst_ms(self) -> int | None:
        """The slowest first output; None if no counting output took any."""
        return max((alarm.took_ms for alarm in self.alarms if alarm.took_ms is not None), default=None)

    @property
    def missed(self) -> int:
        """How many no counting output took."""
        return sum(alarm.took_ms is None for alarm in self.alarms)


def summarise(journal: Path, since: datetime) -> Summary:
    """Read what happened from `since` on.

    Raises:
        JournalUnreadableError: if there is no such file, or it is no journal.
    """
    since_ms = int(since.timestamp() * 1000)
    alarms: dict[str, GasAlarm] = {}
    sounding: set[str] = set()
    try:
        for kind, body in _entries(journal):
            if kind == "alarm" and body["kind"] == "GAS" and body["event"] in ("raised", "risen"):
                if body["at_ms"] >= since_ms:
                    alarm = GasAlarm(body["subject"], body["level"], body["sampled_ms"], body["at_ms"])
                    alarms[body["id"]] = alarm
                    if sounding:  # a rise finds the siren on already, and nobody has to switch it
                        _take(alarm, alarm.decided_ms)
            elif kind == "delivery" and body["outcome"] == "accepted" and body["channel"] not in UNCOUNTED_CHANNELS:
                _take(alarms.get(body["event"]), body["at_ms"])
            elif kind == "output" and body["on"]:
                if body.get("kind") != "beacon":  # one that flashes already tells nobody of a rise
                    sounding.add(body["output"])
                for alarm in alarms.values():
                    _take(alarm, body["at_ms"])
            elif kind == "output":
                sounding.discard(body["output"])
    except (apsw.Error, KeyError, TypeError, ValueError) as error:
        raise JournalUnreadableError(Sentence("{place}: {why}", place=journal, why=error)) from error
    return Summary(tuple(alarms.values()))


def _take(alarm: GasAlarm | None, at_ms: int) -> None:
    """Note an output; entries stand in the order of the journal, which need not be that of their times."""
    if alarm is not None and at_ms >= alarm.decided_ms:
        alarm.first_ms = at_ms if alarm.first_ms is None else min(alarm.first_ms, at_ms)


def _entries(journal: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    db = apsw.Connection(str(journal), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        for (data,) in db.execute("SELECT bytes FROM entry ORDER BY idx"):
            entry = json.loads(data)
            yield entry["kind"], entry["body"]
    finally:
        db.close()
