"""How the journal does: the figures of its writer at one moment."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JournalHealth:
    """How the journal does.

    Attributes:
        writing: the writer thread runs.
        queued: records not committed yet.
        dropped: records refused because the queue was full or closed, since start.
        refused: records that a constraint refused (a repeated alarm seq), since start.
        orphans: outbox rows left out because their event is not in the journal, since start.
        size: entries in the tree.
        trouble: code of the worst trouble standing (``full``, ``failing``, ``locked``, ``refused``, ``dropped``,
            ``slow`` ...); empty when all is well.
        last_error: the latest error in full; empty before the first.
        last_commit_ms, median_commit_ms, p99_commit_ms: over the last `writer.WINDOW` commits; 0 before the first.
    """

    writing: bool
    queued: int
    dropped: int
    refused: int
    orphans: int
    size: int
    trouble: str
    last_error: str
    last_commit_ms: float
    median_commit_ms: float
    p99_commit_ms: float
