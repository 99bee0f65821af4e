"""Where a condition is judged: the thing at hand, what is known of it, and what a judgement rested on."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from math import inf
from typing import NamedTuple, TypeVar, cast

from compliance.grammar import Condition, Group, Reference, Scope
from compliance.kleene import Span, Truth, both, exactly
from compliance.situation import COUNT, Holder, Known, Situation, listed_fact
from compliance.vocabulary import Period, Scheme, Statute

Found = TypeVar("Found")


@dataclass(slots=True)
class Trace:
    """What a judgement rested on, and on which later days it may change (ordinals)."""

    evidence: dict[tuple[Holder, str], Known | None] = field(default_factory=dict)
    changes: set[float] = field(default_factory=set)
    due: float | None = None

    def take(self, other: "Trace") -> None:
        """Rest on what another judgement rested on too."""
        self.evidence.update(other.evidence)
        self.changes |= other.changes
        self.owe(other.due)

    def owe(self, due: float | None) -> None:
        """Note a day by which something is due; the earliest counts."""
        if due is not None:
            self.due = due if self.due is None else min(self.due, due)


class Memory(NamedTuple):
    """A judgement that stands from one day until before another."""

    first: int
    until: float
    result: object
    trace: Trace


@dataclass(slots=True)
class Hearing:
    """One statute on one situation; remembers what it found out already."""

    statute: Statute
    facts: Situation
    holds: Callable[[Condition, "Frame"], Truth]
    memory: dict[tuple[int, Holder, Holder, tuple[str, ...]], Memory] = field(default_factory=dict)
    groups: dict[int, Mapping[str, Sequence[tuple[tuple[str, ...], bool]]]] = field(default_factory=dict)

    def scheme(self, day: int) -> Scheme | None:
        """Return the classes in force."""
        on = date.fromordinal(day)
        return next((scheme for scheme in self.statute.schemes if scheme.period.holds(on)), None)


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
        key = (id(node), own, self.subject, self.together)
        memory = self.hearing.memory.get(key)
        if memory is None or not memory.first <= self.day < memory.until:
            trace = Trace()
            result = judge(self.at(own, trace))
            memory = Memory(self.day, min(trace.changes, default=inf), result, trace)
            self.hearing.memory[key] = memory
        self.trace.take(memory.trace)
        return cast("Found", memory.result)

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

    def known(self, fact: Reference) -> Known | None:
        """Return a fact by reference; None if nobody told it."""
        holder = self.parent(fact.of)
        return None if holder is None else self.told(holder, fact.name)

    def told(self, holder: Holder, name: str) -> Known | None:
        """Return a fact of a thing, if somebody told it and it is not too old; note that it was used."""
        known = holder.known.get(name)
        if known is not None and known.expires != inf:
            if known.expires <= self.day:
                known = None
            else:
                self.trace.changes.add(known.expires)
        self.trace.evidence[holder, name] = known
        return known

    def note_change(self, day: float) -> None:
        """Note a later day on which the judgement may change."""
        if self.day < day < inf:
            self.trace.changes.add(day)

    def note_period(self, period: Period) -> None:
        """Note the days on which a period begins and has ended."""
        if period.since is not None:
            self.note_change(period.since.toordinal())
        if period.until is not None:
            self.note_change(period.until.toordinal() + 1)


# --- members --------------------------------------------------------------------------------------


class Member(NamedTuple):
    """A thing that may belong to a group. `belongs` None: perhaps; `number`: how many it stands for."""

    holder: Holder
    belongs: Truth
    number: Span


ONE = exactly(1.0)


def members(group: Group, frame: Frame) -> Iterator[Member]:
    """Yield the things that belong or may belong."""
    certain, possible = _reached(group, frame)
    for holders, sure in ((certain, True), (possible, None)):
        for holder in holders:
            belongs: Truth = sure
            if group.where is not None:
                judge = partial(frame.hearing.holds, group.where)
                belongs = both(sure, frame.remembered(group.where, holder, judge))
            number = ONE
            if belongs is not False and group.kind in frame.hearing.facts.counted:
                known = frame.told(holder, COUNT)
                number = Span(0.0, inf) if known is None else known.span
            if belongs is not False and number.high > 0:
                yield Member(holder, belongs, number)


def _reached(group: Group, frame: Frame) -> tuple[Sequence[Holder], Sequence[Holder]]:
    facts = frame.hearing.facts
    match group.scope:
        case Scope.DEPOT:
            return facts.all_of(group.kind)
        case Scope.AREA:
            areas = frame.areas()
            return facts.members(group.kind, "area", areas) if areas else ((), facts.all_of(group.kind).certain)
        case Scope.OWN:
            return facts.members(group.kind, frame.own.subject.kind, (frame.own.subject.id,))


def complete(group: Group, frame: Frame) -> Truth:
    """Tell whether every thing of the group is known: True, or None."""
    name = listed_fact(group.kind)
    if name is None:
        return True
    trace = frame.trace
    found = _listed(frame.hearing.facts.depot, name, frame)
    if found:
        return True
    if group.scope is Scope.OWN and _listed(frame.own, name, frame):
        return True
    if group.scope is Scope.DEPOT:
        return None
    areas = [frame.hearing.facts.find("area", each) for each in frame.areas()]
    told = [area is not None and _listed(area, name, frame) for area in areas]
    if told and all(told):
        trace.evidence.pop((frame.hearing.facts.depot, name), None)
        return True
    return None


def _listed(holder: Holder, name: str, frame: Frame) -> bool:
    known = frame.told(holder, name)
    return known is not None and known.value is True
