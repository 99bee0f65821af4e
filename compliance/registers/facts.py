"""What the registers hold -> facts that the law's rules can judge. Pure.

The stock's piles become groups of containers; a single container on record stands in its pile's place, so that no
kilogram counts twice.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from compliance.catalogue import Catalogue
from compliance.registers.entries import Holding, Millis, Scalar
from compliance.registers.stock import Levels, Pile
from compliance.vocabulary import DEPOT, Fact, Subject, Value

CONTAINER = "container"
LOT = "lot"
PILES = "stock "
"""Begins the name of a pile of the stock, among the containers."""


def of_registers(holdings: Iterable[Holding], catalogue: Catalogue, zone: ZoneInfo) -> Iterator[Fact]:
    """Yield a fact for every value that a register holds.

    What the catalogue no longer knows is left out: it is kept in the register, and judged by nobody.
    """
    for held in holdings:
        if area_of_piles(held.register, held.subject):
            continue  # told of piles, and theirs as long as they stand: see `of_stock`
        subject = DEPOT if held.register == DEPOT.kind else Subject(held.register, held.subject)
        for name, value in held.values.items():
            known = catalogue.find(subject.kind, name)
            found = _value(value)
            if known is None or (found is not None and not known.takes(found)):
                continue
            entry = held.told[name]
            yield Fact(subject, name, found, day(entry.effective, zone), moment(entry.recorded), entry.by)


def piles_of(area: str) -> Subject:
    """The piles of one area's stock, as what is told of all of them names them."""
    return Subject(CONTAINER, f"{PILES}{area}")


def area_of_piles(register: str, subject: str) -> str:
    """The area whose piles a record of `piles_of` is about; empty for any other record."""
    return subject.removeprefix(PILES) if register == CONTAINER and subject.startswith(PILES) else ""


def of_stock(levels: Levels, noted: Mapping[str, Holding], on: date, zone: ZoneInfo | None = None) -> Iterator[Fact]:
    """Yield the facts of each pile on a day, less the single containers that have a record of their own.

    What was told of an area's piles (`piles_of`) is a fact of each that stood there already, and has not run out since.
    """
    units = dict(levels.units)
    told = {area: held for name, held in noted.items() if (area := area_of_piles(CONTAINER, name))}
    for name, held in noted.items():
        pile = None if area_of_piles(CONTAINER, name) else _pile_of(held, units)
        if pile is not None:
            units[pile] -= min(units[pile], _count(held))
    for pile, left in sorted(units.items()):
        if left:
            subject = Subject(CONTAINER, f"{PILES}{pile.area}: {pile.name}")
            for name, value in _marks(pile, left).items():
                if value != "":
                    yield Fact(subject, name, value, on)
            if pile.area in told and zone is not None:
                yield from _told_of(subject, told[pile.area], levels.since.get(pile), zone)


NO_LOT = "none"
"""In the place of a lot's name: these stand in none."""


def lots_named(told: Iterable[Fact]) -> Iterator[Fact]:
    """Yield where each lot stands that a container or a pile names and the register of lots does not know.

    A lot that nobody registered holds what it holds, and is judged like any other. Of one name in two areas both are
    told, and neither is believed.
    """
    told = list(told)
    known = {None, NO_LOT, *(fact.subject.id for fact in told if fact.subject.kind == LOT)}
    areas = {fact.subject: fact.value for fact in told if fact.subject.kind == CONTAINER and fact.name == "area"}
    named = {
        (fact.value, areas.get(fact.subject))
        for fact in told
        if fact.subject.kind == CONTAINER and fact.name == LOT and fact.value not in known
    }
    for lot, area in sorted((str(lot), str(area)) for lot, area in named if area is not None):
        yield Fact(Subject(LOT, lot), "area", area, date.min)


MARKS = ("area", "lot", "count", "size_kg", "state", "brand", "place")
"""What movements tell of a pile, and nobody is asked."""


def _marks(pile: Pile, count: int) -> dict[str, Value]:
    return {
        "area": pile.area,
        "lot": pile.lot,
        "size_kg": float(pile.size_kg),
        "state": pile.state,
        "brand": pile.brand,
        "place": pile.place or "area",
        "count": count,
    }


def _told_of(pile: Subject, held: Holding, since: Millis | None, zone: ZoneInfo) -> Iterator[Fact]:
    for name, value in held.values.items():
        entry, found = held.told[name], _value(value)
        if name not in MARKS and found is not None and (since is None or entry.effective >= since):
            yield Fact(pile, name, found, day(entry.effective, zone), moment(entry.recorded), entry.by)


def day(at: Millis, zone: ZoneInfo) -> date:
    """Return the local day of a moment."""
    return moment(at).astimezone(zone).date()


def moment(at: Millis) -> datetime:
    """Return a moment in UTC."""
    return datetime.fromtimestamp(at / 1000, UTC)


def _value(value: Scalar) -> Value | None:
    return float(value) if isinstance(value, Decimal) else value


def _count(held: Holding) -> int:
    count = held.values.get("count")
    return count if isinstance(count, int) and not isinstance(count, bool) else 1


def _pile_of(held: Holding, units: Mapping[Pile, int]) -> Pile | None:
    """The pile that a single container stands in: the one alike in all that is told of both."""
    told = held.values
    for pile in sorted(units):
        marks = {
            "area": pile.area,
            "size_kg": pile.size_kg,
            "state": pile.state,
            "lot": pile.lot,
            "brand": pile.brand,
        }
        if all(told.get(name) in (None, value) for name, value in marks.items()):
            return pile
    return None
