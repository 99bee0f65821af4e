"""What is filed, cut into parts that an entry of the journal and a message to the watch can hold. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import msgspec

from gateway.engine.events import Json

MOST_ENTRY_BYTES = 24 * 1024
"""Of one entry of the journal, so that the watch, which takes one after another, is held up for a moment only."""

MOST_FILING_BYTES = 960 * 1024
"""Of what is entered in one transaction: the watch hears messages of up to 1 MiB."""

Line = TypeVar("Line", bound=Mapping[str, Json])


def of_entries(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Yield the lines in their order, as many at a time as one entry of the journal holds."""
    part: list[Line] = []
    size = 0
    for line in lines:
        more = _bytes(line)
        if part and size + more > MOST_ENTRY_BYTES:
            yield part
            part, size = [], 0
        part.append(line)
        size += more
    if part:
        yield part


def beyond_one_filing(lines: Sequence[Line]) -> int:
    """Return how many lines like these go into one transaction; 0 when all of these do."""
    size = sum(map(_bytes, lines))
    return 0 if size <= MOST_FILING_BYTES else max(1, len(lines) * MOST_FILING_BYTES // size)


def _bytes(line: Mapping[str, Json]) -> int:
    return len(msgspec.json.encode(line)) + 1
