"""Rules held against facts, each as an inspector would count: what is known, what is open, by what margin."""

from datetime import UTC, date, datetime

import pytest
from law_depots import ON, SOUND, depot, findings, known_facts, sample, thing

from compliance.evaluate import evaluate
from compliance.situation import FactError, Situation
from compliance.vocabulary import DEPOT, Fact, Margin, Subject, Verdict

PATIO = thing("area", "patio", licensed_kg=1560, use="resale", boundary_walled=True)


def verdict(facts: list[Fact], rule: str, subject: str = "area:patio", on: date = ON) -> Verdict:
    return findings(facts, on)[f"sample-{rule}", subject].verdict


def powder(*kg: float) -> list[Fact]:
    return [
        fact
        for n, each in enumerate(kg)
        for fact in thing("extinguisher", f"E{n}", area="patio", charge_kg=each, **SOUND)
    ]


def test_stock_counts_full_part_used_and_empty_containers_of_every_size() -> None:
    stock = [
        *thing("container", "a", area="patio", size_kg=13, count=80, state="full"),
        *thing("container", "b", area="patio", size_kg=13, count=20, state="empty"),
        *thing("container", "c", area="patio", size_kg=45, count=5, state="part-used"),
    ]
    found = findings([*depot(), *PATIO, *stock])["sample-stock", "area:patio"]

    assert (found.verdict, found.margin) == (Verdict.COMPLIANT, Margin(35, 35, "kg"))


@pytest.mark.parametrize(("count", "expected"), [(120, Verdict.COMPLIANT), (121, Verdict.VIOLATED)])
def test_a_hundred_and_twenty_p13_fit_class_two(count: int, expected: Verdict) -> None:
    assert (
        verdict([*depot(), *PATIO, *thing("container", "a", area="patio", size_kg=13, count=count)], "stock")
        is expected
    )


def test_stock_that_is_not_all_registered_is_at_least_what_is_known() -> None:
    stock = thing("container", "a", area="patio", size_kg=13, count=100)
    unlisted = depot(containers_listed=False)

    assert verdict([*unlisted, *PATIO, *stock], "stock") is Verdict.UNDETERMINED
    assert verdict(
        [*unlisted, *PATIO, *stock, *thing("container", "b", area="patio", size_kg=13, count=21)], "stock"
    ) is (Verdict.VIOLATED)


def test_a_container_of_unknown_area_may_lie_in_any() -> None:
    stock = [
        *thing("container", "a", area="patio", size_kg=13, count=100),
        *thing("container", "b", size_kg=13, count=30),
    ]

    assert verdict([*depot(), *PATIO, *stock], "stock") is Verdict.UNDETERMINED


def test_only_extinguishers_valid_that_day_count_and_the_margin_names_the_day_it_falls() -> None:
    found = findings([*depot(), *PATIO, *powder(12, 12, 6)])["sample-powder", "area:patio"]

    assert (found.verdict, found.margin) == (Verdict.COMPLIANT, Margin(6, 6, "kg"))
    assert found.holds_until == date(2026, 5, 2)
    assert verdict([*depot(), *PATIO, *powder(12, 12)], "powder", on=date(2026, 5, 2)) is Verdict.VIOLATED


def test_a_day_that_is_still_to_come_is_followed_to_the_day_on_which_it_is_too_long_ago() -> None:
    sound = {**SOUND, "charge_until": date(2030, 1, 1), "inspected_on": date(2026, 3, 1)}
    facts = [*depot(), *PATIO, *thing("extinguisher", "E", area="patio", charge_kg=24, **sound)]
    found = findings(facts)["sample-powder", "area:patio"]

    assert (found.verdict, found.holds_until) == (Verdict.UNDETERMINED, date(2027, 3, 2))


def test_the_class_follows_the_stock_where_it_is_above_the_licence() -> None:
    stock = thing("container", "a", area="patio", size_kg=13, count=121)

    assert verdict([*depot(), *PATIO, *powder(12, 12)], "powder") is Verdict.COMPLIANT
    assert verdict([*depot(), *PATIO, *powder(12, 12), *stock], "powder") is Verdict.VIOLATED
    assert verdict([*depot(), *PATIO, *powder(12, 12)], "detection") is Verdict.NOT_APPLICABLE
    assert verdict([*depot(), *PATIO, *powder(12, 12), *stock], "detection") is Verdict.VIOLATED


