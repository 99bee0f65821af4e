"""Turns tables of a statute's file into conditions and terms, each fact checked against the list of facts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime

from compliance.catalogue import Catalogue, FactType, Source, Type
from compliance.entries import Entries, StatuteError, shown
from compliance.grammar import (
    ALWAYS,
    Age,
    All,
    Any,
    Ceil,
    ClassAbove,
    ClassIn,
    ClassOf,
    Combined,
    Compare,
    Condition,
    Constant,
    Count,
    Due,
    Every,
    Exists,
    Extreme,
    Flag,
    Group,
    Holds,
    Known,
    Later,
    Limit,
    Lookup,
    Measure,
    Not,
    OneOf,
    Reference,
    Scope,
    Steps,
    Sum,
    Term,
    Today,
    Valid,
    Younger,
)
from compliance.kleene import ORDERS
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

    def wrong(self, expected: str, got: str) -> StatuteError:
        """Return the error that names this place."""
        return StatuteError(self.file, self.key, expected, got)


@dataclass(frozen=True, slots=True)
class Grammar:
    """What the names in a statute's conditions mean.

    Attributes:
        tables: the ids of all tables by class.
        classes: the names of all classes of all schemes.
    """

    catalogue: Catalogue
    tables: frozenset[str] = frozenset()
    classes: frozenset[str] = frozenset()
    figures: Mapping[str, Figure] = field(default_factory=dict)
    conditions: Mapping[str, NamedCondition] = field(default_factory=dict)

    def condition_of(self, entry: Entries, key: str, kind: str) -> Condition:
        """Return the condition under a key of a table, or one that always holds if there is no such key."""
        if key not in entry.values:
            return ALWAYS
        return self.condition(entry.values[key], Place(entry.file, entry.dotted(key), kind, kind))

    def condition(self, value: object, place: Place) -> Condition:
        """Return a condition.

        Raises:
            StatuteError: if it is none, or names something that is not there.
        """
        table, operator = _operator(value, CONDITIONS, place)
        return CONDITIONS[operator](self, table, place.at(operator))

    def term(self, value: object, place: Place) -> Term:
        """Return a term.

        Raises:
            StatuteError: if it is none, or names something that is not there.
        """
        if isinstance(value, date) and not isinstance(value, datetime):
            return Constant(float(value.toordinal()), "day")
        if isinstance(value, int | float) and not isinstance(value, bool):
            return Constant(float(value))
        table, operator = _operator(value, TERMS, place)
        return TERMS[operator](self, table, place.at(operator))


# --- conditions -----------------------------------------------------------------------------------


def _all(grammar: Grammar, table: Mapping[str, object], place: Place) -> Condition:
    _only(table, place, "all")
    return All(_conditions(grammar, table["all"], place))


def _any(grammar: Grammar, table: Mapping[str, object], place: Place) -> Condition:
    _only(table, place, "any")
    return Any(_conditions(grammar, table["any"], place))


def _conditions(grammar: Grammar, value: object, place: Place) -> tuple[Condition, ...]:
    entries = _sequence(value, place, "a list of conditions", least=1)
    return tuple(grammar.condition(each, place.at(str(number))) for number, each in enumerate(entries, 1))


def _not(grammar: Grammar, table: Mapping[str, object], place: Place) -> Condition:
    _only(table, place, "not")
    return Not(grammar.condition(table["not"], place))


def _flag(grammar: Grammar, table: Mapping[str, object], place: Place) -> Condition:
    _only(table, place, "fact", "of")
    return Flag(_reference(grammar, _dotted(table, "fact", place), place, (Type.BOOLEAN,)))


def _parent(grammar: Grammar, table: Mapping[str, object], place: Place) -> Condition:
    _only(table, place, "parent")
    return Flag(_reference(grammar, f"subject.{table['parent']}", place, (Type.BOOLEAN,)))


def _is(grammar: Grammar, table: Mapping[str, object], place: Place) -> Condition:
    _only(table, place, "is")
    fact, word = _pair(table["is"], place, "[fact, word]")
    return _one_of(grammar, fact, [word], place)


def _in(grammar: Grammar, table: Mapping[str, object], place: Place) -> Condition:
    _only(table, place, "in")
    fact, words = _pair(table["in"], place, "[fact, [words]]")
    return _one_of(grammar, fact, _sequence(words, place, "a list of words", least=1), place)


def _one_of(grammar: Grammar, fact: object, words: Sequence[object], place: Place) -> Condition:
    reference, kind = _resolved(grammar, fact, place, (Type.CHOICE, Type.TEXT))
    for word in words:
        if not isinstance(word, str) or not kind.takes(word):
            raise place.wrong(kind.expected(), shown(word))
    return OneOf(reference, frozenset(str(word) for word in words))


def _known(grammar: Grammar, table: Mapping[str, object], place: Place) -> Condition:
    _only(table, place, "known")
    return Known(_reference(grammar, table["known"], place, tuple(Type)))


def _compare(grammar: Grammar, table: Mapping[str, object], place: Place) -> Condition:
    _only(table, place, "compare")
    entries = _sequence(table["compare"], place, "[term, order, term]", least=3, most=3)
    left, order, right = entries
    if not isinstance(order, str) or order not in ORDERS:
        raise place.wrong(f"an order: {' '.join(ORDERS)}", shown(order))
    terms = grammar.term(left, place.at("1")), grammar.term(right, place.at("3"))
    days = [_is_day(term) for term in terms]
    if days[0] != days[1]:
        raise place.wrong("two numbers or two days", "a number and a day")
    return Compare(terms[0], order, terms[1], any(_moves(term) for term in terms))


def _before(grammar: Grammar, table: Mapping[str, object], place: Place) -> Condition:
    _only(table, place, "before")
    left, right = (_day(grammar, each, place) for each in _pair(table["before"], place, "[day, day]"))
    return Compare(left, "<", right, _moves(left) or _moves(right))


def _valid(grammar: Grammar, table: Mapping[str, object], place: Place) -> Condition:
    _only(table, place, "valid")
    return Valid(_day(grammar, table["valid"], place))


def _younger(grammar: Grammar, table: Mapping[str, object], place: Place) -> Condition:
    _only(table, place, "younger")
    fact, days = _pair(table["younger"], place, "[fact, days]")
    limit = grammar.term(days, place)
    if not isinstance(limit, Constant):
        raise place.wrong("a number of days", shown(days))
    return Younger(_reference(grammar, fact, place, (Type.DATE,)), limit.value)


def _due(grammar: Grammar, table: Mapping[str, object], place: Place) -> Condition:
    _only(table, place, "due", "done")
    done, kind = _resolved(grammar, table.get("done"), place.at("done"), (Type.DATE, Type.BOOLEAN))
    return Due(_day(grammar, table["due"], place), done, kind.type is Type.DATE)


def _exists(grammar: Grammar, table: Mapping[str, object], place: Place) -> Condition:
    _only(table, place, "exists", "where", "of")
    return Exists(_group(grammar, table, "exists", place))


def _every(grammar: Grammar, table: Mapping[str, object], place: Place) -> Condition:
    _only(table, place, "every", "that", "where", "of")
    group = _group(grammar, table, "every", place)
    if "that" not in table:
        raise place.at("that").wrong("a condition", "nothing")
    return Every(group, grammar.condition(table["that"], replace(place.at("that"), kind=group.kind)))


def _class_in(grammar: Grammar, table: Mapping[str, object], place: Place) -> Condition:
    _only(table, place, "class_in", "class_of")
    names = [_class(grammar, each, place) for each in _sequence(table["class_in"], place, "classes", least=1)]
    return ClassIn(frozenset(names), _class_of(grammar, table, place))


def _class_above(grammar: Grammar, table: Mapping[str, object], place: Place) -> Condition:
    _only(table, place, "class_above", "class_of")
    return ClassAbove(_class(grammar, table["class_above"], place), _class_of(grammar, table, place))


def _class(grammar: Grammar, value: object, place: Place) -> str:
    if not isinstance(value, str) or value not in grammar.classes:
        raise place.wrong(f"a class: {', '.join(sorted(grammar.classes))}", shown(value))
    return value


def _class_of(grammar: Grammar, table: Mapping[str, object], place: Place) -> ClassOf:
    _needs_area(grammar, place)
    said = table.get("class_of", ClassOf.JUDGED.value)
    if said not in [each.value for each in ClassOf]:
        raise place.at("class_of").wrong("judged or licensed", shown(said))
    return ClassOf(said)


def _needs_area(grammar: Grammar, place: Place) -> None:
    if place.kind != "area" and grammar.catalogue.find(place.kind, "area") is None:
        raise place.wrong("a thing that lies in an area", place.kind)


def _holds(grammar: Grammar, table: Mapping[str, object], place: Place) -> Condition:
    _only(table, place, "holds")
    name = table["holds"]
    found = grammar.conditions.get(name) if isinstance(name, str) else None
    if found is None:
        raise place.wrong(f"a condition: {', '.join(sorted(grammar.conditions)) or 'there is none'}", shown(name))
    _parent_of(grammar, found.each, place)
    return Holds(found.id, found.each if found.each != place.kind else "")


# --- terms ----------------------------------------------------------------------------------------


def _day(grammar: Grammar, value: object, place: Place) -> Term:
    if isinstance(value, str):
        return Measure(_reference(grammar, value, place, (Type.DATE,)))
    term = grammar.term(value, place)
    if not _is_day(term):
        raise place.wrong("a day", shown(value))
    return term


def _measure(grammar: Grammar, table: Mapping[str, object], place: Place) -> Term:
    _only(table, place, "fact", "of")
    return Measure(_reference(grammar, _dotted(table, "fact", place), place, MEASURED))


def _today(grammar: Grammar, table: Mapping[str, object], place: Place) -> Term:  # noqa: ARG001 - as every term
    _only(table, place, "today")
    return Today()


def _age(grammar: Grammar, table: Mapping[str, object], place: Place) -> Term:
    _only(table, place, "age_days")
    return Age(_reference(grammar, table["age_days"], place, (Type.DATE,)))


def _sum(grammar: Grammar, table: Mapping[str, object], place: Place) -> Term:
    _only(table, place, "sum", "fact", "where", "of")
    group = _group(grammar, table, "sum", place)
    return Sum(group, _reference(grammar, table.get("fact"), replace(place, kind=group.kind), NUMERIC))


def _count(grammar: Grammar, table: Mapping[str, object], place: Place) -> Term:
    _only(table, place, "count", "where", "of")
    return Count(_group(grammar, table, "count", place))


def _least(grammar: Grammar, table: Mapping[str, object], place: Place) -> Term:
    return _extreme(grammar, table, "least", place)


def _most(grammar: Grammar, table: Mapping[str, object], place: Place) -> Term:
    return _extreme(grammar, table, "most", place)


def _extreme(grammar: Grammar, table: Mapping[str, object], key: str, place: Place) -> Term:
    _only(table, place, key, "fact", "where", "of")
    group = _group(grammar, table, key, place)
    fact = _reference(grammar, table.get("fact"), replace(place, kind=group.kind), MEASURED)
    return Extreme(group, fact, key == "most")


def _table(grammar: Grammar, table: Mapping[str, object], place: Place) -> Term:
    _only(table, place, "table", "class_of")
    name = table["table"]
    if not isinstance(name, str) or name not in grammar.tables:
        raise place.wrong(f"a table: {', '.join(sorted(grammar.tables)) or 'there is none'}", shown(name))
    return Lookup(name, _class_of(grammar, table, place))


def _figure(grammar: Grammar, table: Mapping[str, object], place: Place) -> Term:
    _only(table, place, "figure")
    name = table["figure"]
    figure = grammar.figures.get(name) if isinstance(name, str) else None
    if figure is None:
        raise place.wrong(f"a figure: {', '.join(sorted(grammar.figures)) or 'there is none'}", shown(name))
    return Constant(figure.value, figure.id)


def _limit(grammar: Grammar, table: Mapping[str, object], place: Place) -> Term:
    ((key, value),) = table.items()
    if not grammar.classes:
        raise place.wrong("a scheme of classes in this file", "none")
    return Limit(grammar.term(value, place), key == "class_p13")


def _combined(grammar: Grammar, table: Mapping[str, object], place: Place) -> Term:
    ((key, value),) = table.items()
    entries = _sequence(value, place, "a list of terms", least=2, most=2 if key == "minus" else None)
    terms = tuple(grammar.term(each, place.at(str(number))) for number, each in enumerate(entries, 1))
    days = [_is_day(term) for term in terms]
    names = {"earliest": "min", "latest": "max"}
    if key in names and not all(days):
        raise place.wrong("days", "a number")
    if any(days) and (key in ("plus", "times") or not all(days)):
        raise place.wrong("numbers only, or days only", "numbers and days")
    return Combined(names.get(key, key), terms)


def _ceil(grammar: Grammar, table: Mapping[str, object], place: Place) -> Term:
    _only(table, place, "ceil")
    term, step = _pair(table["ceil"], place, "[term, step]")
    return Ceil(grammar.term(term, place), _positive(grammar.term(step, place), place))


def _steps(grammar: Grammar, table: Mapping[str, object], place: Place) -> Term:
    _only(table, place, "steps")
    term, above, step = _sequence(table["steps"], place, "[term, above, step]", least=3, most=3)
    start = grammar.term(above, place)
    if not isinstance(start, Constant):
        raise place.wrong("a number to count from", shown(above))
    return Steps(grammar.term(term, place), start.value, _positive(grammar.term(step, place), place))


def _later(grammar: Grammar, table: Mapping[str, object], place: Place) -> Term:
    ((key, value),) = table.items()
    day, number = _pair(value, place, "[day, number]")
    count = grammar.term(number, place)
    if not isinstance(count, Constant) or not count.value.is_integer():
        raise place.wrong("a whole number", shown(number))
    return Later(_day(grammar, day, place), int(count.value), key.removesuffix("_after"))


# --- names ----------------------------------------------------------------------------------------


def _group(grammar: Grammar, table: Mapping[str, object], key: str, place: Place) -> Group:
    kind = table[key]
    if not isinstance(kind, str) or kind not in grammar.catalogue.kinds:
        raise place.wrong(f"a kind of thing: {', '.join(sorted(grammar.catalogue.kinds))}", shown(kind))
    said = table.get("of", Scope.OWN.value)
    if said not in [scope.value for scope in Scope]:
        raise place.at("of").wrong("area or depot", shown(said))
    scope = Scope.DEPOT if place.kind == "depot" else Scope(said)
    if scope is Scope.OWN and place.kind == "area":
        scope = Scope.AREA
    if scope is Scope.AREA:
        _needs_area(grammar, place)
    link = {Scope.OWN: place.kind, Scope.AREA: "area", Scope.DEPOT: ""}[scope]
    if link and kind != link and grammar.catalogue.find(kind, link) is None:
        raise place.wrong(f"things that belong to one {link}", f"{kind}, which has no fact {link!r}")
    inside = replace(place.at("where"), kind=kind)
    return Group(kind, scope, grammar.condition(table["where"], inside) if "where" in table else None)


def _reference(grammar: Grammar, value: object, place: Place, types: Sequence[Type]) -> Reference:
    return _resolved(grammar, value, place, types)[0]


def _resolved(grammar: Grammar, value: object, place: Place, types: Sequence[Type]) -> tuple[Reference, FactType]:
    if not isinstance(value, str):
        raise place.wrong("the name of a fact", shown(value))
    prefix, dot, name = value.rpartition(".")
    of = prefix if dot else ""
    kind = place.subject if of == "subject" else _parent_of(grammar, of, place) if of else place.kind
    fact = grammar.catalogue.find(kind, name)
    if fact is None:
        raise place.wrong(f"a fact of {kind} that the list of facts has", repr(value))
    if fact.type not in types:
        raise place.wrong(f"a fact that is {' or '.join(each.value for each in types)}", f"{value} ({fact.type.value})")
    low, high = DAYS if fact.type is Type.DATE else (fact.least, fact.most)
    own = "" if of == place.kind else of
    return Reference(own, name, low, high, derived=fact.source is Source.DERIVED), fact


def _parent_of(grammar: Grammar, kind: str, place: Place) -> str:
    if kind not in (place.kind, "depot") and grammar.catalogue.find(place.kind, kind) is None:
        raise place.wrong(f"a parent of {place.kind}", repr(kind))
    return kind


# --- shapes ---------------------------------------------------------------------------------------


def _operator(value: object, known: Mapping[str, object], place: Place) -> tuple[Mapping[str, object], str]:
    if not isinstance(value, dict):
        raise place.wrong("a table with one operator", shown(value))
    found = [key for key in value if key in known]
    # `fact` and `table` also stand beside another operator, as its detail
    main = [key for key in found if key != "fact"] or found
    if len(main) != 1:
        raise place.wrong(f"one of {', '.join(known)}", ", ".join(map(str, value)) or "nothing")
    return value, main[0]


def _only(table: Mapping[str, object], place: Place, *known: str) -> None:
    for key in table:
        if key not in known:
            raise place.wrong(f"only {', '.join(known)}", repr(key))


def _sequence(value: object, place: Place, expected: str, *, least: int, most: int | None = None) -> Sequence[object]:
    if not isinstance(value, list) or len(value) < least or (most is not None and len(value) > most):
        raise place.wrong(expected, shown(value))
    return value


def _pair(value: object, place: Place, expected: str) -> tuple[object, object]:
    first, second = _sequence(value, place, expected, least=2, most=2)
    return first, second


def _dotted(table: Mapping[str, object], key: str, place: Place) -> object:
    of = table.get("of")
    if of is None:
        return table[key]
    if not isinstance(of, str):
        raise place.at("of").wrong("a kind of thing", shown(of))
    return f"{of}.{table[key]}"


def _positive(term: Term, place: Place) -> float:
    if not isinstance(term, Constant) or term.value <= 0:
        raise place.wrong("a step above 0", shown(term))
    return term.value


def _is_day(term: Term) -> bool:
    match term:
        case Today() | Later():
            return True
        case Constant(figure=figure):
            return figure == "day"
        case Measure(fact=fact) | Extreme(fact=fact):
            return (fact.low, fact.high) == DAYS
        case Combined(how=how, terms=terms):
            return how in ("min", "max") and _is_day(terms[0])
        case _:
            return False


def _moves(term: Term) -> bool:
    """Tell whether the passing of days alone changes the term."""
    match term:
        case Today() | Age():
            return True
        case Combined(terms=terms):
            return any(_moves(each) for each in terms)
        case Later(day=inner) | Ceil(term=inner) | Steps(term=inner):
            return _moves(inner)
        case _:
            return False


CONDITIONS: Mapping[str, Callable[[Grammar, Mapping[str, object], Place], Condition]] = {
    "all": _all,
    "any": _any,
    "not": _not,
    "fact": _flag,
    "parent": _parent,
    "is": _is,
    "in": _in,
    "known": _known,
    "compare": _compare,
    "before": _before,
    "valid": _valid,
    "younger": _younger,
    "due": _due,
    "exists": _exists,
    "every": _every,
    "class_in": _class_in,
    "class_above": _class_above,
    "holds": _holds,
}

TERMS: Mapping[str, Callable[[Grammar, Mapping[str, object], Place], Term]] = {
    "fact": _measure,
    "today": _today,
    "age_days": _age,
    "sum": _sum,
    "count": _count,
    "least": _least,
    "most": _most,
    "table": _table,
    "figure": _figure,
    "class_kg": _limit,
    "class_p13": _limit,
    **dict.fromkeys(("plus", "minus", "times", "max", "min", "earliest", "latest"), _combined),
    "ceil": _ceil,
    "steps": _steps,
    **dict.fromkeys(("days_after", "years_after", "working_days_after"), _later),
}
