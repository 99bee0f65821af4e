"""What judgements rested on, and judgements remembered until the day on which they may change."""

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from operator import attrgetter
from typing import Any as Whatever
from typing import TypeAlias

from compliance.things import Holder, Likeness, Sheet, Things, alike
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

    used: "list[Evidence | Sheet | Trace] | None"
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
        if other.until < self.until:  # noqa: PLR1730 - the busiest line of a judgement
            self.until = other.until
        if other.due is not None:
            self.owe(other.due)

    def owe(self, due: float) -> None:
        """Note a day by which something is due; the earliest counts."""
        self.due = due if self.due is None else min(self.due, due)

    def evidence(self) -> Sheet:
        """Return the evidence, each fact once, in the order of its first use."""
        if self.kept is None:
            used = self.used or ()
            if len(used) == 1 and isinstance(used[0], Trace):
                self.kept = used[0].evidence()
            else:
                self.kept = _together(used)
        return self.kept


def _together(used: "Sequence[Evidence | Sheet | Trace]") -> Sheet:
    found: dict[int, Evidence] = {}
    for each in used:
        if isinstance(each, Evidence):
            found[id(each)] = each
        else:
            found.update(each.evidence() if isinstance(each, Trace) else each)
    return found


@dataclass(slots=True)
class Memory(Trace):
    """A judgement to remember.

    Attributes:
        first: the day from which it stands.
        facts: its evidence, if it is on one thing alone.
    """

    first: int = 0
    result: Whatever = None
    facts: Sequence[Evidence] = ()


_first = attrgetter("first")

Key: TypeAlias = tuple[Node, Likeness] | tuple[Node, Holder, tuple[str, ...], Holder | None]
"""What was judged of what: all that are alike, or one thing together with certain areas and for a certain other."""

Row: TypeAlias = list[tuple[Sequence[Things], Key, Memory | None]]


@dataclass(frozen=True, slots=True, eq=False)
class Books:
    """Judgements with their evidence, and without.

    Attributes:
        bare: those without, from the earliest to the latest: many a rule is followed through the same days.
        rows: of things that are followed from day to day, those that are alike, with what was last judged of them.
    """

    told: dict[Key, Memory] = field(default_factory=dict)
    bare: dict[Key, list[Memory]] = field(default_factory=dict)
    rows: dict[tuple[Node | Things, ...], Row] = field(default_factory=dict)

    def recall(self, key: Key, day: int, *, bare: bool) -> Memory | None:
        """Return a judgement that stands on this day; one without its evidence only where nobody asks for that."""
        memory = self.told.get(key)
        if memory is not None and memory.first <= day < memory.until:
            return memory
        if bare and (kept := self.bare.get(key)):
            memory = kept[bisect_right(kept, day, key=_first) - 1]
            if memory.first <= day < memory.until:
                return memory
        return None

    def keep(self, key: Key, memory: Memory) -> None:
        """Keep a judgement."""
        if memory.used is None:
            insort(self.bare.setdefault(key, []), memory, key=_first)
        else:
            self.told[key] = memory

    def row(self, node: Node, several: Sequence[Things]) -> Row:
        """Return the things that are alike in what a condition asks of them alone."""
        found = self.rows.get((node, *several))
        if found is None:
            assert node.own is not None, "it asks nothing else"
            parts = alike(node.own, several)
            found = self.rows[node, *several] = [(part, (node, likeness), None) for likeness, part in parts.items()]
        return found
