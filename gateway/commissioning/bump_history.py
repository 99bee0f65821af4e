"""Bump tests out of the journal: the one just made, and the day each head last passed one. Reads only."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from hashlib import sha256
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from gateway.commissioning.bump_verdict import Limits, limits_of, objections
from gateway.commissioning.told import told_on
from gateway.commissioning.upkeep import Due, dues
from gateway.depot import Depot
from gateway.journal import StoreError
from gateway.journal.reader import JournalReader

STEP = 20_000
"""Entries looked through by one question, so that the writer is never held back for long."""

MARK = b'"kind":"bump"}'
"""How the canonical bytes of such an entry end."""

_QUESTION = (
    "SELECT idx, bytes FROM entry WHERE idx >= ? AND idx < ? AND substr(bytes, ?) = CAST(? AS BLOB) ORDER BY idx DESC"
)


@dataclass(frozen=True, slots=True)
class BumpEntry:
    """One bump test as the journal keeps it; `body` is that of `gateway.engine.bumps.Bump`, ``by`` a reference.

    Attributes:
        leaf: SHA-256 of the leaf in the journal's tree (RFC 6962), hex: ties a record to the journal.
    """

    idx: int
    body: dict[str, Any]
    leaf: str

    @property
    def detector(self) -> str:
        """The head under test."""
        return str(self.body["detector"])


def bumps(reader: JournalReader, start: int = 0) -> Iterator[BumpEntry]:
    """Yield the bump tests from entry `start` on, the newest first.

    Raises:
        StoreError: the journal cannot be read.
    """
    end = reader.head()[1]
    while end > start:
        begin = max(start, end - STEP)
        for idx, data in reader.ask(_QUESTION, (begin, end, -len(MARK), MARK.decode())):
            yield BumpEntry(idx, json.loads(data)["body"], sha256(b"\x00" + data).hexdigest())
        end = begin


def bumped_on(journal: Path, heads: Mapping[str, Limits], zone: tzinfo) -> dict[str, date]:
    """Return the day each of these heads last passed a bump test, by the depot's clock; heads without one are absent.

    Raises:
        StoreError: the journal is there and cannot be read.
    """
    found: dict[str, date] = {}
    if not journal.exists():
        return found
    with JournalReader(journal) as reader:
        for bump in bumps(reader):
            limits = heads.get(bump.detector)
            if limits is None or bump.detector in found or objections(bump.body, limits):
                continue
            closed = datetime.fromtimestamp(bump.body["closed_ms"] / 1000, UTC)
            found[bump.detector] = closed.astimezone(zone).date()
            if len(found) == len(heads):
                break
    return found


def dues_of(depot: Depot) -> tuple[dict[str, tuple[Due, ...]], str]:
    """Return what every head of a depot is due for, and why the bump tests are unknown where the journal is unreadable.

    The later day counts: of the configuration, the journal's bump tests, and what people told the registers.

    No query fails for a journal that cannot be read: it says so instead.
    """
    heads = {str(detector.id): limits_of(depot, detector) for detector in depot.detectors}
    try:
        bumped, told, trouble = bumped_on(depot.journal, heads, ZoneInfo(depot.timezone)), told_on(depot.journal), ""
    except StoreError as error:
        bumped, told, trouble = {}, {}, str(error)

    def last(detector: str, fact: str, known: date | None) -> date | None:
        return max((day for day in (known, told.get(detector, {}).get(fact)) if day is not None), default=None)

    found = {
        str(detector.id): dues(
            detector.intervals,
            calibrated_on=last(str(detector.id), "calibrated_on", detector.calibrated_on),
            bumped_on=last(str(detector.id), "bumped_on", bumped.get(str(detector.id))),
            tested_on=last(str(detector.id), "function_tested_on", detector.tested_on),
        )
        for detector in depot.detectors
    }
    return found, trouble


def today(depot: Depot) -> date:
    """Return the present day by the depot's clock."""
    return datetime.now(ZoneInfo(depot.timezone)).date()
