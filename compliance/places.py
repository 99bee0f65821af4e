"""Where a condition stands in a statute's file, what its names mean there, and the shapes its parts have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Protocol

from compliance.catalogue import Catalogue, FactType, Source, Type
from compliance.entries import StatuteError, shown
from compliance.grammar import (
    Age,
    Ceil,
    ClassOf,
    Combined,
    Condition,
    Constant,
    Extreme,
    Group,
    Later,
    Measure,
    Reference,
    Scope,
    Steps,
    Term,
    Today,
)
from compliance.vocabulary import Figure, NamedCondition

NUMERIC = (Type.NUMBER, Type.INTEGER)
MEASURED = (*NUMERIC, Type.DATE)
DAYS = (1.0, float(date.max.toordinal()))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a condition stands: the file and key, the kind of the thing at hand, and of what the rule is judged on."""

    file: str
    key: str
    kind: str
    subject: str

    def at(self, key: str) -> "Place":
        """Return a place further in."""
        return replace(self, key=f"{self.key}.{key}")

    def wrong(self, template: str, got: str, **values: object) -> StatuteError:
        """Return the error that names this place; `values` fill in the `{name}`s of what would be right."""
        return StatuteError(self.file, self.key, template, got, **values)


class Reader(Protocol):
    """Reads conditions and terms, and knows what their names mean."""

    @property
    def catalogue(self) -> Catalogue:
        """The facts that may be asked for."""

    @property
    def tables(self) -> frozenset[str]:
        """The ids of all tables by class."""

    @property
    def classes(self) -> frozenset[str]:
        """The names of all classes of all schemes."""

    @property
    def figures(self) -> Mapping[str, Figure]:
        """Numbers with a name."""

    @property
    def conditions(self) -> Mapping[str, NamedCondition]:
        """Conditions with a name."""

    def condition(self, value: object, place: Place) -> Condition:
        """Return a condition."""

    def term(self, value: object, place: Place) -> Term:
        """Return a term."""


# --- names ----------------------------------------------------------------------------------------


def group(grammar: Reader, table: Mapping[str, object], key: str, place: Place) -> Group:
    """Return the members that an aggregate runs over."""
    kind = table[key]
    if not isinstance(kind, str) or kind not in grammar.catalogue.kinds:
        raise place.wrong("a kind of thing: {known}", shown(kind), known=", ".join(sorted(grammar.catalogue.kinds)))
    said = table.get("of", Scope.OWN.value)
    if said not in [scope.value for scope in Scope]:
        raise place.at("of").wrong("area or depot", shown(said))
    scope = Scope.DEPOT if place.kind == "depot" else Scope(said)
    if scope is Scope.OWN and place.kind == "area":
        scope = Scope.AREA
    if scope is Scope.AREA:
        needs_area(grammar, place)
    link = {Scope.OWN: place.kind, Scope.AREA: "area", Scope.DEPOT: ""}[scope]
    if link and kind != link and grammar.catalogue.find(kind, link) is None:
        raise place.wrong("things that belong to one {link}, by a fact of that name", kind, link=link)
    inside = replace(place.at("where"), kind=kind)
    return Group(kind, scope, grammar.condition(table["where"], inside) if "where" in table else None)


def reference(grammar: Reader, value: object, place: Place, types: Sequence[Type]) -> Reference:
    """Return a fact by its name."""
    return resolved(grammar, value, place, types)[0]


def resolved(grammar: Reader, value: object, place: Place, types: Sequence[Type]) -> tuple[Reference, FactType]:
    """Return a fact by its name, and what the list of facts says of it."""
    if not isinstance(value, str):
        raise place.wrong("the name of a fact", shown(value))
    prefix, dot, name = value.rpartition(".")
    of = prefix if dot else ""
    kind = place.subject if of == "subject" else parent_of(grammar, of, place) if of else place.kind
    fact = grammar.catalogue.find(kind, name)
    if fact is None:
        raise place.wrong("a fact of {kind} that the list of facts has", repr(value), kind=kind)
    if fact.type not in types:
        known, got = ", ".join(each.value for each in types), f"{value} ({fact.type.value})"
        raise place.wrong("a fact of another type: {known}", got, known=known)
    low, high = DAYS if fact.type is Type.DATE else (fact.least, fact.most)
    own = "" if of == place.kind else of
    return Reference(own, name, low, high, derived=fact.source is Source.DERIVED), fact


