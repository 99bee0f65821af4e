"""A stretch of the journal as a file that proves itself: entries, the hashes around them, a signed checkpoint.

Lines of canonical JSON; docs/journal-format.md describes them. Every byte of the file is held to something: the entries
to their leaves, the leaves and the hashes around them to the root, the root to the signature, and every line to the one
way in which it can be written.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from gateway.journal import canonical, notes, tree
from gateway.journal.errors import StoreError
from gateway.journal.indexes import MOST_PROBLEMS
from gateway.journal.reader import MOST_ENTRIES, JournalReader
from sensors.sentences import Sentence

FORMAT = "vigia-journal-proof-1"
ENTRY = b'{"entry":'
LONGEST_LINE = canonical.LONGEST + 4096
FIELDS = {
    "count": int,
    "depot": str,
    "first": int,
    "format": str,
    "left": list,
    "right": list,
    "size": int,
    "vkey": str,
}


@dataclass(frozen=True, slots=True)
class Claim:
    """What a proof says it holds: entries `first` to `first` + `count` - 1 of a journal of `size` entries."""

    depot: str
    first: int
    count: int
    size: int
    vkey: str
    left: tuple[bytes, ...]
    right: tuple[bytes, ...]


# --- writing -----------------------------------------------------------------------------------------


def write(reader: JournalReader, out: BinaryIO, first: int = 0, end: int | None = None) -> Claim:
    """Write the entries from `first` up to (not with) `end`, as far as the last checkpoint covers them.

    Raises:
        StoreError: there is no checkpoint yet, no entry of that stretch under one, or the journal cannot be read.
        OSError: `out` cannot be written.
    """
    depot = reader.head()[0]
    note = reader.checkpoint()
    if note is None:
        raise StoreError(
            reader.path, "has no signed checkpoint yet", "run the gateway; it signs one when it starts and each minute"
        )
    key = signer(reader, note)
    size = notes.opened(note, [key]).size
    end = size if end is None else min(end, size)
    if not 0 <= first < end:
        raise StoreError(
            reader.path,
            Sentence("no entry from {first} on is signed yet ({size} are)", first=first, size=size),
            "ask again in a minute, or for others",
        )
    left, right = reader.nodes(tree.tiles(0, first)), reader.nodes(tree.tiles(end, size))
    claim = Claim(depot, first, end - first, size, key.text(), tuple(left), tuple(right))
    out.write(_header(claim) + b"\n")
    at = first
    while at < end:
        for idx, data in reader.entries(at, min(MOST_ENTRIES, end - at)):
            if idx != at:
                raise StoreError(reader.path, Sentence("entry {idx} is missing", idx=at), "run `vigia verify`")
            out.write(b'{"entry":%b,"leaf":"%b"}\n' % (data, tree.leaf_hash(data).hex().encode()))
            at += 1
    out.write(canonical.encode({"checkpoint": note}) + b"\n")
    return claim


def _header(claim: Claim) -> bytes:
    return canonical.encode(
        {
            "count": claim.count,
            "depot": claim.depot,
            "first": claim.first,
            "format": FORMAT,
            "left": [node.hex() for node in claim.left],
            "right": [node.hex() for node in claim.right],
            "size": claim.size,
            "vkey": claim.vkey,
        }
    )


def signer(reader: JournalReader, note: str) -> notes.VerifyKey:
    """The key that signed the note, as a boot entry names it."""
    for text in reader.vkeys():
        key = notes.parse_vkey(text)
        try:
            notes.opened(note, [key])
        except notes.NoteError:
            continue
        return key
    raise StoreError(reader.path, "its last checkpoint is signed by a key no boot entry names", "run `vigia verify`")


# --- checking ----------------------------------------------------------------------------------------


def check(path: Path, *, vkey: str | None = None, outside: str | None = None) -> list[str]:
    """Name everything that is wrong with a proof; an empty list is a sound one. Arguments as `verify.check`.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        return list(islice(_problems(file, vkey, outside), MOST_PROBLEMS))


