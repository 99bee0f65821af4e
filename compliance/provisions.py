"""Reads what a statute's file lays down before any rule: clauses, classes, tables, figures, the duty to detect."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compliance.entries import Entries
from compliance.vocabulary import Clause, Detection, Figure, Mode, Period, Scheme, StorageClass, Table


@dataclass(frozen=True, slots=True)
class Provisions:
    """What rules refer to, read before them."""

    clauses: Sequence[Clause]
    schemes: tuple[Scheme, ...]
    tables: Mapping[str, Table]
    figures: Mapping[str, Figure]
    detection: Detection | None

    @classmethod
    def of(cls, top: Entries) -> "Provisions":
        """Read them.

        Raises:
            StatuteError: if one is not as it should be.
        """
        clauses = [_clause(entry) for entry in top.listed("clause")]
        _apart(top, "clause", [(each.locator, each.period) for each in clauses])
        schemes = _schemes(top)
        tables = _tables(top, schemes)
        detection = _detection(top.table("detection"), schemes) if "detection" in top.values else None
        figures = {**_figures(top), **_detection_figures(detection)}
        return cls(clauses, schemes, tables, figures, detection)

    @property
    def class_names(self) -> frozenset[str]:
        """The names of all classes of all schemes."""
        return frozenset(each.name for scheme in self.schemes for each in scheme.classes)

    def clause(self, entry: Entries, key: str, locator: str) -> str:
        """Return a locator that has a clause."""
        if all(clause.locator != locator for clause in self.clauses):
            raise entry.wrong(key, "the locator of a clause in this file", repr(locator))
        return locator


def once(top: Entries, table: str, names: Sequence[str]) -> None:
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


# --- the parts ------------------------------------------------------------------------------------


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
    once(top, "scheme", [scheme.id for scheme in found])
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
            raise entry.wrong("id", "an id of its own, which stands once", repr(name))
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
        raise entry.wrong("scheme", "one of {known}", repr(name), known=", ".join(ids))
    return schemes[ids.index(name)]


def _figures(top: Entries) -> dict[str, Figure]:
    found: dict[str, Figure] = {}
    for entry in top.listed("figure"):
        entry.only("id", "value", "unit", "clause", "provenance")
        name = entry.text("id")
        if name in found:
            raise entry.wrong("id", "an id of its own, which stands once", repr(name))
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
