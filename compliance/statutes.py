"""Reads statutes from their files under ``statutes/``. Holds no number of any norm itself."""

from importlib import resources
from importlib.resources.abc import Traversable

from compliance import catalogue as facts
from compliance import rules
from compliance.catalogue import Catalogue
from compliance.entries import Entries, StatuteError, read
from compliance.grammar import Term
from compliance.parsing import Grammar, Place
from compliance.provisions import Provisions, once
from compliance.vocabulary import Mode, Nodes, Statute, StatuteKind, Words

__all__ = ["HOUSE", "StatuteError", "load", "load_all", "names"]

HOUSE = "house"
"""The pack that always applies, beside whatever statutes a depot names."""


def names(folder: Traversable | None = None) -> tuple[str, ...]:
    """Return the ids that `load` knows, sorted."""
    files = (entry.name for entry in (folder or _shipped()).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml")))


def load_all(folder: Traversable | None = None, catalogue: Catalogue | None = None) -> tuple[Statute, ...]:
    """Read every statute there is; no rule's id may stand in two of them.

    Raises:
        StatuteError: if one is not as it should be.
    """
    known, nodes = catalogue or facts.load(), Nodes()
    found = tuple(load(name, folder, known, nodes) for name in names(folder))
    where: dict[str, str] = {}
    for statute in found:
        for rule in statute.rules:
            if rule.id in where:
                file, key = f"{statute.id}.toml", f"rule {rule.id}"
                raise StatuteError(file, key, "an id that no other law has", where[rule.id])
            where[rule.id] = statute.id
    return found


def load(
    statute: str, folder: Traversable | None = None, catalogue: Catalogue | None = None, nodes: Nodes | None = None
) -> Statute:
    """Read one statute by its id, which is its file's name without ``.toml``; `nodes`: those of what is read with it.

    Raises:
        StatuteError: if there is no such statute, or its file is not as it should be.
    """
    file = f"{statute}.toml"
    if statute not in names(folder):
        raise StatuteError(file, "", "one of {known}", "no such statute", known=", ".join(names(folder)))
    return _statute(read(folder or _shipped(), file), statute, catalogue or facts.load(), nodes or Nodes())


def _shipped() -> Traversable:
    return resources.files("compliance") / "statutes"


# --- the whole ------------------------------------------------------------------------------------


def _statute(top: Entries, statute: str, catalogue: Catalogue, nodes: Nodes) -> Statute:
    lists = ("scheme", "table", "figure", "condition", "clause", "rule")
    top.only("statute", "detection", "exemption", "separation", *lists)
    head = top.table("statute")
    head.only("id", "title", "citation", "kind", "jurisdiction", "in_force_from", "in_force_until", "doubts")
    if head.text("id") != statute:
        raise head.wrong("id", "{name}, as the file is named", repr(head.text("id")), name=repr(statute))
    kind = head.choice("kind", StatuteKind)
    if kind is StatuteKind.STATUTE:
        head.day("in_force_from")
    laid = Provisions.of(top)
    grammar = Grammar(catalogue, frozenset(laid.tables), laid.class_names, laid.figures)
    conditions = rules.conditions(top, grammar)
    grammar = Grammar(catalogue, grammar.tables, grammar.classes, grammar.figures, conditions)
    asked = tuple(rules.rule(entry, grammar, laid) for entry in top.listed("rule"))
    once(top, "rule", [rule.id for rule in asked])
    found = Statute(
        id=statute,
        title=head.text("title"),
        citation=head.text("citation"),
        kind=kind,
        jurisdiction=head.text("jurisdiction", "-"),
        period=head.period("in_force_from", "in_force_until"),
        doubts=tuple(_words(entry) for entry in head.listed("doubts")),
        schemes=laid.schemes,
        tables=laid.tables,
        figures=laid.figures,
        conditions=conditions,
        clauses=tuple(laid.clauses),
        rules=asked,
        exemption=rules.exemption(top, grammar, laid),
        separation=rules.separation(top, laid),
        detection=laid.detection,
        derived=_derived(grammar),
        nodes=nodes,
    )
    _check_coverage(top, found)
    return found


def _check_coverage(top: Entries, statute: Statute) -> None:
    """A clause that is not out of scope has a rule; one that is has none."""
    served = {locator for rule in statute.rules for locator in (rule.clause, *rule.also)}
    served |= {statute.exemption.clause} if statute.exemption else set()
    served |= {statute.separation.clause} if statute.separation else set()
    served |= {scheme.clause for scheme in statute.schemes}
    served |= {table.clause for table in statute.tables.values()}
    for clause in statute.clauses:
        place = f"clause {clause.locator}"
        if clause.mode is not Mode.OUT_OF_SCOPE and clause.locator not in served:
            raise top.wrong(place, "a rule, or the mode out-of-scope with a reason", clause.mode.value)
        if clause.mode is Mode.OUT_OF_SCOPE and any(clause.locator == rule.clause for rule in statute.rules):
            raise top.wrong(place, "no rule for what is out of scope", "a rule")


def _derived(grammar: Grammar) -> dict[tuple[str, str], Term]:
    """Facts that follow from others; those of a kind that the list of facts lacks are left out."""
    found: dict[tuple[str, str], Term] = {}
    for entry in facts.derived().listed("derived"):
        entry.only("kind", "name", "term")
        kind, name = entry.text("kind"), entry.text("name")
        if kind in grammar.catalogue.kinds:
            found[kind, name] = grammar.term(
                entry.values.get("term"), Place(entry.file, entry.dotted("term"), kind, kind)
            )
    return found


def _words(entry: Entries) -> Words:
    entry.only("pt", "en")
    return Words(entry.text("pt"), entry.text("en"))
