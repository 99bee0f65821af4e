"""The closed language of rules: conditions, and terms, which are numbers or days. Plain data; knows no value.

A day is written as its ordinal number, so that one kind of term serves both.
"""

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias


class Scope(Enum):
    """Whose members an aggregate runs over."""

    OWN = "own"
    AREA = "area"
    DEPOT = "depot"


class ClassOf(Enum):
    """From which kg a class follows."""

    JUDGED = "judged"
    LICENSED = "licensed"


@dataclass(frozen=True, slots=True)
class Reference:
    """A fact by name.

    Attributes:
        of: empty for the thing at hand, ``subject`` for what the rule is judged on, else the kind of its parent.
        low, high: the range it can lie in while nobody told; ordinals for a date.
        derived: it is computed from other facts.
    """

    of: str
    name: str
    low: float = float("-inf")
    high: float = float("inf")
    derived: bool = False


# --- terms ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Constant:
    """A number or a day; `figure` names where it stands, if it has a name."""

    value: float
    figure: str = ""


@dataclass(frozen=True, slots=True)
class Today:
    """The day that is judged."""


@dataclass(frozen=True, slots=True)
class Measure:
    """The value of a fact."""

    fact: Reference


@dataclass(frozen=True, slots=True)
class Age:
    """Days since a date."""

    fact: Reference


@dataclass(frozen=True, slots=True)
class Group:
    """The members of a kind that belong to the thing at hand, its area or the depot, and meet a condition."""

    kind: str
    scope: Scope
    where: "Condition | None"


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of a fact over members, each as often as it counts."""

    group: Group
    fact: Reference


@dataclass(frozen=True, slots=True)
class Count:
    """How many members there are."""

    group: Group


@dataclass(frozen=True, slots=True)
class Extreme:
    """The least or the most of a fact over members."""

    group: Group
    fact: Reference
    most: bool


@dataclass(frozen=True, slots=True)
class Lookup:
    """A table's value for the class of the thing's area."""

    table: str
    class_of: ClassOf


@dataclass(frozen=True, slots=True)
class Limit:
    """The upper limit, in kg or in P-13 units, of the class that so many kg fall into."""

    kg: "Term"
    p13: bool


@dataclass(frozen=True, slots=True)
class Combined:
    """Terms together: ``plus``, ``minus``, ``times``, ``max`` or ``min``."""

    how: str
    terms: "tuple[Term, ...]"


@dataclass(frozen=True, slots=True)
class Ceil:
    """A term rounded up to whole steps."""

    term: "Term"
    step: Constant


@dataclass(frozen=True, slots=True)
class Steps:
    """How many steps, a started one included, a term lies above a value."""

    term: "Term"
    above: Constant
    step: Constant


@dataclass(frozen=True, slots=True)
class Later:
    """A day some ``days``, ``years`` or ``working_days`` after another."""

    day: "Term"
    number: Constant
    unit: str


Term: TypeAlias = (
    Constant | Today | Measure | Age | Sum | Count | Extreme | Lookup | Limit | Combined | Ceil | Steps | Later
)


# --- conditions -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class All:
    """Every condition holds; none at all holds always."""

    conditions: "tuple[Condition, ...]"


@dataclass(frozen=True, slots=True)
class Any:
    """One condition holds."""

    conditions: "tuple[Condition, ...]"


@dataclass(frozen=True, slots=True)
class Not:
    """The condition does not hold."""

    condition: "Condition"


@dataclass(frozen=True, slots=True)
class Flag:
    """A fact that is true or false."""

    fact: Reference


@dataclass(frozen=True, slots=True)
class OneOf:
    """A fact is one of these words."""

    fact: Reference
    choices: frozenset[str]


@dataclass(frozen=True, slots=True)
class Known:
    """Somebody told this fact."""

    fact: Reference


@dataclass(frozen=True, slots=True)
class Compare:
    """Two terms in an order. `dated`: the passing of days alone can change it."""

    left: Term
    order: str
    right: Term
    dated: bool


@dataclass(frozen=True, slots=True)
class Valid:
    """The day has not passed; it counts itself."""

    until: Term


@dataclass(frozen=True, slots=True)
class Younger:
    """No more than so many days have passed since a date."""

    fact: Reference
    days: Constant


@dataclass(frozen=True, slots=True)
class Due:
    """Done by a day, or that day has not passed. `done` is the date it was done on, or whether it was."""

    by: Term
    done: Reference
    is_date: bool


@dataclass(frozen=True, slots=True)
class Exists:
    """There is at least one member."""

    group: Group


@dataclass(frozen=True, slots=True)
class Every:
    """Each member meets a condition."""

    group: Group
    that: "Condition"


@dataclass(frozen=True, slots=True)
class ClassIn:
    """The class of the thing's area is one of these."""

    names: frozenset[str]
    class_of: ClassOf


@dataclass(frozen=True, slots=True)
class ClassAbove:
    """The class of the thing's area lies above this one."""

    name: str
    class_of: ClassOf


@dataclass(frozen=True, slots=True)
class Holds:
    """A condition that the statute gave a name, on the thing at hand or the parent of that kind."""

    name: str
    of: str


Condition: TypeAlias = (
    All
    | Any
    | Not
    | Flag
    | OneOf
    | Known
    | Compare
    | Valid
    | Younger
    | Due
    | Exists
    | Every
    | ClassIn
    | ClassAbove
    | Holds
)

ALWAYS = All(())
