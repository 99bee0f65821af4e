"""What no law may do, whatever the facts: find unknown compliant, or a depot better for more stock or less powder."""

import random
from collections.abc import Iterable
from datetime import date, timedelta
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st
from law_depots import ON, known_facts, sample, thing

from compliance import statutes
from compliance.catalogue import LISTED, FactType, Source, Type
from compliance.evaluate import evaluate
from compliance.grammar import Every, Group
from compliance.situation import Situation
from compliance.vocabulary import DEPOT, Fact, Finding, Rule, Statute, Subject, Value, Verdict

AREAS = ("patio", "fundos")
FEW = {"container": 3, "extinguisher": 3, "detector": 2, "lot": 1, "output": 1}
"""How many of each kind at most; of every other kind one."""

OPTIONAL = {"stack_levels", "stack_height_m", "plate_until", "requalified_on", "rejected"}
"""Facts that a rule asks whether they are known: another answer carries the rule, and where told they only accuse."""

ONE_AREA = {"ferraz-5-one-area", "house-24-one-area"}
"""Rules on how many areas there are, which the configuration lists in full."""

STOCKED = {"container", "extinguisher", "detector", "lot", "output"}
"""Within what hangs on these, more stock never helps."""


@cache
def laws() -> tuple[Statute, ...]:
    return (sample(), *(law for law in statutes.load_all(catalogue=known_facts()) if law.rules))


NUMBERS = [0, 1, 2, 4, 8, 10, 12, 13, 24, 45, 65, 96, 520, 1560, 6240, 30000]
COUNTS = [1, 2, 5, 20, 40, 80, 120, 300]


def value(fact: FactType, chance: random.Random) -> Value:
    """Choose a value, near the limits of laws."""
    if fact.name in ("area", "one", "other"):
        return chance.choice(AREAS)
    match fact.type:
        case Type.BOOLEAN:
            return chance.random() < 0.8
        case Type.CHOICE:
            return chance.choice(fact.choices)
        case Type.TEXT:
            return chance.choice("xy")
        case Type.DATE:
            return ON + timedelta(days=chance.randint(-400, 800))
        case Type.INTEGER | Type.NUMBER:
            return chance.choice(
                [each for each in (COUNTS if fact.type is Type.INTEGER else NUMBERS) if fact.takes(each)]
            )


def depot_of(seed: int) -> list[Fact]:
    """Facts of a depot with one area or two; any fact may be missing."""
    chance = random.Random(seed)
    told: list[Fact] = []
    share = chance.choice([0.5, 0.8, 0.95, 1.0])
    for kind, facts in known_facts().kinds.items():
        names = [f"{kind}-{number}" for number in range(chance.randint(0, FEW.get(kind, 1)))]
        names = ["depot"] if kind == "depot" else AREAS[: chance.randint(1, 2)] if kind == "area" else names
        told += [
            Fact(Subject(kind, name), fact.name, value(fact, chance), ON)
            for name in names
            for fact in facts.values()
            if fact.name != LISTED and fact.source is not Source.DERIVED and chance.random() < share
        ]
    return told


SEEDS = st.integers(0, 2**32)


@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_what_was_judged_for_one_law_or_day_changes_nothing_for_another(seed: int) -> None:
    facts = depot_of(seed)
    told = Situation.of(facts, known_facts(), ON)
    days = (ON, ON + timedelta(days=200), ON)

    shared = [evaluate(law, told, on) for on in days for law in laws()]
    alone = [evaluate(law, Situation.of(facts, known_facts(), ON), on) for on in days for law in laws()]
    assert shared == alone


def judged(facts: Iterable[Fact]) -> dict[tuple[str, str], Verdict]:
    return {(each.rule.id, str(each.subject)): each.verdict for each in all_findings(facts)}


def all_findings(facts: Iterable[Fact]) -> list[Finding]:
    told = Situation.of(facts, known_facts(), ON)
    return [finding for law in laws() for finding in evaluate(law, told, ON)]


