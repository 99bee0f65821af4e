"""Files that entries refer to, beside the journal: each is named by the SHA-256 of its bytes, and never changed."""

import hashlib
import re
from pathlib import Path

from gateway.machine.wholefile import whole

MEGABYTE = 1024 * 1024
MOST_BYTES = 8 * MEGABYTE
NAME = re.compile(r"[0-9a-f]{64}")

KINDS = ((b"%PDF-", "application/pdf"), (b"\xff\xd8\xff", "image/jpeg"), (b"\x89PNG\r\n\x1a\n", "image/png"))
"""What may be kept, known by its first bytes: what a file calls itself says nothing."""


class AttachmentError(Exception):
    """Not kept. `problem` is a code for the words; `got` and `right` say what it is and what would do."""

    def __init__(self, problem: str, got: str, right: str) -> None:
        super().__init__(f"{problem}: {got}; {right}")
        self.problem, self.got, self.right = problem, got, right


def folder_of(journal: Path) -> Path:
    """Return where the attachments of a journal lie."""
    return journal.with_name("attachments")


def kind_of(content: bytes) -> str | None:
    """Return the media type that the first bytes tell, if it is one that is kept."""
    return next((kind for mark, kind in KINDS if content.startswith(mark)), None)


def keep(folder: Path, content: bytes) -> tuple[str, str]:
    """Keep a file; return its name and media type. The same bytes are kept once.

    Raises:
        AttachmentError: too large, or none of the kinds.
        OSError: the disk did not take it.
    """
    if len(content) > MOST_BYTES:
        raise AttachmentError(
            "too-large", f"{len(content) / 1024 / 1024:.1f} MB", f"<= {MOST_BYTES // 1024 // 1024} MB"
        )
    kind = kind_of(content)
    if kind is None:
        raise AttachmentError("wrong-file", content[:8].hex(" "), "PDF, JPEG, PNG")
    name = hashlib.sha256(content).hexdigest()
    file = folder / name
    if not file.exists():
        folder.mkdir(mode=0o700, exist_ok=True)
        with whole(file) as out:
            out.write(content)
    return name, kind


def is_kept(folder: Path, name: str) -> bool:
    """Tell whether a file of this name is kept."""
    return NAME.fullmatch(name) is not None and (folder / name).is_file()


def load(folder: Path, name: str) -> tuple[bytes, str] | None:
    """Return a kept file and its media type; None where there is none, or its bytes are no longer what its name says.

    Raises:
        OSError: it cannot be read.
    """
    if not is_kept(folder, name):
        return None
    content = (folder / name).read_bytes()
    kind = kind_of(content)
    return None if kind is None or hashlib.sha256(content).hexdigest() != name else (content, kind)
