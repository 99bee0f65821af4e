"""A database file as another process may read it: one question at a time, each on one state of the file. Reads only."""

import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

import apsw

from gateway.journal.errors import StoreError
from sensors.sentences import Sentence

Answer = TypeVar("Answer")


class FileView:
    """An open file; closed at the end of its `with`. May be shared by threads.

    Attributes:
        path: the file.
        AGAIN: what to do when a question fails.
    """

    AGAIN: str = "try again"

    def __init__(self, path: Path, db: apsw.Connection) -> None:
        self.path: Final = path
        self._db: Final = db
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._db.close()

    def _once(self, read: Callable[[], Answer]) -> Answer:
        """Run a few reads on one state of the file; short, so that the writer's log is never held back.

        Raises:
            StoreError: the file cannot be read, or holds what it should not.
        """
        with self._lock:
            try:
                self._db.execute("BEGIN")
                try:
                    return read()
                finally:
                    self._db.execute("COMMIT")
            except (apsw.Error, TypeError, UnicodeDecodeError) as error:
                raise StoreError(self.path, Sentence("cannot be read: {reason}", reason=error), self.AGAIN) from error
