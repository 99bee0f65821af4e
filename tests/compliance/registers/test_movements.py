"""The month's map: what was there, came, went, changed and remained adds up; corrections by counts stand apart."""

from dataclasses import replace
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from compliance.registers.entries import Act, Entry, EntryId, Millis
from compliance.registers.movements import Kind, Row, month
from compliance.registers.stock import StockError, admit, levels

START, END = Millis(1000), Millis(2000)
FULL, EMPTY = Kind(Decimal(13), "full", ""), Kind(Decimal(13), "empty", "")


def entry(number: int, act: Act, units: int, at: int, **more: str) -> Entry:
    values = {"size_kg": 13, "state": "full", "units": units, **more}
    return Entry(EntryId(f"e{number}"), "stock", "patio", act, values, Millis(at), Millis(at), "Ana Souza")


def test_a_month_opens_with_what_was_there_and_closes_with_what_remains() -> None:
    told = [
        entry(1, Act.ENTER, 100, 10),
        entry(2, Act.ENTER, 60, 1000),
        entry(3, Act.CHANGE, 40, 1100, to_state="empty"),
        entry(4, Act.LEAVE, 20, 1200),
        entry(5, Act.COUNT, 98, 1300),
        entry(6, Act.TRANSFER, 5, 1400, to_area="fundos"),
        entry(7, Act.ENTER, 7, 2000),
    ]
    assert month(told, START, END) == {
        EMPTY: Row(changed=40),
        FULL: Row(opening=100, came=60, went=20, changed=-40, counted=-2),
    }
    assert month(told, START, END)[FULL].closing == 98


def test_a_month_without_movements_closes_as_it_opened() -> None:
    assert month([entry(1, Act.ENTER, 3, 10)], START, END) == {FULL: Row(opening=3)}
    assert month([], START, END) == {}


@given(st.lists(st.tuples(st.sampled_from(list(Act)[3:]), st.integers(1, 9), st.integers(0, 3000)), max_size=25))
def test_the_map_always_closes_with_the_stock(asked: list[tuple[Act, int, int]]) -> None:
    kept: list[Entry] = []
    for number, (act, units, at) in enumerate(asked):
        more = {"to_state": "empty"} if act is Act.CHANGE else {"to_area": "fundos"} if act is Act.TRANSFER else {}
        try:
            admit(kept, [new := entry(number, act, units, at, **more)])
        except StockError:
            continue
        kept.append(replace(new, recorded=Millis(number)))
    closing = {kind: row.closing for kind, row in month(kept, START, END).items() if row.closing}
    found: dict[Kind, int] = {}
    for pile, units in levels(kept, Millis(END - 1)).units.items():
        kind = Kind(pile.size_kg, pile.state, pile.brand)
        found[kind] = found.get(kind, 0) + units
    assert closing == found
