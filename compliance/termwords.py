"""Each word of a term in a statute's file, and how its table becomes a node."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from compliance.catalogue import Type
from compliance.entries import shown
from compliance.grammar import (
    Age,
    Ceil,
    Combined,
    Constant,
    Count,
    Extreme,
    Later,
    Limit,
    Lookup,
    Measure,
    Steps,
    Sum,
    Term,
    Today,
)
from compliance.places import (
    MEASURED,
    NUMERIC,
    Place,
    Reader,
    class_of,
    day,
    dotted,
    group,
    is_day,
    only,
    pair,
    positive,
    reference,
    sequence,
)


def _measure(grammar: Reader, table: Mapping[str, object], place: Place) -> Term:
    only(table, place, "fact", "of")
    return Measure(reference(grammar, dotted(table, "fact", place), place, MEASURED))


def _today(grammar: Reader, table: Mapping[str, object], place: Place) -> Term:  # noqa: ARG001 - as every term
    only(table, place, "today")
    return Today()


def _age(grammar: Reader, table: Mapping[str, object], place: Place) -> Term:
    only(table, place, "age_days")
    return Age(reference(grammar, table["age_days"], place, (Type.DATE,)))


def _sum(grammar: Reader, table: Mapping[str, object], place: Place) -> Term:
    only(table, place, "sum", "fact", "where", "of")
    members = group(grammar, table, "sum", place)
    return Sum(members, reference(grammar, table.get("fact"), replace(place, kind=members.kind), NUMERIC))


def _count(grammar: Reader, table: Mapping[str, object], place: Place) -> Term:
    only(table, place, "count", "where", "of")
    return Count(group(grammar, table, "count", place))


def _least(grammar: Reader, table: Mapping[str, object], place: Place) -> Term:
    return _extreme(grammar, table, "least", place)


def _most(grammar: Reader, table: Mapping[str, object], place: Place) -> Term:
    return _extreme(grammar, table, "most", place)


def _extreme(grammar: Reader, table: Mapping[str, object], key: str, place: Place) -> Term:
    only(table, place, key, "fact", "where", "of")
    members = group(grammar, table, key, place)
    fact = reference(grammar, table.get("fact"), replace(place, kind=members.kind), MEASURED)
    return Extreme(members, fact, key == "most")


def _table(grammar: Reader, table: Mapping[str, object], place: Place) -> Term:
    only(table, place, "table", "class_of")
    name = table["table"]
    if not isinstance(name, str) or name not in grammar.tables:
        raise place.wrong("a table: {known}", shown(name), known=", ".join(sorted(grammar.tables)) or "there is none")
    return Lookup(name, class_of(grammar, table, place))


def _figure(grammar: Reader, table: Mapping[str, object], place: Place) -> Term:
    only(table, place, "figure")
    name = table["figure"]
    figure = grammar.figures.get(name) if isinstance(name, str) else None
    if figure is None:
        raise place.wrong("a figure: {known}", shown(name), known=", ".join(sorted(grammar.figures)) or "there is none")
    return Constant(figure.value, figure.id)


def _limit(grammar: Reader, table: Mapping[str, object], place: Place) -> Term:
    ((key, value),) = table.items()
    if not grammar.classes:
        raise place.wrong("a scheme of classes in this file", "none")
    return Limit(grammar.term(value, place), key == "class_p13")


def _combined(grammar: Reader, table: Mapping[str, object], place: Place) -> Term:
    ((key, value),) = table.items()
    entries = sequence(value, place, "a list of terms", least=2, most=2 if key == "minus" else None)
    terms = tuple(grammar.term(each, place.at(str(number))) for number, each in enumerate(entries, 1))
    days = [is_day(term) for term in terms]
    names = {"earliest": "min", "latest": "max"}
    if key in names and not all(days):
        raise place.wrong("days", "a number")
    if any(days) and (key in ("plus", "times") or not all(days)):
        raise place.wrong("numbers only, or days only", "numbers and days")
    return Combined(names.get(key, key), terms)


def _ceil(grammar: Reader, table: Mapping[str, object], place: Place) -> Term:
    only(table, place, "ceil")
    term, step = pair(table["ceil"], place, "[term, step]")
    return Ceil(grammar.term(term, place), positive(grammar.term(step, place), place))


def _steps(grammar: Reader, table: Mapping[str, object], place: Place) -> Term:
    only(table, place, "steps")
    term, above, step = sequence(table["steps"], place, "[term, above, step]", least=3, most=3)
    start = grammar.term(above, place)
    if not isinstance(start, Constant):
        raise place.wrong("a number to count from", shown(above))
    return Steps(grammar.term(term, place), start, positive(grammar.term(step, place), place))


def _later(grammar: Reader, table: Mapping[str, object], place: Place) -> Term:
    ((key, value),) = table.items()
    start, number = pair(value, place, "[day, number]")
    count = grammar.term(number, place)
    if not isinstance(count, Constant) or not count.value.is_integer():
        raise place.wrong("a whole number", shown(number))
    return Later(day(grammar, start, place), count, key.removesuffix("_after"))


TERMS: Mapping[str, Callable[[Reader, Mapping[str, object], Place], Term]] = {
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
