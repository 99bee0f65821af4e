"""The closed list of facts a rule may use, read from ``facts/*.toml``: one file for each kind of thing.

A fact outside this list is refused, in a rule as in a register: what nobody can answer must not be asked.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import Enum
from importlib import resources
from importlib.resources.abc import Traversable
from math import inf

from compliance.entries import Entries, StatuteError, read
from compliance.registers.cells import Alone
from compliance.vocabulary import Value, Words


class Type(Enum):
    """What a fact's value is."""

    NUMBER = "number"
    INTEGER = "integer"
    DATE = "date"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    TEXT = "text"


class Source(Enum):
    """Where a fact comes from."""

    REGISTER = "register"
    LIVE = "live"
    SURVEY = "survey"
    CHECKLIST = "checklist"
    DOCUMENT = "document"
    CONFIGURATION = "configuration"
    DERIVED = "derived"


NUMBERS = {
    Type.NUMBER: ("a number", "a number from {least} up", "a number from {least} to {most}"),
    Type.INTEGER: ("a whole number", "a whole number from {least} up", "a whole number from {least} to {most}"),
}
"""What a number must be, by how many of its bounds are known."""


@dataclass(frozen=True, slots=True)
class FactType:
    """One fact of the list.

    Attributes:
        least, most: the range of a number; without an end where infinite.
        label: a short heading for a column or a field; ask: the question that a survey or checklist puts.
        words: what a choice is called.
        renew_days: an answer older than this is unknown again.
        needed: a register's entry must have it when the thing is first told of.
        alone: of a date, which day a month or a year alone means; None where the day must be told.
        years_ahead: of a date, how many years after it is told it may lie at most: farther off, the year is a slip.
    """

    kind: str
    name: str
    type: Type
    source: Source
    choices: tuple[str, ...] = ()
    least: float = -inf
    most: float = inf
    label: Words | None = None
    ask: Words | None = None
    words: Mapping[str, Words] = field(default_factory=dict, hash=False)
    renew_days: int | None = None
    needed: bool = False
    alone: Alone | None = None
    years_ahead: int | None = None

    def asked_for(self) -> tuple[str, dict[str, str]]:
        """Return what a value must be, in words, and what fills in their `{name}`s."""
        match self.type:
            case Type.CHOICE:
                return "one of {known}", {"known": ", ".join(self.choices)}
            case Type.NUMBER | Type.INTEGER:
                known = 0 if self.least == -inf else 1 if self.most == inf else 2
                return NUMBERS[self.type][known], {"least": f"{self.least:g}", "most": f"{self.most:g}"}
            case Type.BOOLEAN:
                return "true or false", {}
            case Type.DATE:
                return "a date such as 2013-11-11", {}
            case Type.TEXT:
                return "text", {}

    def takes(self, value: Value) -> bool:
        """Tell whether a value is of this type and range."""
        match self.type:
            case Type.NUMBER:
                return isinstance(value, (int, float)) and self._within(value)
            case Type.TEXT | Type.CHOICE:
                return isinstance(value, str) and (value in self.choices if self.choices else bool(value))
            case Type.BOOLEAN:
                return isinstance(value, bool)
            case Type.DATE:
                return isinstance(value, date) and not isinstance(value, datetime)
            case Type.INTEGER:
                return isinstance(value, int) and self._within(value)

    def _within(self, value: float) -> bool:
        return not isinstance(value, bool) and self.least <= value <= self.most

    def expires(self, effective: date) -> float:
        """Return the first day (ordinal) on which an answer of that day is unknown again."""
        return inf if self.renew_days is None else effective.toordinal() + self.renew_days + 1.0


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All facts, by kind of thing and name."""

    kinds: Mapping[str, Mapping[str, FactType]] = field(hash=False)

    def facts(self, kind: str) -> tuple[FactType, ...]:
        """Return the facts of a kind of thing, in the order of its file."""
        return tuple(self.kinds.get(kind, {}).values())

    def find(self, kind: str, name: str) -> FactType | None:
        """Return a fact, or None if the list has none of that name."""
        named = self.kinds.get(kind)
        return None if named is None else named.get(name)


LABELLED = (Source.REGISTER, Source.DOCUMENT, Source.SURVEY, Source.CHECKLIST)
"""What people fill in, and so needs a heading."""

LISTED = "listed"
"""A fact of every thing: false from the day it is no longer there."""

STILL_THERE = Words("Ainda no depósito", "Still in the depot")


def register_of(kind: str) -> str:
    """Return the fact that says that all things of a kind are registered: ``extinguishers_listed``."""
    return f"{kind.replace('-', '_')}s_listed"


def load(folder: Traversable | None = None) -> Catalogue:
    """Read the list.

    Raises:
        StatuteError: if a file is not as it should be.
    """
    place = folder or resources.files("compliance") / "facts"
    files = sorted(entry.name for entry in place.iterdir() if entry.name.endswith(".toml"))
    kinds = {file.removesuffix(".toml"): _kind(read(place, file)) for file in files}
    _derive(kinds)
    for kind in [*kinds]:
        kinds[kind].setdefault(LISTED, FactType(kind, LISTED, Type.BOOLEAN, Source.REGISTER, label=STILL_THERE))
        name = register_of(kind)
        whole = kinds.get("depot", {}).get(name)
        for holder in ("depot", "area", "lot"):
            if holder in kinds and kind not in ("depot", "area"):
                label = None if whole is None else whole.label
                kinds[holder].setdefault(name, FactType(holder, name, Type.BOOLEAN, Source.REGISTER, label=label))
    return Catalogue(kinds)


def _derive(kinds: Mapping[str, dict[str, FactType]]) -> None:
    """Add what follows from other facts; the terms themselves are the statutes' loader's to read."""
    for entry in derived().listed("derived"):
        kind, name = entry.text("kind"), entry.text("name")
        if kind in kinds:
            kinds[kind][name] = FactType(kind, name, Type.NUMBER, Source.DERIVED, least=0.0)


def derived() -> Entries:
    """Return the file of facts that follow from others."""
    return read(resources.files("compliance"), "derived.toml")


FIELDS = (
    "name", "type", "choices", "least", "most", "source", "label", "ask", "words", "renew_days", "needed", "alone",
    "years_ahead",
)  # fmt: skip


def _kind(top: Entries) -> dict[str, FactType]:
    top.only("fact")
    found: dict[str, FactType] = {}
    for entry in top.listed("fact"):
        fact = _fact(entry, top.file.removesuffix(".toml"))
        if fact.name in found:
            raise StatuteError(top.file, entry.name, "each fact once", "it stands twice")
        found[fact.name] = fact
    return found


def _fact(entry: Entries, kind: str) -> FactType:
    entry.only(*FIELDS)
    type_, source = entry.choice("type", Type), entry.choice("source", Source)
    choices, label = entry.texts("choices"), entry.words_or_none("label")
    if bool(choices) != (type_ is Type.CHOICE):
        raise entry.wrong("choices", "words for a choice, and only for it", ", ".join(choices) or "nothing")
    if label is None and source in LABELLED:
        raise entry.wrong("label", "a heading of at most 40 characters", "nothing")
    for key in ("alone", "years_ahead"):
        if key in entry.values and type_ is not Type.DATE:
            raise entry.wrong(key, "only of a date", repr(entry.values[key]))
    days, years = entry.number("renew_days"), entry.number("years_ahead")
    least, most = (_bound(entry, key, open_end) for key, open_end in (("least", -inf), ("most", inf)))
    return FactType(
        kind=kind,
        name=entry.text("name"),
        type=type_,
        source=source,
        choices=choices,
        least=least,
        most=most,
        label=label,
        ask=entry.words_or_none("ask"),
        words=_words(entry, choices),
        renew_days=None if days is None else int(days),
        needed=entry.flag("needed", default=False),
        alone=entry.choice("alone", Alone) if "alone" in entry.values else None,
        years_ahead=None if years is None else int(years),
    )


def _words(entry: Entries, choices: tuple[str, ...]) -> dict[str, Words]:
    if "words" not in entry.values:
        return {}
    both = entry.table("words")
    both.only("pt", "en")
    tables = both.table("pt"), both.table("en")
    for table in tables:
        table.only(*choices)
    return {choice: Words(*(table.text(choice) for table in tables)) for choice in choices}


def _bound(entry: Entries, key: str, otherwise: float) -> float:
    value = entry.values.get(key, otherwise)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise entry.wrong(key, "a number", repr(value))
    return float(value)
