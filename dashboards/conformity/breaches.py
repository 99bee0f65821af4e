"""What the law would have against a movement that has not happened yet, in units of what is being moved. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Any

from compliance.registers import cells
from compliance.registers.cells import CellError
from dashboards.conformity.phrases import HOUSE, Phrases


@dataclass(frozen=True, slots=True)
class BreakView:
    """One thing the law would have against it: by how much, which clause, what to do."""

    what: str
    law: str
    remedy: str


def breaks_view(
    breaks: Sequence[Mapping[str, Any]], stock: Mapping[str, Any], given: Mapping[str, str], phrases: Phrases
) -> tuple[BreakView, ...]:
    """Say each breach, the gravest first.

    Args:
        breaks: as the office answers them.
        stock: what stands in the areas now, and their limits.
        given: a delivery's form; empty for another movement.
        phrases: the page's words.
    """
    ordered = sorted(breaks, key=lambda one: ("danger", "serious", "minor").index(one["severity"]))
    return tuple(
        BreakView(_what(one, stock, given, phrases), _law(one, phrases), phrases.of(one["remedy"])) for one in ordered
    )


def _law(one: Mapping[str, Any], phrases: Phrases) -> str:
    text = phrases.of(one["text"])
    if one["statute"] == HOUSE:
        return f"{phrases.clause(one['clause'], HOUSE)}: {text}"
    law = one.get("citation") or one["statute"]
    return phrases.locale.text("entry.breaks_law", law=law, clause=one["clause"], text=text)


def _what(one: Mapping[str, Any], stock: Mapping[str, Any], given: Mapping[str, str], phrases: Phrases) -> str:
    text = phrases.locale.text
    over_kg = _over_kg(one)
    size = _size(given.get("size_kg", ""))
    units = given.get("units", "")
    came = Decimal(units) * (size or 0) if units.isascii() and units.isdigit() else Decimal(0)
    limit = None if over_kg is None else _limit(one, stock, came, over_kg, phrases)
    if over_kg is None or size is None or limit is None:
        margin = phrases.margin(one["margin"])
        return text("entry.breaks_by", what=phrases.subject(one["subject"]), margin=margin or text("verdict.VIOLATED"))
    over = int((over_kg / size).to_integral_value(ROUND_CEILING))
    return text(
        "entry.breaks_delivery",
        units=given.get("units", ""),
        size=given.get("size_kg", ""),
        limit=limit,
        over=over if one["margin"]["low"] == one["margin"]["high"] else text("entry.at_least", count=over),
        over_word=text("entry.unit_one" if over == 1 else "entry.unit_many"),
    )


def _over_kg(one: Mapping[str, Any]) -> Decimal | None:
    """By how much the limit would be passed; by at least so much while the stock is not all told."""
    margin = one["margin"]
    if not margin or margin["unit"] != "kg" or margin["high"] is None or not one["subject"].startswith("area:"):
        return None
    high = Decimal(margin["high"])
    return -high if high < 0 else None


def _size(text: str) -> Decimal | None:
    try:
        found = cells.size(text)
    except CellError:
        return None
    return found if found > 0 else None


def _limit(
    one: Mapping[str, Any], stock: Mapping[str, Any], came: Decimal, over: Decimal, phrases: Phrases
) -> str | None:
    """Name the limit of the stock that is passed: the class where the licence is the whole of one, else the licence.

    None where the kg that are missing are no kg of stock: a class asks for kg of extinguishers too.
    """
    area = one["subject"].removeprefix("area:")
    held = next((Decimal(each["kg"]) for each in stock["areas"] if each["area"] == area), None)
    limit = next((each for each in stock["limits"] if each["area"] == area), None)
    if held is None or limit is None:
        return None
    kg = limit["licensed_kg"]
    if held + came - over != Decimal(kg):
        return None
    whole = [one for one in limit["classes"] if one["up_to_kg"] == kg]
    where = phrases.area(area)
    if not whole:
        return phrases.locale.text("entry.licence", kg=phrases.number(kg), area=where)
    return phrases.locale.text("entry.class_limit", name=whole[0]["class"], kg=phrases.number(kg), area=where)
