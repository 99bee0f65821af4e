"""Goes through a whole journal file and names every fault found: recomputes each leaf and node from the entries.

The signed checkpoints (`seals`) and the tables beside the tree (`indexes`) are held against the same entries.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from gateway.journal import canonical, indexes, tree
from gateway.journal.batches import ALARM
from gateway.journal.errors import StoreError
from gateway.journal.indexes import MOST_PROBLEMS
from gateway.journal.reader import MOST_ENTRIES, JournalReader
from gateway.journal.schema import FILED
from gateway.journal.seals import Seals
from sensors.sentences import Sentence

NAME_A_KEY = frozenset({"boot", "restore"})
"""Kinds of entries that name the key which signs from then on."""


def check(path: Path, *, vkey: str | None = None, outside: str | None = None) -> list[str]:
    """Recompute the journal's tree and hold every table and checkpoint against it; an empty list is a clean journal.

    Safe beside a running gateway: it judges what had been committed when it began. Without `vkey` and `outside` it
    proves that the file agrees with itself; that nobody rewrote all of it takes one of them.

    Args:
        path: the journal file.
        vkey: the key that must have signed the last checkpoint, as noted elsewhere.
        outside: a signed checkpoint that was kept elsewhere; the journal must begin with what it covers.
    """
    try:
        with JournalReader(path) as reader:
            return list(islice(_guarded(reader, vkey, outside), MOST_PROBLEMS))
    except StoreError as error:
        return [error.sentence]


def _guarded(reader: JournalReader, vkey: str | None, outside: str | None) -> Iterator[str]:
    sound = True
    for (line,) in reader.ask("PRAGMA quick_check(20)"):
        if line != "ok":
            sound = False
            yield Sentence("SQLite: {line}", line=line)
    try:
        yield from _problems(reader, vkey, outside)
    except (TypeError, ValueError, OverflowError) as error:
        if sound:  # then every column holds what its table says, and the fault is ours
            raise
        yield Sentence("the rest cannot be read: {reason}", reason=error)


def _problems(reader: JournalReader, vkey: str | None, outside: str | None) -> Iterator[str]:
    depot, size, root = reader.head()
    alarms: dict[int, tuple[int, str]] = {}
    filed: dict[int, str] = {}
    seals = Seals(reader, depot, size, outside)
    yield from _tree(reader, size, root, alarms, filed, seals)
    yield from seals.rest(vkey)
    yield from indexes.faults(reader, size, alarms, filed)


def _tree(
    reader: JournalReader,
    size: int,
    root: bytes,
    alarms: dict[int, tuple[int, str]],
    filed: dict[int, str],
    seals: Seals,
) -> Iterator[str]:
    """Recompute all nodes from the entry bytes.

    Collects idx -> (seq, event id) of the alarms and idx -> kind of the filed entries on the way.
    """
    computed = tree.Frontier()
    while computed.size < size:
        start = computed.size
        stop = min(start + MOST_ENTRIES, size)
        kept = {idx: _blob(data) for idx, data in reader.entries(start, stop - start) if idx < stop}
        nodes = _nodes(reader, tree.stored(start), tree.stored(stop))
        for idx in range(start, stop):
            data = kept.get(idx)
            if data is None:
                yield Sentence("entry {idx} is missing", idx=idx)
            else:
                yield from _entry(idx, data, alarms, filed, seals)
            # upwards the stored leaf counts, so that one bad entry is not reported again at every node above it
            first = tree.stored(idx)
            kept_leaf = nodes.get(first)
            if kept_leaf is None or (data is not None and tree.leaf_hash(data) != kept_leaf):
                yield _mismatch(0, idx, missing=kept_leaf is None)
            computed, born = computed.append(kept_leaf or tree.leaf_hash(data or b""))
            for level, found in enumerate(born[1:], 1):
                if nodes.get(first + level) != found:
                    yield _mismatch(level, idx, missing=first + level not in nodes)
            yield from seals.at(computed)
    if computed.root() != root:
        yield Sentence(
            "the root over {size} entries is {computed}, the stored head says {root}",
            size=size,
            computed=computed.root().hex(),
            root=root.hex(),
        )
    yield from _beyond(reader, size)


def _nodes(reader: JournalReader, first: int, end: int) -> dict[int, bytes]:
    rows = reader.ask("SELECT pos, hash FROM node WHERE pos >= ? AND pos < ?", (first, end))
    return {pos: _blob(found) for pos, found in rows}


def _blob(value: object) -> bytes:
    """A column of a damaged file may hold any type."""
    if not isinstance(value, bytes):
        raise TypeError(f"{str(value)[:40]!r} stands where bytes belong")
    return value


def _mismatch(level: int, idx: int, *, missing: bool) -> str:
    fault = "is missing from the tree" if missing else "does not match its hash in the tree"
    if level == 0:
        if missing:
            return Sentence("entry {idx}: its leaf is missing from the tree", idx=idx)
        return Sentence("entry {idx} {fault}", idx=idx, fault=fault)
    return Sentence(
        "the node over entries {first} to {last} (level {level}) {fault}",
        first=(idx >> level) << level,
        last=idx,
        level=level,
        fault=fault,
    )


def _beyond(reader: JournalReader, size: int) -> Iterator[str]:
    """Rows past the head, unless the head itself has moved on since: then a running writer put them there."""
    if reader.head()[1] != size:
        return
    for idx, _ in reader.entries(size, 1):
        yield Sentence("entry {idx} stands beyond the head, which counts {size} entries", idx=idx, size=size)
    for (count,) in reader.ask("SELECT count(*) FROM node WHERE pos >= ?", (tree.stored(size),)):
        if count and reader.head()[1] == size:
            yield Sentence("{count} tree nodes stand beyond those of {size} entries", count=count, size=size)


def _entry(
    idx: int, data: bytes, alarms: dict[int, tuple[int, str]], filed: dict[int, str], seals: Seals
) -> Iterator[str]:
    try:
        value = canonical.decode(data)
    except ValueError as error:
        yield Sentence("entry {idx} is not canonical JSON: {reason}", idx=idx, reason=error)
        return
    match value:
        case {"body": Mapping() as body, "idx": int(own), "kind": str(kind), **rest} if not rest:
            if own != idx:
                yield Sentence("entry {idx} says it is entry {own}", idx=idx, own=own)
            if kind in NAME_A_KEY:
                yield from seals.learn(idx, body)
            if kind in FILED:
                filed[idx] = kind
            if kind == ALARM:
                seq, event = body.get("seq"), body.get("id")
                if isinstance(seq, int) and isinstance(event, str):
                    alarms[idx] = (seq, event)
                else:
                    yield Sentence("entry {idx} is an alarm without seq or id", idx=idx)
        case _:
            yield Sentence("entry {idx} is not of the form body, idx, kind", idx=idx)
