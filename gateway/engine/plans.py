"""When outputs are tested by themselves: a local time of every day or of one day of the week. Pure."""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo

from sensors.stamps import SECOND, UtcNanos

USUAL_PULSE = SECOND


@dataclass(frozen=True, slots=True)
class Plan:
    """When outputs are tested by themselves.

    Attributes:
        weekday: 0 is Monday; None is every day.
        at, zone: the local time.
        pulse: how long each is on (ns).
        outputs: which, in this order.
    """

    weekday: int | None
    at: time
    zone: tzinfo
    outputs: tuple[str, ...]
    pulse: int = USUAL_PULSE

    def before(self, now: UtcNanos) -> UtcNanos:
        """Return the last moment at or before `now` at which tests were due."""
        return self._moment(now, -1)

    def after(self, now: UtcNanos) -> UtcNanos:
        """Return the next moment after `now` at which tests are due."""
        return self._moment(now, 1)

    def _moment(self, now: UtcNanos, direction: int) -> UtcNanos:
        local = datetime.fromtimestamp(now // SECOND, UTC).astimezone(self.zone)
        for days in range(9):
            day = local.date() + timedelta(days=days * direction)
            due = datetime.combine(day, self.at, self.zone).astimezone(UTC)
            nanos = UtcNanos(int(due.timestamp()) * SECOND)
            right_day = self.weekday is None or day.weekday() == self.weekday
            if right_day and (nanos > now if direction > 0 else nanos <= now):
                return nanos
        raise AssertionError("a week without the day of the test")
