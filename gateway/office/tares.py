"""What a weigh ticket leaves out and the registers know: a container's stamped tare, and the credit that follows. Pure.

Nothing that a person told is changed, and without a container's number nothing is looked up.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from decimal import Decimal

from compliance.registers.cells import folded
from compliance.registers.entries import Act, Entry, Holding, Scalar
from compliance.registers.forms import Problem

TICKETS, CONTAINERS = "weighing", "container"
SIDES = ("full", "empty")
FOUND = ("full_tare_kg", "empty_tare_kg", "credited_kg")
"""What is filled in."""

Containers = Callable[[], Mapping[str, Holding]]
"""The containers on record, read only where a ticket names one."""


def with_tares(entry: Entry, kept: Entry | None, held: Holding | None, containers: Containers) -> Entry:
    """Return a ticket with each tare that is on record, and the credit; any other entry as it is.

    Args:
        entry: what is told.
        kept: the same entry as the book has it already, where this is a repeat.
        held: what the ticket says by now.
        containers: of the depot.
    """
    if entry.register != TICKETS or entry.act is not Act.RECORD:
        return entry
    if kept is not None:
        again = {name: kept.values[name] for name in FOUND if name in kept.values and name not in entry.values}
        return replace(entry, values={**entry.values, **again})
    whole = _whole(entry, held)
    found = {
        f"{side}_tare_kg": kg
        for side in SIDES
        if (number := whole.get(f"{side}_container")) and whole.get(f"{side}_tare_kg") is None
        if (known := container_of(str(number), containers())) and (kg := known.values.get("tare_kg")) is not None
    }
    credit = _credit({**whole, **found})
    return replace(entry, values={**entry.values, **found, **credit})


def container_of(number: str, containers: Mapping[str, Holding]) -> Holding | None:
    """Return the container that has this number, or this tag; None where there is none, or more than one."""
    named = [
        held
        for subject, held in containers.items()
        if folded(number) in (folded(subject), folded(str(held.values.get("tag") or "")))
    ]
    return named[0] if len(named) == 1 else None


def below_tare(entry: Entry, held: Holding | None, line: int) -> Iterable[Problem]:
    """A full container weighs more than it does empty: anything else is a slip of the pen."""
    if entry.register != TICKETS or entry.act is not Act.RECORD:
        return
    whole = _whole(entry, held)
    gross, tare = whole.get("full_weighed_kg"), whole.get("full_tare_kg")
    if isinstance(gross, Decimal) and isinstance(tare, Decimal) and gross < tare:
        yield Problem(line, "full_weighed_kg", "below-tare", f"{gross}", f"{tare}")


def _credit(whole: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """What comes back above the stamped tare, where nobody told it."""
    back, tare = whole.get("empty_weighed_kg"), whole.get("empty_tare_kg")
    if whole.get("credited_kg") is not None or not isinstance(back, Decimal) or not isinstance(tare, Decimal):
        return {}
    return {"credited_kg": max(back - tare, Decimal(0))}


def _whole(entry: Entry, held: Holding | None) -> Mapping[str, Scalar]:
    return {**({} if held is None else held.values), **entry.values}
