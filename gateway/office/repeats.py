"""Which rows of a sheet say nothing new: the same sheet brought twice changes nothing. Pure.

A count is a deed, not a state: one that was entered before is not entered again over what was sold since. Who counted
anew says when.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from compliance.registers.entries import Act, Entry, Holding, Millis, in_effect
from compliance.registers.facts import day
from compliance.registers.forms import Form, Problem
from compliance.registers.stock import Pile, StockError, pile_of
from gateway.office.desk import STOCK, Desk, Told


@dataclass(frozen=True, slots=True)
class Sifted:
    """The rows of a sheet: `fresh` are to be entered, `known` say what the book says already."""

    fresh: tuple[Told, ...]
    known: tuple[Told, ...] = ()
    problems: tuple[Problem, ...] = ()


def sift(
    rows: Sequence[Told], desk: Desk, zone: ZoneInfo, *, dated: bool, doubted: frozenset[str] = frozenset()
) -> Sifted:
    """Part the rows of one sheet.

    Args:
        rows: all of one register, true since the same moment.
        desk: with everything told so far.
        zone: of the depot.
        dated: whoever brought the sheet said since when it is true: a routine is then answered anew.
        doubted: areas whose stock somebody must count.
    """
    if not rows:
        return Sifted(())
    if rows[0].entry.register == STOCK:
        return _counts(rows, desk, zone, doubted, dated=dated)
    form = desk.forms[rows[0].entry.register]
    held = desk.holdings(form.register, rows[0].entry.effective)
    known = {one.line for one in rows if _says_nothing(one.entry, held.get(one.entry.subject), form, zone, dated=dated)}
    return Sifted(tuple(one for one in rows if one.line not in known), tuple(one for one in rows if one.line in known))


def _says_nothing(entry: Entry, held: Holding | None, form: Form, zone: ZoneInfo, *, dated: bool) -> bool:
    if held is None:
        return False
    for name, value in entry.values.items():
        if name not in held.values or held.values[name] != value:
            return False
        field = form.field(name)
        renewed = dated and field is not None and field.renews
        if renewed and day(held.told[name].effective, zone) != day(entry.effective, zone):
            return False
    return True


def _counts(rows: Sequence[Told], desk: Desk, zone: ZoneInfo, doubted: frozenset[str], *, dated: bool) -> Sifted:
    units = desk.stock().units
    last = _last_counts(desk.entries)
    fresh: list[Told] = []
    known: list[Told] = []
    problems: list[Problem] = []
    for one in rows:
        entry = desk.as_booked(one.entry)
        try:
            pile = pile_of(entry)
        except StockError:  # the desk says what is missing
            fresh.append(one)
            continue
        before = last.get(pile, ())
        if dated:
            same = any(_alike(entry, each) and each.effective == entry.effective for each in before)
            (known if same else fresh).append(one)
        elif not before or not _alike(entry, before[-1]):
            fresh.append(one)
        elif units.get(pile, 0) == entry.values["units"] and entry.subject not in doubted:
            known.append(one)
        else:
            at = _local(before[-1].effective, zone)
            problems.append(Problem(one.line, "units", "counted-before", at, "when they were counted again"))
    return Sifted(tuple(fresh), tuple(known), tuple(problems))


def _last_counts(entries: Iterable[Entry]) -> Mapping[Pile, Sequence[Entry]]:
    """Every count that stands, by what was counted, in the order in which they were true."""
    found: dict[Pile, list[Entry]] = {}
    for entry in in_effect((one for one in entries if one.register == STOCK), Millis(2**62)):
        if entry.act is Act.COUNT:
            found.setdefault(pile_of(entry), []).append(entry)
    return found


def _alike(entry: Entry, before: Entry) -> bool:
    return before.source == entry.source and before.values.get("units") == entry.values.get("units")


def _local(at: Millis, zone: ZoneInfo) -> str:
    return f"{datetime.fromtimestamp(at / 1000, UTC).astimezone(zone):%Y-%m-%d %H:%M}"
