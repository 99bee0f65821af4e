"""Keyed registers: the state at any date, as known then or as known now; corrections replace what they mend."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from compliance.registers.entries import LATE_AFTER, Act, Entry, EntryId, Millis, Scalar, fold

NOW = Millis(10**12)


def entry(number: int, values: dict[str, Scalar], at: int, told: int | None = None, act: Act = Act.RECORD) -> Entry:
    return Entry(
        EntryId(f"e{number}"), "extinguisher", "EXT-1", act, values, Millis(at), Millis(told or at), "Ana Souza"
    )


def values(entries: list[Entry], at: int = NOW, known: int | None = None) -> dict[str, Scalar] | None:
    found = fold(entries, Millis(at), None if known is None else Millis(known)).get(("extinguisher", "EXT-1"))
    return None if found is None else dict(found.values)


def test_the_state_at_a_date_is_what_was_true_then() -> None:
    told = [entry(1, {"kg": 8, "place": "portão"}, at=10), entry(2, {"place": "fundos"}, at=20)]
    assert values(told, 5) is None
    assert values(told, 10) == {"kg": 8, "place": "portão"}
    assert values(told, 20) == {"kg": 8, "place": "fundos"}


def test_what_was_told_late_is_known_now_but_was_not_known_then() -> None:
    told = [entry(1, {"kg": 8}, at=10), entry(2, {"kg": 6}, at=20, told=500)]
    assert values(told, 30) == {"kg": 6}
    assert values(told, 30, known=100) == {"kg": 8}
    assert not told[0].late
    assert entry(3, {}, at=10, told=11 + LATE_AFTER).late


def test_a_correction_takes_the_place_of_what_it_corrects() -> None:
    wrong = entry(1, {"kg": 80}, at=10)
    right = replace(entry(2, {"kg": 8}, at=10, told=50), corrects=wrong.id, reason="zero a mais")
    assert values([wrong, right], 30) == {"kg": 8}
    assert values([wrong, right], 30, known=40) == {"kg": 80}


def test_a_voided_correction_gives_back_what_it_took() -> None:
    wrong = entry(1, {"kg": 80}, at=10)
    right = replace(entry(2, {"kg": 8}, at=10, told=50), corrects=wrong.id)
    void = replace(entry(3, {}, at=10, told=60, act=Act.VOID), corrects=right.id)
    assert values([wrong, right, void], 30) == {"kg": 80}


def test_what_is_removed_is_gone_and_may_come_again() -> None:
    told = [entry(1, {"kg": 8}, at=10), entry(2, {}, at=20, act=Act.REMOVE), entry(3, {"kg": 6}, at=30)]
    assert values(told, 25) is None
    assert values(told, 30) == {"kg": 6}


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(0, 9)), min_size=1, max_size=20))
def test_what_holds_is_what_was_true_last_and_of_that_what_was_told_last(told: list[tuple[int, int]]) -> None:
    entries = [entry(number, {"kg": kg}, at=at) for number, (at, kg) in enumerate(told)]
    latest = max(at for at, _ in told)
    assert values(entries) == {"kg": [kg for at, kg in told if at == latest][-1]}
