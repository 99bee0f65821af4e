"""The checkpoints of a journal, its own and one kept elsewhere, held against its tree while that is recomputed."""

from collections.abc import Iterator, Mapping

from gateway.journal import notes, schema, tree
from gateway.journal.reader import JournalReader
from sensors.sentences import Sentence


class Seals:
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
