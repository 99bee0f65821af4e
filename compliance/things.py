"""A thing with what is known of it on a day, and things in an order, parted into those that are alike.

Whatever is asked of many things is asked once of those that are alike in all that the question is about; what was
parted or noted for one rule serves every other. Everything kept here follows from the facts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from compliance.kleene import Span
from compliance.vocabulary import Evidence, Subject, Value

Names: TypeAlias = tuple[str, ...]

Likeness: TypeAlias = tuple[int, ...]
"""The marks of some facts: all things that are alike in these facts share it, and no other has it."""

Sheet: TypeAlias = Mapping[int, Evidence]
"""Evidence in an order, each piece once, by its identity."""


class KnownValue(NamedTuple):
    """What is known in a fact: one for all facts that have the same value and are unknown again from the same day on.

    `span`: its number or the ordinal of its day; `expires`: first ordinal it is unknown again; `mark`: its own number.
    """

    value: Value
    span: Span
    expires: float
    mark: int


@dataclass(frozen=True, slots=True, eq=False)
class Holder:
    """A thing and what is known of it; `told` and `unknown` keep what was asked, so that one question is one value."""

    subject: Subject
    known: Mapping[str, KnownValue]
    told: dict[str, Evidence] = field(default_factory=dict)
    unknown: dict[str, Evidence] = field(default_factory=dict)

    def evidence(self, name: str, *, told: bool) -> Evidence:
        """Return what was told of a fact, or that nobody told it."""
        kept = self.told if told else self.unknown
        found = kept.get(name)
        if found is None:
            found = kept[name] = Evidence(self.subject, name, self.known[name].value if told else None)
        return found

    def text(self, name: str) -> str | None:
        """Return a fact that is a word, or None."""
        found = self.known.get(name)
        return found.value if found is not None and isinstance(found.value, str) else None

    def likeness(self, names: Names) -> Likeness:
        """Return what it shares with those that are alike in these facts."""
        known = self.known
        return tuple([known[name].mark if name in known else 0 for name in names])


@dataclass(frozen=True, slots=True, eq=False)
class Things:
    """Things in an order, at least one.

    Attributes:
        differing: whether they differ in a fact, as far as it was asked.
        parted: their parts; none where they do not part.
        marks, told, unknown: what was asked before, kept.
    """

    all: Sequence[Holder]
    differing: dict[str, bool] = field(default_factory=dict)
    parted: dict[Names, Sequence["Things"]] = field(default_factory=dict)
    marks: dict[Names, Likeness] = field(default_factory=dict)
    told: dict[str, Sheet] = field(default_factory=dict)
    unknown: dict[str, Sheet] = field(default_factory=dict)

    @property
    def first(self) -> Holder:
        """The first of them."""
        return self.all[0]

    def parts(self, names: Names) -> Sequence["Things"]:
        """Part them into those that are alike in these facts; in the order in which the first of each stands."""
        found = self.parted.get(names)
        if found is None:
            telling = tuple([name for name in names if self._differ(name)])
            found = self.parted[names] = self._parted(telling) if telling else ()
        return found or (self,)

    def _parted(self, telling: Names) -> Sequence["Things"]:
        """Part them by facts in which they differ; facts that were asked beside these part nothing."""
        if telling not in self.parted:
            same = dict.fromkeys([*telling, *(name for name, differ in self.differing.items() if not differ)], False)
            parts: dict[Likeness, list[Holder]] = {}
            for thing in self.all:
                parts.setdefault(thing.likeness(telling), []).append(thing)
            self.parted[telling] = [Things(part, dict(same)) for part in parts.values()]
        return self.parted[telling]

    def likeness(self, names: Names) -> Likeness:
        """Return what they share, if they are alike in these facts."""
        found = self.marks.get(names)
        if found is None:
            found = self.marks[names] = self.first.likeness(names)
        return found

    def _differ(self, name: str) -> bool:
        found = self.differing.get(name)
        if found is None:
            marks = {thing.known[name].mark if name in thing.known else 0 for thing in self.all}
            found = self.differing[name] = len(marks) > 1
        return found

    def evidence(self, name: str, *, told: bool) -> Sheet:
        """Return what was told of a fact of each, or that nobody told it."""
        kept = self.told if told else self.unknown
        found = kept.get(name)
        if found is None:
            each = [(own.told if told else own.unknown).get(name) or own.evidence(name, told=told) for own in self.all]
            found = kept[name] = dict(zip(map(id, each), each, strict=True))
        return found


def alike(names: Names, several: Sequence[Things]) -> Mapping[Likeness, Sequence[Things]]:
    """Part several one after the other as if they were one; what is alike comes together."""
    merged: dict[Likeness, list[Things]] = {}
    for things in several:
        for part in things.parts(names):
            merged.setdefault(part.likeness(names), []).append(part)
    return merged
