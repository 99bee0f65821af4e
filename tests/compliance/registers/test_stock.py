"""Stock: what came, went, changed and was counted; never below zero, never lost, late entries where they belong."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.registers.counters import Counter, Mark, Step, step
from compliance.registers.entries import Act, Entry, EntryId, Millis
from compliance.registers.stock import Levels, Pile, StockError, admit, after, levels

FULL = Pile("patio", "", Decimal(13), "full")
EMPTY = Pile("patio", "", Decimal(13), "empty")
NOW = Millis(10**12)


def entry(number: int, act: Act, units: int, *, at: int | None = None, told: int | None = None, **more: str) -> Entry:
    values = {"size_kg": 13, "state": "full", "units": units, **more}
    moment = number if at is None else at
    return Entry(
        EntryId(f"e{number}"), "stock", "patio", act, values, Millis(moment), Millis(told or moment), "Ana Souza"
    )


def test_what_is_sold_and_comes_back_empty_still_weighs_the_same() -> None:
    found = levels([entry(1, Act.ENTER, 40), entry(2, Act.CHANGE, 15, to_state="empty")], NOW)
    assert found.units == {FULL: 25, EMPTY: 15}
    assert found.kg("patio") == 520


def test_more_than_there_is_cannot_go() -> None:
    with pytest.raises(StockError) as refused:
        admit([entry(1, Act.ENTER, 5)], [entry(2, Act.LEAVE, 6)])
    assert (refused.value.code, refused.value.held, refused.value.asked) == ("not-that-many", 5, 6)


def test_a_late_entry_is_booked_where_it_belongs_in_time() -> None:
    told = [entry(1, Act.ENTER, 5, at=100), entry(2, Act.LEAVE, 5, at=300)]
    assert admit(told, [entry(3, Act.ENTER, 2, at=200, told=400)]).units == {FULL: 2}
    with pytest.raises(StockError):
        admit(told, [entry(3, Act.LEAVE, 1, at=200, told=400)])


def test_a_count_holds_and_its_difference_stays_on_record() -> None:
    found = levels([entry(1, Act.ENTER, 40), entry(2, Act.COUNT, 38)], NOW)
    assert found.units == {FULL: 38}
    assert [(found.pile, found.booked, found.counted) for found in found.discrepancies] == [(FULL, 40, 38)]


def test_a_transfer_moves_and_makes_none() -> None:
    found = levels([entry(1, Act.ENTER, 9), entry(2, Act.TRANSFER, 4, to_area="fundos", to_lot="B")], NOW)
    assert (found.count("patio"), found.count("fundos")) == (5, 4)


def test_a_delivery_is_weighed_before_it_is_unloaded_and_nothing_is_booked() -> None:
    now = levels([entry(1, Act.ENTER, 432)], NOW)
    planned = after(now, [entry(2, Act.ENTER, 60)])
    assert (now.count("patio"), planned.count("patio")) == (432, 492)


def test_a_voided_movement_was_never_there() -> None:
    wrong = entry(1, Act.ENTER, 400)
    void = Entry(EntryId("v"), "stock", "patio", Act.VOID, {}, Millis(2), Millis(2), "Ana", corrects=wrong.id)
    assert levels([wrong, void], NOW).units == {}
    assert levels([wrong, void], NOW, known=Millis(1)).units == {FULL: 400}


@pytest.mark.parametrize("missing", ["size_kg", "state", "units"])
def test_a_movement_without_size_state_or_units_is_refused(missing: str) -> None:
    values = {"size_kg": 13, "state": "full", "units": 1}
    del values[missing]
    with pytest.raises(StockError):
        levels([Entry(EntryId("x"), "stock", "patio", Act.ENTER, values, Millis(1), Millis(1), "Ana")], NOW)


movements = st.lists(
    st.tuples(st.sampled_from([Act.ENTER, Act.LEAVE, Act.CHANGE, Act.COUNT, Act.TRANSFER]), st.integers(1, 9)),
    max_size=30,
)


@given(movements)
def test_admitted_movements_never_go_below_zero(asked: list[tuple[Act, int]]) -> None:
    kept: list[Entry] = []
    for number, (act, units) in enumerate(asked, start=1):
        more = {"to_state": "empty"} if act is Act.CHANGE else {"to_area": "fundos"} if act is Act.TRANSFER else {}
        try:
            admit(kept, [new := entry(number, act, units, **more)])
        except StockError:
            continue
        kept.append(new)
    found = levels(kept, NOW)
    assert all(count > 0 for count in found.units.values())


@given(movements)
def test_kg_is_kept_by_every_change_of_state(asked: list[tuple[Act, int]]) -> None:
    now = levels([entry(1, Act.ENTER, 9)], NOW)
    for number, (_, units) in enumerate(asked, start=2):
        now = after(now, [entry(number, Act.CHANGE, 1, to_state="empty")]) if now.units.get(FULL) else now
        assert now.kg("patio") == 9 * 13
        assert isinstance(now, Levels)
        del units


@pytest.mark.parametrize(
    ("last", "now", "expected"),
    [
        (None, Mark(500), (Step.FIRST, 0)),
        (Mark(10, 1), Mark(12, 2), (Step.COUNTED, 2)),
        (Mark(10, 2), Mark(10, 2), (Step.REPEATED, 0)),
        (Mark(10, 5), Mark(9, 4), (Step.REPEATED, 0)),
        (Mark(65530), Mark(4), (Step.WRAPPED, 10)),
        (Mark(900), Mark(3), (Step.RESTARTED, 3)),
        (Mark(10), Mark(5000), (Step.DOUBTFUL, 0)),
        (Mark(40000), Mark(20000), (Step.DOUBTFUL, 0)),
    ],
)
def test_a_counter_is_believed_only_as_far_as_it_can_count(
    last: Mark | None, now: Mark, expected: tuple[Step, int]
) -> None:
    found, passed, _ = step(Counter(wraps_at=65536), last, now)
    assert (found, passed) == expected
