"""Where a condition is judged: the thing at hand, what is known of it, and what a judgement rested on."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from math import inf
from typing import Any as Whatever
from typing import NamedTuple, TypeVar

from compliance.asking import node_of
from compliance.grammar import Condition, Group, Holds, Reference, Scope
from compliance.kleene import NOTHING, Span, Truth, both, compare, exactly
from compliance.memory import Books, Key, Memory, Trace
from compliance.situation import COUNT, Members, Situation, listed_fact
from compliance.things import Holder, KnownValue, Things, alike
from compliance.vocabulary import Node, Period, Scheme, Statute

Found = TypeVar("Found")


class Groups(NamedTuple):
    """For each area the sets of areas it is judged in, and whether each is certain, from one day until another."""

    first: int
    until: float
    sets: Mapping[str, Sequence[tuple[tuple[str, ...], bool]]]


@dataclass(slots=True)
class Hearing:
    """One statute on one situation on a day (ordinal).

    Attributes:
        books: what was found out under this statute; what no statute has a part in is the situation's to remember.
        groups: the sets of areas, as far as they were asked for.
        schemes: by day, the classes in force.
    """

    statute: Statute
    facts: Situation
    day: int
    holds: Callable[[Condition, "Frame"], Truth]
    books: Books = field(default_factory=Books)
    groups: list[Groups] = field(default_factory=list)
    schemes: dict[int, Scheme | None] = field(default_factory=dict)

    def scheme(self, day: int) -> Scheme | None:
        """Return the classes in force."""
        if day not in self.schemes:
            on = date.fromordinal(day)
            self.schemes[day] = next((scheme for scheme in self.statute.schemes if scheme.period.holds(on)), None)
        return self.schemes[day]


@dataclass(slots=True)
class Frame:
    """The thing at hand, what the rule is judged on, and the areas that count as one."""

    hearing: Hearing
    day: int
    own: Holder
    subject: Holder
    together: tuple[str, ...]
    trace: Trace

    def at(self, own: Holder, trace: Trace) -> "Frame":
        """Return the frame of another thing at hand."""
        return Frame(self.hearing, self.day, own, self.subject, self._around(own), trace)

    def _around(self, own: Holder) -> tuple[str, ...]:
        if own.subject.kind == "area" and own.subject.id not in self.together:
            return (own.subject.id,)
        return self.together

    def remembered(self, node: object, own: Holder, judge: Callable[["Frame"], Found]) -> Found:
        """Judge a thing, or recall what was found if it still stands."""
        known = node_of(node, self.hearing.statute)
        if known.own is not None:
            key: Key = (known, own.likeness(known.own))
        else:
            key = (known, own, self.together, self.subject if known.subject else None)
        books = self.hearing.books if known.bound else self.hearing.facts.books
        memory = books.recall(key, self.day, bare=self.trace.used is None) or self._found(books, key, own, judge)
        if not memory.facts:
            self.trace.take(memory)
        else:
            self.trace.lasts(memory)
            if self.trace.used is not None:
                self.trace.used += [own.evidence(each.name, told=each.value is not None) for each in memory.facts]
        found: Found = memory.result
        return found

    def judged(self, condition: Condition, several: Sequence[Things]) -> Iterator[tuple[Sequence[Things], Truth]]:
        """Judge things; those that are alike in all that is asked of them are judged once, and come together."""
        if isinstance(condition, Holds) and not condition.of:
            condition = self.hearing.statute.conditions[condition.name].that
        known, judge = node_of(condition, self.hearing.statute), partial(self.hearing.holds, condition)
        if known.own is None:
            for things in several:
                for own in things.all:
                    yield (Things((own,)),), self.remembered(condition, own, judge)
            return
        books = self.hearing.books if known.bound else self.hearing.facts.books
        if self.trace.used is None:
            yield from self._followed(known, several, judge, books)
            return
        for likeness, part in alike(known.own, several).items():
            key = (known, likeness)
            memory = books.recall(key, self.day, bare=False) or self._found(books, key, part[0].first, judge)
            self.trace.lasts(memory)
            self.trace.used += [
                things.evidence(each.name, told=each.value is not None) for each in memory.facts for things in part
            ]
            yield part, memory.result

    def _followed(
        self, known: Node, several: Sequence[Things], judge: Callable[["Frame"], Truth], books: Books
    ) -> Iterator[tuple[Sequence[Things], Truth]]:
        """Judge the same things on one day after the other: anew only those of which the judgement may have changed."""
        day, trace, row = self.day, self.trace, books.row(known, several)
        for place, (part, key, last) in enumerate(row):
            memory = last
            if memory is None or not memory.first <= day < memory.until:
                memory = books.recall(key, day, bare=True) or self._found(books, key, part[0].first, judge)
                row[place] = (part, key, memory)
            trace.lasts(memory)
            yield part, memory.result

    def _found(self, books: Books, key: Key, own: Holder, judge: Callable[["Frame"], Whatever]) -> Memory:
        """Judge a thing and remember what was found."""
        bare = self.trace.used is None
        memory = Memory(None if bare else [], first=self.day)
        memory.result = judge(self.at(own, memory))
        if not bare and key[0].own is not None:
            memory.facts = tuple(memory.evidence().values())
        books.keep(key, memory)
        return memory

    def parent(self, of: str) -> Holder | None:
        """Return the thing a reference speaks of; None if nobody told which."""
        if not of or of == self.own.subject.kind:
            return self.own
        if of == "subject":
            return self.subject
        if of == "depot":
            return self.hearing.facts.depot
        known = self.told(self.own, of)
        return None if known is None else self.hearing.facts.find(of, str(known.value))

    def area(self) -> Holder | None:
        """Return the thing's own area; None if nobody told which."""
        return self.parent("area")

    def areas(self) -> tuple[str, ...]:
        """Return the areas that count as one with the thing's own; none if nobody told where it is."""
        area = self.area()
        if area is None:
            return ()
        return self.together if area.subject.id in self.together else (area.subject.id,)

    def known(self, fact: Reference) -> KnownValue | None:
        """Return a fact by reference; None if nobody told it."""
        holder = self.parent(fact.of)
        return None if holder is None else self.told(holder, fact.name)

    def told(self, holder: Holder, name: str) -> KnownValue | None:
        """Return a fact of a thing, if somebody told it and it is not too old; note that it was used."""
        trace, known = self.trace, holder.known.get(name)
        if known is not None and known.expires != inf:
            if known.expires <= self.day:
                known = None
            else:
                trace.until = min(trace.until, known.expires)
        if trace.used is not None:
            trace.used.append(holder.evidence(name, told=known is not None))
        return known

    def told_alike(self, several: Sequence[Things], name: str) -> KnownValue | None:
        """Return a fact of things that are alike in it; note that it was used of each."""
        known = self.told(several[0].first, name)
        if self.trace.used is not None:
            self.trace.used += [things.evidence(name, told=known is not None) for things in several]
        return known

    def note_change(self, day: float) -> None:
        """Note a later day on which the judgement may change."""
        if self.day < day < self.trace.until:
            self.trace.until = day

    def note_period(self, period: Period) -> None:
        """Note the days on which a period begins and has ended."""
        if period.since is not None:
            self.note_change(period.since.toordinal())
        if period.until is not None:
            self.note_change(period.until.toordinal() + 1)


