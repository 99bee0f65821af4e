"""How the journal says no: where, what is wrong, what would be right."""

from pathlib import Path

import apsw

from sensors.sentences import Sentence


class StoreError(Exception):
    """The journal cannot be opened, read or trusted.

    Attributes:
        where: the journal file.
        what: what is wrong with it.
        right: what would be right, or what to do.
        sentence: all three.
    """

    def __init__(self, where: Path, what: str, right: str) -> None:
        self.sentence = Sentence("{where}: {what}; {right}", where=where, what=what, right=right)
        super().__init__(self.sentence)
        self.where = where
        self.what = what
        self.right = right


class AbsentError(StoreError):
    """No file is there: no watch has run yet, or the path is another."""


class NotOursError(StoreError):
    """The journal is somebody else's: another program writes it, or it belongs to another depot."""


class DamagedError(StoreError):
    """The file is there and can be read, but is no journal that this Vigia can go on with."""


CODES: tuple[tuple[type[apsw.Error], str], ...] = (
    (apsw.FullError, "full"),
    (apsw.IOError, "failing"),
    (apsw.BusyError, "locked"),
    (apsw.LockedError, "locked"),
    (apsw.ReadOnlyError, "read-only"),
    (apsw.PermissionsError, "read-only"),
    (apsw.CorruptError, "damaged"),
    (apsw.NotADBError, "damaged"),
    (apsw.CantOpenError, "failing"),
    (apsw.ConstraintError, "refused"),
)


def code(error: apsw.Error | StoreError) -> str:
    """A short code for what stopped the writer, for the words of an alarm: ``full``, ``failing``, ``locked`` ..."""
    if isinstance(error, StoreError):
        return "other-writer"
    return next((name for kind, name in CODES if isinstance(error, kind)), "failing")
