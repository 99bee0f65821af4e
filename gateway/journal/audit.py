"""One judgement over any file that holds a depot's events: the journal itself, or a proof of it."""

from dataclasses import dataclass
from pathlib import Path

from gateway.journal import notes, proof, verify
from gateway.journal.errors import AbsentError, StoreError
from gateway.journal.reader import JournalReader
from sensors.sentences import Sentence

SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True, slots=True)
class Audit:
    """What was found.

    Attributes:
        first, count: the entries looked at.
        signed: entries that the last checkpoint covers.
        vkey: the key that signed it; empty without one.
        problems: everything that is wrong, in words; empty for a sound file.
    """

    depot: str
    first: int
    count: int
    signed: int
    vkey: str
    problems: tuple[str, ...]


def judge(path: Path, *, vkey: str | None = None, outside: str | None = None) -> Audit:
    """Check a file, whatever of ours it is.

    Args:
        path: a journal, or a proof.
        vkey: the key that must have signed, as noted elsewhere.
        outside: a signed checkpoint that was kept elsewhere.

    Raises:
        StoreError: it cannot be read, or is neither.
    """
    try:
        with path.open("rb") as file:
            begins = file.read(len(SQLITE))
        if begins == SQLITE:
            return _journal(path, vkey, outside)
        if begins.startswith(b'{"'):  # canonical: a report in JSON begins with a broken line
            return _proof(path, vkey, outside)
    except FileNotFoundError as error:
        raise AbsentError(path, "does not exist", "a journal.db or what `vigia proof` wrote") from error
    except OSError as error:
        raise StoreError(
            path,
            Sentence("cannot be read ({reason})", reason=error.strerror),
            "a journal.db or what `vigia proof` wrote",
        ) from error
    raise StoreError(path, "is neither a journal nor a proof of one", "a journal.db or what `vigia proof` wrote")


def read_note(path: Path) -> str:
    """Read a checkpoint that was kept in a file.

    Raises:
        StoreError: it cannot be read.
    """
    try:
        content = path.read_bytes()[: notes.LONGEST_NOTE]
        return content.decode()
    except OSError as error:
        raise StoreError(
            path, Sentence("cannot be read ({reason})", reason=error.strerror), "a checkpoint that was kept elsewhere"
        ) from error
    except UnicodeDecodeError as error:
        raise StoreError(path, "is no text", "a checkpoint that was kept elsewhere") from error


def _journal(path: Path, vkey: str | None, outside: str | None) -> Audit:
    problems = tuple(verify.check(path, vkey=vkey, outside=outside))
    if problems:
        return Audit("", 0, 0, 0, "", problems)
    with JournalReader(path) as reader:
        depot, size, _ = reader.head()
        note = reader.checkpoint()
        if note is None:
            return Audit(depot, 0, size, 0, "", ())
        key = proof.signer(reader, note)
        return Audit(depot, 0, size, notes.opened(note, [key]).size, key.text(), ())


def _proof(path: Path, vkey: str | None, outside: str | None) -> Audit:
    problems = tuple(proof.check(path, vkey=vkey, outside=outside))
    if problems:
        return Audit("", 0, 0, 0, "", problems)
    claim = proof.read_claim(path)
    return Audit(claim.depot, claim.first, claim.count, claim.size, claim.vkey, ())