def test_a_missing_fact_is_named_and_leaves_the_rule_open() -> None:
    found = findings([*depot(), *PATIO])["sample-boundary", "area:patio"]

    assert found.verdict is Verdict.UNDETERMINED
    assert [(str(each.subject), each.name) for each in found.missing] == [("area:patio", "distance_walled_limit_m")]


def test_an_answer_that_is_too_old_is_unknown_again() -> None:
    extinguisher = thing("extinguisher", "E", date(2025, 1, 1), area="patio", charge_kg=24, sealed=True, **SOUND)
    facts = Situation.of(extinguisher, known_facts(), ON)

    assert facts.holders["extinguisher"][0].known["sealed"].expires == date(2025, 1, 1).toordinal() + 91


def test_nothing_is_judged_before_the_law_is_in_force() -> None:
    early = date(2019, 12, 31)
    facts = [*thing("area", "patio", early, licensed_kg=1560, use="resale")]

    assert {each.verdict for each in findings(facts, early).values()} == {Verdict.NOT_APPLICABLE}
    assert findings(facts, early)["sample-powder", "area:patio"].holds_until == date(2020, 1, 1)


def test_own_use_of_few_cylinders_is_exempt() -> None:
    own = [
        *thing("area", "patio", licensed_kg=65, use="own-use"),
        *thing("container", "a", area="patio", size_kg=13, count=5),
    ]

    assert verdict([*depot(), *own], "powder") is Verdict.NOT_APPLICABLE
    assert (
        verdict([*depot(), *own, *thing("container", "b", area="patio", size_kg=2, count=1)], "powder")
        is Verdict.VIOLATED
    )
    assert verdict([*depot(), *thing("area", "patio", licensed_kg=65, use="resale")], "powder") is Verdict.VIOLATED


# --- areas that count as one ----------------------------------------------------------------------


def two_areas(distance_m: float | None) -> list[Fact]:
    other = thing("area", "fundos", licensed_kg=1560, use="resale", boundary_walled=True)
    between = [] if distance_m is None else thing("between", "1", one="patio", other="fundos", distance_m=distance_m)
    back = thing("extinguisher", "F", area="fundos", charge_kg=24, **SOUND)
    return [*depot(), *PATIO, *other, *between, *powder(24), *back]


def test_areas_closer_than_the_sum_of_their_boundary_distances_are_judged_as_one() -> None:
    found = findings(two_areas(5.9))["sample-powder", "area:patio"]

    assert (found.verdict, found.together) == (Verdict.VIOLATED, ("fundos", "patio"))
    assert found.margin == Margin(-16, -16, "kg")  # class III asks for 64, both together have 48
    assert findings(two_areas(5.9))["sample-detection", "area:fundos"].verdict is Verdict.VIOLATED
    assert verdict([*two_areas(5.9), *powder(24, 16)], "powder") is Verdict.COMPLIANT


def test_a_merged_area_keeps_the_longer_distance_of_its_higher_class() -> None:
    # 1,560 + 1,560 kg are class III: 5 m, so a third area of class II counts as one with them below 8 m, not below 6 m
    third = thing("area", "lado", licensed_kg=1560, use="resale", boundary_walled=True)
    far = [
        *thing("between", "2", one="patio", other="lado", distance_m=7),
        *thing("between", "3", one="fundos", other="lado", distance_m=50),
    ]

    assert findings([*two_areas(5.9), *third, *far])["sample-powder", "area:lado"].verdict is Verdict.VIOLATED
    assert findings([*two_areas(6), *third, *far])["sample-powder", "area:patio"].together == ("patio",)


def test_an_unmeasured_distance_leaves_open_whether_areas_are_one_and_is_asked_for() -> None:
    found = findings(two_areas(None))["sample-powder", "area:patio"]

    assert found.verdict is Verdict.UNDETERMINED
    assert ("between:fundos|patio", "distance_m") in {(str(each.subject), each.name) for each in found.missing}


def test_areas_far_enough_apart_are_judged_alone() -> None:
    assert findings(two_areas(6))["sample-powder", "area:patio"].verdict is Verdict.COMPLIANT


# --- detection ------------------------------------------------------------------------------------


