"""Judges days gone by, as known now and as known before something was told: what is known of each is gathered once.

Only the registers are known otherwise: what heads and outputs proved on a day, the journal proves once and for all.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
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
        proven: what heads and outputs proved on each day.
        judged: judges a day on what is known of it.
        zone: whose days they are.
    """

    days: Sequence[date]
    entries: Iterable[Entry]
    proven: Mapping[date, Sequence[Fact]]
    judged: Judged
    zone: ZoneInfo
    _stock: dict[Millis | None, Mapping[date, Levels]] = field(default_factory=dict)
    _kept: list[Entry] = field(default_factory=list)
    _broken: dict[tuple[date, Millis | None], frozenset[Key]] = field(default_factory=dict)

    def broken(self, day: date, known: Millis | None = None) -> frozenset[Key]:
        """What was broken at the end of a day, as known now or by a moment."""
        if (day, known) not in self._broken:
            found = self.found(day, known)
            self._broken[day, known] = frozenset(key_of(one) for one in found if one.verdict is Verdict.VIOLATED)
        return self._broken[day, known]

    def found(self, day: date, known: Millis | None = None) -> list[Finding]:
        """What every rule says at the end of a day, as known now or by a moment."""
        if not self._kept:
            self._kept = [entry for entry in self.entries if entry.register != STOCK]
        holdings = fold(self._kept, Millis(end_of(day, self.zone)), known)
        return self.judged(day, holdings, self._stock_of(known)[day], self.proven[day])

    def _stock_of(self, known: Millis | None) -> Mapping[date, Levels]:
        if known not in self._stock:
            ends = [Millis(end_of(day, self.zone)) for day in self.days]
            moved = (entry for entry in self.entries if entry.register == STOCK)
            self._stock[known] = dict(zip(self.days, levels_each(moved, ends, known), strict=True))
        return self._stock[known]
