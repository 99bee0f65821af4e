"""Whether gas is confirmed enough for a costly action (close a valve, call the centre). The legal alarm never asks."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from alerts.alarms import Level
from sensors.readings import DetectorId
from sensors.stamps import Instant

TWO: Final = 2
"""A costly action wants two heads or two samples: fewer heads than this never shrink to one that is enough alone."""


class Fitness(Enum):
    """Whether a head can vote."""

    WATCHING = "watching"
    FAILED = "failed"  # not watching, and nobody said so beforehand
    SET_ASIDE = "set-aside"  # a person has it in a test, inhibited or out of service


class WhenFailed(Enum):
    """What a head that has failed counts for. It is never simply ignored."""

    VOTES = "votes"  # as one that reads gas: enough of them take the action by themselves
    REMOVED = "removed"  # it leaves N, and the votes asked for shrink to the heads that are left, but not below two


@dataclass(frozen=True, slots=True)
class Run:
    """How many samples in a row a head has read at or past A1, A2 and A3. A sample without a gas value leaves it."""

    a1: int = 0
    a2: int = 0
    a3: int = 0
    taken: Instant | None = None

    def after(self, level: Level | None, taken: Instant) -> "Run":
        """Return the run with one sample more; one that was heard again (same moment) is no second sample."""
        if taken == self.taken:
            return self
        past = 0 if level is None else level
        return Run(
            self.a1 + 1 if past >= Level.A1 else 0,
            self.a2 + 1 if past >= Level.A2 else 0,
            self.a3 + 1 if past >= Level.A3 else 0,
            taken,
        )

    def at(self, level: Level) -> int:
        """Return how many samples in a row were at or past this level."""
        return (self.a1, self.a2, self.a3)[level - 1]


@dataclass(frozen=True, slots=True)
class Gate:
    """What a costly action asks for: `heads` of those that may vote at `level`, or one head for `samples` in a row.

    One head at A3 (over-range is A3), or the only one left, needs no other and no more than two samples in a row. That
    is its second sample where the gate asks for more, and never its first: a single one may be a garbled frame.
    """

    level: Level = Level.A2
    heads: int = 2
    samples: int = 2
    when_failed: WhenFailed = WhenFailed.REMOVED

    def __post_init__(self) -> None:
        assert self.heads >= 1, "a gate that no head opens"
        assert self.samples >= 1, "a gate that no sample opens"


@dataclass(frozen=True, slots=True)
class Ballot:
    """What one head says now.

    Attributes:
        level: of its standing gas alarm while the gas is there, the highest of this occurrence; None without one. It
            stands on when the head fails: bad data never takes a vote back. Gas of a drill is None.
        run: its samples in a row; likewise left as it was by a sample without a value.
    """

    detector: DetectorId
    level: Level | None
    run: Run
    fitness: Fitness


class Why(Enum):
    """By what a gate was opened, or that it was not."""

    HIGHEST = "highest-level"
    HEADS = "heads"
    SAMPLES = "samples"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Tally:
    """How a vote went.

    Attributes:
        votes: the heads that speak for the action.
        of: how many may vote (N); 0 when no head is left that could confirm anything.
        needed: how many of those it takes (M): never more than are left, and never fewer than two where two were asked
            for. With fewer left than that only samples open the gate.
    """

    why: Why
    votes: tuple[DetectorId, ...]
    of: int
    needed: int

    @property
    def passed(self) -> bool:
        """Tell whether the action is to be taken."""
        return self.why is not Why.CLOSED


def tally(gate: Gate, ballots: Iterable[Ballot]) -> Tally:
    """Count the votes of the heads that belong to an action."""
    counted = [ballot for ballot in ballots if _has_vote(ballot, gate)]
    votes = tuple(ballot.detector for ballot in counted if _speaks(ballot, gate))
    needed = min(gate.heads, max(len(counted), TWO))
    return Tally(_why(gate, counted, len(votes) >= needed), votes, len(counted), needed)


def _why(gate: Gate, counted: list[Ballot], enough: bool) -> Why:
    if enough:
        return Why.HEADS
    alone = len(counted) < TWO
    sure = [ballot for ballot in counted if _repeats(ballot, gate, alone=alone)]
    if any(ballot.level is Level.A3 for ballot in sure):
        return Why.HIGHEST
    return Why.SAMPLES if sure else Why.CLOSED


def _repeats(ballot: Ballot, gate: Gate, *, alone: bool) -> bool:
    """Tell whether a head has read gas in as many samples in a row as it takes without any other."""
    asked = min(gate.samples, TWO) if alone or ballot.level is Level.A3 else gate.samples
    return _reads(ballot, gate) and ballot.run.at(gate.level) >= asked


def _has_vote(ballot: Ballot, gate: Gate) -> bool:
    """A head that reads gas has its vote whatever has become of it since."""
    if _reads(ballot, gate) or ballot.fitness is Fitness.WATCHING:
        return True
    return ballot.fitness is Fitness.FAILED and gate.when_failed is WhenFailed.VOTES


def _speaks(ballot: Ballot, gate: Gate) -> bool:
    return _reads(ballot, gate) or ballot.fitness is Fitness.FAILED


def _reads(ballot: Ballot, gate: Gate) -> bool:
    return ballot.level is not None and ballot.level >= gate.level
