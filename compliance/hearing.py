"""Where a condition is judged: the thing at hand, what is known of it, and what a judgement rested on."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date
from functools import partial
from math import inf
from typing import NamedTuple, TypeAlias, TypeVar, cast

from compliance.grammar import ClassAbove, ClassIn, Condition, Group, Holds, Limit, Lookup, Reference, Scope
from compliance.kleene import NOTHING, Span, Truth, both, compare, exactly
from compliance.situation import COUNT, Holder, Known, Situation, listed_fact
from compliance.vocabulary import Evidence, NamedCondition, Node, Period, Scheme, Statute

Found = TypeVar("Found")


@dataclass(slots=True)
class Trace:
    """What a judgement rested on, and until when it stands.

    Attributes:
        evidence: the facts used, missing ones too; None where nobody asks for them.
        until: the first later day (ordinal) on which it may change.
        due: the earliest day by which something is due.
    """

    evidence: list[Evidence] | None
    until: float = inf
    due: float | None = None
    taken: set[int] = field(default_factory=set)

    def take(self, other: "Trace") -> None:
        """Rest on what another judgement rested on too."""
        if id(other) in self.taken:
            return
        self.taken.add(id(other))
        if self.evidence is not None and other.evidence is not None:
            self.evidence += other.evidence
        self.until = min(self.until, other.until)
        if other.due is not None:
            self.owe(other.due)

    def owe(self, due: float) -> None:
        """Note a day by which something is due; the earliest counts."""
        self.due = due if self.due is None else min(self.due, due)

    def distinct(self) -> list[Evidence]:
        """Return the evidence, each fact once, in the order of its first use."""
        return [*{id(each): each for each in self.evidence or ()}.values()]


class Memory(NamedTuple):
    """A judgement that stands from one day until before another. `used`: the facts asked, and whether each was told."""

    first: int
    result: object
    trace: Trace
    used: Sequence[tuple[str, bool]]


Key: TypeAlias = tuple[object, ...]


@dataclass(slots=True)
class Hearing:
    """One statute on one situation on a day (ordinal); remembers what it found out, with its evidence and without.

    Attributes:
        told, later: judgements with their evidence, on the day itself, and without, on later days.
        groups: by day, the sets of areas that each area is judged in.
        schemes: by day, the classes in force.
    """

    statute: Statute
    facts: Situation
    day: int
    holds: Callable[[Condition, "Frame"], Truth]
    told: dict[Key, Memory] = field(default_factory=dict)
    later: dict[Key, Memory] = field(default_factory=dict)
    groups: dict[int, Mapping[str, Sequence[tuple[tuple[str, ...], bool]]]] = field(default_factory=dict)
    schemes: dict[int, Scheme | None] = field(default_factory=dict)

    def node(self, node: object) -> Node:
        """Return what is known of a condition or term."""
        law = self.statute
        found = law.nodes.get(id(node))
        if found is None:
            found = law.equals.get(node)
            if found is None:
                found = law.equals[node] = Node(len(law.equals), *asked(node, law.conditions))
            law.nodes[id(node)] = found
        return found

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
        memory = self._memory(self.hearing.node(node), own, judge)
        self._take(own, memory)
        return cast("Found", memory.result)

    def judged(
        self, node: object, things: Sequence[Holder], judge: Callable[["Frame"], Found]
    ) -> Iterator[tuple[Sequence[Holder], Found]]:
        """Judge things; those that are alike in all that is asked of them are judged once, and come together."""
        known = self.hearing.node(node)
        if known.own is None:
            for own in things:
                yield (own,), self.remembered(node, own, judge)
            return
        for alike in self.hearing.facts.alike(known.own, things):
            memory = self._memory(known, alike[0], judge)
            self._take_alike(alike, memory)
            yield alike, cast("Found", memory.result)

    def _memory(self, known: Node, own: Holder, judge: Callable[["Frame"], Found]) -> Memory:
        if known.own is not None:
            key: Key = (known.number, self.hearing.facts.mark(known.own, own))
        else:
            key = (known.number, own, self.together, self.subject if known.subject else None)
        bare = self.trace.evidence is None
        for book in (self.hearing.told, self.hearing.later) if bare else (self.hearing.told,):
            memory = book.get(key)
            if memory is not None and memory.first <= self.day < memory.trace.until:
                return memory
        trace = Trace(None if bare else [])
        result = judge(self.at(own, trace))
        used = [] if known.own is None else [(each.name, each.value is not None) for each in trace.distinct()]
        memory = Memory(self.day, result, trace, used)
        (self.hearing.later if bare else self.hearing.told)[key] = memory
        return memory

    def _take(self, own: Holder, memory: Memory) -> None:
        """Rest on a judgement; one of another thing, alike in all its facts, is on this thing's own facts."""
        if memory.used:
            self._take_alike((own,), memory)
        else:
            self.trace.take(memory.trace)

    def _take_alike(self, alike: Sequence[Holder], memory: Memory) -> None:
        trace = self.trace
        trace.until = min(trace.until, memory.trace.until)
        if memory.trace.due is not None:
            trace.owe(memory.trace.due)
        if trace.evidence is not None:
            for name, told in memory.used:
                trace.evidence += [own.known[name].evidence if told else own.missing(name) for own in alike]

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
        trace, known = self.trace, holder.known.get(name)
        if known is not None and known.expires != inf:
            if known.expires <= self.day:
                known = None
            else:
                trace.until = min(trace.until, known.expires)
        if trace.evidence is not None:
            trace.evidence.append(holder.missing(name) if known is None else known.evidence)
        return known

    def told_alike(self, alike: Sequence[Holder], name: str) -> Known | None:
        """Return a fact of things that are alike in it; note that it was used of each."""
        known = self.told(alike[0], name)
        if self.trace.evidence is not None and len(alike) > 1:
            rest = alike[1:]
            self.trace.evidence += [own.missing(name) if known is None else own.known[name].evidence for own in rest]
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


