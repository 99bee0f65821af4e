"""What was told of an area's piles is a fact of each pile that stood there then, until it has run out."""

from datetime import date
from decimal import Decimal
from zoneinfo import ZoneInfo

from compliance import catalogue
from compliance.registers.entries import Act, Entry, EntryId, Millis, Scalar, fold
from compliance.registers.facts import lots_named, of_registers, of_stock, piles_of
from compliance.registers.stock import levels
from compliance.vocabulary import Fact, Subject

ZONE = ZoneInfo("America/Sao_Paulo")
DAY = 86_400_000
NOW = Millis(1_796_040_000_000)


def entry(days: int, register: str, subject: str, act: Act, **values: Scalar) -> Entry:
    at = Millis(NOW + days * DAY)
    return Entry(EntryId(f"{days}{act.value}{values}"), register, subject, act, values, at, at, "Ana")


def move(days: int, act: Act, units: int, state: str = "full", size: int = 13) -> Entry:
    return entry(days, "stock", "patio", act, size_kg=Decimal(size), state=state, units=units)


ANSWER = entry(0, "container", piles_of("patio").id, Act.RECORD, seal_present=True)


def facts(*entries: Entry) -> list[Fact]:
    held = {subject: standing for (register, subject), standing in fold(entries, Millis(NOW + 99 * DAY)).items()}
    stock = levels(entries, Millis(NOW + 99 * DAY))
    return list(of_stock(stock, held, date(2027, 1, 1), ZONE))


def sealed(*entries: Entry) -> set[str]:
    return {fact.subject.id for fact in facts(*entries) if fact.name == "seal_present" and fact.value is True}


def test_an_answer_holds_of_every_pile_that_stood_there() -> None:
    before = (move(-2, Act.ENTER, 5), move(-2, Act.ENTER, 3, "empty"))
    assert sealed(*before, ANSWER) == {"stock patio: P-13 full", "stock patio: P-13 empty"}


def test_it_holds_neither_of_a_pile_that_came_later_nor_of_one_that_ran_out_and_came_anew() -> None:
    assert sealed(move(-2, Act.ENTER, 5), ANSWER, move(1, Act.ENTER, 4, size=45)) == {"stock patio: P-13 full"}
    assert sealed(move(-2, Act.ENTER, 5), ANSWER, move(1, Act.LEAVE, 5), move(2, Act.ENTER, 5)) == set()


def test_it_counts_no_container_twice_and_is_no_thing_of_its_own() -> None:
    entries = (move(-2, Act.ENTER, 5), ANSWER)
    assert sum(fact.value for fact in facts(*entries) if fact.name == "count") == 5  # type: ignore[misc]
    standing = fold(entries, NOW).values()
    assert list(of_registers(standing, catalogue.load(), ZONE)) == []


def in_lots(*named: tuple[str, str], registered: str = "") -> set[tuple[str, str]]:
    told = [
        Fact(Subject("container", f"c{number}"), name, value, date(2027, 1, 1))
        for number, (area, lot) in enumerate(named)
        for name, value in (("area", area), ("lot", lot))
    ]
    if registered:
        told.append(Fact(Subject("lot", registered), "area", "patio", date(2026, 1, 1)))
    return {(fact.subject.id, str(fact.value)) for fact in lots_named(told)}


def test_a_lot_that_only_containers_name_stands_where_they_stand() -> None:
    assert in_lots(("patio", "L1"), ("patio", "L1"), ("fundos", "L2")) == {("L1", "patio"), ("L2", "fundos")}
    assert in_lots(("patio", "L1"), ("patio", "none"), registered="L1") == set()


def test_a_name_that_two_areas_give_to_a_lot_is_told_of_both() -> None:
    assert in_lots(("patio", "L1"), ("fundos", "L1")) == {("L1", "patio"), ("L1", "fundos")}
