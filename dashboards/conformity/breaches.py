"""What the law would have against a movement that has not happened yet, in units of what is being moved. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Any

from compliance.registers import cells
from compliance.registers.cells import CellError
from dashboards.conformity.phrases import Phrases


@dataclass(frozen=True, slots=True)
class BreakView:
    """One thing the law would have against it: by how much, which clause, what to do."""

    what: str
    law: str
    remedy: str


def breaks_view(
    breaks: Sequence[Mapping[str, Any]], limits: Sequence[Mapping[str, Any]], given: Mapping[str, str], phrases: Phrases
) -> tuple[BreakView, ...]:
    """Say each breach; `given` is a delivery's form, or empty for another movement."""
    return tuple(
        BreakView(
            _what(one, limits, given, phrases),
            phrases.locale.text(
                "entry.breaks_law",
                law=phrases.locale.text("mark.house") if one["statute"] == "house" else one["statute"],
                clause=one["clause"],
                text=phrases.of(one["text"]),
            ),
            phrases.of(one["remedy"]),
        )
        for one in breaks
    )


def _what(
    one: Mapping[str, Any], limits: Sequence[Mapping[str, Any]], given: Mapping[str, str], phrases: Phrases
) -> str:
    text = phrases.locale.text
    over_kg = _over_kg(one)
    size = _size(given.get("size_kg", ""))
    if over_kg is None or size is None:
        margin = phrases.margin(one["margin"])
        return text("entry.breaks_by", what=phrases.subject(one["subject"]), margin=margin or text("verdict.VIOLATED"))
    over = int((over_kg / size).to_integral_value(ROUND_CEILING))
    return text(
        "entry.breaks_delivery",
        units=given.get("units", ""),
        size=given.get("size_kg", ""),
        limit=_limit(one, limits, phrases),
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


def _limit(one: Mapping[str, Any], limits: Sequence[Mapping[str, Any]], phrases: Phrases) -> str:
    """Name the limit: the class where the licence is the whole of one, else the licence."""
    area = one["subject"].removeprefix("area:")
    limit = next((limit for limit in limits if limit["area"] == area), None)
    kg = "" if limit is None else limit["licensed_kg"]
    classes = [] if limit is None else limit["classes"]
    whole = [each for each in classes if each["up_to_kg"] == kg and one["statute"] in ("house", each["statute"])]
    where = phrases.area(area)
    if not whole:
        return phrases.locale.text("entry.licence", kg=phrases.number(kg), area=where)
    return phrases.locale.text("entry.class_limit", name=whole[0]["class"], kg=phrases.number(kg), area=where)
