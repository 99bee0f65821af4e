"""The depot's signing key: Ed25519, made on the gateway at its first start, kept in a file that only it may read."""

import base64
import contextlib
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gateway.journal.errors import StoreError
from gateway.journal.notes import ED25519, NoteError, VerifyKey, note_of, strict_base64

NAME = "vigia.key"
PREFIX = "PRIVATE+KEY"
SEED_BYTES = 32


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key with its name.

    Attributes:
        name: of the log it signs for (`notes.origin_of`).
    """

    name: str
    seed: bytes = field(repr=False)

    @property
    def public(self) -> VerifyKey:
        """What others need to check a signature; its text is the vkey."""
        return VerifyKey(self.name, self._private().public_key().public_bytes_raw())

    def sign(self, text: str) -> str:
        """Return the text as a note signed by this key."""
        return self.signer()(text)

    def signer(self) -> Callable[[str], str]:
        """Return `sign` with the key made ready once, for who signs often."""
        private, key_id = self._private(), self.public.id
        return lambda text: note_of(text, self.name, key_id, private.sign(text.encode()))

    def text(self) -> str:
        """The key as its file holds it: ``PRIVATE+KEY+<name>+<id in hex>+<base64 of type and seed>``."""
        data = base64.b64encode(ED25519 + self.seed).decode()
        return f"{PREFIX}+{self.name}+{self.public.id.hex()}+{data}"

    def _private(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(self.seed)


def parse(text: str) -> SigningKey:
    """Read what `SigningKey.text` wrote. Raises NoteError otherwise."""
    match text.strip().split("+", 4):
        case ["PRIVATE", "KEY", name, ident, data] if name:
            raw = strict_base64(data)
            if len(raw) == 1 + SEED_BYTES and raw[:1] == ED25519:
                key = SigningKey(name, raw[1:])
                if key.public.id.hex() == ident:
                    return key
        case _:
            pass
    raise NoteError("it is no Ed25519 key of Vigia")


def load_or_create(folder: Path, name: str) -> SigningKey:
    """Return the key of this name out of `folder`, making it when there is none.

    A file that others may read is closed to them; the key stays in use, for a new one would break the chain of
    signatures without telling who read the old one.

    Raises:
        StoreError: the file cannot be read or written, holds no key, or another log's.
    """
    path = folder / NAME
    try:
        if not path.exists():
            _write(path, SigningKey(name, secrets.token_bytes(SEED_BYTES)))
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)
        key = parse(path.read_text("ascii"))
    except OSError as error:
        right = "a folder that the user Vigia runs as may write, on a disk with room"
        raise StoreError(path, f"the signing key cannot be had ({error.strerror})", right) from error
    except ValueError as error:  # NoteError too
        right = "put the file back from a backup, or move it away: Vigia then makes a new key"
        raise StoreError(path, f"holds no signing key ({error})", right) from error
    if key.name != name:
        raise StoreError(path, f"is the key of {key.name}, not of {name}", "each depot has its own key")
    return key


def _write(path: Path, key: SigningKey) -> None:
    """Write the file whole, durably, or not at all; whoever was there first keeps theirs."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(key.text().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
