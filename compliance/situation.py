"""What is known of a depot: for each thing the facts in force on a day, out of all that was ever told.

A fact that nobody told is unknown, never false and never zero. Of two that contradict each other, effective on the same
day and recorded at the same moment, neither is believed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import NamedTuple

from compliance.catalogue import LISTED, Catalogue, FactType, register_of
from compliance.kleene import NOTHING, Span, exactly
from compliance.vocabulary import DEPOT, Evidence, Fact, Subject, Value

ALWAYS_COMPLETE = ("area", "depot")
"""Kinds that the configuration lists in full."""

COUNT = "count"
"""The fact that says for how many alike a thing stands."""

_EVER = datetime.min.replace(tzinfo=UTC)


class FactError(Exception):
    """A fact that no rule could use: its name is not in the list of facts, or its value is of another type."""

    def __init__(self, fact: Fact, expected: str) -> None:
        super().__init__(f"{fact.subject}.{fact.name}: expected {expected}, got {fact.value!r}")
        self.fact, self.expected = fact, expected


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


class Members(NamedTuple):
    """Things of one kind that belong somewhere for sure, and those of which nobody told where they belong."""

    certain: Sequence[Holder]
    possible: Sequence[Holder]


class Marks(NamedTuple):
    """Numbers for things, and for what they are alike in."""

    of: dict[Holder, int]
    numbers: dict[tuple[int, ...], int]

    def add(self, names: tuple[str, ...], thing: Holder) -> int:
        """Number a thing."""
        facts = thing.known
        alike = tuple([facts[name].mark if name in facts else 0 for name in names])
        found = self.of[thing] = self.numbers.setdefault(alike, len(self.numbers))
        return found


@dataclass(frozen=True, slots=True)
class Situation:
    """All things and what is known of them.

    Attributes:
        holders: by kind, in the order of their ids.
        links: by kind and the name of a link (``area``, ``lot``): the things by the id it holds; "" where unknown.
        counted: kinds of which one thing stands for as many as its fact `count` says.
        marks, belonging, parted: what was asked before, kept; it follows from the rest.
    """

    holders: Mapping[str, Sequence[Holder]] = field(hash=False)
    links: Mapping[tuple[str, str], Mapping[str, Sequence[Holder]]] = field(hash=False)
    counted: frozenset[str]
    marks: dict[tuple[str, ...], Marks] = field(default_factory=dict, hash=False, compare=False)
    belonging: dict[tuple[str, ...], Members] = field(default_factory=dict, hash=False, compare=False)
    parted: dict[tuple[tuple[str, ...], int], tuple[Sequence[Holder], Sequence[Sequence[Holder]]]] = field(
        default_factory=dict, hash=False, compare=False
    )

    @classmethod
    def of(cls, facts: Iterable[Fact], catalogue: Catalogue, on: date, known: datetime | None = None) -> "Situation":
        """Gather the facts effective on a day, of those recorded by a moment (None: all).

        Raises:
            FactError: if a fact is not in the catalogue.
        """
        last: dict[tuple[Subject, str], list[Fact]] = {}
        for fact in facts:
            _check(fact, catalogue)
            if fact.effective <= on and (known is None or fact.recorded is None or fact.recorded <= known):
                key = (fact.subject, fact.name)
                kept = last.get(key)
                if kept is None or _when(fact) > _when(kept[0]):
                    last[key] = [fact]
                elif _when(fact) == _when(kept[0]):
                    kept.append(fact)
        things: dict[Subject, dict[str, Known]] = {DEPOT: {}}
        marks: dict[tuple[type, Value, float], int] = {}
        for (subject, name), kept in last.items():
            things.setdefault(subject, {})
            kind = catalogue.find(subject.kind, name)
            value = kept[0].value
            if kind is not None and value is not None and all(_same(each.value, value) for each in kept):
                things[subject][name] = _known(Evidence(subject, name, value), kept[0].effective, kind, marks)
        return cls._indexed(things, frozenset(kind for kind in catalogue.kinds if catalogue.find(kind, COUNT)))

    @classmethod
    def _indexed(cls, things: Mapping[Subject, Mapping[str, Known]], counted: frozenset[str]) -> "Situation":
        holders: dict[str, list[Holder]] = {}
        for subject in sorted(things):
            gone = things[subject].get(LISTED)
            if gone is None or gone.value is True:
                holders.setdefault(subject.kind, []).append(Holder(subject, things[subject]))
        links: dict[tuple[str, str], dict[str, list[Holder]]] = {}
        for kind, listed in holders.items():
            for link in holders:
                by_id = links[kind, link] = {}
                for holder in listed:
                    by_id.setdefault(holder.text(link) or "", []).append(holder)
        return cls(holders, links, counted)

    def mark(self, names: tuple[str, ...], of: Holder) -> int:
        """Return a number that a thing shares with all that are alike in these facts, and with no other."""
        marks = self._marks(names)
        found = marks.of.get(of)
        return marks.add(names, of) if found is None else found

    def _marks(self, names: tuple[str, ...]) -> Marks:
        if names not in self.marks:
            self.marks[names] = Marks({}, {})
        return self.marks[names]

    @property
    def depot(self) -> Holder:
        """The depot itself."""
        return self.holders["depot"][0]

    def find(self, kind: str, id_: str | None) -> Holder | None:
        """Return a thing by its id, or None."""
        return next((each for each in self.holders.get(kind, ()) if each.subject.id == id_), None)

    def all_of(self, kind: str) -> Members:
        """Return every thing of a kind."""
        return Members(self.holders.get(kind, ()), ())

    def members(self, kind: str, link: str, ids: Sequence[str]) -> Members:
        """Return the things of a kind that belong to one of these parents."""
        key = (kind, link, *ids)
        found = self.belonging.get(key)
        if found is None:
            found = self.belonging[key] = self._members(kind, link, ids)
        return found

    def _members(self, kind: str, link: str, ids: Sequence[str]) -> Members:
        if kind == link:
            return Members([each for each in self.holders.get(kind, ()) if each.subject.id in ids], ())
        by_id = self.links.get((kind, link), {})
        return Members([each for id_ in ids for each in by_id.get(id_, ())], by_id.get("", ()))

    def alike(self, names: tuple[str, ...], things: Sequence[Holder]) -> Sequence[Sequence[Holder]]:
        """Part things into those that are alike in these facts; in the order in which the first of each stands."""
        kept = self.parted.get((names, id(things)))
        if kept is not None and kept[0] is things:
            return kept[1]
        parts: dict[int, list[Holder]] = {}
        marks = self._marks(names)
        numbered = marks.of
        for thing in things:
            mark = numbered.get(thing)
            if mark is None:
                mark = marks.add(names, thing)
            if mark in parts:
                parts[mark].append(thing)
            else:
                parts[mark] = [thing]
        found = [*parts.values()]
        self.parted[names, id(things)] = (things, found)
        return found


def listed_fact(kind: str) -> str | None:
    """Return the fact that must be true for a kind to be known in full; None if it always is."""
    return None if kind in ALWAYS_COMPLETE else register_of(kind)


def _check(fact: Fact, catalogue: Catalogue) -> None:
    kind = catalogue.find(fact.subject.kind, fact.name)
    if kind is None:
        raise FactError(fact, "a fact that the list of facts has")
    if fact.value is not None and not kind.takes(fact.value):
        raise FactError(fact, kind.expected())


def _when(fact: Fact) -> tuple[date, datetime]:
    return fact.effective, fact.recorded or _EVER


def _same(one: Value | None, other: Value) -> bool:
    return type(one) is type(other) and one == other


def _known(evidence: Evidence, effective: date, kind: FactType, marks: dict[tuple[type, Value, float], int]) -> Known:
    value = evidence.value
    assert value is not None
    expires = float("inf") if kind.renew_days is None else effective.toordinal() + kind.renew_days + 1.0
    mark = marks.setdefault((type(value), value, expires), len(marks) + 1)
    return Known(value, _span(value), expires, evidence, mark)


def _span(value: Value) -> Span:
    if isinstance(value, date):
        return exactly(float(value.toordinal()))
    return NOTHING if isinstance(value, str) else exactly(float(value))
