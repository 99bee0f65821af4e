"""The desk: takes in what is told of the registers, or says why not, and keeps everything told so far. Pure.

One request after another, so that two people who take the last cylinder at once cannot both have it. What the desk
admits is kept only once the journal holds it (`keep`).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from compliance.registers.cells import CellError, folded, shown
from compliance.registers.entries import STOCK_ACTS, Act, Entry, EntryId, Holding, Millis, fold, in_effect
from compliance.registers.facts import area_of_piles
from compliance.registers.forms import Form, Problem, checked, missing
from compliance.registers.stock import Book, Levels, Pile, StockError, admit, after, levels
from gateway.office.naming import MARKS, as_kept, meant, named, spelled
from gateway.office.tares import CONTAINERS, TICKETS, below_tare, with_tares
from gateway.office.turning import goes_nowhere, mended_twice, mender_of, off_days

MOST_IN_A_BATCH = 2_000
AHEAD_MS = 5 * 60 * 1000
"""How far a clock that is not ours may run ahead of ours."""

MOST_TEXT_CHARS = 500
"""Of a subject, a person, a reason, an id."""

SET_BACK_MS = 26 * 3600 * 1000
"""By how much at most a clock may have been wrong, so that what it told still stands before what is told now."""

STOCK = "stock"
AREA = "area"
"""Registers whose subjects are the depot's areas."""

CLEARING = frozenset({Act.LEAVE, Act.TRANSFER, Act.CHANGE, Act.COUNT, Act.VOID})
"""What can be done with the stock of an area that left the configuration."""


@dataclass(frozen=True, slots=True)
class Told:
    """What somebody wants entered.

    Attributes:
        expect: the subject's latest entry as its writer saw it; None where they saw none or do not care. A subject that
            changed meanwhile refuses the entry, so that nobody overwrites what they never read.
        line: the spreadsheet's line it comes from; 0 outside one.
    """

    entry: Entry
    expect: EntryId | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class Admitted:
    """All may be entered. `again` are repeats of what is already kept: accepted, and not entered twice."""

    entries: tuple[Entry, ...]
    again: tuple[EntryId, ...] = ()


@dataclass(frozen=True, slots=True)
class Turned:
    """Nothing is entered: every problem that was found."""

    problems: tuple[Problem, ...]


