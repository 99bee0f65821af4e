"""Laws, clauses, rules and their numbers as lines for a person and as JSON. Knows no command, file or finding."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from compliance.overview import Number, Row, clauses_of, counts, coverage, numbers_of
from compliance.vocabulary import (
    Clause,
    Figure,
    Period,
    Rule,
    Scheme,
    Statute,
    StorageClass,
    Table,
    Words,
)
from gateway.commands.lawwords import amount, in_force, number_of, period_row, said, unit_of, words_row
from gateway.commands.talk import Talk

Found: TypeAlias = Statute | Row | tuple[Statute, Rule]


# --- laws -----------------------------------------------------------------------------------------


def statute_row(statute: Statute) -> dict[str, Any]:
    """A law as JSON."""
    return {
        "law": statute.id,
        "title": statute.title,
        "citation": statute.citation,
        "kind": statute.kind.value,
        "jurisdiction": statute.jurisdiction,
        **period_row(statute.period),
        "clauses": {mode.value: count for mode, count in counts(statute).items()},
        "rules": len(statute.rules),
    }


def statute_lines(talk: Talk, statute: Statute) -> Iterator[str]:
    """A law: what it is, since when, and how many clauses are held how."""
    yield f"{statute.id}  {statute.title}"
    held = ", ".join(f"{talk.text(f'mode.{mode.value}')} {count}" for mode, count in counts(statute).items() if count)
    yield talk.text(
        "law.line",
        kind=talk.text(f"law_kind.{statute.kind.value}"),
        citation=statute.citation,
        since=in_force(talk, statute.period),
        rules=len(statute.rules),
        held=held,
    )


# --- one law, clause or rule -----------------------------------------------------------------------


def page(found: Found) -> dict[str, Any]:
    """What `vigia law show` gives, as JSON."""
    match found:
        case Statute():
            return {
                **statute_row(found),
                "doubts": [words_row(doubt) for doubt in found.doubts],
                "numbers": [_number_row(found, each) for each in _all_numbers(found)],
            }
        case Row():
            return {
                **coverage_row(found),
                **_clause_row(found.clause),
                "numbers": [_number_row(found.statute, each) for each in _numbers(found)],
                "details": [_rule_row(rule) for rule in found.rules],
            }
        case (statute, rule):
            return {
                "law": statute.id,
                **_rule_row(rule),
                "clauses": [{"clause": each.locator, **_clause_row(each)} for each in clauses_of(statute, rule)],
                "numbers": [_number_row(statute, each) for each in numbers_of(statute, rule)],
            }


def page_lines(talk: Talk, found: Found) -> Iterator[str]:
    """The same for a person."""
    match found:
        case Statute():
            yield from statute_lines(talk, found)
            for doubt in found.doubts:
                yield talk.text("law.doubt", text=said(talk, doubt))
            for number in _all_numbers(found):
                yield from _number_lines(talk, number)
        case Row():
            yield f"{found.statute.citation}, {found.clause.locator}"
            yield from _clause_lines(talk, found.clause)
            for rule in found.rules:
                yield from _rule_lines(talk, rule)
            for number in _numbers(found):
                yield from _number_lines(talk, number)
        case (statute, rule):
            yield f"{rule.id}  ({statute.citation}, {', '.join((rule.clause, *rule.also))})"
            yield from _rule_lines(talk, rule)
            for clause in clauses_of(statute, rule):
                yield f"  {clause.locator}"
                yield from _clause_lines(talk, clause)
            for number in numbers_of(statute, rule):
                yield from _number_lines(talk, number)


def _numbers(row: Row) -> list[Number]:
    """The numbers of a clause: those its rules use, and those that stand in it."""
    found: dict[int, Number] = {id(number): number for rule in row.rules for number in numbers_of(row.statute, rule)}
    own = (each for each in _all_numbers(row.statute) if _stands_in(each, row.clause) and id(each) not in found)
    return [*found.values(), *own]


def _stands_in(number: Number, clause: Clause) -> bool:
    """Whether a number stands in a clause, in the wording of its time."""
    meets = not isinstance(number, Scheme) or number.period.meets(clause.period)
    return number.clause == clause.locator and meets


def _all_numbers(statute: Statute) -> Sequence[Number]:
    return (*statute.schemes, *statute.tables.values(), *statute.figures.values())


def _clause_row(clause: Clause) -> dict[str, Any]:
    told = {
        "summary": clause.summary,
        "reading": clause.reading,
        "ambiguity": clause.ambiguity,
        "reason": clause.reason,
    }
    return {name: None if words is None else words_row(words) for name, words in told.items()}


def _clause_lines(talk: Talk, clause: Clause) -> Iterator[str]:
    since = "" if clause.period == Period() else f"; {in_force(talk, clause.period)}"
    yield talk.text("law.mode", mode=talk.text(f"mode.{clause.mode.value}"), since=since)
    for key, words in (
        ("summary", clause.summary),
        ("reading", clause.reading),
        ("ambiguity", clause.ambiguity),
        ("reason", clause.reason),
    ):
        if words is not None:
            yield talk.text(f"law.{key}", text=said(talk, words))


def _rule_row(rule: Rule) -> dict[str, Any]:
    return {
        "rule": rule.id,
        "clause": rule.clause,
        "also": list(rule.also),
        "each": rule.each,
        "severity": rule.severity.value,
        "text": words_row(rule.text),
        "remedy": words_row(rule.remedy),
        **period_row(rule.period),
    }


def _rule_lines(talk: Talk, rule: Rule) -> Iterator[str]:
    yield talk.text(
        "law.rule",
        id=rule.id,
        each=talk.text(f"thing.{rule.each}"),
        severity=talk.text(f"severity.{rule.severity.value}"),
        text=said(talk, rule.text),
    )
    yield talk.text("law.remedy", text=said(talk, rule.remedy))


def _number_row(statute: Statute, number: Number) -> dict[str, Any]:
    row: dict[str, Any] = {"id": number.id, "law": statute.id, "clause": number.clause}
    match number:
        case Figure():
            row |= {"value": number.value, "unit": number.unit, "provenance": _provenance_row(number.provenance)}
        case Table():
            row |= {
                "values": dict(number.values),
                "unit": number.unit,
                "provenance": _provenance_row(number.provenance),
            }
        case Scheme():
            limits = [
                {"name": each.name, "up_to_kg": each.up_to_kg, "up_to_p13": each.up_to_p13} for each in number.classes
            ]
            row |= {"classes": limits, **period_row(number.period), "provenance": None}
    return row


def _number_lines(talk: Talk, number: Number) -> Iterator[str]:
    told = None if isinstance(number, Scheme) else number.provenance
    source = talk.text("law.own_text") if told is None else said(talk, told)
    value = _shown(talk, number)
    yield talk.text("law.number", id=number.id, value=value, clause=number.clause, provenance=source)


def _shown(talk: Talk, number: Number) -> str:
    match number:
        case Figure():
            return amount(talk, number.value, number.unit)
        case Table():
            values = ", ".join(f"{name} {number_of(talk, each)}" for name, each in number.values.items())
            return f"{values} ({unit_of(talk, number.unit)})"
        case Scheme():
            classes = ", ".join(_class(talk, each) for each in number.classes)
            return classes if number.period == Period() else f"{classes} ({in_force(talk, number.period)})"


def _class(talk: Talk, one: StorageClass) -> str:
    limit = talk.text("law.no_limit") if one.up_to_kg is None else f"≤ {number_of(talk, one.up_to_kg)} kg"
    return f"{one.name} {limit}"


def _provenance_row(words: Words | None) -> dict[str, str] | None:
    return None if words is None else words_row(words)


# --- coverage -------------------------------------------------------------------------------------


def coverage_row(row: Row) -> dict[str, Any]:
    """One clause as JSON: law, clause, mode, rule ids."""
    return {
        "law": row.statute.id,
        "clause": row.clause.locator,
        "mode": row.clause.mode.value,
        "rules": [rule.id for rule in row.rules],
        **period_row(row.clause.period),
    }


def coverage_lines(talk: Talk, statutes: Sequence[Statute]) -> Iterator[str]:
    """Every clause with how it is held, law by law."""
    for statute in statutes:
        yield from statute_lines(talk, statute)
        width = max((len(clause.locator) for clause in statute.clauses), default=0)
        for row in coverage([statute]):
            clause = row.clause
            held = ", ".join(rule.id for rule in row.rules) or (said(talk, clause.reason) if clause.reason else "-")
            until = "" if clause.period.until is None else f" ({in_force(talk, clause.period)})"
            yield f"  {clause.locator:<{width}}  {talk.text(f'mode.{clause.mode.value}')}: {held}{until}"
