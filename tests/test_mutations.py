"""The deliberate bugs still fit the code they are put into; that each is caught is a soak (`tests/mutations.py`)."""

from pathlib import Path

import pytest
from mutations import ROOT, SWARM, Mutation, caught, mutated, mutations

ALL = mutations()


def test_there_are_ten_and_more_each_with_a_name_of_its_own() -> None:
    assert len(ALL) >= 10 and len({mutation.name for mutation in ALL}) == len(ALL)


@pytest.mark.parametrize("mutation", ALL, ids=lambda each: each.name)
def test_a_deliberate_bug_finds_its_place_once_and_is_python(mutation: Mutation) -> None:
    text = (ROOT / mutation.file).read_text(encoding="utf-8")
    compile(mutated(mutation, text), mutation.file, "exec")
    assert mutation.by == SWARM or Path(ROOT / mutation.by.partition("::")[0]).exists()


@pytest.mark.soak
@pytest.mark.parametrize("mutation", ALL, ids=lambda each: each.name)
def test_a_deliberate_bug_is_caught(mutation: Mutation) -> None:
    found, by = caught(mutation)
    assert found, by
