"""Signed checkpoints of the journal: C2SP tlog-checkpoint in a C2SP signed-note, Ed25519. Knows no file and no journal.

A checkpoint is three lines: the log's name, its number of entries, its root in base64. A note is that text, an empty
line, and one line per signature: ``— <key name> <base64 of key id and signature>``. Everything is read strictly: what
could be written in two ways is accepted in one only.
"""

import base64
import binascii
import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import quote

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from sensors.sentences import Sentence

ED25519 = b"\x01"
"""The signature type of C2SP signed-note for Ed25519."""

SIGNATURE = re.compile(r"— (\S+) ([A-Za-z0-9+/]+={0,2})")
LONGEST_NOTE = 64 * 1024
MOST_SIGNATURES = 16


class NoteError(ValueError):
    """A note, a checkpoint or a key that cannot be believed; the text says why."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a log says of itself at one moment: `size` entries, under this `root` (32 bytes)."""

    origin: str
    size: int
    root: bytes

    def text(self) -> str:
        """The signed text: three lines."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"


@dataclass(frozen=True, slots=True)
class VerifyKey:
    """A public key with its name, as a vkey carries it."""

    name: str
    public: bytes

    @property
    def id(self) -> bytes:
        """Four bytes that tell keys of one name apart."""
        return sha256(self.name.encode() + b"\n" + ED25519 + self.public).digest()[:4]

    def text(self) -> str:
        """The vkey: ``<name>+<id in hex>+<base64 of type and key>``."""
        return f"{self.name}+{self.id.hex()}+{base64.b64encode(ED25519 + self.public).decode()}"

    def verifies(self, text: str, signature: bytes) -> bool:
        """Tell whether this key signed the text."""
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, text.encode())
        except (InvalidSignature, ValueError):
            return False
        return True


def origin_of(depot: str) -> str:
    """The name of a depot's log and of its key."""
    return f"vigia/{quote(depot, safe='')}"


def parse_vkey(text: str) -> VerifyKey:
    """Read a vkey.

    Raises:
        NoteError: it is none, its id does not belong to it, or it is written in an unusual way.
    """
    match text.split("+", 2):
        case [name, ident, data] if name and not re.search(r"\s", text):
            raw = strict_base64(data)
            if len(raw) == 33 and raw[:1] == ED25519:
                key = VerifyKey(name, raw[1:])
                if key.id.hex() == ident:
                    return key
        case _:
            pass
    raise NoteError(Sentence("{text} is no Ed25519 vkey", text=repr(text[:200])))


def note_of(text: str, key_name: str, key_id: bytes, signature: bytes) -> str:
    """Put text and signature together."""
    return f"{text}\n— {key_name} {base64.b64encode(key_id + signature).decode()}\n"


def opened(note: str, keys: Iterable[VerifyKey], *, alone: bool = False) -> Checkpoint:
    """Verify a note and return its checkpoint. Signatures of unknown keys are passed over, unless `alone`.

    Args:
        note: the whole note.
        keys: any of them will do.
        alone: the note carries exactly one signature, so that no byte of it goes unchecked.

    Raises:
        NoteError: it is malformed, no known key signed it, or a known key's signature does not hold.
    """
    text, signatures = _parts(note)
    if alone and len(signatures) != 1:
        raise NoteError(Sentence("the note carries {signatures} signatures instead of one", signatures=len(signatures)))
    known = {(key.name, key.id): key for key in keys}
    good = 0
    for name, raw in signatures:
        key = known.get((name, raw[:4]))
        if key is None:
            continue
        if not key.verifies(text, raw[4:]):
            raise NoteError(Sentence("the signature of {name} does not hold", name=name))
        good += 1
    if not good:
        names = ", ".join(f"{name}+{raw[:4].hex()}" for name, raw in signatures)
        raise NoteError(Sentence("it is signed by {names}, which is no key known here", names=names))
    return parse_checkpoint(text)


def parse_checkpoint(text: str) -> Checkpoint:
    """Read the signed text of a checkpoint. Raises NoteError unless it has exactly the three lines."""
    lines = text.split("\n")
    if len(lines) != 4 or lines[3] or not lines[0] or not re.fullmatch(r"0|[1-9][0-9]{0,17}", lines[1]):
        raise NoteError("the signed text is no checkpoint of three lines")
    root = strict_base64(lines[2])
    if len(root) != 32:
        raise NoteError("the root of the checkpoint has not 32 bytes")
    return Checkpoint(lines[0], int(lines[1]), root)


def strict_base64(text: str) -> bytes:
    """Decode base64 that is written in the one usual way. Raises NoteError otherwise."""
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise NoteError(Sentence("{text} is no base64", text=repr(text[:80]))) from error
    if base64.b64encode(raw).decode() != text:
        raise NoteError(Sentence("{text} is base64 in an unusual form", text=repr(text[:80])))
    return raw


def _parts(note: str) -> tuple[str, list[tuple[str, bytes]]]:
    if len(note) > LONGEST_NOTE:
        raise NoteError("the note is too long")
    text, gap, rest = note.rpartition("\n\n")
    lines = rest.split("\n")
    if not gap or lines[-1] or not 1 < len(lines) <= MOST_SIGNATURES + 1:
        raise NoteError("it is no signed note")
    signatures = []
    for line in lines[:-1]:
        found = SIGNATURE.fullmatch(line)
        if found is None:
            raise NoteError("a line of signatures is malformed")
        raw = strict_base64(found[2])
        if len(raw) < 5:
            raise NoteError("a signature is too short")
        signatures.append((found[1], raw))
    return text + "\n", signatures
