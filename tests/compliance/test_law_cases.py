"""Every case under tests/law comes out as it says."""

import pytest
from law_cases import CASES, Case, cases

FILES = sorted(CASES.glob("*.toml"))
ALL = [pytest.param(case, id=f"{file.stem}: {case.title}") for file in FILES for case in cases(file)]


@pytest.mark.parametrize("case", ALL)
def test_the_law_says_what_the_case_expects(case: Case) -> None:
    complaints = list(case.complaints())

    assert not complaints, "\n".join(("", case.title, *complaints))
