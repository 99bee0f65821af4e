"""What the book could not take stands in doubt until somebody counts that area, later than it came."""

from compliance.registers.entries import Act, Entry, EntryId, Millis
from gateway.office.doubts import Doubt, open_doubts

NOW = 1_796_040_000_000


def mark(number: int, doubt: str, area: str = "patio", source: str = "portao") -> Entry:
    values = {"value": 1, "number": 0, "doubt": doubt} | ({"area": area} if area else {})
    at = Millis(NOW + number)
    return Entry(EntryId(f"m{number}"), "counter", source, Act.RECORD, values, at, at, source, "mqtt")


def count(number: int, area: str = "patio") -> Entry:
    at = Millis(NOW + number)
    return Entry(EntryId(f"c{number}"), "stock", area, Act.COUNT, {"units": 5}, at, at, "Ana")


def test_a_doubt_stands_from_its_first_until_a_count_of_its_area() -> None:
    told = [mark(1, ""), mark(2, "jump"), mark(3, ""), mark(4, "not-that-many"), count(5, "fundos")]
    assert open_doubts(told, {}) == (Doubt("patio", "portao", "jump", Millis(NOW + 2)),)
    assert open_doubts([*told, count(6)], {}) == ()
    assert open_doubts([*told, count(6), mark(7, "jump")], {}) == (Doubt("patio", "portao", "jump", Millis(NOW + 7)),)


def test_a_count_of_the_day_before_settles_nothing_though_it_is_told_afterwards() -> None:
    assert open_doubts([mark(2, "jump"), count(1)], {}) != ()


def test_an_entry_that_names_no_area_has_its_sources() -> None:
    assert open_doubts([mark(1, "jump", area="")], {"portao": "fundos"})[0].area == "fundos"
