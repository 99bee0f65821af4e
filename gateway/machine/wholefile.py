"""Writes a file whole or not at all: what stood there before stays until the new one is on the disk."""

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def whole(file: Path) -> Iterator[BinaryIO]:
    """Give something to write into; its bytes stand at `file`, durable, once the block has ended well.

    It insists on no permissions: a memory stick's file system has none to give. A link is followed; a device or a pipe
    is written as it is.

    Raises:
        OSError: it cannot be written; then `file` is as it was.
    """
    place = Path(os.path.realpath(file))
    if place.exists() and not place.is_file():
        with place.open("wb") as out:
            yield out
        return
    draft = place.with_name(f".vigia-{secrets.token_hex(4)}")
    try:
        with draft.open("xb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        with contextlib.suppress(OSError):  # not there before, or nothing to give
            shutil.copymode(place, draft)
        draft.replace(place)
        _sync_folder(place.parent)
    except OSError as error:
        if error.filename in {None, str(draft)}:  # whoever asked knows no draft
            error.filename = str(file)
        raise
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make the new file's name durable, where the file system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
