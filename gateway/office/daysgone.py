"""Judges days gone by, as known now and as told before: what is known of each is gathered once for all of them.

Only the registers are known otherwise: what heads and outputs proved on a day, the journal proves once and for all.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from zoneinfo import ZoneInfo

from compliance.registers.entries import Entry, Holding, Millis, fold
from compliance.registers.stock import Levels, levels_each
from compliance.vocabulary import Fact, Finding, Verdict
from gateway.office.desk import STOCK
from gateway.office.findings import Key, key_of
from gateway.office.lawfacts import end_of

Judged = Callable[[date, Mapping[tuple[str, str], Holding], Levels, Sequence[Fact]], list[Finding]]


@dataclass(slots=True)
class DaysGone:
    """Some days gone by.

    Attributes:
        days: which, in their order.
        entries: everything told of the registers.
        by_then: the last moment before something was told late.
        proven: what heads and outputs proved on each day.
        judged: judges a day on what is known of it.
        zone: whose days they are.
    """

    days: Sequence[date]
    entries: Sequence[Entry]
    by_then: Millis
    proven: Mapping[date, Sequence[Fact]]
    judged: Judged
    zone: ZoneInfo
    _stock: dict[Millis | None, Mapping[date, Levels]] = field(default_factory=dict)
    _kept: list[Entry] = field(default_factory=list)
    _moved: list[Entry] = field(default_factory=list)
    _broken: dict[tuple[date, Millis | None], frozenset[Key]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for entry in self.entries:
            (self._moved if entry.register == STOCK else self._kept).append(entry)

    def broken(self, day: date) -> frozenset[Key]:
        """What was broken at the end of a day, as known now."""
        return self._broken_by(day, None)

    def broken_as_told(self, day: date) -> frozenset[Key]:
        """What was told to be broken at the end of a day, before something was told late."""
        return self._broken_by(day, self._told_by(day))

    def found(self, day: date, *, as_told: bool) -> list[Finding]:
        """What every rule says at the end of a day, as known now or as told before."""
        return self._found(day, self._told_by(day) if as_told else None)

    def _told_by(self, day: date) -> Millis:
        """By when was told what was told of a day: nobody knows of a day before it is over."""
        return max(Millis(end_of(day, self.zone)), self.by_then)

    def _broken_by(self, day: date, known: Millis | None) -> frozenset[Key]:
        if known is not None and (not self.entries or self.entries[-1].recorded <= known):
            known = None
        if (day, known) not in self._broken:
            found = self._found(day, known)
            self._broken[day, known] = frozenset(key_of(one) for one in found if one.verdict is Verdict.VIOLATED)
        return self._broken[day, known]

    def _found(self, day: date, known: Millis | None) -> list[Finding]:
        standing = fold(self._kept, Millis(end_of(day, self.zone)), known)
        return self.judged(day, standing, self._levels(day, known), self.proven[day])

    def _levels(self, day: date, known: Millis | None) -> Levels:
        if known not in (None, self.by_then):
            return levels_each(self._moved, [Millis(end_of(day, self.zone))], known)[0]
        if known not in self._stock:
            ends = [Millis(end_of(day, self.zone)) for day in self.days]
            self._stock[known] = dict(zip(self.days, levels_each(self._moved, ends, known), strict=True))
        return self._stock[known][day]
