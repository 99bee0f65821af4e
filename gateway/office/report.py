"""The compliance history of a depot over a time, as JSON: what an inspector asks for. Reads the journal only."""

from typing import Any

import msgspec

from compliance.registers.entries import Millis
from compliance.registers.movements import month
from gateway.depot import Depot
from gateway.journal import audit
from gateway.journal.reader import JournalReader
from gateway.ledger import watchbook
from gateway.office import history, shown
from gateway.office.books import Books
from gateway.office.judge import changes
from gateway.office.law import Law
from gateway.office.shown import time


def report(depot: Depot, start: Millis, end: Millis, now: Millis, law: Law | None = None) -> dict[str, Any]:
    """Gather everything from `start` to before `end`, as known at `now`; `law`: the statutes, where they were read.

    Raises:
        StoreError: the journal cannot be read.
    """
    end = min(end, now)
    books = Books(depot, law)
    books.catch_up()
    last = Millis(end - 1)
    ledger = msgspec.to_builtins(watchbook.ledger(depot.journal, depot.timezone, start, end, now))
    with JournalReader(depot.journal) as journal:
        alarms = history.alarms(watchbook.lines(journal), start, end)
        breaches = history.breaches(changes(journal), start, end, books.zone)
        _, size, root = journal.head()
        checkpoint, keys = journal.checkpoint(), journal.vkeys()
    sound = audit.judge(depot.journal, vkey=None, outside=None)
    return {
        "depot": {
            "id": depot.id,
            "name": depot.name,
            "address": depot.address,
            "areas": {area.id: area.name for area in depot.areas if area.name},
            "lines": sorted({one.source for one in depot.detectors}),
            "detectors": {one.id: one.name for one in depot.detectors if one.name not in ("", one.id)},
        },
        "from": time(start),
        "to": time(end),
        "timezone": depot.timezone,
        "made": time(now),
        "verdicts": _verdicts(books, last),
        "breaches": breaches,
        "stock": books.stock(last, None, last),
        "movements": shown.movements(month(books.desk.entries, start, end)),
        "registers": books.registers(last, None),
        "mended": shown.mended(books.desk.entries, start, end),
        "alarms": alarms,
        "ledger": ledger["months"],
        "gaps": history.gaps(ledger["stretches"]),
        "journal": {
            "entries": size,
            "root": root.hex(),
            "checkpoint": checkpoint,
            "keys": keys,
            "problems": list(sound.problems),
        },
    }


def _verdicts(books: Books, last: Millis) -> dict[str, Any]:
    """The findings at the end, as known now; each with its verdict as known then (null: nobody asked it then)."""
    found = books.judge.findings(books.desk, last, None)
    then = {
        (one["rule"], one["subject"]): one["verdict"]
        for one in books.judge.findings(books.desk, last, last)["findings"]
    }
    return found | {
        "findings": [one | {"verdict_then": then.get((one["rule"], one["subject"]))} for one in found["findings"]]
    }
