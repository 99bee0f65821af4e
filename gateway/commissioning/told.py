"""When people said that heads were calibrated or tested: out of the registers in the journal. Reads only."""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from pathlib import Path

import msgspec

from compliance.registers.entries import Entry, Millis, fold
from gateway.journal.errors import StoreError
from gateway.journal.reader import JournalReader
from gateway.journal.schema import FILED_SINCE
from gateway.office import entries as kept
from sensors.sentences import Sentence

REGISTER = "detector"
MOST_PARTS = 20_000
"""Filed parts that speak of heads; a depot with more has other troubles."""

_QUESTION = (
    "SELECT e.bytes FROM filed f JOIN entry e ON e.idx = f.idx"
    " WHERE f.kind = ? AND instr(e.bytes, CAST(? AS BLOB)) > 0 ORDER BY f.idx LIMIT ?"
)


def told_on(journal: Path) -> Mapping[str, Mapping[str, date]]:
    """Return the days that the registers hold of each head, by field (``calibrated_on`` ...).

    Raises:
        StoreError: the journal is there and cannot be read.
    """
    if not journal.exists():
        return {}
    with JournalReader(journal) as reader:
        if reader.version < FILED_SINCE:
            return {}
        rows = reader.ask(_QUESTION, (kept.KIND, f'"register":"{REGISTER}"', MOST_PARTS))
        told = [entry for (data,) in rows for entry in _entries(bytes(data), journal)]
    now = Millis(int(datetime.now(UTC).timestamp() * 1000))
    return {
        subject: {name: day for name, value in held.values.items() if (day := _day(value)) is not None}
        for (_, subject), held in fold(told, now).items()
    }


def _entries(data: bytes, journal: Path) -> Iterator[Entry]:
    try:
        found = kept.entries(msgspec.json.decode(data)["body"], {}, "")
    except (msgspec.DecodeError, LookupError, TypeError, ValueError) as error:
        raise StoreError(
            journal, Sentence("a register entry is none ({reason})", reason=error), "run `vigia verify`"
        ) from error
    return (entry for entry in found if entry.register == REGISTER)


def _day(value: object) -> date | None:
    try:
        return date.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
