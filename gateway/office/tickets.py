"""What a scale has weighed -> a weigh ticket, and the movement of the stock it stands for. Pure.

A scale knows a weight and no tare. Where a reader beside it has read one tag, the ticket names that container, and the
tare that is on record for it follows (`gateway.office.tares`); else tare and price are for a person to add.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from compliance.registers.entries import Act, Entry, EntryId, Millis, Scalar
from compliance.registers.facts import day
from gateway.engine.weighing import Scale, Weighed
from gateway.office.counting import MARKS, MOVES
from gateway.office.desk import STOCK
from gateway.office.tares import TICKETS

SOURCE = "scale"


def id_of(weighed: Weighed) -> EntryId:
    """Return the id of a weighing's ticket: a repeat has the same."""
    return EntryId(f"{weighed.source}:{weighed.at_ms}")


def ticket(scale: Scale, weighed: Weighed, now: Millis, zone: ZoneInfo, tag: str = "") -> Entry:
    """Return the ticket's entry; its id follows from scale and moment, so that a repeat is known for one.

    `tag`: the only one that the reader beside the scale has read meanwhile.
    """
    at = Millis(weighed.at_ms)
    kg = Decimal(weighed.kg)
    values: dict[str, Scalar] = {"weighed_on": day(at, zone)}
    if scale.full:
        values |= {"nominal_kg": scale.size_kg, "full_weighed_kg": kg, "full_weighed": True}
    else:
        values |= {"empty_weighed_kg": kg, "empty_weighed": True, "exchange": True}
    if tag:
        values["full_container" if scale.full else "empty_container"] = tag
    local = datetime.fromtimestamp(at / 1000, UTC).astimezone(zone)
    subject = f"{scale.id}-{local:%Y-%m-%d-%H%M%S}"
    return Entry(id_of(weighed), TICKETS, subject, Act.RECORD, values, at, now, scale.id, SOURCE)


def movement(scale: Scale, weighed: Weighed, now: Millis) -> Entry:
    """Return the entry for the one container that passed."""
    act, states = MOVES[scale.act]
    values: dict[str, Scalar] = {"size_kg": scale.size_kg, "units": 1, **states}
    if scale.brand:
        values["brand"] = scale.brand
    moved = EntryId(f"{id_of(weighed)}:{STOCK}")
    return Entry(moved, STOCK, scale.area, act, values, Millis(weighed.at_ms), now, scale.id, SOURCE)


def doubted(scale: Scale, weighed: Weighed, now: Millis, doubt: str, new_id: Callable[[], str]) -> Entry:
    """Return the entry that says why a weighing moved nothing."""
    values: dict[str, Scalar] = {"value": 0, "number": 0, "doubt": doubt, "area": scale.area}
    at = Millis(weighed.at_ms)
    return Entry(EntryId(new_id()), MARKS, scale.id, Act.RECORD, values, at, now, scale.id, SOURCE)
