"""The books of a depot: its registers and what the law said of them, read from the journal, for whoever may look.

The office keeps them open; a report opens them for itself, whether the gateway runs or not.
"""

from collections.abc import Callable, Mapping
from time import time_ns
from typing import Any
from zoneinfo import ZoneInfo

import structlog

from compliance.registers.cells import iso_month
from compliance.registers.civil import add_months
from compliance.registers.entries import EntryId, Millis
from compliance.registers.facts import day
from compliance.registers.movements import month
from compliance.vocabulary import DEPOT
from gateway.depot import Depot
from gateway.journal.reader import JournalReader
from gateway.office import entries as kept
from gateway.office import shown
from gateway.office.asked import MomentError, day_of, moment
from gateway.office.desk import STOCK, Desk
from gateway.office.doubts import as_json as doubted
from gateway.office.judge import Judge
from gateway.office.law import Law, law_of


class Books:
    """One depot's registers and findings.

    Attributes:
        desk: every register entry.
        judge: the statutes, and how findings stood.
    """

    def __init__(self, depot: Depot, law: Law | None = None, utc: Callable[[], int] = time_ns) -> None:
        self.depot = depot
        self.zone = ZoneInfo(depot.timezone)
        law = law or law_of(depot)
        self.forms = law.forms
        things = {
            "depot": {DEPOT.id},
            "detector": {str(one.id) for one in depot.detectors},
            "output": {one.id for one in depot.outputs},
        }
        self.desk = Desk(self.forms, (area.id for area in depot.areas), things)
        self.judge = Judge(depot, self.zone, law, utc)
        self._read_to = -1
        self._log = structlog.get_logger("office")

    def catch_up(self) -> None:
        """Read what the journal holds by now.

        Raises:
            StoreError: it cannot be read.
        """
        with JournalReader(self.depot.journal) as journal:
            self.judge.catch_up(journal)
            for idx, body, by in journal.filed(kept.KIND, self._read_to):
                self._read_to = idx
                try:
                    told = kept.entries(body, self.forms, by)
                except kept.UNREADABLE as error:
                    self._log.error("register entry of the journal is none", entry=idx, reason=repr(error)[:200])
                    continue
                before = self.desk.set_aside
                self.desk.keep(told)
                if self.desk.set_aside > before:
                    self._log.error("movement of the journal cannot have been", entry=idx)

    def registers(self, at: Millis | None, known: Millis | None) -> dict[str, list[dict[str, Any]]]:
        """Every keyed register at a moment, by name; empty ones are left out."""
        found = {name: shown.register(self.desk.holdings(name, at, known)) for name in self.forms if name != STOCK}
        return {name: held for name, held in found.items() if held}

    def stock(self, at: Millis | None, known: Millis | None, now: Millis) -> Mapping[str, Any]:
        """What stands in every area at a moment (None: `now`), and what each is licensed for."""
        on = day(now if at is None else at, self.zone)
        held = shown.stock(self.desk.stock(at, known), sorted(self.desk.areas))
        held |= {"discrepancies": [self._dated(found) for found in held["discrepancies"]]}
        doubts = doubted(self.judge.doubts(self.desk)) if at is None and known is None else []
        return held | {"limits": self.judge.limits(on), "doubts": doubts}

    def finding(self, rule: str, subject: str) -> list[dict[str, Any]]:
        """Every step of one finding, oldest first, with the persons whose entries caused it."""
        return [
            {**change, "because": [self._named(cause) for cause in change.get("because", ())]}
            for change in self.judge.history(rule, subject)
        ]

    def _dated(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """A count that found other than the book, with the person and the time."""
        entry = self.desk.find(EntryId(found["entry"]))
        told = {} if entry is None else {"at": shown.time(entry.effective), "by": entry.by}
        return {**found, **told}

    def _named(self, cause: Mapping[str, Any]) -> dict[str, Any]:
        entry = self.desk.find(EntryId(str(cause.get("entry", ""))))
        return {**cause, "by": None if entry is None else entry.by}

    def movements(self, name: str) -> list[dict[str, Any]]:
        """A month's map of movements; `name` is ``2026-11``.

        Raises:
            MomentError: it is no month.
        """
        try:
            first = day_of(f"{iso_month(name)}-01")
        except MomentError:
            raise MomentError(name) from None
        start, end = (moment(day.isoformat(), self.zone, Millis(0)) for day in (first, add_months(first, 1)))
        return shown.movements(month(self.desk.entries, start, end))


__all__ = ["Books", "MomentError"]
