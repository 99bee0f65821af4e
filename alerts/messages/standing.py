"""What the sentences about a standing alarm are made of: it, without what no sentence speaks of. No clock."""

from dataclasses import dataclass

from alerts.alarms import AlarmKey, AlarmState, Level, Phase
from sensors.stamps import SECOND, Stamp


@dataclass(frozen=True, slots=True)
class StandingAlarm:
    """An alarm as it stands.

    Attributes:
        age_s: for how long it stands, or stood until its cause went (s).
        quality: of the last reading, as `sensors.readings.Quality` says it; empty without one.
        by: who took it; None while nobody has.
    """

    key: AlarmKey
    phase: Phase
    level: Level | None
    present: bool
    age_s: int
    lel_pct: float | None
    peak: float | None
    quality: str
    by: str | None
    reason: str
    detail: str
    drill: bool = False
    over_range: bool = False

    @classmethod
    def of(cls, alarm: AlarmState, now: Stamp) -> "StandingAlarm":
        """Return an alarm of the book as it stands at `now`."""
        end = now if alarm.ended is None else alarm.ended
        return cls(
            key=alarm.key,
            phase=alarm.phase,
            level=alarm.level,
            present=alarm.present,
            age_s=max(0, end.mono - alarm.since.mono) // SECOND,
            lel_pct=alarm.lel_pct,
            peak=alarm.peak,
            quality=alarm.quality,
            by=alarm.acknowledged_by,
            reason=alarm.reason,
            detail=alarm.detail,
            drill=alarm.drill,
            over_range=alarm.over_range,
        )