# --- members --------------------------------------------------------------------------------------


class Batch(NamedTuple):
    """Things that may belong to a group, alike in how.

    Attributes:
        belongs: True, or None: perhaps.
        number: how many each stands for.
        there: it belongs, and is at least one.
    """

    things: list[Things]
    belongs: Truth
    number: Span
    there: Truth


class Listed(NamedTuple):
    """The members of a group; `things` are those of the batches, `sure`: each is there."""

    batches: Sequence[Batch]
    things: Sequence[Things]
    sure: bool


ONE = exactly(1.0)


def members(group: Group, frame: Frame) -> Listed:
    """Return the things that belong or may belong."""
    return frame.remembered(group, frame.own, partial(_members, group))


def _members(group: Group, frame: Frame) -> Listed:
    found: list[Batch] = []
    take = _numbered if group.kind in frame.hearing.facts.counted else _single
    for several, sure in zip(_reached(group, frame), (True, None), strict=True):
        if group.where is None:
            take(found, several, sure, frame)
            continue
        for part, where in frame.judged(group.where, several):
            if where is not False:
                take(found, part, both(sure, where), frame)
    things = [each for batch in found for each in batch.things]
    return Listed(found, things, all(batch.there is True for batch in found))


def _single(found: list[Batch], several: Sequence[Things], belongs: Truth, frame: Frame) -> None:  # noqa: ARG001 - as `_numbered`
    """Add things as members, each of which stands for itself."""
    if several and (not found or found[-1].belongs is not belongs):
        found.append(Batch([], belongs, ONE, belongs))
    if several:
        found[-1].things.extend(several)


def _numbered(found: list[Batch], several: Sequence[Things], belongs: Truth, frame: Frame) -> None:
    """Add things as members with how many each stands for; those that stand for none are none."""
    for things in several:
        for part in things.parts((COUNT,)):
            known = frame.told_alike((part,), COUNT)
            number = Span(0.0, inf) if known is None else known.span
            there = both(belongs, compare(number, ">", NOTHING))
            if there is not False:
                found.append(Batch([part], belongs, number, there))


def _reached(group: Group, frame: Frame) -> Members:
    facts = frame.hearing.facts
    match group.scope:
        case Scope.DEPOT:
            return facts.all_of(group.kind)
        case Scope.AREA:
            areas = frame.areas()
            return facts.members(group.kind, "area", areas) if areas else facts.perhaps(group.kind)
        case Scope.OWN:
            return facts.members(group.kind, frame.own.subject.kind, (frame.own.subject.id,))


def complete(group: Group, frame: Frame) -> Truth:
    """Tell whether every thing of the group is known: True, or None."""
    name = listed_fact(group.kind)
    if name is None:
        return True
    facts = frame.hearing.facts
    ways = [[facts.depot]]
    if group.scope is Scope.OWN:
        ways.append([frame.own])
    if group.scope is not Scope.DEPOT:
        ways.append([area for each in frame.areas() if (area := facts.find("area", each)) is not None])
    for way in ways:
        if way and all(_listed(holder, name) for holder in way):
            for holder in way:
                frame.told(holder, name)
            return True
    for holder in (holder for way in ways for holder in way):
        frame.told(holder, name)
    return None


def _listed(holder: Holder, name: str) -> bool:
    known = holder.known.get(name)
    return known is not None and known.value is True