# --- what a node asks ------------------------------------------------------------------------------


def asked(node: object, conditions: Mapping[str, NamedCondition]) -> tuple[tuple[str, ...] | None, bool]:
    """Return the facts that a condition or term asks of the thing at hand (None if it asks anything else as well), and
    whether it asks what the rule is judged on.
    """
    names: set[str] = set()
    others: set[str] = set()
    _ask(node, conditions, names, others)
    return None if others else tuple(sorted(names)), "subject" in others


def _ask(node: object, conditions: Mapping[str, NamedCondition], names: set[str], others: set[str]) -> None:
    match node:
        case Reference(of="", name=name, derived=False):
            names.add(name)
        case Reference(of=of):
            others.add(of or "derived")
        case Holds(name=name, of=of):
            others |= {of} if of else set()
            _ask(conditions[name].that, conditions, names, others)
        case Group() | Lookup() | Limit() | ClassIn() | ClassAbove():
            others.add("others")
        case _:
            pass
    if isinstance(node, tuple):
        for each in node:
            _ask(each, conditions, names, others)
    elif is_dataclass(node) and not isinstance(node, Reference | Holds):
        for each in fields(node):
            _ask(getattr(node, each.name), conditions, names, others)


# --- members --------------------------------------------------------------------------------------


class Member(NamedTuple):
    """A thing that may belong to a group.

    Attributes:
        belongs: True, or None: perhaps.
        number: how many it stands for.
        there: it belongs, and is at least one.
    """

    holder: Holder
    belongs: Truth
    number: Span
    there: Truth


class Listed(NamedTuple):
    """The members of a group; `holders` are the things themselves, `sure`: each is there."""

    members: Sequence[Member]
    holders: Sequence[Holder]
    sure: bool


ONE = exactly(1.0)


def members(group: Group, frame: Frame) -> Listed:
    """Return the things that belong or may belong."""
    return frame.remembered(group, frame.own, partial(_members, group))


def _members(group: Group, frame: Frame) -> Listed:
    found: list[Member] = []
    for holders, sure in zip(_reached(group, frame), (True, None), strict=True):
        for alike, where in _chosen(group, holders, frame):
            belongs = both(sure, where)
            if belongs is not False:
                found += _numbered(group, alike, belongs, frame)
    return Listed(found, [member.holder for member in found], all(member.there is True for member in found))


def _chosen(group: Group, holders: Sequence[Holder], frame: Frame) -> Iterable[tuple[Sequence[Holder], Truth]]:
    if group.where is None:
        return ((holders, True),)
    return frame.judged(group.where, holders, partial(frame.hearing.holds, group.where))


def _numbered(group: Group, holders: Sequence[Holder], belongs: Truth, frame: Frame) -> Iterator[Member]:
    """Yield the things as members, each with how many it stands for; those that stand for none are none."""
    if group.kind not in frame.hearing.facts.counted:
        for holder in holders:
            yield Member(holder, belongs, ONE, belongs)
        return
    for alike in frame.hearing.facts.alike((COUNT,), holders):
        known = frame.told_alike(alike, COUNT)
        number = Span(0.0, inf) if known is None else known.span
        there = both(belongs, compare(number, ">", NOTHING))
        if there is not False:
            for holder in alike:
                yield Member(holder, belongs, number, there)


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
