"""Reads statutes from their files under ``statutes/``. Holds no number of any norm itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable

from compliance import catalogue as facts
from compliance.catalogue import Catalogue
from compliance.entries import Entries, StatuteError, read
from compliance.grammar import Term
from compliance.parsing import Grammar, Place
from compliance.vocabulary import (
    Clause,
    Detection,
    Exemption,
    Figure,
    MarginOf,
    Mode,
    NamedCondition,
    Nodes,
    Period,
    Rule,
    Scheme,
    Separation,
    Severity,
    Statute,
    StatuteKind,
    StorageClass,
    Table,
    Words,
)

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
                raise StatuteError(
                    f"{statute.id}.toml", f"rule {rule.id}", "an id of its own", f"that of {where[rule.id]}"
                )
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
        raise StatuteError(file, "", f"one of {', '.join(names(folder))}", "no such statute")
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
        raise head.wrong("id", f"{statute!r}, as the file is named", repr(head.text("id")))
    kind = head.choice("kind", StatuteKind)
    if kind is StatuteKind.STATUTE:
        head.day("in_force_from")
    parts = _Parts.of(top)
    grammar = Grammar(catalogue, frozenset(parts.tables), parts.class_names, parts.figures)
    conditions = _conditions(top, grammar)
    grammar = Grammar(catalogue, grammar.tables, grammar.classes, grammar.figures, conditions)
    rules = tuple(_rule(entry, grammar, parts) for entry in top.listed("rule"))
    _once(top, "rule", [rule.id for rule in rules])
    found = Statute(
        id=statute,
        title=head.text("title"),
        citation=head.text("citation"),
        kind=kind,
        jurisdiction=head.text("jurisdiction", "-"),
        period=head.period("in_force_from", "in_force_until"),
        doubts=tuple(_words(entry) for entry in head.listed("doubts")),
        schemes=parts.schemes,
        tables=parts.tables,
        figures=parts.figures,
        conditions=conditions,
        clauses=tuple(parts.clauses),
        rules=rules,
        exemption=_exemption(top, grammar, parts),
        separation=_separation(top, parts),
        detection=parts.detection,
        derived=_derived(grammar),
        nodes=nodes,
    )
    _check_coverage(top, found)
    return found


@dataclass(frozen=True, slots=True)
class _Parts:
    """What rules refer to, read before them."""

    clauses: Sequence[Clause]
    schemes: tuple[Scheme, ...]
    tables: Mapping[str, Table]
    figures: Mapping[str, Figure]
    detection: Detection | None

    @classmethod
    def of(cls, top: Entries) -> "_Parts":
        clauses = [_clause(entry) for entry in top.listed("clause")]
        _apart(top, "clause", [(each.locator, each.period) for each in clauses])
        schemes = _schemes(top)
        tables = _tables(top, schemes)
        detection = _detection(top.table("detection"), schemes) if "detection" in top.values else None
        figures = {**_figures(top), **_detection_figures(detection)}
        return cls(clauses, schemes, tables, figures, detection)

    @property
    def class_names(self) -> frozenset[str]:
        return frozenset(each.name for scheme in self.schemes for each in scheme.classes)

    def clause(self, entry: Entries, key: str, locator: str) -> str:
        """Return a locator that has a clause."""
        if all(clause.locator != locator for clause in self.clauses):
            raise entry.wrong(key, "the locator of a clause in this file", repr(locator))
        return locator


def _once(top: Entries, table: str, names: Sequence[str]) -> None:
    """Refuse a name that stands twice."""
    for number, name in enumerate(names):
        if name in names[:number]:
            raise top.wrong(f"{table} {name}", "each once", "it stands twice")


def _apart(top: Entries, table: str, named: Sequence[tuple[str, Period]]) -> None:
    """Refuse a name that stands twice for one day: wordings follow one another."""
    for number, (name, period) in enumerate(named):
        for other, earlier in named[:number]:
            if name == other and period.meets(earlier):
                raise top.wrong(f"{table} {name}", "one wording for each day", "two that overlap")


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
            raise top.wrong(
                place, "a rule, or the mode out-of-scope with a reason", f"{clause.mode.value} without a rule"
            )
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


# --- the parts ------------------------------------------------------------------------------------


def _words(entry: Entries) -> Words:
    entry.only("pt", "en")
    return Words(entry.text("pt"), entry.text("en"))


def _clause(entry: Entries) -> Clause:
    entry.only("locator", "mode", "summary", "reading", "ambiguity", "reason", "from", "until")
    mode, reason = entry.choice("mode", Mode), entry.words_or_none("reason")
    if (mode is Mode.OUT_OF_SCOPE) != (reason is not None):
        raise entry.wrong("reason", "a reason exactly where the mode is out-of-scope", mode.value)
    return Clause(
        locator=entry.text("locator"),
        mode=mode,
        summary=entry.words("summary"),
        period=entry.period(),
        reading=entry.words_or_none("reading"),
        ambiguity=entry.words_or_none("ambiguity"),
        reason=reason,
    )


def _schemes(top: Entries) -> tuple[Scheme, ...]:
    found = []
    for entry in top.listed("scheme"):
        entry.only("id", "clause", "classes", "from", "until")
        classes = tuple(_class(each) for each in entry.listed("classes"))
        limits = [each.up_to_kg for each in classes]
        rising = [limit for limit in limits[:-1] if limit is not None]
        if len(rising) != len(limits) - 1 or limits[-1] is not None or sorted(set(rising)) != rising:
            raise entry.wrong("classes", "classes of rising up_to_kg, and a last one without", str(limits))
        found.append(Scheme(entry.text("id"), entry.text("clause"), classes, entry.period()))
    _once(top, "scheme", [scheme.id for scheme in found])
    _apart(top, "scheme", [("in force", scheme.period) for scheme in found])
    return tuple(found)


def _class(entry: Entries) -> StorageClass:
    entry.only("name", "up_to_kg", "up_to_p13")
    return StorageClass(entry.text("name"), entry.number("up_to_kg"), entry.number("up_to_p13"))


def _tables(top: Entries, schemes: Sequence[Scheme]) -> dict[str, Table]:
    found: dict[str, Table] = {}
    for entry in top.listed("table"):
        entry.only("id", "by", "scheme", "unit", "values", "silent", "clause", "provenance")
        name = entry.text("id")
        if name in found:
            raise entry.wrong("id", "an id of its own", f"{name!r}, which stands twice")
        scheme = _scheme_of(entry, schemes)
        values = entry.table("values")
        classes, silent = [each.name for each in scheme.classes], entry.texts("silent")
        values.only(*classes)
        for each in classes:
            if (each in values.values) == (each in silent):
                said = "both" if each in silent else "neither"
                raise entry.wrong(f"values.{each}", "a value, or the class among `silent`", said)
        numbers = {each: values.needed(each) for each in classes if each not in silent}
        found[name] = Table(
            name, scheme.id, entry.text("clause"), entry.text("unit"), numbers, entry.words_or_none("provenance")
        )
    return found


def _scheme_of(entry: Entries, schemes: Sequence[Scheme]) -> Scheme:
    if entry.text("by") != "class":
        raise entry.wrong("by", "class", repr(entry.text("by")))
    ids = [scheme.id for scheme in schemes]
    if not ids:
        raise entry.wrong("by", "a scheme of classes in this file", "none")
    name = entry.text("scheme", ids[0] if len(ids) == 1 else None)
    if name not in ids:
        raise entry.wrong("scheme", f"one of {', '.join(ids)}", repr(name))
    return schemes[ids.index(name)]


def _figures(top: Entries) -> dict[str, Figure]:
    found: dict[str, Figure] = {}
    for entry in top.listed("figure"):
        entry.only("id", "value", "unit", "clause", "provenance")
        name = entry.text("id")
        if name in found:
            raise entry.wrong("id", "an id of its own", f"{name!r}, which stands twice")
        said = entry.words_or_none("provenance")
        found[name] = Figure(name, entry.text("clause"), entry.needed("value"), entry.text("unit"), said)
    return found


def _detection(table: Entries, schemes: Sequence[Scheme]) -> Detection:
    table.only("clause", "set_point_lel_pct", "within_s", "above_kg", "above_class")
    set_point = table.number("set_point_lel_pct")
    if set_point is not None and not 0 < set_point < 100:
        raise table.wrong("set_point_lel_pct", "%LEL between 0 and 100", repr(set_point))
    return Detection(
        clause=table.text("clause"),
        set_point_lel_pct=set_point,
        within_s=table.number("within_s"),
        above_kg=_above(table, schemes),
    )


def _above(table: Entries, schemes: Sequence[Scheme]) -> float:
    if "above_class" not in table.values:
        return table.number("above_kg") or 0.0
    limits = {each.name: each.up_to_kg for scheme in schemes for each in scheme.classes}
    limit = limits.get(table.text("above_class"))
    if limit is None or "above_kg" in table.values:
        raise table.wrong(
            "above_class", "a class with a limit, and no above_kg beside it", repr(table.text("above_class"))
        )
    return limit


def _detection_figures(detection: Detection | None) -> dict[str, Figure]:
    if detection is None:
        return {}
    numbers = {"set_point_lel_pct": ("%LEL", detection.set_point_lel_pct), "within_s": ("s", detection.within_s)}
    numbers["above_kg"] = ("kg", detection.above_kg)
    return {
        f"detection_{name}": Figure(f"detection_{name}", detection.clause, value, unit)
        for name, (unit, value) in numbers.items()
        if value is not None
    }


def _conditions(top: Entries, grammar: Grammar) -> dict[str, NamedCondition]:
    """Named conditions; each may use those above it."""
    found: dict[str, NamedCondition] = {}
    for entry in top.listed("condition"):
        entry.only("id", "each", "that")
        name = entry.text("id")
        if name in found:
            raise entry.wrong("id", "an id of its own", f"{name!r}, which stands twice")
        if "that" not in entry.values:
            raise entry.wrong("that", "a condition", "nothing")
        kind = _kind(entry, grammar)
        so_far = Grammar(grammar.catalogue, grammar.tables, grammar.classes, grammar.figures, found)
        found[name] = NamedCondition(name, kind, so_far.condition_of(entry, "that", kind))
    return found


def _kind(entry: Entries, grammar: Grammar) -> str:
    kind = entry.text("each")
    if kind not in grammar.catalogue.kinds:
        raise entry.wrong("each", f"a kind of thing: {', '.join(sorted(grammar.catalogue.kinds))}", repr(kind))
    return kind


def _rule(entry: Entries, grammar: Grammar, parts: _Parts) -> Rule:
    entry.only(
        "id", "clause", "also", "each", "applies", "requires", "margin", "severity", "text", "remedy", "from", "until",
        "exempt",
    )  # fmt: skip
    kind = _kind(entry, grammar)
    if "requires" not in entry.values:
        raise entry.wrong("requires", "a condition", "nothing")
    return Rule(
        id=entry.text("id"),
        clause=parts.clause(entry, "clause", entry.text("clause")),
        also=tuple(parts.clause(entry, "also", locator) for locator in entry.texts("also")),
        each=kind,
        applies=grammar.condition_of(entry, "applies", kind),
        requires=grammar.condition_of(entry, "requires", kind),
        margin=_margin(entry, grammar, kind),
        severity=entry.choice("severity", Severity),
        text=entry.words("text"),
        remedy=entry.words("remedy"),
        period=entry.period(),
        exempt=entry.flag("exempt", default=True),
    )


def _margin(entry: Entries, grammar: Grammar, kind: str) -> MarginOf | None:
    value = entry.values.get("margin")
    if value is None:
        return None
    if isinstance(value, str):
        return MarginOf(None, entry.text("margin"))
    table = entry.table("margin")
    table.only("term", "unit")
    place = Place(entry.file, table.dotted("term"), kind, kind)
    return MarginOf(grammar.term(table.values.get("term"), place), table.text("unit"))


def _exemption(top: Entries, grammar: Grammar, parts: _Parts) -> Exemption | None:
    if "exemption" not in top.values:
        return None
    entry = top.table("exemption")
    entry.only("clause", "when")
    if "when" not in entry.values:
        raise entry.wrong("when", "a condition", "nothing")
    clause = parts.clause(entry, "clause", entry.text("clause"))
    return Exemption(clause, grammar.condition_of(entry, "when", "area"))


def _separation(top: Entries, parts: _Parts) -> Separation | None:
    if "separation" not in top.values:
        return None
    entry = top.table("separation")
    entry.only("clause", "walled", "open")
    for key in ("walled", "open"):
        if entry.text(key) not in parts.tables:
            raise entry.wrong(key, f"a table: {', '.join(sorted(parts.tables))}", repr(entry.text(key)))
    clause = parts.clause(entry, "clause", entry.text("clause"))
    return Separation(clause, entry.text("walled"), entry.text("open"))
