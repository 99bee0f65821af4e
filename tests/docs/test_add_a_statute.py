"""The page on statutes is true: its example judges as it says, its error is the one that comes, its words exist."""

import re
from pathlib import Path

import pytest
from law_cases import Case, cases

from compliance import parsing, statutes
from compliance.statutes import StatuteError

PAGE = (Path(__file__).parents[2] / "docs" / "add-a-statute.md").read_text("utf-8")
STATUTE, CASE = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
(ERROR,) = re.findall(r"```text\n(.*?)\n```", PAGE, re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "exemplo-1-2026.toml").write_text(STATUTE, "utf-8")
    return tmp_path


def test_the_example_is_judged_as_its_case_says(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "case.toml"
    file.write_text(CASE, "utf-8")
    read = cases(file)

    assert len(read) == 3
    for case in read:
        assert list(told(case, folder)) == []


def told(case: Case, folder: Path) -> list[str]:
    return list(case.complaints(folder))


def test_the_error_is_the_one_that_comes(folder: Path) -> None:
    file = folder / "exemplo-1-2026.toml"
    file.write_text(STATUTE.replace('fact = "charge_kg"', 'fact = "powder_kg"'), "utf-8")

    with pytest.raises(StatuteError) as refused:
        statutes.load("exemplo-1-2026", folder)
    assert str(refused.value) == ERROR


@pytest.mark.parametrize("word", sorted({*parsing.CONDITIONS, *parsing.TERMS}))
def test_every_operator_stands_on_the_page(word: str) -> None:
    assert f"{{ {word} = " in PAGE


def test_every_operator_on_the_page_exists() -> None:
    known = {*parsing.CONDITIONS, *parsing.TERMS}
    body = PAGE.split("## Conditions")[1].split("## The rest")[0]

    assert set(re.findall(r"`\{ (\w+) = ", body)) <= known
