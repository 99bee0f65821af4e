"""What judgements rested on, and judgements remembered until the day on which they may change."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any as Whatever
from typing import NamedTuple, TypeAlias

from compliance.things import Holder, Likeness, Sheet
from compliance.vocabulary import Evidence, Node


@dataclass(slots=True)
class Trace:
    """What a judgement rested on, and until when it stands.

    Attributes:
        used: facts, missing ones too, and what other judgements rested on; None where nobody asks for evidence.
        until: the first later day (ordinal) on which it may change.
        due: the earliest day by which something is due.
        kept: the evidence, once somebody asked for it; from then on nothing is added.
    """

    used: "list[Sheet | Trace] | None"
    until: float = inf
    due: float | None = None
    kept: Sheet | None = None

    def take(self, other: "Trace") -> None:
        """Rest on what another judgement rested on too."""
        if self.used is not None:
            self.used.append(other)
        self.lasts(other)

    def lasts(self, other: "Trace") -> None:
        """Stand no longer than another judgement, and owe what it owes."""
        if other.until < self.until:
            self.until = other.until
        if other.due is not None:
            self.owe(other.due)

    def owe(self, due: float) -> None:
        """Note a day by which something is due; the earliest counts."""
        self.due = due if self.due is None else min(self.due, due)

    def evidence(self) -> Sheet:
        """Return the evidence, each fact once, in the order of its first use."""
        if self.kept is None:
            sheets = [each.evidence() if isinstance(each, Trace) else each for each in self.used or ()]
            self.kept = sheets[0] if len(sheets) == 1 else _together(sheets)
        return self.kept


def _together(sheets: Sequence[Sheet]) -> Sheet:
    found: dict[int, Evidence] = {}
    for sheet in sheets:
        found.update(sheet)
    return found


class Memory(NamedTuple):
    """A judgement that stands from one day until before another. `used`: the facts asked, and whether each was told."""

    first: int
    result: Whatever
    trace: Trace
    used: Sequence[tuple[str, bool]]


Key: TypeAlias = tuple[Node, Likeness] | tuple[Node, Holder, tuple[str, ...], Holder | None]
"""What was judged of what: all that are alike, or one thing together with certain areas and for a certain other."""


@dataclass(frozen=True, slots=True, eq=False)
class Books:
    """Judgements with their evidence, and without."""

    told: dict[Key, Memory] = field(default_factory=dict)
    bare: dict[Key, Memory] = field(default_factory=dict)

    def recall(self, key: Key, day: int, *, bare: bool) -> Memory | None:
        """Return a judgement that stands on this day; one without its evidence only where nobody asks for that."""
        memory = self.told.get(key)
        if memory is not None and memory.first <= day < memory.trace.until:
            return memory
        if bare:
            memory = self.bare.get(key)
            if memory is not None and memory.first <= day < memory.trace.until:
                return memory
        return None