class Desk:
    """Every entry of a depot's registers, and who may add what.

    Args:
        forms: the registers' fields, by register.
        areas: the depot's storage areas; stock stands in one of them.
        things: registers whose subjects the configuration names, and those subjects.

    Attributes:
        set_aside: movements of the journal that cannot have been and count for nothing.
    """

    def __init__(
        self, forms: Mapping[str, Form], areas: Iterable[str], things: Mapping[str, Collection[str]] | None = None
    ) -> None:
        self.set_aside = 0
        self.forms = forms
        self.areas = frozenset(areas)
        self._things = things or {}
        self._entries: list[Entry] = []
        self._known: dict[EntryId, Entry] = {}
        self._last: dict[tuple[str, str], EntryId] = {}
        self._alike: dict[tuple[str, str], str] = {}
        self._book = Book()
        self._latest = Millis(0)
        self._told_last = Millis(0)

    def told_at(self, now: Millis) -> Millis:
        """Return the time that counts for what is told now: later than all told before.

        A clock that was set back by hours would put what is told now before what was told by the old one, which then
        would go on to count. One that was wrong by more than `SET_BACK_MS` is beyond such help.
        """
        ahead = self._told_last - now
        return Millis(self._told_last + 1) if 0 < ahead <= SET_BACK_MS else now

    @property
    def entries(self) -> Sequence[Entry]:
        """Everything told, in the order in which it was told."""
        return self._entries

    def keep(self, entries: Iterable[Entry]) -> None:
        """Keep entries that the journal holds. They were admitted once: only a movement that cannot be is set aside."""
        fresh = {entry.id: entry for entry in entries if entry.id not in self._known}  # a repeat counts once
        moved = [entry for entry in fresh.values() if entry.register == STOCK]
        unbooked = self._booked(moved)
        for entry in fresh.values():
            if entry.id in unbooked:
                self.set_aside += 1
                continue
            self._entries.append(entry)
            self._known[entry.id] = entry
            if (entry.register, entry.subject) not in self._last:
                self._alike.setdefault((entry.register, folded(entry.subject)), entry.subject)
            self._last[entry.register, entry.subject] = entry.id
            self._told_last = Millis(max(self._told_last, entry.recorded))

    def _booked(self, moved: Sequence[Entry]) -> frozenset[EntryId]:
        """Book movements; return those that take what there is not, which nobody had admitted."""
        latest = self._latest
        try:
            self._book_all(moved)
        except StockError:
            self._book, self._latest = Book(levels(self._stock(), latest)), latest
            if len(moved) == 1:
                return frozenset({moved[0].id})
            return self._booked_singly(moved)
        return frozenset()

    def _booked_singly(self, moved: Sequence[Entry]) -> frozenset[EntryId]:
        taken: list[Entry] = []
        for entry in (one for one in moved if one.act in STOCK_ACTS or (one.act is Act.VOID and one.corrects)):
            try:
                levels((*self._stock(), *taken, entry), Millis(2**62))
            except StockError:
                continue
            taken.append(entry)
        self._book_all(taken)
        return frozenset(entry.id for entry in moved) - {entry.id for entry in taken}

    def _book_all(self, moved: Sequence[Entry]) -> None:
        anew = False
        for entry in moved:
            anew |= entry.effective < self._latest or entry.corrects is not None
            self._latest = Millis(max(self._latest, entry.effective))
            if not anew:
                self._book.take(entry)
        if anew:
            self._book = Book(levels((*self._stock(), *moved), self._latest))

    def admit(self, told: Sequence[Told], now: Millis) -> Admitted | Turned:
        """Judge a batch: all of it may be entered, or none."""
        if len(told) > MOST_IN_A_BATCH:
            return Turned((Problem(0, "", "too-many", str(len(told)), f"<= {MOST_IN_A_BATCH}"),))
        told = [replace(one, entry=self.as_booked(one.entry)) for one in told]
        again = tuple(one.entry.id for one in told if self._known.get(one.entry.id) is not None)
        fresh = [one for one in told if one.entry.id not in again]
        problems = [problem for one in told for problem in self._problems(one, now)]
        seen: set[EntryId] = set()
        for one in fresh:
            if one.entry.id in seen:
                problems.append(Problem(one.line, "id", "id-used", one.entry.id, "an id of its own"))
            seen.add(one.entry.id)
        problems += mended_twice(fresh)
        if not problems:
            problems.extend(self._short(fresh))
        if problems:
            return Turned(tuple(problems))
        return Admitted(tuple(replace(one.entry, recorded=now) for one in fresh), again)

    def as_booked(self, entry: Entry) -> Entry:
        """An entry with what was left out and can only be so: brand, lot, a stamped tare; a repeat with what it got."""
        kept = self._known.get(entry.id)
        if entry.register != STOCK:
            held = self._held(entry) if entry.register == TICKETS else None
            return with_tares(entry, kept, held, lambda: self.holdings(CONTAINERS))
        units = self._book.levels().units
        entry = spelled(entry, self._spellings(units, entry.corrects))
        return named(entry, units) if kept is None else as_kept(entry, kept)

    def _held(self, entry: Entry) -> Holding | None:
        key = (entry.register, entry.subject)
        return fold(self.history(*key), Millis(2**62)).get(key)

    def _spellings(self, units: Mapping[Pile, int], but: EntryId | None) -> Mapping[str, frozenset[str]]:
        """How brands and lots are written: by the piles that stand, or by all that was told but for one entry."""
        if but is None:
            return {name: frozenset(str(getattr(pile, name)) for pile in units) for name in MARKS}
        others = [one.values for one in in_effect(self._stock(), Millis(2**62)) if one.id != but]
        return {name: frozenset(str(values.get(name) or "") for values in others) for name in MARKS}

    def stock(self, at: Millis | None = None, known: Millis | None = None) -> Levels:
        """What stands in the areas: now, or at a moment as known then or now."""
        if at is None and known is None:
            return self._book.levels()
        return levels(self._stock(), Millis(2**62) if at is None else at, known)

    def holdings(self, register: str, at: Millis | None = None, known: Millis | None = None) -> Mapping[str, Holding]:
        """The subjects of a keyed register, now or at a moment."""
        mine = (entry for entry in self._entries if entry.register == register)
        held = fold(mine, Millis(2**62) if at is None else at, known)
        return MappingProxyType({subject: holding for (_, subject), holding in held.items()})

    def after(self, planned: Sequence[Entry]) -> Levels:
        """What the stock would be once these were entered; nothing is booked.

        Raises:
            StockError: some moment would fall below zero, or a field is missing.
        """
        if all(entry.effective >= self._latest and entry.corrects is None for entry in planned):
            return after(self._book.levels(), sorted(planned, key=lambda entry: entry.effective))
        return admit(self._stock(), planned)

    def left(self) -> frozenset[str]:
        """Areas that are no longer configured and in which the book still has stock: it can go, and nothing comes."""
        return frozenset(pile.area for pile in self._book.levels().units) - self.areas

    def last_told(self, register: str, subject: str) -> Entry | None:
        """Return what was told last of a subject, whatever the clock said then."""
        last = self._last.get((register, subject))
        return None if last is None else self._known[last]

    def find(self, entry: EntryId) -> Entry | None:
        """Return an entry by its id."""
        return self._known.get(entry)

    def history(
        self, register: str, subject: str, at: Millis | None = None, known: Millis | None = None
    ) -> tuple[Entry, ...]:
        """Everything ever told of one subject; what was true by a moment, and what was told by another.

        Of an area's stock also what other areas handed over to it, and what mended that.
        """
        told: dict[EntryId, Entry] = {}
        for entry in self._entries:
            own = entry.subject == subject or (register == STOCK and entry.values.get("to_area") == subject)
            if entry.register == register and (own or entry.corrects in told):
                told[entry.id] = entry
        return tuple(
            entry
            for entry in told.values()
            if (at is None or entry.effective <= at) and (known is None or entry.recorded <= known)
        )

    # --- details --------------------------------------------------------------------------------

    def _stock(self) -> list[Entry]:
        return [entry for entry in self._entries if entry.register == STOCK]

    def _problems(self, one: Told, now: Millis) -> Iterable[Problem]:
        entry, line = one.entry, one.line
        form = self.forms.get(entry.register)
        if form is None:
            yield Problem(line, "register", "unknown-register", entry.register, ", ".join(sorted(self.forms)))
            return
        if kept := self._known.get(entry.id):
            if _content(kept) != _content(entry):
                yield Problem(line, "id", "id-used", entry.id, "an id of its own")
            return
        if not entry.by.strip():
            yield Problem(line, "by", "needs-name", "", "the name of the person who says so")
        if not entry.subject.strip():
            yield Problem(line, form.key, "empty", "", "a name that no other subject has")
        yield from _unprintable(one, form, kept=(entry.register, entry.subject) in self._last)
        if entry.effective > now + AHEAD_MS:
            yield Problem(line, "effective", "in-the-future", str(entry.effective), "a time that has been")
        yield from self._subject(entry, form, line)
        yield from self._correction(entry, line)
        yield from self._conflict(one)
        yield from self._values(entry, form, line, now)

    def _subject(self, entry: Entry, form: Form, line: int) -> Iterable[Problem]:
        """A thing that cannot be meant: unknown to the configuration, spelled otherwise before, or not there."""
        key, known = (entry.register, entry.subject), self._things.get(entry.register)
        held = self._last.get(key) is not None
        if entry.act is Act.RECORD and known is not None and entry.subject not in known:
            yield Problem(line, form.key, "unknown-thing", entry.subject, ", ".join(sorted(known)))
        elif entry.act is Act.RECORD and not held and (alike := self._alike.get((key[0], folded(key[1])))):
            yield Problem(line, form.key, "written-otherwise", entry.subject, alike)
        elif entry.act is Act.REMOVE and entry.subject not in self.holdings(entry.register):
            alike = self._alike.get((key[0], folded(key[1])), "")
            there = alike if alike != entry.subject else ""
            yield Problem(line, form.key, "not-there", entry.subject, there or "what the register shows")

    def _correction(self, entry: Entry, line: int) -> Iterable[Problem]:
        if entry.corrects is None:
            if entry.act is Act.VOID:
                yield Problem(line, "corrects", "corrects-nothing", "", "the id of the entry that was never true")
            return
        kept = self._known.get(entry.corrects)
        if kept is None or (kept.register, kept.subject) != (entry.register, entry.subject):
            yield Problem(line, "corrects", "no-such-entry", entry.corrects, "an entry on the same subject")
        elif mender := mender_of(entry.corrects, self._entries):
            yield Problem(line, "corrects", "mended-already", entry.corrects, mender.id)
        if not entry.reason.strip():
            yield Problem(line, "reason", "needs-reason", "", "why it is corrected")

    def _conflict(self, one: Told) -> Iterable[Problem]:
        last = self._last.get((one.entry.register, one.entry.subject))
        if one.expect is not None and one.expect != last:
            yield Problem(one.line, "expect", "changed", one.expect, str(last))

    def _values(self, entry: Entry, form: Form, line: int, now: Millis) -> Iterable[Problem]:
        if (entry.register == STOCK) != (entry.act in STOCK_ACTS) and entry.act is not Act.VOID:
            able = STOCK_ACTS if entry.register == STOCK else {Act.RECORD, Act.REMOVE}
            right = ", ".join(act.value for act in Act if act in able or act is Act.VOID)
            yield Problem(line, "act", "wrong-act", entry.act.value, right)
            return
        for name, value in entry.values.items():
            known = form.field(name)
            if known is None:
                yield Problem(line, name, "unknown-field", name, ", ".join(field.name for field in form.fields))
                continue
            try:
                checked(known, value)
            except CellError as error:
                yield Problem(line, name, error.problem, error.got, error.right)
            yield from off_days(known, value, now, line)
        yield from self._places(entry, line)
        if entry.register == TICKETS:
            yield from below_tare(entry, self._held(entry), line)
        if entry.register == STOCK:
            units = self._book.levels().units
            if alike := meant(entry, units):
                held = " · ".join(f"{units[pile]} {pile.name}" for pile in alike)
                yield Problem(line, "brand", "which-pile", "", held)
            if goes_nowhere(entry) and entry.subject in self.areas:
                name = "to_state" if entry.act is Act.CHANGE else "to_area"
                yield Problem(line, name, "goes-nowhere", "", "another one than it is in")
        if (
            entry.act is Act.RECORD
            and (entry.register, entry.subject) not in self._last
            and not area_of_piles(entry.register, entry.subject)
        ):
            for name in missing(form, entry.values):
                yield Problem(line, name, "missing", "", "")

    def _places(self, entry: Entry, line: int) -> Iterable[Problem]:
        """Whatever stands in an area stands in one of the depot's: what is said of others would count for nothing."""
        if entry.act is Act.REMOVE or (entry.act is Act.VOID and entry.register != STOCK):
            return
        here = self.areas | self.left() if entry.act in CLEARING or entry.corrects is not None else self.areas
        own = (("area", entry.subject, here),) if entry.register == STOCK else ()
        own = ((self.forms[AREA].key, entry.subject, self.areas),) if entry.register == AREA else own
        said = ((name, entry.values.get(name), self.areas) for name in ("area", "to_area", "one"))
        apart = (("other", entry.values.get("other"), self.areas - {entry.values.get("one")}),)
        for name, area, known in (*own, *said, *apart):
            if area and area not in known:
                yield Problem(line, name, "unknown-area", str(area), ", ".join(sorted(known)))

    def _short(self, fresh: Sequence[Told]) -> Iterable[Problem]:
        """Whether the stock would ever fall below nothing."""
        new = [one.entry for one in fresh if one.entry.register == STOCK]
        lines = {one.entry.id: one.line for one in fresh}
        if not new:
            return
        try:
            self.after(new)
        except StockError as error:
            held = f"{error.held} {error.pile.name}" if error.pile else ""
            yield Problem(lines.get(error.entry, 0), "units", error.code, str(error.asked), held)


def _unprintable(one: Told, form: Form, *, kept: bool) -> Iterable[Problem]:
    """What is said beside the fields, and could not be shown as it is or is no name.

    `kept`: the subject stands in the book by this very name, from before such names were refused.
    """
    entry = one.entry
    said = ((form.key, entry.subject), ("by", entry.by), ("reason", entry.reason), ("id", entry.id))
    for name, text in said[kept:]:  # the key of most registers is called id too
        try:
            shown(text, prose=name == "reason")
        except CellError as error:
            yield Problem(one.line, name, error.problem, error.got, error.right)
        if len(text) > MOST_TEXT_CHARS:
            yield Problem(one.line, name, "too-large", f"{len(text)}", f"<= {MOST_TEXT_CHARS}")


def _content(entry: Entry) -> Entry:
    """What an entry says, whenever it was told and by which message."""
    return replace(entry, recorded=Millis(0), effective=Millis(0), by="")
