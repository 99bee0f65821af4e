"""What the office knows, as JSON: registers, histories, stock. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compliance.registers.entries import Act, Entry, Holding, Millis
from compliance.registers.forms import Field, Form, to_json
from compliance.registers.movements import Kind, Row
from compliance.registers.stock import Discrepancy, Levels, Pile
from sensors.stamps import MILLISECOND, UtcNanos, rfc3339


def forms(known: Mapping[str, Form]) -> list[dict[str, Any]]:
    """Every register and its fields."""
    return [
        {"register": form.register, "key": form.key, "fields": [_field(field) for field in form.fields]}
        for form in known.values()
    ]


def register(holdings: Mapping[str, Holding]) -> list[dict[str, Any]]:
    """The subjects of one register, by name."""
    return [
        {
            "subject": held.subject,
            "since": time(held.since),
            "last": held.last,
            "values": {name: to_json(value) for name, value in held.values.items()},
            "told": {name: _told(entry) for name, entry in held.told.items()},
        }
        for _, held in sorted(holdings.items())
    ]


def history(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """Every entry on one subject, as it was told."""
    return [
        {
            "id": entry.id,
            "subject": entry.subject,
            "act": entry.act.value,
            "values": {name: to_json(value) for name, value in entry.values.items()},
            "effective": time(entry.effective),
            "recorded": time(entry.recorded),
            "late": entry.late,
            "by": entry.by,
            "source": entry.source,
            "reason": entry.reason,
            "corrects": entry.corrects,
        }
        for entry in entries
    ]


def mended(entries: Iterable[Entry], start: Millis, end: Millis) -> list[dict[str, Any]]:
    """What was corrected, voided or removed in a time, by whom and why, in the order in which it was told."""
    return [
        {
            "register": entry.register,
            "subject": entry.subject,
            "act": entry.act.value,
            "entry": entry.id,
            "corrects": entry.corrects,
            "reason": entry.reason,
            "by": entry.by,
            "recorded": time(entry.recorded),
        }
        for entry in entries
        if start <= entry.recorded < end and (entry.corrects is not None or entry.act is Act.REMOVE)
    ]


def stock(levels: Levels, areas: Sequence[str]) -> dict[str, Any]:
    """What stands in each area, and what counts found that the book did not have.

    `areas` are those of the configuration; one that left it is shown behind them while stock is booked there.
    """
    left = sorted({pile.area for pile in levels.units} - set(areas))
    return {
        "areas": [
            {
                "area": area,
                "kg": to_json(levels.kg(area)),
                "units": levels.count(area),
                "piles": [
                    {**pile_data(pile), "units": units}
                    for pile, units in sorted(levels.units.items())
                    if pile.area == area
                ],
            }
            for area in (*areas, *left)
        ],
        "discrepancies": discrepancies(levels.discrepancies),
    }


def discrepancies(found: Iterable[Discrepancy]) -> list[dict[str, Any]]:
    """Counts that found other than the book."""
    return [{"entry": one.entry, **pile_data(one.pile), "booked": one.booked, "counted": one.counted} for one in found]


def movements(rows: Mapping[Kind, Row]) -> list[dict[str, Any]]:
    """A month's map, a row for each size, state and brand; units."""
    return [
        {
            "size_kg": to_json(kind.size_kg),
            "state": kind.state,
            "brand": kind.brand,
            "opening": row.opening,
            "in": row.came,
            "out": row.went,
            "changed": row.changed,
            "counted": row.counted,
            "closing": row.closing,
        }
        for kind, row in rows.items()
    ]


def pile_data(pile: Pile) -> dict[str, Any]:
    """One pile's marks."""
    return {
        "area": pile.area,
        "lot": pile.lot,
        "size_kg": to_json(pile.size_kg),
        "state": pile.state,
        "place": pile.place,
        "brand": pile.brand,
    }


def time(at: Millis) -> str:
    """RFC 3339 UTC."""
    return rfc3339(UtcNanos(at * MILLISECOND))


def _told(entry: Entry) -> dict[str, Any]:
    told = {"by": entry.by, "effective": time(entry.effective), "recorded": time(entry.recorded)}
    return {**told, "late": entry.late, "entry": entry.id}


def _field(field: Field) -> dict[str, Any]:
    return {
        "name": field.name,
        "type": field.type.value,
        "label": dict(field.label),
        "ask": dict(field.ask),
        "choices": {choice: dict(words) for choice, words in field.choices.items()},
        "needed": field.needed,
    }
