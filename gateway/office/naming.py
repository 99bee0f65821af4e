"""Which pile a movement means that names no brand or lot: the only one alike; of several nobody guesses. Pure."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

from compliance.registers.entries import Act, Entry
from compliance.registers.stock import Pile

TAKING = frozenset({Act.LEAVE, Act.CHANGE, Act.TRANSFER, Act.COUNT})
"""Movements of what stands there already; what comes in is named by whoever enters it."""

MARKS = ("brand", "lot")


def named(entry: Entry, units: Mapping[Pile, int]) -> Entry:
    """Return the movement with brand and lot of the only pile that it can mean; else as it is."""
    alike = meant(entry, units)
    if len(alike) != 1:
        return entry
    marks = {"brand": alike[0].brand, "lot": alike[0].lot}
    return replace(entry, values={**entry.values, **{name: mark for name, mark in marks.items() if mark}})


def meant(entry: Entry, units: Mapping[Pile, int]) -> tuple[Pile, ...]:
    """Return the piles that a movement may mean; none where the pile it names stands there, or none is alike."""
    if entry.act not in TAKING or entry.corrects is not None:
        return ()
    values = entry.values
    size = values.get("size_kg")
    if isinstance(size, bool) or not isinstance(size, int | Decimal):
        return ()
    told = {name: values.get(name) or "" for name in ("state", "place", *MARKS)}
    alike = tuple(
        pile
        for pile in sorted(units)
        if (pile.area, pile.size_kg, pile.state, pile.place) == (entry.subject, size, told["state"], told["place"])
        and all(told[name] in ("", getattr(pile, name)) for name in MARKS)
    )
    return () if any((pile.brand, pile.lot) == (told["brand"], told["lot"]) for pile in alike) else alike
