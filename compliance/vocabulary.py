"""The nouns of the law: facts, clauses, rules, statutes, findings. Knows no file and not what day it is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import Enum
from typing import NamedTuple, TypeAlias

from compliance.grammar import Condition, Term

Value: TypeAlias = float | int | bool | str | date


class Words(NamedTuple):
    """The same in both languages."""

    pt: str
    en: str


class Subject(NamedTuple):
    """A thing that facts are about: an area, a detector, a group of containers. `kind` as the catalogue names it."""

    kind: str
    id: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.id}"


DEPOT = Subject("depot", "depot")
"""The one depot; every other thing lies in it."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What somebody told of a thing.

    Attributes:
        value: None takes back what was told before: the fact is unknown from then on.
        effective: the first day it was so.
        recorded: when we were told, in UTC; None: always known.
        source: who or what told, in words for a person.
    """

    subject: Subject
    name: str
    value: Value | None
    effective: date
    recorded: datetime | None = None
    source: str = ""
    unit: str = ""


class Verdict(Enum):
    """What a rule says of a thing on a day, from the best to the worst."""

    NOT_APPLICABLE = "NOT_APPLICABLE"
    COMPLIANT = "COMPLIANT"
    UNDETERMINED = "UNDETERMINED"
    VIOLATED = "VIOLATED"

    def worse_than(self, other: "Verdict") -> bool:
        """Tell whether this is worse."""
        return _BADNESS[self] > _BADNESS[other]


_BADNESS = {verdict: number for number, verdict in enumerate(Verdict)}


class Severity(Enum):
    """What a violation means for people."""

    DANGER = "danger"
    SERIOUS = "serious"
    MINOR = "minor"


class Mode(Enum):
    """How a clause is held."""

    AUTOMATIC = "automatic"
    SURVEY = "survey"
    CHECKLIST = "checklist"
    REMINDER = "reminder"
    OUT_OF_SCOPE = "out-of-scope"


class StatuteKind(Enum):
    """What binds about a pack of rules."""

    STATUTE = "statute"
    REFERENCE = "reference"
    HOUSE = "house"


@dataclass(frozen=True, slots=True)
class Period:
    """Days in force, both included; None: without end on that side."""

    since: date | None = None
    until: date | None = None

    def holds(self, on: date) -> bool:
        """Tell whether a day lies in it."""
        return (self.since is None or self.since <= on) and (self.until is None or on <= self.until)

    def meets(self, other: "Period") -> bool:
        """Tell whether a day lies in both."""
        return (self.since or date.min) <= (other.until or date.max) and (other.since or date.min) <= (
            self.until or date.max
        )


@dataclass(frozen=True, slots=True)
class Clause:
    """One article, paragraph, item or sub-item, in our own words.

    Attributes:
        ambiguity: what the text leaves open, and why the strictest fair reading was taken.
        reason: why it is out of scope; None unless it is.
    """

    locator: str
    mode: Mode
    summary: Words
    period: Period
    reading: Words | None = None
    ambiguity: Words | None = None
    reason: Words | None = None


@dataclass(frozen=True, slots=True)
class MarginOf:
    """How far a rule is from being broken: a term (None: the first comparison it requires) in a unit."""

    term: Term | None
    unit: str


@dataclass(frozen=True, slots=True)
class Rule:
    """What one clause asks of each thing of a kind.

    Attributes:
        also: further clauses that it serves.
        each: the kind of thing it is judged on.
        exempt: the statute's exemption reaches it.
        all_year: its end is shown from the first day of the calendar year in which it comes.
    """

    id: str
    clause: str
    also: tuple[str, ...]
    each: str
    applies: Condition
    requires: Condition
    margin: MarginOf | None
    severity: Severity
    text: Words
    remedy: Words
    period: Period
    exempt: bool
    all_year: bool = False


@dataclass(frozen=True, slots=True)
class StorageClass:
    """One class of a scheme; limits included. None: without a limit."""

    name: str
    up_to_kg: float | None
    up_to_p13: float | None


@dataclass(frozen=True, slots=True)
class Scheme:
    """Classes from the smallest to the one that has no limit."""

    id: str
    clause: str
    classes: tuple[StorageClass, ...]
    period: Period


@dataclass(frozen=True, slots=True)
class Table:
    """A number for each class of a scheme. A class without a value: the text is silent on it."""

    id: str
    scheme: str
    clause: str
    unit: str
    values: Mapping[str, float] = field(hash=False)
    provenance: Words | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with a name."""

    id: str
    clause: str
    value: float
    unit: str
    provenance: Words | None = None


