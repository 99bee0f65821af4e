"""The depot's signing key: an Ed25519 key in the data folder, made at its first use, readable by its owner alone.

docs/operator-guide.md says how anyone checks a signature with openssl and the public half.
"""

import contextlib
import os
import secrets
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

PRIVATE = "signing-key.pem"
PUBLIC = "signing-key.pub.pem"
LIMIT = 4096
"""Longest key file read, in bytes."""

OTHERS = 0o077
"""Permission bits by which anyone but the owner could use a file."""


class KeyFileError(OSError):
    """The key cannot be had: its file cannot be read or made, is no Ed25519 key, or others may read it."""


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A key pair. `public_file` holds the public half, for whoever checks."""

    public_file: Path
    _private: Ed25519PrivateKey = field(repr=False)

    def sign(self, content: bytes) -> bytes:
        """Return the 64 bytes of an Ed25519 signature (RFC 8032)."""
        return self._private.sign(content)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the raw public key, hex: what tells this key from another."""
        raw = self._private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        return sha256(raw).hexdigest()

    def made(self, content: bytes, signature: bytes) -> bool:
        """Tell whether this key made that signature over that content."""
        public: Ed25519PublicKey = self._private.public_key()
        try:
            public.verify(signature, content)
        except InvalidSignature:
            return False
        return True


def signing_key(folder: Path) -> SigningKey:
    """Return the key of this data folder; made if there is none yet.

    Raises:
        KeyFileError: it cannot be read or made, is no Ed25519 key, or others may read it.
    """
    file = folder / PRIVATE
    try:
        if not file.exists():
            _make(file)
        private = _read(file)
        public_file = folder / PUBLIC
        pem = private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        if not public_file.exists() or public_file.read_bytes() != pem:
            put(public_file, pem, mode=0o644)
    except KeyFileError:
        raise
    except OSError as error:
        raise KeyFileError(f"{file}: {error.strerror or error}") from error
    return SigningKey(public_file, private)


def put(file: Path, content: bytes, *, mode: int, anew: bool = False) -> None:
    """Write a whole file or nothing, on the disk when this returns; owned by whoever owns its folder.

    Commands beside the service are often run by root; what they write must stay the service's.

    Args:
        file: where it stands then.
        content: all of it.
        mode: its permissions, from the first byte on.
        anew: whether a file that stands there already is kept, and FileExistsError raised.
    """
    draft = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with open(descriptor, "wb") as stream:  # noqa: PTH123 - a descriptor has no path to open
            os.fchmod(stream.fileno(), mode)
            stream.write(content)
            stream.flush()
            _hand_over(stream.fileno(), file.parent)
            os.fsync(stream.fileno())
        if anew:
            os.link(draft, file)
        else:
            draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
    folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _hand_over(descriptor: int, folder: Path) -> None:
    if os.geteuid() == 0:
        owner = folder.stat()
        os.fchown(descriptor, owner.st_uid, owner.st_gid)


def _make(file: Path) -> None:
    private = Ed25519PrivateKey.generate()
    pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    with contextlib.suppress(FileExistsError):  # another command was first: its key is the depot's
        put(file, pem, mode=0o600, anew=True)


def _read(file: Path) -> Ed25519PrivateKey:
    with file.open("rb") as stream:
        if os.fstat(stream.fileno()).st_mode & OTHERS:
            raise KeyFileError(f"{file}: others may read it; `chmod 600 {file}`, and make a new key if it was copied")
        content = stream.read(LIMIT)
    try:
        key = load_pem_private_key(content, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise KeyFileError(f"{file}: no key can be read from it ({error})") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyFileError(f"{file}: not an Ed25519 key")
    return key
