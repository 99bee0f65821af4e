"""What a reader wants to know of the law's files: which clause is held how, by which rules, by which numbers."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import TypeAlias

from compliance.grammar import ClassAbove, ClassIn, Constant, Holds, Limit, Lookup
from compliance.vocabulary import Clause, Figure, Mode, Rule, Scheme, Statute, Table

Number: TypeAlias = Figure | Table | Scheme


@dataclass(frozen=True, slots=True)
class Row:
    """One clause and what holds it."""

    statute: Statute
    clause: Clause
    rules: tuple[Rule, ...]


def coverage(statutes: Iterable[Statute]) -> Iterator[Row]:
    """Yield every clause of every statute, in the order of its file."""
    for statute in statutes:
        for clause in statute.clauses:
            yield Row(statute, clause, rules_of(statute, clause))


def counts(statute: Statute) -> Mapping[Mode, int]:
    """Return how many clauses are held in each way."""
    return {mode: sum(1 for clause in statute.clauses if clause.mode is mode) for mode in Mode}


def rules_of(statute: Statute, clause: Clause) -> tuple[Rule, ...]:
    """Return the rules that serve a clause in its wording."""
    return tuple(
        rule
        for rule in statute.rules
        if clause.locator in (rule.clause, *rule.also) and rule.period.meets(clause.period)
    )


def clauses_of(statute: Statute, rule: Rule) -> tuple[Clause, ...]:
    """Return the clauses that a rule serves, in their wording, its own first."""
    locators = (rule.clause, *rule.also)
    found = [clause for clause in statute.clauses if clause.locator in locators and rule.period.meets(clause.period)]
    return tuple(sorted(found, key=lambda clause: locators.index(clause.locator)))


def find(statutes: Iterable[Statute], name: str) -> list[Statute | Row | tuple[Statute, Rule]]:
    """Return what is called so: a statute or a rule by its id, or every clause with this locator."""
    wanted = _plain(name)
    found: list[Statute | Row | tuple[Statute, Rule]] = []
    for statute in statutes:
        if _plain(statute.id) == wanted:
            found.append(statute)
        found += [row for row in coverage([statute]) if _plain(row.clause.locator) == wanted]
        found += [(statute, rule) for rule in statute.rules if _plain(rule.id) == wanted]
    return found


def numbers_of(statute: Statute, rule: Rule) -> tuple[Number, ...]:
    """Return the figures, tables and schemes that a rule rests on, named conditions included."""
    found: dict[str, Number] = {}
    seen: set[str] = set()

    def walk(node: object) -> None:
        match node:
            case Constant(figure=name) if name in statute.figures:
                found[f"figure {name}"] = statute.figures[name]
            case Lookup(table=name):
                found[f"table {name}"] = statute.tables[name]
                found.update(_schemes(statute, rule))
            case Limit() | ClassIn() | ClassAbove():
                found.update(_schemes(statute, rule))
            case Holds(name=name) if name not in seen:
                seen.add(name)
                walk(statute.conditions[name].that)
            case _:
                pass
        if is_dataclass(node):
            for field in fields(node):
                walk(getattr(node, field.name))
        elif isinstance(node, tuple):
            for each in node:
                walk(each)

    for part in (rule.applies, rule.requires, rule.margin):
        walk(part)
    return tuple(found.values())


def _schemes(statute: Statute, rule: Rule) -> dict[str, Number]:
    return {f"scheme {one.id}": one for one in statute.schemes if one.period.meets(rule.period)}


def _plain(name: str) -> str:
    """A name as it is compared: ``art. 6 II c`` is ``Art. 6  II c``."""
    return " ".join(name.split()).casefold()
