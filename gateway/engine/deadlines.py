"""The engine's one heap of things to do at a time. The shell owns the timer; this only knows what is next."""

import heapq
from dataclasses import dataclass
from typing import TypeAlias

from alerts.alarms import AlarmKey
from gateway.engine.watched import Head
from sensors.readings import DetectorId
from sensors.stamps import Instant


@dataclass(frozen=True, slots=True)
class Stale:
    """Look whether the last good reading of one of these heads, who grow old alike, has grown too old."""

    heads: tuple[Head, ...]


@dataclass(frozen=True, slots=True)
class CableBack:
    """This source came up a while ago: heads that are still silent get a notice of their own."""

    source: str


@dataclass(frozen=True, slots=True)
class Confirm:
    """This output should by now have been read back as wanted."""

    output: str


@dataclass(frozen=True, slots=True)
class Repeat:
    """Say an unacknowledged alarm again; void when it has been annunciated anew since."""

    key: AlarmKey
    annunciated: Instant


@dataclass(frozen=True, slots=True)
class Escalate:
    """Call these recipients in if nobody has taken the alarm; void as above."""

    key: AlarmKey
    annunciated: Instant
    recipients: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unmute:
    """A silenced horn may sound again."""


@dataclass(frozen=True, slots=True)
class WindowEnds:
    """The window over this head ends; void when it was closed or another opened since."""

    detector: DetectorId
    opened: Instant


@dataclass(frozen=True, slots=True)
class SuppressionEnds:
    """What was laid over this alarm then ends; void when it was taken away or another laid since."""

    key: AlarmKey
    since: Instant


@dataclass(frozen=True, slots=True)
class LookAtFrequency:
    """What came too often may be over, or is to be told together."""


@dataclass(frozen=True, slots=True)
class ClockSettled:
    """The civil clock has not jumped for a while, unless it has again since."""


@dataclass(frozen=True, slots=True)
class OutputTestDue:
    """Look whether outputs are due to be tested; void since newer orders (`plan` counts them)."""

    plan: int


@dataclass(frozen=True, slots=True)
class OutputTestStep:
    """The pulse of a test is over, or its read-back overdue; void unless it is the step of this number."""

    number: int
    due: Instant


@dataclass(frozen=True, slots=True)
class JudgeOn:
    """The rest of a judgement of the law is to be followed."""


Task: TypeAlias = (
    Stale
    | WindowEnds
    | SuppressionEnds
    | CableBack
    | Confirm
    | Repeat
    | Escalate
    | Unmute
    | LookAtFrequency
    | ClockSettled
    | OutputTestDue
    | OutputTestStep
    | JudgeOn
)


class Deadlines:
    """Tasks by time, first come first served within one instant."""

    def __init__(self) -> None:
        self._heap: list[tuple[Instant, int, Task]] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._heap)

    def at(self, when: Instant, task: Task) -> None:
        """Do this then."""
        self._count += 1
        heapq.heappush(self._heap, (when, self._count, task))

    def next(self) -> Instant | None:
        """Return when the next task is due; None without one."""
        return self._heap[0][0] if self._heap else None

    def pop_due(self, now: Instant) -> Task | None:
        """Take the next task that is due; None when none is."""
        if self._heap and self._heap[0][0] <= now:
            return heapq.heappop(self._heap)[2]
        return None
