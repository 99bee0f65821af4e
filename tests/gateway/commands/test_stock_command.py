"""The month's map of movements, as a spreadsheet takes it."""

import csv

from gateway.commands.stock import COLUMNS, month_sheet


def test_a_brand_never_becomes_a_formula_and_never_breaks_a_row() -> None:
    row: dict[str, object] = dict.fromkeys(COLUMNS, 0)
    brands = ["=1+1", "+55", "@a", 'a;"b"', ""]
    sheet = month_sheet(COLUMNS, [row | {"brand": brand} for brand in brands])
    head, *found = csv.reader(sheet.split("\n"), delimiter=";")
    assert head == list(COLUMNS)
    assert [cells[2] for cells in found] == ["'=1+1", "'+55", "'@a", 'a;"b"', ""]
