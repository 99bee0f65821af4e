"""A month's map of movements (MCMM): for each size, state and brand what was there, came, went and remained. Pure."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from compliance.registers.entries import Act, Entry, Millis, in_effect
from compliance.registers.stock import STOCK_OR_VOID, Book, Pile


@dataclass(frozen=True, slots=True, order=True)
class Kind:
    """What the map tells apart: the whole depot's containers of one size, state and brand."""

    size_kg: Decimal
    state: str
    brand: str


@dataclass(slots=True)
class Row:
    """One line of the map, in units. `changed`: from or to another state; `counted`: what counts put right."""

    opening: int = 0
    came: int = 0
    went: int = 0
    changed: int = 0
    counted: int = 0

    @property
    def closing(self) -> int:
        """What remained at the month's end."""
        return self.opening + self.came - self.went + self.changed + self.counted


def month(entries: Iterable[Entry], start: Millis, end: Millis) -> dict[Kind, Row]:
    """Return the map of the time from `start` to before `end`.

    Raises:
        StockError: the entries take more than there was.
    """
    book = Book()
    rows: dict[Kind, Row] = defaultdict(Row)
    opened = False
    for entry in in_effect((entry for entry in entries if entry.act in STOCK_OR_VOID), Millis(end - 1)):
        if entry.effective >= start and not opened:
            _open(book, rows)
            opened = True
        steps = book.take(entry)
        if opened:
            for pile, change in steps:
                _note(rows[_kind(pile)], entry.act, change)
    if not opened:
        _open(book, rows)
    return {kind: row for kind, row in sorted(rows.items()) if row != Row()}


def _open(book: Book, rows: dict[Kind, Row]) -> None:
    for pile, units in book.levels().units.items():
        rows[_kind(pile)].opening += units


def _note(row: Row, act: Act, change: int) -> None:
    match act:
        case Act.ENTER:
            row.came += change
        case Act.LEAVE:
            row.went -= change
        case Act.COUNT:
            row.counted += change
        case _:  # a transfer within the depot leaves its kind, and nets to nothing
            row.changed += change


def _kind(pile: Pile) -> Kind:
    return Kind(pile.size_kg, pile.state, pile.brand)
