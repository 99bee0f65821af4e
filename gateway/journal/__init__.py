"""The journal: one durable, tamper-evident file per depot. docs/journal-format.md describes it byte by byte."""

from gateway.journal.errors import NotOursError, StoreError
from gateway.journal.health import JournalHealth
from gateway.journal.jobs import Sealed
from gateway.journal.log import Journal
from gateway.journal.opening import open_anyhow
from gateway.journal.reader import JournalReader
from gateway.journal.verify import check

__all__ = ["Journal", "JournalHealth", "JournalReader", "NotOursError", "Sealed", "StoreError", "check", "open_anyhow"]
