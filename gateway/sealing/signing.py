"""Signs the journal's notes with the depot's key. Knows no journal."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from gateway.journal.notes import VerifyKey, note_of
from gateway.sealing.keys import KeyFileError, signing_key


@dataclass(frozen=True, slots=True)
class NoteSigner:
    """A key under the name of a log.

    Attributes:
        public: what others need to check a signature; its text is the vkey.
        raw: signs bytes, Ed25519.
    """

    public: VerifyKey
    raw: Callable[[bytes], bytes] = field(repr=False)

    def sign(self, text: str) -> str:
        """Return the text as a note signed under this name."""
        return note_of(text, self.public.name, self.public.id, self.raw(text.encode()))


def note_signer(folder: Path, name: str) -> NoteSigner:
    """Return the signer of this data folder under a log's name; the key is made if there is none yet.

    Raises:
        KeyFileError: as `signing_key`.
    """
    key = signing_key(folder)
    return NoteSigner(public_key(key.public_file, name), key.sign)


def public_key(file: Path, name: str) -> VerifyKey:
    """Read the public half of a depot's key.

    Raises:
        KeyFileError: it is none.
        OSError: it cannot be read.
    """
    try:
        key = load_pem_public_key(file.read_bytes())
    except ValueError as error:
        raise KeyFileError(f"{file}: no key can be read from it ({error})") from error
    if not isinstance(key, Ed25519PublicKey):
        raise KeyFileError(f"{file}: not an Ed25519 key")
    return VerifyKey(name, key.public_bytes_raw())