def read_claim(path: Path) -> Claim:
    """Return what a proof says it holds. Raises ValueError where its first line is none."""
    with path.open("rb") as file:
        return _claim(file.readline(LONGEST_LINE))


def _problems(file: BinaryIO, vkey: str | None, outside: str | None) -> Iterator[str]:
    try:
        claim = _claim(file.readline(LONGEST_LINE))
    except ValueError as error:
        yield Sentence("the first line: {reason}", reason=error)
        return
    if vkey is not None and claim.vkey != vkey:
        yield Sentence("it is signed by {vkey}, not by the key given", vkey=claim.vkey)
    kept = _Kept(outside, claim)
    frontier, last = tree.Frontier(claim.first, claim.left), b""
    yield from kept.at(frontier)
    for found in _entries(file, claim):
        match found:
            case str():
                yield found
            case ("leaf", leaf):
                frontier = frontier.append(leaf)[0]
                yield from kept.at(frontier)
            case (_, line):
                last = line
    if frontier.size == claim.first + claim.count:
        for (level, _), node in zip(tree.tiles(frontier.size, claim.size), claim.right, strict=True):
            frontier = frontier.graft(level, node)
        yield from kept.at(frontier)
        yield from _footer(last, claim, frontier.root())
    else:
        yield from _footer(last, claim, None)
    if file.read(1):
        yield "something stands behind the last line"
    yield from kept.rest()


def _claim(line: bytes) -> Claim:
    value = _line(line)
    if set(value) != set(FIELDS) or any(type(value[name]) is not kind for name, kind in FIELDS.items()):
        raise ValueError("it does not have the members of a proof")
    if value["format"] != FORMAT:
        raise ValueError(
            Sentence("its format is {format}, not {right}", format=repr(str(value["format"])[:60]), right=repr(FORMAT))
        )
    first, count, size = (value[name] for name in ("first", "count", "size"))
    assert isinstance(first, int)
    assert isinstance(count, int)
    assert isinstance(size, int)
    if not (first >= 0 and count > 0 and first + count <= size < 2**62):
        raise ValueError(
            Sentence("entries {first} to {last} of {size} cannot be", first=first, last=first + count - 1, size=size)
        )
    left, right = _hashes(value["left"]), _hashes(value["right"])
    if len(left) != len(tree.tiles(0, first)) or len(right) != len(tree.tiles(first + count, size)):
        raise ValueError("the hashes before or after the entries do not belong to these sizes")
    return Claim(str(value["depot"]), first, count, size, str(value["vkey"]), left, right)


def _hashes(values: object) -> tuple[bytes, ...]:
    assert isinstance(values, list)
    found = []
    for text in values:
        if not isinstance(text, str) or len(text) != 64 or text != text.lower():
            raise ValueError("a hash is not 64 hex digits in lower case")
        found.append(bytes.fromhex(text))
    return tuple(found)


def _entries(file: BinaryIO, claim: Claim) -> Iterator[str | tuple[str, bytes]]:
    """Yield problems, the leaf hash of each entry in its place, and at last ("end", the line after them)."""
    at, end = claim.first, claim.first + claim.count
    line = file.readline(LONGEST_LINE)
    while line.startswith(ENTRY):
        after = file.readline(LONGEST_LINE)
        try:
            idx, data, leaf = _entry(line)
        except ValueError as error:
            yield Sentence("the line of entry {at}: {reason}", at=at, reason=error)
            idx, data, leaf = at, b"", None
        if at < idx < end and _index(after) in (idx + 1, None):  # those behind it are in their places: a hole
            yield _missing(at, idx - 1)
            at = idx
        if at >= end:
            yield Sentence("entry {idx} is one more than the first line counts", idx=idx)
        elif idx != at:
            yield Sentence("entry {idx} stands where entry {at} belongs", idx=idx, at=at)
        if leaf is not None:
            if tree.leaf_hash(data) != leaf:
                yield Sentence("entry {idx} was changed: it does not match its leaf hash", idx=idx)
            if at < end:
                yield "leaf", leaf
        at += 1
        line = after
    if at < end:
        yield Sentence("{missing}: the file is cut off there", missing=_missing(at, end - 1))
    yield "end", line


