"""What the journal proves of heads and outputs now, for the law: followed from entry to entry, never read anew."""

from zoneinfo import ZoneInfo

from compliance.vocabulary import Fact
from gateway.depot import Depot
from gateway.journal.reader import JournalReader
from gateway.ledger.measures import Measures
from gateway.ledger.watchbook import lines
from gateway.office.lawfacts import Asked, bumps_passed, measures_of, proven


class Witness:
    """Follows one depot's journal."""

    def __init__(self, depot: Depot, zone: ZoneInfo) -> None:
        self._depot = depot
        self._zone = zone
        self._measures: Measures = measures_of(depot)
        self._read = 0
        self._bumps: tuple[Fact, ...] = ()

    def facts(self, journal: JournalReader, asked: Asked) -> tuple[Fact, ...]:
        """Return what is proven now.

        Raises:
            StoreError: the journal cannot be read.
        """
        bumped = self._read == 0
        for line in lines(journal, self._read):
            self._measures.take(line)
            self._read += 1
            bumped |= line.kind == "bump"
        if bumped:
            self._bumps = tuple(bumps_passed(self._depot, self._zone))
        return (*proven(self._measures, journal, asked, asked.now_ms, self._zone), *self._bumps)
