"""The noun of every register: an entry says what became true of a subject, when it was true and when we were told.

An entry is never changed. A mistake is mended by a later entry that names the one it corrects, with a reason.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from types import MappingProxyType
from typing import NewType, TypeAlias

EntryId = NewType("EntryId", str)
"""Given by whoever tells (a repeat of the same call has the same id), or made by the gateway."""

Millis = NewType("Millis", int)
"""Civil time in milliseconds since 1970-01-01 UTC."""

Scalar: TypeAlias = "str | int | bool | Decimal | date | None"
"""A field's value. None says that it is no longer known."""

LATE_AFTER = 24 * 3600 * 1000
"""An entry told more than a day after it was true is marked late, milliseconds."""


class Act(Enum):
    """What an entry does to its subject."""

    RECORD = "record"  # these fields have these values from now on; the others stay
    REMOVE = "remove"  # the subject is no longer in the depot
    VOID = "void"  # the entry that it corrects was never true
    ENTER = "in"  # stock: containers came
    LEAVE = "out"  # stock: containers went
    CHANGE = "state"  # stock: containers of one state became another (sold full came back empty, emptied, set apart)
    TRANSFER = "transfer"  # stock: to another area or lot
    COUNT = "count"  # stock: a person counted; the count holds, the difference is on record


STOCK_ACTS = frozenset({Act.ENTER, Act.LEAVE, Act.CHANGE, Act.TRANSFER, Act.COUNT})


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a register.

    Attributes:
        register: the register's name, as its form says (``stock``, ``extinguisher``, ``document`` ...).
        subject: what it is about, unique in the register (``EXT-07``, ``alvara``); for stock the area.
        effective: when it was true.
        recorded: when the gateway was told; never before the entries recorded earlier.
        by: the person, never empty.
        source: how it came: ``person``, ``csv``, ``mqtt``, ``scale``, ``tag``.
        reason: why, asked for with a correction.
        corrects: the entry that this one takes the place of.
    """

    id: EntryId
    register: str
    subject: str
    act: Act
    values: Mapping[str, Scalar]
    effective: Millis
    recorded: Millis
    by: str
    source: str = "person"
    reason: str = ""
    corrects: EntryId | None = None

    @property
    def late(self) -> bool:
        """Tell whether it came so long after the fact that a reader must know."""
        return self.recorded - self.effective > LATE_AFTER


@dataclass(frozen=True, slots=True)
class Holding:
    """What a register holds of one subject on a date.

    Attributes:
        values: each field's last value.
        told: for each field, the entry it comes from.
        since: when the subject came to be known.
        last: the latest entry on it, against which a change is checked.
    """

    register: str
    subject: str
    values: Mapping[str, Scalar]
    told: Mapping[str, Entry]
    since: Millis
    last: EntryId


def in_effect(entries: Iterable[Entry], at: Millis, known: Millis | None = None) -> list[Entry]:
    """Return the entries that count at a moment, in the order in which they became true.

    Args:
        entries: in the order in which they were told.
        at: the moment asked about.
        known: what was told later is left out; None counts all that is told by now.

    An id that was told twice counts once.

    An entry that another corrects is left out, and so is a voiding itself. A correction takes the place of what it
    corrects in time (its own `effective` says when).
    """
    first: dict[EntryId, Entry] = {}
    for entry in entries:
        if known is None or entry.recorded <= known:
            first.setdefault(entry.id, entry)
    heard = list(first.values())
    corrected = _corrected(heard)
    standing = [
        entry for entry in heard if entry.id not in corrected and entry.act is not Act.VOID and entry.effective <= at
    ]
    standing.sort(key=lambda entry: entry.effective)
    return standing


def fold(entries: Iterable[Entry], at: Millis, known: Millis | None = None) -> dict[tuple[str, str], Holding]:
    """Return every subject that stands in the keyed registers at a moment, by register and subject."""
    values: dict[tuple[str, str], dict[str, Scalar]] = {}
    told: dict[tuple[str, str], dict[str, Entry]] = {}
    since: dict[tuple[str, str], Millis] = {}
    last: dict[tuple[str, str], EntryId] = {}
    for entry in in_effect(entries, at, known):
        if entry.act in STOCK_ACTS:
            continue
        key = (entry.register, entry.subject)
        if entry.act is Act.REMOVE:
            for table in (values, told, since, last):
                table.pop(key, None)
            continue
        values.setdefault(key, {}).update(entry.values)
        told.setdefault(key, {}).update(dict.fromkeys(entry.values, entry))
        since.setdefault(key, entry.effective)
        last[key] = entry.id
    return {
        key: Holding(*key, MappingProxyType(held), MappingProxyType(told[key]), since[key], last[key])
        for key, held in values.items()
    }


def _corrected(heard: list[Entry]) -> set[EntryId]:
    """Tell which entries no longer count; a correction that was itself voided gives its predecessor back.

    The latest word decides: corrections are looked at from the last told to the first.
    """
    gone: set[EntryId] = set()
    for entry in reversed(heard):
        if entry.corrects is not None and entry.id not in gone:
            gone.add(entry.corrects)
    return gone
