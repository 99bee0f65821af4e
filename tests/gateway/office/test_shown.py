"""What the office shows of the stock: everything that stands on record, wherever it stands."""

from decimal import Decimal

from compliance.registers.stock import Levels, Pile
from gateway.office import shown


def test_stock_in_an_area_that_left_the_configuration_is_still_shown() -> None:
    held = Levels({Pile("fundos", "", Decimal(13), "full"): 7})
    areas = shown.stock(held, ["patio"])["areas"]
    assert [(area["area"], area["units"], area["kg"]) for area in areas] == [("patio", 0, "0"), ("fundos", 7, "91")]