def _index(line: bytes) -> int | None:
    """The index of the entry in a line; None where it holds none."""
    try:
        return _entry(line)[0]
    except ValueError:
        return None


def _entry(line: bytes) -> tuple[int, bytes, bytes]:
    value = _line(line)
    entry, leaf = value.get("entry"), value.get("leaf")
    if set(value) != {"entry", "leaf"} or not isinstance(entry, Mapping) or not isinstance(leaf, str):
        raise ValueError("it is not of the form entry, leaf")
    idx = entry.get("idx")
    if set(entry) != {"body", "idx", "kind"} or not isinstance(idx, int) or isinstance(idx, bool):
        raise ValueError("its entry is not of the form body, idx, kind")
    (found,) = _hashes([leaf])
    return idx, canonical.encode(entry), found


def _footer(line: bytes, claim: Claim, root: bytes | None) -> Iterator[str]:
    try:
        found = notes.opened(_note(line), [notes.parse_vkey(claim.vkey)], alone=True)
    except ValueError as error:  # NoteError too
        yield Sentence("the last line, the checkpoint: {reason}", reason=error)
        return
    if found.origin != notes.origin_of(claim.depot):
        yield Sentence(
            "the checkpoint is of {origin}, the first line names the depot {depot}",
            origin=found.origin,
            depot=repr(claim.depot),
        )
    if found.size != claim.size:
        yield Sentence(
            "the checkpoint covers {size} entries, the first line says {claimed}", size=found.size, claimed=claim.size
        )
    elif root is not None and root != found.root:
        yield "the entries do not lead to the root that was signed"


def _note(line: bytes) -> str:
    value = _line(line)
    note = value.get("checkpoint")
    if set(value) != {"checkpoint"} or not isinstance(note, str):
        raise ValueError("it is not of the form checkpoint")
    return note


def _line(line: bytes) -> Mapping[str, object]:
    if not line:
        raise ValueError("it is missing")
    if not line.endswith(b"\n"):
        raise ValueError("it is cut off or too long")
    value = canonical.decode(line[:-1])
    if not isinstance(value, Mapping):
        raise ValueError("it is no JSON object")  # noqa: TRY004 - the file's fault, not a caller's
    return value


def _missing(first: int, last: int) -> str:
    if first == last:
        return Sentence("entry {idx} is missing", idx=first)
    return Sentence("entries {first} to {last} are missing", first=first, last=last)


class _Kept:
    """A checkpoint kept elsewhere, held against the proof where it lies within its entries."""

    def __init__(self, note: str | None, claim: Claim) -> None:
        self._found: notes.Checkpoint | None = None
        self._fault = ""
        if note is not None:
            try:
                self._found = notes.opened(note, [notes.parse_vkey(claim.vkey)])
            except notes.NoteError as error:
                self._fault = Sentence("the checkpoint kept elsewhere: {reason}", reason=error)
        self._met = False

    def at(self, frontier: tree.Frontier) -> Iterator[str]:
        if self._found is not None and self._found.size == frontier.size and not self._met:
            self._met = True
            if self._found.root != frontier.root():
                yield "the checkpoint kept elsewhere names another root: what it covers was changed since"

    def rest(self) -> Iterator[str]:
        if self._fault:
            yield self._fault
        elif self._found is not None and not self._met:
            yield Sentence(
                "the checkpoint kept elsewhere covers {size} entries, which lie outside this proof",
                size=self._found.size,
            )
