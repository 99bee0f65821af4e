"""Each word of a condition in a statute's file, and how its table becomes a node."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from compliance.catalogue import Type
from compliance.entries import shown
from compliance.grammar import (
    All,
    Any,
    ClassAbove,
    ClassIn,
    Compare,
    Condition,
    Constant,
    Due,
    Every,
    Exists,
    Flag,
    Holds,
    Known,
    Not,
    OneOf,
    Valid,
    Younger,
)
from compliance.kleene import ORDERS
from compliance.places import (
    Place,
    Reader,
    class_of,
    day,
    dotted,
    group,
    is_day,
    moves,
    only,
    pair,
    parent_of,
    reference,
    resolved,
    sequence,
)


def _all(grammar: Reader, table: Mapping[str, object], place: Place) -> Condition:
    only(table, place, "all")
    return All(_conditions(grammar, table["all"], place))


def _any(grammar: Reader, table: Mapping[str, object], place: Place) -> Condition:
    only(table, place, "any")
    return Any(_conditions(grammar, table["any"], place))


def _conditions(grammar: Reader, value: object, place: Place) -> tuple[Condition, ...]:
    entries = sequence(value, place, "a list of conditions", least=1)
    return tuple(grammar.condition(each, place.at(str(number))) for number, each in enumerate(entries, 1))


def _not(grammar: Reader, table: Mapping[str, object], place: Place) -> Condition:
    only(table, place, "not")
    return Not(grammar.condition(table["not"], place))


def _flag(grammar: Reader, table: Mapping[str, object], place: Place) -> Condition:
    only(table, place, "fact", "of")
    return Flag(reference(grammar, dotted(table, "fact", place), place, (Type.BOOLEAN,)))


def _parent(grammar: Reader, table: Mapping[str, object], place: Place) -> Condition:
    only(table, place, "parent")
    return Flag(reference(grammar, f"subject.{table['parent']}", place, (Type.BOOLEAN,)))


def _is(grammar: Reader, table: Mapping[str, object], place: Place) -> Condition:
    only(table, place, "is")
    fact, word = pair(table["is"], place, "[fact, word]")
    return _one_of(grammar, fact, [word], place)


def _in(grammar: Reader, table: Mapping[str, object], place: Place) -> Condition:
    only(table, place, "in")
    fact, words = pair(table["in"], place, "[fact, [words]]")
    return _one_of(grammar, fact, sequence(words, place, "a list of words", least=1), place)


def _one_of(grammar: Reader, fact: object, words: Sequence[object], place: Place) -> Condition:
    reference, kind = resolved(grammar, fact, place, (Type.CHOICE, Type.TEXT))
    for word in words:
        if not isinstance(word, str) or not kind.takes(word):
            template, values = kind.asked_for()
            raise place.wrong(template, shown(word), **values)
    return OneOf(reference, frozenset(str(word) for word in words))


def _known(grammar: Reader, table: Mapping[str, object], place: Place) -> Condition:
    only(table, place, "known")
    return Known(reference(grammar, table["known"], place, tuple(Type)))


def _compare(grammar: Reader, table: Mapping[str, object], place: Place) -> Condition:
    only(table, place, "compare")
    entries = sequence(table["compare"], place, "[term, order, term]", least=3, most=3)
    left, order, right = entries
    if not isinstance(order, str) or order not in ORDERS:
        raise place.wrong("an order: {known}", shown(order), known=" ".join(ORDERS))
    terms = grammar.term(left, place.at("1")), grammar.term(right, place.at("3"))
    days = [is_day(term) for term in terms]
    if days[0] != days[1]:
        raise place.wrong("two numbers or two days", "a number and a day")
    return Compare(terms[0], order, terms[1], any(moves(term) for term in terms))


def _before(grammar: Reader, table: Mapping[str, object], place: Place) -> Condition:
    only(table, place, "before")
    left, right = (day(grammar, each, place) for each in pair(table["before"], place, "[day, day]"))
    return Compare(left, "<", right, moves(left) or moves(right))


def _valid(grammar: Reader, table: Mapping[str, object], place: Place) -> Condition:
    only(table, place, "valid")
    return Valid(day(grammar, table["valid"], place))


def _younger(grammar: Reader, table: Mapping[str, object], place: Place) -> Condition:
    only(table, place, "younger")
    fact, days = pair(table["younger"], place, "[fact, days]")
    limit = grammar.term(days, place)
    if not isinstance(limit, Constant):
        raise place.wrong("a number of days", shown(days))
    return Younger(reference(grammar, fact, place, (Type.DATE,)), limit)


def _due(grammar: Reader, table: Mapping[str, object], place: Place) -> Condition:
    only(table, place, "due", "done")
    done, kind = resolved(grammar, table.get("done"), place.at("done"), (Type.DATE, Type.BOOLEAN))
    return Due(day(grammar, table["due"], place), done, kind.type is Type.DATE)


def _exists(grammar: Reader, table: Mapping[str, object], place: Place) -> Condition:
    only(table, place, "exists", "where", "of")
    return Exists(group(grammar, table, "exists", place))


def _every(grammar: Reader, table: Mapping[str, object], place: Place) -> Condition:
    only(table, place, "every", "that", "where", "of")
    members = group(grammar, table, "every", place)
    if "that" not in table:
        raise place.at("that").wrong("a condition", "nothing")
    return Every(members, grammar.condition(table["that"], replace(place.at("that"), kind=members.kind)))


def _class_in(grammar: Reader, table: Mapping[str, object], place: Place) -> Condition:
    only(table, place, "class_in", "class_of")
    names = [_class(grammar, each, place) for each in sequence(table["class_in"], place, "classes", least=1)]
    return ClassIn(frozenset(names), class_of(grammar, table, place))


def _class_above(grammar: Reader, table: Mapping[str, object], place: Place) -> Condition:
    only(table, place, "class_above", "class_of")
    return ClassAbove(_class(grammar, table["class_above"], place), class_of(grammar, table, place))


def _class(grammar: Reader, value: object, place: Place) -> str:
    if not isinstance(value, str) or value not in grammar.classes:
        raise place.wrong("a class: {known}", shown(value), known=", ".join(sorted(grammar.classes)))
    return value


def _holds(grammar: Reader, table: Mapping[str, object], place: Place) -> Condition:
    only(table, place, "holds")
    name = table["holds"]
    found = grammar.conditions.get(name) if isinstance(name, str) else None
    if found is None:
        known = ", ".join(sorted(grammar.conditions)) or "there is none"
        raise place.wrong("a condition: {known}", shown(name), known=known)
    parent_of(grammar, found.each, place)
    return Holds(found.id, found.each if found.each != place.kind else "")


CONDITIONS: Mapping[str, Callable[[Reader, Mapping[str, object], Place], Condition]] = {
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
