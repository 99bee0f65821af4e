"""The clauses of each law against the list of its text that a person made by hand."""

import re
from pathlib import Path

import pytest

from compliance import statutes
from compliance.vocabulary import Clause, StatuteKind

LISTS = sorted((Path(__file__).parent.parent / "law" / "locators").glob("*.txt"))


@pytest.mark.parametrize("file", LISTS, ids=lambda file: str(file.stem))
def test_every_clause_of_the_text_has_an_entry_and_no_entry_is_invented(file: Path) -> None:
    """The list is made by hand from the text itself; its name begins the statute's."""
    law = next(name for name in statutes.names() if name.startswith(file.stem))
    read = [line.strip() for line in file.read_text("utf-8").splitlines() if line.strip() and not line.startswith("#")]
    entered = [_located(clause) for clause in statutes.load(law).clauses]

    assert sorted(entered) == sorted(read)


def test_every_text_was_listed_by_hand() -> None:
    listed = tuple(file.stem for file in LISTS)
    texts = [name for name in statutes.names() if statutes.load(name).kind is not StatuteKind.REFERENCE]

    assert [name for name in texts if not name.startswith(listed)] == []


def test_the_reading_of_each_ambiguity_met_is_told() -> None:
    for law, prefix, last in (("paraiba-9427-2011", "PB", 19), ("campina-grande-do-sul-15-2002", "CG", 15)):
        statute = statutes.load(law)
        told = [clause.ambiguity for clause in statute.clauses if clause.ambiguity] + list(statute.doubts)
        for words in zip(*told, strict=True):
            met = {int(number) for text in words for number in re.findall(rf"{prefix}-(\d+)", text)}
            assert met == set(range(1, last + 1)), law


def test_the_reference_never_passes_for_a_law() -> None:
    reference = statutes.load("nbr-15514-2020-reference")

    assert reference.kind is StatuteKind.REFERENCE
    assert "não é esta lei" in reference.citation
    assert "não é esta lei" in reference.doubts[0].pt
    assert "not this law" in reference.doubts[0].en
    assert all(rule.text.pt.startswith("Referência NBR: ") for rule in reference.rules)
    assert all(rule.text.en.startswith("NBR reference: ") for rule in reference.rules)


def test_numbers_that_campina_does_not_print_say_where_they_come_from() -> None:
    law = statutes.load("campina-grande-do-sul-15-2002")
    borrowed = [law.tables["signs"].provenance, law.figures["passage_m"].provenance, law.figures["near_m"].provenance]

    assert all(borrowed)


def test_paraiba_tells_that_the_day_of_its_republication_is_unknown() -> None:
    first = statutes.load("paraiba-9427-2011").doubts[0]

    assert "republicada" in first.pt
    assert "republished" in first.en


def _located(clause: Clause) -> str:
    return f"{clause.locator} (até {clause.period.until})" if clause.period.until else clause.locator
