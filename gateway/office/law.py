"""What the office reads from files once: the list of facts, the statutes that a depot is held against, its forms."""

from collections.abc import Mapping
from dataclasses import dataclass

from compliance import catalogue, statutes
from compliance.catalogue import Catalogue
from compliance.registers.forms import Form
from compliance.statutes import HOUSE
from compliance.vocabulary import Statute
from gateway.depot import Depot
from gateway.office.forms import forms


@dataclass(frozen=True, slots=True)
class Law:
    """Of a depot with the same `laws` it is the same."""

    catalogue: Catalogue
    statutes: tuple[Statute, ...]
    forms: Mapping[str, Form]


def law_of(depot: Depot) -> Law:
    """Read everything.

    Raises:
        StatuteError: a statute that was shipped is none.
    """
    facts = catalogue.load()
    named = dict.fromkeys((*depot.laws, HOUSE))
    return Law(facts, tuple(statutes.load(name, catalogue=facts) for name in named), forms())
