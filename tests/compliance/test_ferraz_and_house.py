"""What Ferraz and the house rule tell of their own doubts and borrowed numbers."""

import re

from compliance import statutes
from compliance.vocabulary import Mode

FERRAZ, HOUSE = "ferraz-de-vasconcelos-3190-2013", "house"


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
