"""A thing with what is known of it on a day, and things in an order, parted into those that are alike.

Whatever is asked of many things is asked once of those that are alike in all that the question is about; what was parted
or noted for one rule serves every other. Everything kept here follows from the facts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from compliance.kleene import Span
from compliance.vocabulary import Evidence, Subject, Value

Names: TypeAlias = tuple[str, ...]

Likeness: TypeAlias = tuple[int, ...]
"""The marks of some facts: all things that are alike in these facts share it, and no other has it."""

Sheet: TypeAlias = Mapping[int, Evidence]
"""Evidence in an order, each piece once, by its identity."""


class Known(NamedTuple):
    """A fact in force. `span`: its number or the ordinal of its day; `expires`: first ordinal it is unknown again.

    `mark` is the same number for the same value with the same end.
    """

    value: Value
    span: Span
    expires: float
    evidence: Evidence
    mark: int


@dataclass(frozen=True, slots=True, eq=False)
class Holder:
    """A thing and what is known of it; `unknown` keeps what was asked in vain, so that one question is one value."""

    subject: Subject
    known: Mapping[str, Known]
    unknown: dict[str, Evidence] = field(default_factory=dict)

    def missing(self, name: str) -> Evidence:
        """Return that nobody told a fact."""
        found = self.unknown.get(name)
        if found is None:
            found = self.unknown[name] = Evidence(self.subject, name, None)
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
        whole: what they are a part of; they differ in nothing in which it does not.
        parted, differing, noted: what was asked before, kept.
    """

    all: Sequence[Holder]
    whole: "Things | None" = None
    parted: dict[Names, Mapping[Likeness, Sequence["Things"]]] = field(default_factory=dict)
    differing: dict[str, bool] = field(default_factory=dict)
    noted: dict[tuple[str, bool], Sheet] = field(default_factory=dict)

    @property
    def first(self) -> Holder:
        """The first of them."""
        return self.all[0]

    def alike(self, names: Names) -> Mapping[Likeness, Sequence["Things"]]:
        """Part them into those that are alike in these facts; in the order in which the first of each stands."""
        found = self.parted.get(names)
        if found is None:
            telling = tuple([name for name in names if self.differ(name)])
            parts = self._parted(telling) if telling else (self,)
            found = self.parted[names] = {part.first.likeness(names): (part,) for part in parts}
        return found

    def _parted(self, telling: Names) -> Iterable["Things"]:
        """Part them by facts in which they differ; facts that were asked beside these part nothing."""
        if telling not in self.parted:
            parts: dict[Likeness, list[Holder]] = {}
            for thing in self.all:
                parts.setdefault(thing.likeness(telling), []).append(thing)
            self.parted[telling] = {mark: (Things(part, self),) for mark, part in parts.items()}
        return [part for (part,) in self.parted[telling].values()]

    def differ(self, name: str) -> bool:
        """Tell whether they are not all alike in a fact."""
        found = self.differing.get(name)
        if found is None:
            found = self.differing[name] = (
                len(self.all) > 1
                and (self.whole is None or self.whole.differ(name))
                and len({thing.known[name].mark if name in thing.known else 0 for thing in self.all}) > 1
            )
        return found

    def evidence(self, name: str, *, told: bool) -> Sheet:
        """Return what was told of a fact of each, or that nobody told it."""
        found = self.noted.get((name, told))
        if found is None:
            each = [own.known[name].evidence for own in self.all] if told else [own.missing(name) for own in self.all]
            found = self.noted[name, told] = {id(one): one for one in each}
        return found


def alike(names: Names, several: Sequence[Things]) -> Mapping[Likeness, Sequence[Things]]:
    """Part several one after the other as if they were one; what is alike comes together."""
    if len(several) == 1:
        return several[0].alike(names)
    merged: dict[Likeness, list[Things]] = {}
    for things in several:
        for mark, parts in things.alike(names).items():
            merged.setdefault(mark, []).extend(parts)
    return merged