@dataclass(frozen=True, slots=True)
class NamedCondition:
    """A condition that rules refer to, on things of a kind."""

    id: str
    each: str
    that: Condition


@dataclass(frozen=True, slots=True)
class Exemption:
    """Areas to which the statute's rules do not apply."""

    clause: str
    when: Condition


@dataclass(frozen=True, slots=True)
class Separation:
    """Areas closer than the sum of their distances to the boundary count as one: tables by class, walled or not."""

    clause: str
    walled: str
    open: str


@dataclass(frozen=True, slots=True)
class Detection:
    """What one clause asks of gas detection. A None is silence of the clause, not a zero.

    Attributes:
        clause: where it stands, as the statute numbers it.
        set_point_lel_pct: the highest first set-point it allows, %LEL.
        within_s: the longest time from gas at the detector to the alarm, seconds.
        above_kg: it binds storage areas of more than this many nominal kg of LPG; 0 binds all.
    """

    clause: str
    set_point_lel_pct: float | None
    within_s: float | None
    above_kg: float

    def binds(self, licensed_kg: float) -> bool:
        """Tell whether an area licensed for this many kg falls under the clause."""
        return licensed_kg > self.above_kg or self.above_kg == 0


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A condition or term, and all that are equal to it.

    Attributes:
        own: the facts it asks of the thing at hand; None if it asks anything else as well.
        subject: it asks what the rule is judged on.
        bound: it asks the statute itself: its classes or its tables.
    """

    own: tuple[str, ...] | None
    subject: bool
    bound: bool


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """The conditions and terms of statutes that were read together: by identity, with themselves, and by equality."""

    known: dict[int, tuple[Node, object]] = field(default_factory=dict)
    equal: dict[tuple[str, object], Node] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Statute:
    """One statute, technical reference or house rule.

    Attributes:
        period: days in force; without a first day where it holds always.
        doubts: what we could not find out about the text itself.
        detection: None where the text has no clause on gas detection.
        derived: by kind and name, how facts follow from others.
        nodes: what was found out about its conditions and terms, kept; it follows from the rest.
    """

    id: str
    title: str
    citation: str
    kind: StatuteKind
    jurisdiction: str
    period: Period
    doubts: tuple[Words, ...]
    schemes: tuple[Scheme, ...]
    tables: Mapping[str, Table] = field(hash=False)
    figures: Mapping[str, Figure] = field(hash=False)
    conditions: Mapping[str, NamedCondition] = field(hash=False)
    clauses: tuple[Clause, ...]
    rules: tuple[Rule, ...]
    exemption: Exemption | None
    separation: Separation | None
    detection: Detection | None
    derived: Mapping[tuple[str, str], Term] = field(hash=False)
    nodes: Nodes = field(default_factory=Nodes, hash=False, compare=False, repr=False)


class Evidence(NamedTuple):
    """One fact a finding rests on; `value` None: nobody told, or what was told is too old."""

    subject: Subject
    name: str
    value: Value | None


class Margin(NamedTuple):
    """How far from the limit, below zero when broken; between two values while facts are missing."""

    low: float
    high: float
    unit: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule says of a thing on a day.

    Attributes:
        holds_until: the first later day on which the verdict is worse with the facts of today; None: no such day.
        then: the verdict from that day on.
        due: the day by which something must be done, where the rule sets one.
        together: the areas that were judged as one with this, itself included.
    """

    statute: str
    rule: Rule
    subject: Subject
    verdict: Verdict
    on: date
    evidence: tuple[Evidence, ...]
    margin: Margin | None = None
    holds_until: date | None = None
    then: Verdict | None = None
    due: date | None = None
    together: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[Evidence, ...]:
        """The facts that nobody told."""
        return tuple(each for each in self.evidence if each.value is None)
