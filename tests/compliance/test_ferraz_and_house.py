"""The law of Ferraz de Vasconcelos and the house rule: their cases leave no rule out, and their words tell every doubt."""

import re
from collections import defaultdict

import pytest
from law_cases import CASES, cases

from compliance import statutes
from compliance.vocabulary import Mode, Verdict

FERRAZ, HOUSE = "ferraz-de-vasconcelos-3190-2013", "house"
THREE = {Verdict.COMPLIANT, Verdict.VIOLATED, Verdict.UNDETERMINED}
NEVER_BROKEN = {"ferraz-6-5-measured"}
"""Rules that only ask for a measure: what is not measured is open, not broken."""


@pytest.mark.parametrize(("law", "files"), [(FERRAZ, "ferraz-*.toml"), (HOUSE, "house-*.toml")])
def test_each_rule_has_a_case_kept_one_broken_and_one_open(law: str, files: str) -> None:
    shown: dict[str, set[Verdict]] = defaultdict(set)
    for file in CASES.glob(files):
        for case in cases(file):
            for expected in case.expect:
                shown[expected["rule"]].add(Verdict(expected["verdict"]))
    lacking = {
        rule.id: sorted(verdict.value for verdict in missing)
        for rule in statutes.load(law).rules
        if (missing := THREE - shown[rule.id] - ({Verdict.VIOLATED} if rule.id in NEVER_BROKEN else set()))
    }

    assert lacking == {}


def test_every_doubt_about_ferraz_is_told_in_both_languages() -> None:
    told = [clause.ambiguity for clause in statutes.load(FERRAZ).clauses if clause.ambiguity is not None]
    for words in ([each.pt for each in told], [each.en for each in told]):
        assert {int(number) for text in words for number in re.findall(r"FV-(\d+)", text)} == set(range(1, 27))


def test_numbers_that_are_not_in_the_published_text_say_where_they_come_from() -> None:
    law = statutes.load(FERRAZ)
    distances = [table for name, table in law.tables.items() if name.startswith("distance_")]

    assert len(distances) == 6
    assert all(table.provenance is not None and "Campina Grande do Sul" in table.provenance.en for table in distances)
    assert law.figures["fire_wall_above_stack_m"].provenance is not None
    assert law.figures["own_use_count"].provenance is not None


def test_the_house_never_passes_for_a_law() -> None:
    house = statutes.load(HOUSE)

    assert all(clause.locator.startswith("regra da casa ") for clause in house.clauses)
    assert all(clause.mode is not Mode.OUT_OF_SCOPE for clause in house.clauses)
    assert all(table.provenance is not None for table in house.tables.values())
