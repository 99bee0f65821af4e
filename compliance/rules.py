"""Reads what a statute's file asks: its named conditions, its rules, whom it exempts, what it counts as one."""

from compliance.entries import Entries
from compliance.parsing import Grammar, Place
from compliance.provisions import Provisions
from compliance.vocabulary import Exemption, MarginOf, NamedCondition, Rule, Separation, Severity


def conditions(top: Entries, grammar: Grammar) -> dict[str, NamedCondition]:
    """Return the named conditions; each may use those above it."""
    found: dict[str, NamedCondition] = {}
    for entry in top.listed("condition"):
        entry.only("id", "each", "that")
        name = entry.text("id")
        if name in found:
            raise entry.wrong("id", "an id of its own, which stands once", repr(name))
        if "that" not in entry.values:
            raise entry.wrong("that", "a condition", "nothing")
        kind = _kind(entry, grammar)
        so_far = Grammar(grammar.catalogue, grammar.tables, grammar.classes, grammar.figures, found)
        found[name] = NamedCondition(name, kind, so_far.condition_of(entry, "that", kind))
    return found


def _kind(entry: Entries, grammar: Grammar) -> str:
    kind = entry.text("each")
    if kind not in grammar.catalogue.kinds:
        raise entry.wrong(
            "each", "a kind of thing: {known}", repr(kind), known=", ".join(sorted(grammar.catalogue.kinds))
        )
    return kind


def rule(entry: Entries, grammar: Grammar, laid: Provisions) -> Rule:
    """Return a rule."""
    entry.only(
        "id", "clause", "also", "each", "applies", "requires", "margin", "severity", "text", "remedy", "from", "until",
        "exempt", "all_year",
    )  # fmt: skip
    kind = _kind(entry, grammar)
    if "requires" not in entry.values:
        raise entry.wrong("requires", "a condition", "nothing")
    return Rule(
        id=entry.text("id"),
        clause=laid.clause(entry, "clause", entry.text("clause")),
        also=tuple(laid.clause(entry, "also", locator) for locator in entry.texts("also")),
        each=kind,
        applies=grammar.condition_of(entry, "applies", kind),
        requires=grammar.condition_of(entry, "requires", kind),
        margin=_margin(entry, grammar, kind),
        severity=entry.choice("severity", Severity),
        text=entry.words("text"),
        remedy=entry.words("remedy"),
        period=entry.period(),
        exempt=entry.flag("exempt", default=True),
        all_year=entry.flag("all_year", default=False),
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


def exemption(top: Entries, grammar: Grammar, laid: Provisions) -> Exemption | None:
    """Return whom the statute's rules do not reach; None: they reach all."""
    if "exemption" not in top.values:
        return None
    entry = top.table("exemption")
    entry.only("clause", "when")
    if "when" not in entry.values:
        raise entry.wrong("when", "a condition", "nothing")
    clause = laid.clause(entry, "clause", entry.text("clause"))
    return Exemption(clause, grammar.condition_of(entry, "when", "area"))


def separation(top: Entries, laid: Provisions) -> Separation | None:
    """Return what makes areas one; None: nothing does."""
    if "separation" not in top.values:
        return None
    entry = top.table("separation")
    entry.only("clause", "walled", "open")
    for key in ("walled", "open"):
        if entry.text(key) not in laid.tables:
            raise entry.wrong(key, "a table: {known}", repr(entry.text(key)), known=", ".join(sorted(laid.tables)))
    clause = laid.clause(entry, "clause", entry.text("clause"))
    return Separation(clause, entry.text("walled"), entry.text("open"))
