"""What a judge who knows nothing yet finds in a depot's journal: books opened anew, every rule judged anew."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from compliance.registers.entries import Millis
from gateway.depot import Depot
from gateway.journal.reader import JournalReader
from gateway.office import entries as kept
from gateway.office.books import Books
from gateway.office.judge import changes
from gateway.office.law import Law
from sensors.stamps import MILLISECOND

LIVE: Final = ("detector:", "output:", "leak:")
"""Subjects of which the watch proves things that come and go in a moment."""


@dataclass(frozen=True, slots=True)
class Held:
    """What a journal holds of registers and findings, and what it should say.

    Attributes:
        entries: the id of every register line, as often as it stands there.
        changes: of findings, oldest first.
        fresh: every finding of now.
    """

    entries: Sequence[str]
    changes: Sequence[Mapping[str, Any]]
    fresh: Sequence[Mapping[str, Any]]


def held(depot: Depot, law: Law, utc: Callable[[], int]) -> Held:
    """Read and judge.

    Raises:
        StoreError: the journal cannot be read.
    """
    books = Books(depot, law, utc)
    books.catch_up()
    fresh = books.judge.findings(books.desk, Millis(utc() // MILLISECOND), None)["findings"]
    with JournalReader(depot.journal) as journal:
        lines = [str(line["id"]) for _, body, _ in journal.filed(kept.KIND) for line in body["entries"]]
        return Held(lines, list(changes(journal)), fresh)


def rests_on_the_live(finding: Mapping[str, Any]) -> bool:
    """Tell whether it may change while nobody enters anything and no day ends."""
    subjects = [finding["subject"], *(fact["subject"] for fact in finding["evidence"])]
    return any(str(subject).startswith(LIVE) for subject in subjects)
