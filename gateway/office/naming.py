"""Which pile a movement means: the only one alike where brand or lot are left out; of several nobody guesses. Pure.

Brands and lots are written as the book has them: capitals and accents make no second brand.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from decimal import Decimal

from compliance.registers.cells import folded
from compliance.registers.entries import Act, Entry, Scalar
from compliance.registers.stock import Pile

TAKING = frozenset({Act.LEAVE, Act.CHANGE, Act.TRANSFER, Act.COUNT})
"""Movements of what stands there already; what comes in is named by whoever enters it."""

MARKS = ("brand", "lot")
HERE = "area"
"""A place that is none of its own: in the storage area itself."""


def spelled(entry: Entry, held: Mapping[str, AbstractSet[str]]) -> Entry:
    """Return the movement with brand and lots as the book writes them, and its own area as no place.

    `held`: the spellings of each of `MARKS`, but for those of the entry that this one corrects.
    """
    values = dict(entry.values)
    for name in ("place", "to_place"):
        if values.get(name) == HERE:
            del values[name]
    for name in (*MARKS, "to_lot"):
        values[name] = _as_held(values.get(name), held[name.removeprefix("to_")])
    return replace(entry, values={name: value for name, value in values.items() if name in entry.values or value})


def _as_held(text: Scalar, held: AbstractSet[str]) -> Scalar:
    if not isinstance(text, str) or not text or text in held:
        return text
    return next((one for one in sorted(held) if folded(one) == folded(text)), text)


def named(entry: Entry, units: Mapping[Pile, int]) -> Entry:
    """Return the movement with brand and lot of the only pile that it can mean; set apart, it keeps its lot."""
    alike = meant(entry, units)
    marks = {"brand": alike[0].brand, "lot": alike[0].lot} if len(alike) == 1 else {}
    values = {**entry.values, **{name: mark for name, mark in marks.items() if mark}}
    within = entry.act is Act.TRANSFER and not values.get("to_area") and values.get("to_place") != values.get("place")
    if within and "to_lot" not in values and values.get("lot"):
        values["to_lot"] = values["lot"]
    return replace(entry, values=values)


def as_kept(entry: Entry, kept: Entry) -> Entry:
    """Return a repeat with the marks that its first telling got."""
    marks = {
        name: mark
        for name in (*MARKS, "to_lot")
        if (mark := kept.values.get(name)) is not None
        and (name not in entry.values or folded(str(entry.values[name])) == folded(str(mark)))
    }
    return replace(entry, values={**entry.values, **marks})


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
