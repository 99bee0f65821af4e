"""Every rule of every law has a case that is kept, one that is broken and one that is open."""

from collections import defaultdict

import pytest
from law_cases import CASES, cases

from compliance import statutes
from compliance.vocabulary import Verdict

SHOWN = (Verdict.COMPLIANT, Verdict.VIOLATED, Verdict.UNDETERMINED)
NEVER = {
    ("campina-16-adapted", Verdict.VIOLATED),
    ("campina-16-adapted", Verdict.UNDETERMINED),
    ("ferraz-6-5-measured", Verdict.VIOLATED),
}
"""A reminder in force only until its own last day: there is nothing to break before it and no rule after. A distance
that nobody measured leaves open whether areas are one; it breaks nothing."""


@pytest.mark.parametrize("law", statutes.names())
def test_every_rule_is_shown_kept_broken_and_undetermined(law: str) -> None:
    shown = defaultdict(set)
    for file in CASES.glob("*.toml"):
        for case in cases(file):
            if case.law == law:
                for expected in case.expect:
                    shown[expected["rule"]].add(Verdict(expected["verdict"]))
    lacking = [
        f"{rule.id}: no case that is {verdict.value}"
        for rule in statutes.load(law).rules
        for verdict in SHOWN
        if verdict not in shown[rule.id] and (rule.id, verdict) not in NEVER
    ]

    assert not lacking, "\n".join(lacking)
