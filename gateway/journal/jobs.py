"""What the journal's writer is given to do, what it answers with, and what it keeps of a COMMIT under way. Nouns."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TypeAlias

from gateway.journal.batches import Prepared
from gateway.journal.tree import Frontier

Committed: TypeAlias = Callable[[int], None]
Trouble: TypeAlias = Callable[[bool, str], None]
Seal: TypeAlias = Callable[[int, bytes], str]
"""(size, root) -> the signed note over them."""


@dataclass(frozen=True, slots=True)
class Erasure:
    """Forget one person; answered with whether there was anything to forget."""

    ref: str
    done: "Future[bool]"


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a COMMIT was about to make true; kept until it is known whether it did."""

    frontier: Frontier
    root: bytes
    results: list[bool]
    orphans: int
    sealed: "Sealed | None"
    alive_ms: int | None
    urgent: bool


@dataclass(frozen=True, slots=True)
class Sealed:
    """A checkpoint that is on the disk."""

    size: int
    root: bytes
    note: str


Job: TypeAlias = Prepared | Erasure