def parent_of(grammar: Reader, kind: str, place: Place) -> str:
    """Return a kind of thing that this one has as a parent."""
    if kind not in (place.kind, "depot") and grammar.catalogue.find(place.kind, kind) is None:
        raise place.wrong("a parent of {kind}", repr(kind), kind=place.kind)
    return kind


def class_of(grammar: Reader, table: Mapping[str, object], place: Place) -> ClassOf:
    """Return from which kg the class follows."""
    needs_area(grammar, place)
    said = table.get("class_of", ClassOf.JUDGED.value)
    if said not in [each.value for each in ClassOf]:
        raise place.at("class_of").wrong("judged or licensed", shown(said))
    return ClassOf(said)


def needs_area(grammar: Reader, place: Place) -> None:
    """Refuse a thing that lies in no area."""
    if place.kind != "area" and grammar.catalogue.find(place.kind, "area") is None:
        raise place.wrong("a thing that lies in an area", place.kind)


def day(grammar: Reader, value: object, place: Place) -> Term:
    """Return a term that is a day; a name alone is a fact."""
    if isinstance(value, str):
        return Measure(reference(grammar, value, place, (Type.DATE,)))
    term = grammar.term(value, place)
    if not is_day(term):
        raise place.wrong("a day", shown(value))
    return term


# --- shapes ---------------------------------------------------------------------------------------


def operator(value: object, known: Mapping[str, object], place: Place) -> tuple[Mapping[str, object], str]:
    """Return a table and the one operator in it."""
    if not isinstance(value, dict):
        raise place.wrong("a table with one operator", shown(value))
    found = [key for key in value if key in known]
    # `fact` and `table` also stand beside another operator, as its detail
    main = [key for key in found if key != "fact"] or found
    if len(main) != 1:
        raise place.wrong("one of {known}", ", ".join(map(str, value)) or "nothing", known=", ".join(known))
    return value, main[0]


def only(table: Mapping[str, object], place: Place, *known: str) -> None:
    """Refuse a key that is none of these."""
    for key in table:
        if key not in known:
            raise place.wrong("only {known}", repr(key), known=", ".join(known))


def sequence(value: object, place: Place, expected: str, *, least: int, most: int | None = None) -> Sequence[object]:
    """Return a list of so many entries."""
    if not isinstance(value, list) or len(value) < least or (most is not None and len(value) > most):
        raise place.wrong(expected, shown(value))
    return value


def pair(value: object, place: Place, expected: str) -> tuple[object, object]:
    """Return a list of two."""
    first, second = sequence(value, place, expected, least=2, most=2)
    return first, second


def dotted(table: Mapping[str, object], key: str, place: Place) -> object:
    """Return the name of a fact, with the parent that `of` names."""
    of = table.get("of")
    if of is None:
        return table[key]
    if not isinstance(of, str):
        raise place.at("of").wrong("a kind of thing", shown(of))
    return f"{of}.{table[key]}"


def positive(term: Term, place: Place) -> Constant:
    """Return a step."""
    if not isinstance(term, Constant) or term.value <= 0:
        raise place.wrong("a step above 0", shown(term))
    return term


def is_day(term: Term) -> bool:
    """Tell whether a term is a day."""
    match term:
        case Today() | Later():
            return True
        case Constant(figure=figure):
            return figure == "day"
        case Measure(fact=fact) | Extreme(fact=fact):
            return (fact.low, fact.high) == DAYS
        case Combined(how=how, terms=terms):
            return how in ("min", "max") and is_day(terms[0])
        case _:
            return False


def moves(term: Term) -> bool:
    """Tell whether the passing of days alone changes the term."""
    match term:
        case Today() | Age():
            return True
        case Combined(terms=terms):
            return any(moves(each) for each in terms)
        case Later(day=inner) | Ceil(term=inner) | Steps(term=inner):
            return moves(inner)
        case _:
            return False
