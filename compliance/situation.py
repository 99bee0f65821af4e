"""What is known of a depot: for each thing the facts in force on a day, out of all that was ever told.

A fact that nobody told is unknown, never false and never zero. Of two that contradict each other, effective on the same
day and recorded at the same moment, neither is believed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import NamedTuple

from compliance.catalogue import LISTED, Catalogue, register_of
from compliance.kleene import NOTHING, Span, exactly
from compliance.memory import Books
from compliance.things import Holder, KnownValue, Things
from compliance.vocabulary import DEPOT, Fact, Subject, Value

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


class Members(NamedTuple):
    """Things of one kind that belong somewhere for sure, and those of which nobody told where they belong."""

    certain: Sequence[Things]
    possible: Sequence[Things]


@dataclass(frozen=True, slots=True)
class Situation:
    """All things and what is known of them.

    Attributes:
        holders, named: by kind, in the order of their ids, and each by what it is called.
        counted: kinds of which one thing stands for as many as its fact `count` says.
        linked, belonging: what was asked before, kept; it follows from the rest.
        books: what was judged of it that no statute has a part in.
    """

    holders: Mapping[str, Sequence[Holder]] = field(hash=False)
    named: Mapping[Subject, Holder] = field(hash=False)
    counted: frozenset[str]
    linked: dict[tuple[str, str], Mapping[str, Sequence[Holder]]] = field(
        default_factory=dict, hash=False, compare=False
    )
    belonging: dict[tuple[str, ...], Members] = field(default_factory=dict, hash=False, compare=False)
    books: Books = field(default_factory=Books, hash=False, compare=False)

    @classmethod
    def of(cls, facts: Iterable[Fact], catalogue: Catalogue, on: date, known: datetime | None = None) -> "Situation":
        """Gather the facts effective on a day, of those recorded by a moment (None: all).

        Raises:
            FactError: if a fact is not in the catalogue.
        """
        told: dict[Subject, dict[str, Fact]] = {DEPOT: {}}
        disputed: set[tuple[Subject, str]] = set()
        for fact in facts:
            _check(fact, catalogue)
            if fact.effective <= on and (known is None or fact.recorded is None or fact.recorded <= known):
                _keep(fact, told.setdefault(fact.subject, {}), disputed)
        alike: dict[tuple[type, Value, float], KnownValue] = {}
        holders: dict[str, list[Holder]] = {}
        for subject in sorted(told):
            kinds = catalogue.kinds.get(subject.kind, {})
            things = {
                name: _known(last.value, kinds[name].expires(last.effective), alike)
                for name, last in told[subject].items()
                if last.value is not None and (subject, name) not in disputed
            }
            gone = things.get(LISTED)
            if gone is None or gone.value is True:
                holders.setdefault(subject.kind, []).append(Holder(subject, things))
        named = {each.subject: each for listed in holders.values() for each in listed}
        return cls(holders, named, frozenset(kind for kind in catalogue.kinds if catalogue.find(kind, COUNT)))

    @property
    def depot(self) -> Holder:
        """The depot itself."""
        return self.named[DEPOT]

    def find(self, kind: str, id_: str) -> Holder | None:
        """Return a thing by its id, or None."""
        return self.named.get(Subject(kind, id_))

    def all_of(self, kind: str) -> Members:
        """Return every thing of a kind."""
        return self._kept((kind,), lambda: Members(_things(self.holders.get(kind, ())), ()))

    def perhaps(self, kind: str) -> Members:
        """Return every thing of a kind as one that may belong."""
        return Members((), self.all_of(kind).certain)

    def members(self, kind: str, link: str, ids: Sequence[str]) -> Members:
        """Return the things of a kind that belong to one of these parents."""
        return self._kept((kind, link, *ids), lambda: self._members(kind, link, ids))

    def _kept(self, key: tuple[str, ...], find: Callable[[], Members]) -> Members:
        found = self.belonging.get(key)
        if found is None:
            found = self.belonging[key] = find()
        return found

    def _members(self, kind: str, link: str, ids: Sequence[str]) -> Members:
        if kind == link:
            return Members(_things([each for each in self.holders.get(kind, ()) if each.subject.id in ids]), ())
        by_id = self._linked(kind, link)
        return Members(_things([each for id_ in ids for each in by_id.get(id_, ())]), _things(by_id.get("", ())))

    def _linked(self, kind: str, link: str) -> Mapping[str, Sequence[Holder]]:
        """Return the things of a kind by the id that a link (``area``, ``lot``) holds; "" where nobody told."""
        if (kind, link) not in self.linked:
            by_id: dict[str, list[Holder]] = {}
            for holder in self.holders.get(kind, ()):
                by_id.setdefault(holder.text(link) or "", []).append(holder)
            self.linked[kind, link] = by_id
        return self.linked[kind, link]


def _things(listed: Sequence[Holder]) -> Sequence[Things]:
    return (Things(listed),) if listed else ()


def listed_fact(kind: str) -> str | None:
    """Return the fact that must be true for a kind to be known in full; None if it always is."""
    return None if kind in ALWAYS_COMPLETE else register_of(kind)


def _check(fact: Fact, catalogue: Catalogue) -> None:
    kind = catalogue.find(fact.subject.kind, fact.name)
    if kind is None:
        raise FactError(fact, "a fact that the list of facts has")
    if fact.value is not None and not kind.takes(fact.value):
        template, values = kind.asked_for()
        raise FactError(fact, template.format_map(values))


def _keep(fact: Fact, told: dict[str, Fact], disputed: set[tuple[Subject, str]]) -> None:
    """Keep a fact unless something later was told; note what contradicts it."""
    kept = told.get(fact.name)
    if kept is None or _when(fact) > _when(kept):
        told[fact.name] = fact
        disputed.discard((fact.subject, fact.name))
    elif _when(fact) == _when(kept) and not _same(fact.value, kept.value):
        disputed.add((fact.subject, fact.name))


def _when(fact: Fact) -> tuple[date, datetime]:
    return fact.effective, fact.recorded or _EVER


def _same(one: Value | None, other: Value | None) -> bool:
    return type(one) is type(other) and one == other


def _known(value: Value, expires: float, alike: dict[tuple[type, Value, float], KnownValue]) -> KnownValue:
    key = (type(value), value, expires)
    found = alike.get(key)
    if found is None:
        found = alike[key] = KnownValue(value, _span(value), expires, len(alike) + 1)
    return found


def _span(value: Value) -> Span:
    if isinstance(value, date):
        return exactly(float(value.toordinal()))
    return NOTHING if isinstance(value, str) else exactly(float(value))
