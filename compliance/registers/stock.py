"""What stands in each area: movements folded into levels, and what a movement that has not happened yet would do.

Nominal kilograms count, whatever the state: an emptied container weighs on the class as a full one does
(Ferraz 3.190/2013 Art. 4, Paraíba 9.427/2011 Art. 8). No limit of any law stands here.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import cast

from compliance.registers.entries import Act, Entry, EntryId, Millis, in_effect


@dataclass(frozen=True, slots=True, order=True)
class Pile:
    """Containers that are alike and stand together.

    Attributes:
        lot: empty where the area is one lot.
        size_kg: nominal kg of one container.
        state: new, full, part-used, empty or in use, as the catalogue of facts names them.
        brand: empty where it is not told.
        place: empty or ``area`` in the storage area itself; what is set apart or elsewhere still counts.
    """

    area: str
    lot: str
    size_kg: Decimal
    state: str
    brand: str = ""
    place: str = ""

    @property
    def name(self) -> str:
        """The pile in a few words, for messages and logs."""
        return " ".join(part for part in (f"P-{self.size_kg}", self.state, self.brand, self.lot, self.place) if part)


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """A count that found other than the book."""

    entry: EntryId
    pile: Pile
    booked: int
    counted: int


@dataclass(frozen=True, slots=True)
class Levels:
    """The stock at a moment: units of each pile, never below zero, and what the counts found.

    `since`: when a pile was begun anew, and nothing that was told of the one before holds of it.
    """

    units: Mapping[Pile, int]
    discrepancies: tuple[Discrepancy, ...] = ()
    since: Mapping[Pile, Millis] = field(default_factory=dict)

    def kg(self, area: str) -> Decimal:
        """Nominal kg in one area, every state."""
        return sum((pile.size_kg * count for pile, count in self.units.items() if pile.area == area), Decimal(0))

    def count(self, area: str, size_kg: Decimal | None = None) -> int:
        """Containers in one area, of one size or of all."""
        return sum(count for pile, count in self.units.items() if pile.area == area and size_kg in (None, pile.size_kg))


class StockError(ValueError):
    """A movement takes more than there is, or has a field missing.

    Attributes:
        code: for the words.
        pile: the pile that would fall short, if one would.
        held: its units.
    """

    def __init__(self, code: str, entry: EntryId, pile: Pile | None = None, held: int = 0, asked: int = 0) -> None:
        super().__init__(f"{entry}: {code}" + (f" ({pile.name}: {held} held, {asked} asked)" if pile else ""))
        self.code, self.entry, self.pile, self.held, self.asked = code, entry, pile, held, asked


class Book:
    """The running stock: movements go in one by one, in the order in which they were true."""

    def __init__(self, levels: Levels | None = None) -> None:
        self._units = dict(levels.units) if levels else {}
        self._found = list(levels.discrepancies) if levels else []
        self._since = dict(levels.since) if levels else {}

    def take(self, entry: Entry) -> list[tuple[Pile, int]]:
        """Book one movement and return the change of each pile it touches; on an error nothing of it is booked.

        Raises:
            StockError: more is taken than there is, or a field is missing.
        """
        steps = list(_steps(entry, self._units))
        for pile, change in steps:
            if self._units.get(pile, 0) + change < 0:
                raise StockError("not-that-many", entry.id, pile, self._units.get(pile, 0), -change)
        if entry.act is Act.COUNT:
            self._note(entry)
        for pile, change in steps:
            left = self._units.get(pile, 0) + change
            if left:
                self._since.setdefault(pile, entry.effective)
                self._units[pile] = left
            else:
                self._units.pop(pile, None)
                self._since.pop(pile, None)
        return steps

    def levels(self) -> Levels:
        """The stock now."""
        return Levels(dict(self._units), tuple(self._found), dict(self._since))

    def _note(self, entry: Entry) -> None:
        pile, counted = pile_of(entry), _amount(entry, least=0)
        booked = self._units.get(pile, 0)
        if booked != counted:
            self._found.append(Discrepancy(entry.id, pile, booked, counted))


def levels(entries: Iterable[Entry], at: Millis, known: Millis | None = None) -> Levels:
    """Fold the movements into the stock at a moment.

    Raises:
        StockError: the entries take more than there was; entries that were let in by `admit` do not.
    """
    return levels_each(entries, (at,), known)[0]


def levels_each(entries: Iterable[Entry], moments: Sequence[Millis], known: Millis | None = None) -> list[Levels]:
    """Fold the movements into the stock at each of several moments, which follow one another, in one go.

    Raises:
        StockError: as `levels`.
    """
    movements = (entry for entry in entries if entry.act in STOCK_OR_VOID)
    counted = iter(in_effect(movements, moments[-1], known) if moments else ())
    book, found = Book(), []
    ahead = next(counted, None)
    for moment in moments:
        while ahead is not None and ahead.effective <= moment:
            book.take(ahead)
            ahead = next(counted, None)
        found.append(book.levels())
    return found


STOCK_OR_VOID = frozenset({Act.ENTER, Act.LEAVE, Act.CHANGE, Act.TRANSFER, Act.COUNT, Act.VOID})


def admit(entries: Iterable[Entry], new: Iterable[Entry]) -> Levels:
    """Return the stock after all the new movements, or refuse them all.

    A movement told late is booked where it belongs in time: it is refused when any later moment would fall below zero.

    Raises:
        StockError: which entry falls short, in which pile.
    """
    end = Millis(2**62)
    return levels((*entries, *new), end)


def after(now: Levels, planned: Iterable[Entry]) -> Levels:
    """What the stock would be once the planned movements were done; nothing is booked.

    Raises:
        StockError: as `Book.take`.
    """
    book = Book(now)
    for entry in planned:
        book.take(entry)
    return book.levels()


def _steps(entry: Entry, units: Mapping[Pile, int]) -> Iterable[tuple[Pile, int]]:
    pile = pile_of(entry)
    match entry.act:
        case Act.ENTER:
            yield pile, _amount(entry)
        case Act.LEAVE:
            yield pile, -_amount(entry)
        case Act.CHANGE | Act.TRANSFER:
            yield pile, -_amount(entry)
            yield goal_of(entry), _amount(entry)
        case Act.COUNT:
            yield pile, _amount(entry, least=0) - units.get(pile, 0)
        case Act.RECORD | Act.REMOVE | Act.VOID:
            raise StockError("no-movement", entry.id)


def goal_of(entry: Entry) -> Pile:
    """Return the pile that a change of state or a transfer leads to.

    Raises:
        StockError: size or a state are missing.
    """
    pile = pile_of(entry)
    if entry.act is Act.CHANGE:
        return replace(pile, state=_text(entry, "to_state", needed=True))
    area, lot, place = (_text(entry, name) for name in ("to_area", "to_lot", "to_place"))
    return replace(pile, area=area or pile.area, lot=lot, place=place)


def pile_of(entry: Entry) -> Pile:
    """Return the pile that a movement is about.

    Raises:
        StockError: size or state are missing.
    """
    size = entry.values.get("size_kg")
    if isinstance(size, bool) or not isinstance(size, int | Decimal) or size <= 0:
        raise StockError("no-size", entry.id)
    return Pile(
        area=entry.subject,
        lot=_text(entry, "lot"),
        size_kg=Decimal(size),
        state=_text(entry, "state", needed=True),
        brand=_text(entry, "brand"),
        place=_text(entry, "place"),
    )


def _text(entry: Entry, field: str, *, needed: bool = False) -> str:
    value = entry.values.get(field)
    if needed and not value:
        raise StockError(f"no-{field.replace('_', '-')}", entry.id)
    return cast("str", value) if value else ""


def _amount(entry: Entry, *, least: int = 1) -> int:
    units = entry.values.get("units")
    if isinstance(units, bool) or not isinstance(units, int) or units < least:
        raise StockError("no-units", entry.id)
    return units