OPEN = (Verdict.UNDETERMINED, Verdict.VIOLATED)


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.data())
def test_forgetting_a_fact_never_makes_compliant(seed: int, data: st.DataObject) -> None:
    facts = depot_of(seed)
    before = judged(facts)
    forgotten = data.draw(st.sampled_from([fact for fact in facts if fact.name not in OPTIONAL]))
    after = judged(fact for fact in facts if fact is not forgotten)

    improved = {
        key: forgotten
        for key in before.keys() & after.keys()
        if before[key] in OPEN and after[key] is Verdict.COMPLIANT
    }
    assert not improved


@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_the_order_of_the_facts_changes_nothing(seed: int) -> None:
    facts = depot_of(seed)
    shuffled = facts[:]
    random.Random(1).shuffle(shuffled)

    assert all_findings(facts) == all_findings(shuffled) == all_findings(facts)


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.sampled_from(AREAS), st.sampled_from([2, 13, 45]), st.sampled_from([1, 5, 41, 121, 481, 8000]))
def test_adding_stock_never_improves_a_verdict(seed: int, area: str, size: int, count: int) -> None:
    facts = depot_of(seed)
    told = {
        fact.name: "full" if fact.name == "state" else fact.value for fact in facts if fact.subject.kind == "container"
    }
    more = thing("container", "more", **{**told, "area": area, "size_kg": size, "count": count})

    assert not improved(facts, [*facts, *more])


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.integers(0, 2))
def test_removing_an_extinguisher_never_improves_a_verdict(seed: int, number: int) -> None:
    facts = depot_of(seed)
    gone = Fact(Subject("extinguisher", f"extinguisher-{number}"), LISTED, value=False, effective=ON)

    assert not improved(facts, [*facts, gone])


def improved(facts: list[Fact], changed: list[Fact]) -> dict[tuple[str, str, frozenset[str]], tuple[Verdict, Verdict]]:
    """Compare the worst verdict of each law on each area, over the rules that speak of the same things.

    A rule for one class hands over to that of the next when stock grows; together they must not get better.
    """
    before, after = worst(facts), worst(changed)
    return {key: (before[key], after[key]) for key in before if before[key].worse_than(after[key])}


def worst(facts: list[Fact]) -> dict[tuple[str, str, frozenset[str]], Verdict]:
    found: dict[tuple[str, str, frozenset[str]], Verdict] = {}
    for finding in all_findings(facts):
        kinds = used()[finding.rule.id]
        if finding.rule.each == "area" and kinds and kinds <= STOCKED:
            key = (finding.statute, str(finding.subject), kinds)
            if key not in found or finding.verdict.worse_than(found[key]):
                found[key] = finding.verdict
    return found


@cache
def used() -> dict[str, frozenset[str]]:
    return {rule.id: used_by(rule) for law in laws() for rule in law.rules}


def used_by(rule: Rule) -> frozenset[str]:
    """The kinds of things that a rule's requirement runs over; none where it asks something of each extinguisher.

    To take away one that hangs in a wrong place does mend what is asked of every place.
    """
    found: set[str] = set()

    def walk(node: object) -> None:
        if isinstance(node, Every) and node.group.kind == "extinguisher":
            found.add("each extinguisher")
        if isinstance(node, Group):
            found.add(node.kind)
        if hasattr(node, "__dataclass_fields__"):
            for name in node.__dataclass_fields__:
                walk(getattr(node, name))
        elif isinstance(node, tuple):
            for each in node:
                walk(each)

    walk(rule.requires)
    return frozenset(found)


def test_a_depot_of_which_nothing_is_known_is_never_compliant() -> None:
    facts = [*thing("area", "patio", use="resale"), Fact(DEPOT, "sells_lpg", value=True, effective=date(2020, 1, 1))]

    compliant = {rule for (rule, _), verdict in judged(facts).items() if verdict is Verdict.COMPLIANT}
    assert compliant <= ONE_AREA
