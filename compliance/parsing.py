"""Turns tables of a statute's file into conditions and terms, each fact checked against the list of facts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from compliance.catalogue import Catalogue
from compliance.conditionwords import CONDITIONS
from compliance.entries import Entries
from compliance.grammar import ALWAYS, Condition, Constant, Term
from compliance.places import Place, operator
from compliance.termwords import TERMS
from compliance.vocabulary import Figure, NamedCondition

__all__ = ["CONDITIONS", "TERMS", "Grammar", "Place"]


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
        table, word = operator(value, CONDITIONS, place)
        return CONDITIONS[word](self, table, place.at(word))

    def term(self, value: object, place: Place) -> Term:
        """Return a term.

        Raises:
            StatuteError: if it is none, or names something that is not there.
        """
        if isinstance(value, date) and not isinstance(value, datetime):
            return Constant(float(value.toordinal()), "day")
        if isinstance(value, int | float) and not isinstance(value, bool):
            return Constant(float(value))
        table, word = operator(value, TERMS, place)
        return TERMS[word](self, table, place.at(word))
