"""The last tests of outputs that a journal knows of, for the restart. Reads only."""

from collections.abc import Iterator, Mapping
from typing import Any

import apsw
import msgspec

MOST = 500
"""So many of the newest are looked at: a depot has few outputs, and tests each of them now and then."""


def tested(db: apsw.Connection) -> Iterator[Mapping[str, Any]]:
    """Yield the bodies of the newest entries of kind ``output-test``, the oldest first.

    Raises:
        ValueError: an entry is none.
    """
    rows = db.execute(
        "SELECT e.bytes FROM filed f JOIN entry e ON e.idx = f.idx"
        " WHERE f.kind = 'output-test' ORDER BY f.idx DESC LIMIT ?",
        (MOST,),
    ).fetchall()
    for (data,) in reversed(rows):
        yield msgspec.json.decode(data)["body"]