def head(**facts: object) -> list[Fact]:
    told = {"area": "patio", "watching": True, "set_point_lel_pct": 10, "certified_s": 2.4, **facts}
    return thing("detector", "GD-1", **{name: value for name, value in told.items() if value is not None})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({}, Verdict.COMPLIANT),
        ({"set_point_lel_pct": 10.1}, Verdict.VIOLATED),
        ({"certified_s": 3.01}, Verdict.VIOLATED),
        ({"watching": False}, Verdict.VIOLATED),
        ({"watching": None}, Verdict.UNDETERMINED),
        ({"area": "fundos"}, Verdict.VIOLATED),
    ],
)
def test_a_large_area_needs_a_head_that_watches_in_time_at_a_tenth(facts: dict[str, object], expected: Verdict) -> None:
    large = thing("area", "patio", licensed_kg=1561, use="resale", boundary_walled=True)

    assert verdict([*depot(), *large, *head(**facts)], "detection") is expected


# --- deadlines ------------------------------------------------------------------------------------


def test_thirty_working_days_skip_saturdays_and_sundays_only() -> None:
    notice = thing("notice", "1", final_on=date(2026, 2, 2))  # a Monday
    found = findings([*depot(), *notice])["sample-fine", "notice:1"]

    assert (found.verdict, found.due) == (Verdict.COMPLIANT, date(2026, 3, 16))
    assert found.holds_until == date(2026, 3, 17)
    assert verdict([*depot(), *notice], "fine", "notice:1", date(2026, 3, 17)) is Verdict.UNDETERMINED
    paid = thing("notice", "1", date(2026, 3, 16), paid_on=date(2026, 3, 16))
    assert verdict([*depot(), *notice, *paid], "fine", "notice:1", date(2026, 5, 1)) is Verdict.COMPLIANT
    late = thing("notice", "1", date(2026, 3, 17), paid_on=date(2026, 3, 17))
    assert verdict([*depot(), *notice, *late], "fine", "notice:1", date(2026, 5, 1)) is Verdict.VIOLATED


# --- facts ----------------------------------------------------------------------------------------


def test_facts_are_as_they_were_known_by_a_moment() -> None:
    first = Fact(Subject("area", "patio"), "licensed_kg", 520, date(2026, 1, 1), datetime(2026, 1, 1, tzinfo=UTC))
    mended = Fact(Subject("area", "patio"), "licensed_kg", 1560, date(2026, 1, 1), datetime(2026, 2, 1, tzinfo=UTC))

    def licensed(known: datetime | None, on: date = ON) -> object:
        return Situation.of([mended, first], known_facts(), on, known).holders["area"][0].known["licensed_kg"].value

    assert licensed(datetime(2026, 1, 31, tzinfo=UTC)) == 520
    assert licensed(None) == 1560


def test_two_facts_that_contradict_each_other_leave_it_unknown() -> None:
    facts = [*thing("area", "patio", licensed_kg=520), *thing("area", "patio", licensed_kg=1560)]

    assert "licensed_kg" not in Situation.of(facts, known_facts(), ON).holders["area"][0].known


def test_what_is_taken_back_is_unknown_and_what_is_no_longer_there_does_not_count() -> None:
    gone = thing("extinguisher", "E0", date(2026, 2, 1), listed=False)

    assert verdict([*depot(), *PATIO, *powder(24)], "powder") is Verdict.COMPLIANT
    assert verdict([*depot(), *PATIO, *powder(24), *gone], "powder") is Verdict.VIOLATED
    assert (
        "listed"
        not in Situation.of([*gone, *thing("extinguisher", "E0", listed=None)], known_facts(), ON)
        .holders["extinguisher"][0]
        .known
    )


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        (Fact(DEPOT, "colour", "red", ON), "a fact that the list of facts has"),
        (Fact(Subject("area", "patio"), "licensed_kg", -1, ON), "number from 0"),
        (Fact(Subject("area", "patio"), "roofed", 1, ON), "true or false"),
        (Fact(Subject("area", "patio"), "use", "sale", ON), "one of resale"),
    ],
)
def test_a_fact_outside_the_list_is_refused(fact: Fact, expected: str) -> None:
    with pytest.raises(FactError, match=expected):
        Situation.of([fact], known_facts(), ON)


def test_nothing_but_the_areas_known_is_never_compliant() -> None:
    facts = [*thing("area", "patio", use="resale"), *thing("notice", "1", number="7")]
    judged = evaluate(sample(), Situation.of(facts, known_facts(), ON), ON)

    assert {each.verdict for each in judged} == {Verdict.UNDETERMINED}
