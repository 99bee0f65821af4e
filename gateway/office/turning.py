"""What cannot be meant by an entry, each asked of it alone or of what was told before. Pure."""

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from compliance.registers.civil import add_months
from compliance.registers.entries import Act, Entry, EntryId, Millis, Scalar
from compliance.registers.forms import Field, Problem
from compliance.registers.stock import StockError, goal_of, pile_of

if TYPE_CHECKING:
    from gateway.office.desk import Told

EASTERNMOST_MS = 14 * 3600 * 1000
"""How far local time may be before UTC."""


def off_days(field: Field, value: Scalar, now: Millis, line: int) -> Iterable[Problem]:
    """What is wrong with a day: that of a deed is still to come, in whatever zone, or the year of another is a slip."""
    if type(value) is not date:
        return
    today = datetime.fromtimestamp((now + EASTERNMOST_MS) / 1000, UTC).date()
    if field.deed and value > today:
        yield Problem(line, field.name, "in-the-future", str(value), "a time that has been")
    if field.years_ahead is not None and value > add_months(today, 12 * field.years_ahead):
        yield Problem(line, field.name, "too-far-ahead", str(value), str(field.years_ahead))


def goes_nowhere(entry: Entry) -> bool:
    """Tell whether a movement would leave everything as it is."""
    if entry.act not in {Act.CHANGE, Act.TRANSFER}:
        return False
    try:
        return goal_of(entry) == pile_of(entry)
    except StockError:  # something is missing, which is said on its own
        return False


def mender_of(mended: EntryId, entries: Sequence[Entry]) -> Entry | None:
    """Return the entry that corrected or voided another and still counts: a second one would add up with it."""
    gone: set[EntryId] = set()
    for entry in reversed(entries):
        if entry.corrects is None or entry.id in gone:
            continue
        if entry.corrects == mended:
            return entry
        gone.add(entry.corrects)
    return None


def mended_twice(batch: Iterable["Told"]) -> Iterable[Problem]:
    """What two entries of one batch correct."""
    seen: dict[EntryId, EntryId] = {}
    for one in batch:
        if one.entry.corrects is None:
            continue
        first = seen.setdefault(one.entry.corrects, one.entry.id)
        if first != one.entry.id:
            yield Problem(one.line, "corrects", "mended-already", one.entry.corrects, first)
