"""Facts of depots for the tests of the judge, told in few words."""

from collections.abc import Iterable
from datetime import date
from functools import cache
from pathlib import Path

from compliance import catalogue, statutes
from compliance.catalogue import Catalogue
from compliance.evaluate import evaluate
from compliance.situation import Situation
from compliance.vocabulary import DEPOT, Fact, Finding, Statute, Subject, Value

ON = date(2026, 2, 2)
SOUND = {"agent": "powder-bc", "charge_until": date(2026, 5, 1), "inspected_on": date(2026, 1, 1)}
LISTED = ("containers_listed", "extinguishers_listed", "detectors_listed", "lots_listed", "notices_listed")


@cache
def known_facts() -> Catalogue:
    return catalogue.load()


@cache
def sample() -> Statute:
    return statutes.load("sample-law", Path(__file__).parent / "compliance", known_facts())


def thing(kind: str, id_: str, /, effective: date = ON, **facts: Value | None) -> list[Fact]:
    return [Fact(Subject(kind, id_), name, value, effective) for name, value in facts.items()]


def depot(**facts: Value) -> list[Fact]:
    told = {**dict.fromkeys(LISTED, True), **facts}
    return [Fact(DEPOT, name, value, ON) for name, value in told.items()]


def findings(facts: Iterable[Fact], on: date = ON, law: Statute | None = None) -> dict[tuple[str, str], Finding]:
    judged = evaluate(law or sample(), Situation.of(facts, known_facts(), on), on)
    return {(finding.rule.id, str(finding.subject)): finding for finding in judged}
