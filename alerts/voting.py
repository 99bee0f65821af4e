"""Whether gas is confirmed enough for a costly action (close a valve, call the centre). The legal alarm never asks."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from alerts.alarms import Level
from sensors.readings import DetectorId
from sensors.stamps import SECOND, Instant

TWO: Final = 2
"""A costly action wants two heads or two samples: fewer heads than this never shrink to one that is enough alone."""

SAME_GAS: Final = 60 * SECOND
"""Two samples at or past a level that lie no further apart (ns) confirm each other, though some between were below.

Two that lie further apart do so only in a row: else two spikes of electrical noise would, an hour apart. With clear air
between them they never do: a new `Run` begins there.
"""


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
class Past:
    """How many samples at or past one level confirm each other, and when the last of them was taken."""

    count: int = 0
    last: Instant | None = None

    def after(self, past: bool, taken: Instant, before: Instant | None) -> "Past":
        """Return it with one sample more, that is `past` the level or not; the sample `before` it may have been either.

        Gas that swings about a level confirms itself though no two samples in a row are past it. A head that is read
        more rarely than that still does by two in a row.
        """
        together = self.last is not None and (self.last == before or taken - self.last <= SAME_GAS)
        if past:
            return Past(self.count + 1 if together else 1, taken)
        return self if self.last is not None and taken - self.last <= SAME_GAS else NONE_PAST


NONE_PAST: Final = Past()


@dataclass(frozen=True, slots=True)
class Run:
    """The samples of a head that confirm each other at A1, A2 and A3. A sample without a gas value leaves them."""

    a1: Past = NONE_PAST
    a2: Past = NONE_PAST
    a3: Past = NONE_PAST
    taken: Instant | None = None

    def after(self, level: Level | None, taken: Instant) -> "Run":
        """Return the run with one sample more; one that was heard again (same moment) is no second sample."""
        before = self.taken
        if taken == before:
            return self
        past = 0 if level is None else level
        return Run(
            self.a1.after(past >= Level.A1, taken, before),
            self.a2.after(past >= Level.A2, taken, before),
            self.a3.after(past >= Level.A3, taken, before),
            taken,
        )

    def at(self, level: Level) -> int:
        """Return how many samples at or past this level confirm each other."""
        return (self.a1, self.a2, self.a3)[level - 1].count


@dataclass(frozen=True, slots=True)
class Gate:
    """What a costly action asks for: `heads` of those that may vote at `level`, or one head for `samples` (see `Run`).

    One head at A3 (over-range is A3), or the only one left, needs no other and no more than two samples. That is its
    second sample where the gate asks for more, and never its first: a single one may be a garbled frame.
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
        run: its samples that confirm each other; likewise left as it was by a sample without a value.
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
    """Tell whether a head has read gas in as many samples as it takes without any other."""
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
