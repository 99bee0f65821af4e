"""Goes through a whole journal file and names every fault found: recomputes each leaf and node from the entries.

The signed checkpoints are held against the same tree.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from gateway.journal import canonical, notes, persons, schema, tree
from gateway.journal.batches import ALARM
from gateway.journal.errors import StoreError
from gateway.journal.reader import MOST_ENTRIES, JournalReader
from gateway.journal.schema import FILED, FILED_SINCE
from sensors.sentences import Sentence

NAME_A_KEY = frozenset({"boot", "restore"})
"""Kinds of entries that name the key which signs from then on."""

MOST_PROBLEMS = 100
"""Problems named; a file with more is not described better by more."""


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
    seals = _Seals(reader, depot, size, outside)
    yield from _tree(reader, size, root, alarms, filed, seals)
    yield from seals.rest(vkey)
    yield from _alarms(reader, size, alarms)
    yield from _filed(reader, size, filed)
    yield from _outbox(reader)
    yield from _persons(reader)
    yield from _states(reader)


class _Seals:
    """The checkpoints, met in the order of their sizes while the tree is recomputed."""

    def __init__(self, reader: JournalReader, depot: str, size: int, outside: str | None) -> None:
        self._reader = reader
        self._origin = notes.origin_of(depot)
        self._size = size
        self._outside = outside
        self._keys: dict[str, notes.VerifyKey] = {}
        self._next = self._after(0)
        self._last = ""
        self._roots: dict[int, bytes] = {}
        self._kept_size = _outside_size(outside)

    def learn(self, idx: int, body: Mapping[str, object]) -> Iterator[str]:
        """Take the key that a boot entry names."""
        text = body.get("vkey")
        if isinstance(text, str) and text and text not in self._keys:
            try:
                self._keys[text] = notes.parse_vkey(text)
            except notes.NoteError as error:
                yield Sentence("entry {idx} names a key that is none: {reason}", idx=idx, reason=error)

    def at(self, frontier: tree.Frontier) -> Iterator[str]:
        """Hold the checkpoint of this size, if there is one, against the recomputed tree."""
        if frontier.size == self._kept_size:
            self._roots[frontier.size] = frontier.root()
        if self._next is None or self._next[0] != frontier.size:
            return
        size, note = self._next
        yield from self._judge(Sentence("the checkpoint over {size} entries", size=size), note, frontier.root(), size)
        self._last = note
        self._next = self._after(size)

    def rest(self, vkey: str | None) -> Iterator[str]:
        """Name what no tree of this journal fits, and judge what came from elsewhere."""
        if self._next is not None and self._reader.head()[1] == self._size:
            yield Sentence(
                "a checkpoint covers {covered} entries, the journal holds {size}",
                covered=self._next[0],
                size=self._size,
            )
        if vkey is not None:
            try:
                notes.opened(self._last, [notes.parse_vkey(vkey)])
            except notes.NoteError as error:
                yield Sentence("the last checkpoint is not signed by the key given: {reason}", reason=error)
            else:
                self._keys.setdefault(vkey, notes.parse_vkey(vkey))
        if self._outside is not None:
            label = "the checkpoint kept elsewhere"
            if self._kept_size is None:
                yield Sentence("{label} is no signed checkpoint", label=label)
            elif self._kept_size > self._size:
                yield Sentence(
                    "{label} covers {covered} entries, the journal holds {size}: its end is cut off",
                    label=label,
                    covered=self._kept_size,
                    size=self._size,
                )
            else:
                yield from self._judge(label, self._outside, self._roots.get(self._kept_size), self._kept_size)

    def _judge(self, label: str, note: str, root: bytes | None, size: int) -> Iterator[str]:
        try:
            found = notes.opened(note, self._keys.values())
        except notes.NoteError as error:
            yield Sentence("{label}: {reason}", label=label, reason=error)
            return
        if found.origin != self._origin:
            yield Sentence(
                "{label} is of {origin}, not of {right}", label=label, origin=found.origin, right=self._origin
            )
        elif found.size != size:
            yield Sentence("{label} speaks of {size} entries", label=label, size=found.size)
        elif root is not None and found.root != root:
            yield Sentence("{label} names another root: what it covers was changed since", label=label)

    def _after(self, size: int) -> tuple[int, str] | None:
        if self._reader.version < schema.CHECKPOINTS_SINCE:
            return None
        rows = self._reader.ask("SELECT size, note FROM checkpoint WHERE size > ? ORDER BY size LIMIT 1", (size,))
        return (int(rows[0][0]), str(rows[0][1])) if rows else None


def _outside_size(note: str | None) -> int | None:
    """The size an outside checkpoint speaks of, before its signature is judged."""
    try:
        return None if note is None else notes.parse_checkpoint(note.rpartition("\n\n")[0] + "\n").size
    except notes.NoteError:
        return None


def _tree(
    reader: JournalReader,
    size: int,
    root: bytes,
    alarms: dict[int, tuple[int, str]],
    filed: dict[int, str],
    seals: _Seals,
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
    idx: int, data: bytes, alarms: dict[int, tuple[int, str]], filed: dict[int, str], seals: _Seals
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


def _alarms(reader: JournalReader, size: int, alarms: Mapping[int, tuple[int, str]]) -> Iterator[str]:
    """Hold the index of alarm events against the entries, and the seq against gaps."""
    indexed: dict[int, tuple[int, str]] = {}
    seq_before, more = 0, True
    while more:
        rows = reader.ask("SELECT seq, event, idx FROM alarm WHERE seq > ? ORDER BY seq LIMIT ?", (seq_before, 2000))
        more = bool(rows)
        for seq, event, idx in rows:
            if idx >= size and reader.head()[1] > size:
                seq_before = seq  # written since the check began
                continue
            if seq != seq_before + 1:
                yield Sentence("alarm seq {seqs} is missing", seqs=_span(seq_before + 1, seq - 1))
            if idx in indexed:
                yield Sentence(
                    "alarm seq {seq} and {other} both point to entry {idx}", seq=seq, other=indexed[idx][0], idx=idx
                )
            indexed[idx] = (seq, event)
            if alarms.get(idx) != (seq, event):
                yield Sentence(
                    "alarm seq {seq} ({event}) points to entry {idx}, which is not that event",
                    seq=seq,
                    event=event,
                    idx=idx,
                )
            seq_before = seq
    for idx, (seq, event) in alarms.items():
        if idx not in indexed:
            yield Sentence(
                "entry {idx} is alarm seq {seq} ({event}), which the index of alarms lacks",
                idx=idx,
                seq=seq,
                event=event,
            )


def _filed(reader: JournalReader, size: int, filed: Mapping[int, str]) -> Iterator[str]:
    """Hold the index of filed entries against the entries."""
    if reader.version < FILED_SINCE:
        return
    indexed = {idx: kind for idx, kind in reader.ask("SELECT idx, kind FROM filed ORDER BY idx") if idx < size}
    for idx in sorted(indexed.keys() | filed.keys()):
        if indexed.get(idx) != filed.get(idx):
            was, is_now = filed.get(idx, "not filed"), indexed.get(idx, "nothing")
            yield Sentence(
                "entry {idx} is {was}, the index of filed entries says {is_now}", idx=idx, was=was, is_now=is_now
            )


def _span(first: int, last: int) -> str:
    return str(first) if first == last else Sentence("{first} to {last}", first=first, last=last)


def _outbox(reader: JournalReader) -> Iterator[str]:
    rows = reader.ask(
        "SELECT id, event FROM outbox o WHERE NOT EXISTS (SELECT 1 FROM alarm a WHERE a.event = o.event) LIMIT ?",
        (MOST_PROBLEMS,),
    )
    for identity, event in rows:
        yield Sentence(
            "outbox row {identity} belongs to the event {event}, which is not in the journal",
            identity=identity,
            event=event,
        )


def _persons(reader: JournalReader) -> Iterator[str]:
    for ref, salt, name in reader.ask("SELECT ref, salt, name FROM person"):
        if persons.reference(salt, name) != ref:
            yield Sentence("the person under {ref} is not the one whose hash the entries hold", ref=ref)


def _states(reader: JournalReader) -> Iterator[str]:
    for subject, kind, body in reader.ask("SELECT subject, kind, body FROM alarm_state"):
        try:
            canonical.decode(body)
        except ValueError as error:
            yield Sentence(
                "the alarm state of {subject} {kind} is not canonical JSON: {reason}",
                subject=subject,
                kind=kind,
                reason=error,
            )
