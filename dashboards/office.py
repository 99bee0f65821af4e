"""What screens and commands ask of the office, and what it asks of the watch: the words that cross its sockets.

Every value is JSON-ready: numbers with a fraction and days are text (``"8.5"``, ``"2026-07-31"``), times are RFC 3339
or a day of the depot's zone. One message is one line of JSON.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

SIGN_EVERY_S = 1.0
"""While the office works at an ask it sends an empty line so often."""

SILENT_AFTER_S = 2.8
"""An office that sends nothing for so long does not answer: whoever waits for a page is told so within 3 s."""

Value = str | int | float | bool | None


class LineAsk(msgspec.Struct, frozen=True, omit_defaults=True):
    """One entry that somebody wants in a register.

    Attributes:
        act: ``record``, ``remove``, ``void``; for stock ``in``, ``out``, ``state``, ``transfer``, ``count``.
        effective: since when it is true; empty: now.
        id: of the caller's making, the same on every repeat; empty: the office makes one.
        expect: the subject's latest entry as the writer saw it; empty: they do not care.
        corrects: the entry whose place this one takes; it needs a `reason`.
    """

    register: str
    subject: str
    act: str = "record"
    values: dict[str, Value] = {}
    effective: str = ""
    id: str = ""
    expect: str = ""
    corrects: str = ""
    reason: str = ""


class Enter(msgspec.Struct, frozen=True, tag="enter"):
    """Enter these lines, all or none.

    Attributes:
        dry: only say what would become of it.
        anyway: enter them although the stock would then break the law: they happened, and the record must say so.
    """

    ref: int
    by: str
    lines: tuple[LineAsk, ...]
    source: str = "person"
    dry: bool = False
    anyway: bool = False


class Import(msgspec.Struct, frozen=True, tag="import"):
    """Enter a spreadsheet's rows, all or none.

    Attributes:
        content: the file's bytes (base64 on the wire).
        marks: ``comma`` or ``point`` where the file's decimal mark is known, else empty.
    """

    ref: int
    by: str
    register: str
    content: bytes
    marks: Literal["", "comma", "point"] = ""
    effective: str = ""
    dry: bool = False
    anyway: bool = False


class Attach(msgspec.Struct, frozen=True, tag="attach"):
    """Keep a file (PDF, JPEG or PNG) beside the journal; an entry's `attachment` may then name it by its SHA-256.

    Attributes:
        content: the file's bytes (base64 on the wire).
    """

    ref: int
    by: str
    content: bytes


class Look(msgspec.Struct, frozen=True, tag="look"):
    """Ask what the office knows.

    Attributes:
        what: ``forms`` (registers and their fields), ``register`` (one register's subjects; `name`), ``history``
            (every entry of a subject; `name`, `subject`), ``stock``, ``movements`` (a month's map; `name` is
            ``2026-11``), ``findings``, ``finding`` (one finding's history; `name` is the rule), ``survey`` (what is
            still to be told, in groups, danger first), ``report`` (the compliance history from `start` to the
            end of the day `end`, or to the time `end`).
        on: as at this day or time; empty: now.
        known: as known at that day or time; empty: as known now.
    """

    ref: int
    what: Literal["forms", "register", "history", "stock", "movements", "findings", "finding", "survey", "report"]
    name: str = ""
    subject: str = ""
    on: str = ""
    known: str = ""
    start: str = ""
    end: str = ""


class Fault(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is wrong with an ask: where, what, and what would be right; `texts` says it in each language."""

    line: int
    field: str
    problem: str
    got: str
    right: str
    texts: dict[str, str] = {}


class Reply(msgspec.Struct, frozen=True, tag="reply"):
    """The office's answer.

    Attributes:
        error: ``refused`` (see `faults`), ``would-break-law`` (see `data`: ask with `anyway` if it has happened),
            ``busy`` (nothing was entered: ask again), ``unsettled`` (the journal has not confirmed in time, and it may
            still be entered: look first, or ask again with the same ids, which count once),
            ``starting``, ``bad-request``, ``failed`` (a fault of ours; the log says more).
        data: what was asked for.
    """

    ref: int
    ok: bool
    error: str = ""
    faults: tuple[Fault, ...] = ()
    data: Any = None


ToOffice = Enter | Import | Attach | Look


PaperKind = Literal["register", "finding"]
"""The kinds of entries that the office files."""


class Paper(msgspec.Struct, frozen=True):
    """One entry for the journal: its kind and its body, which is read one paper at a time."""

    kind: PaperKind
    body: msgspec.Raw


def paper(kind: PaperKind, body: Mapping[str, Any]) -> Paper:
    """Return a paper of this body."""
    return Paper(kind, msgspec.Raw(msgspec.json.encode(body)))


class File(msgspec.Struct, frozen=True, tag="file"):
    """The office to the watch: write these entries in one transaction; the `Answer` comes when they are kept."""

    ref: int
    by: Annotated[str, Meta(max_length=500)]
    papers: tuple[Paper, ...]


MOST_DETAIL_CHARS = 4000


class Breach(msgspec.Struct, frozen=True):
    """One standing condition of the law: what is broken or soon due, and where.

    Attributes:
        subject: rule and thing, as in ``house-extinguisher-inspection/extinguisher:EXT-7``.
        reason: ``violated``, or ``due-30``, ``due-7``, ``due-0``: it soon will be, within so many days.
        detail: three lines: what is asked and of what, how it stands, what to do; in the depot's language, or as JSON
            with a text for each language, the depot's first.
    """

    subject: Annotated[str, Meta(min_length=1, max_length=1500)]
    reason: Literal["violated", "due-30", "due-7", "due-0"]
    detail: Annotated[str, Meta(max_length=MOST_DETAIL_CHARS)]
    severity: Annotated[str, Meta(max_length=20)]


MOST_BREACHES = 200
"""Conditions of the law that stand as alarms at once; what is beyond them is on the page all the same."""


class Judged(msgspec.Struct, frozen=True, tag="judged"):
    """The office to the watch: every condition of the law that stands now."""

    ref: int
    breaches: tuple[Breach, ...]
