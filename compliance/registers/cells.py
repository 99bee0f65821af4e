"""Text as people and spreadsheets write it -> values: decimal commas, Brazilian dates, yes and no. Never by luck.

A number that two styles read differently ("1.234") is refused unless the file says which style it is written in.
"""

import re
import unicodedata
from datetime import date
from decimal import Decimal
from enum import Enum

from compliance.registers.civil import month_end

LONGEST_GOT = 80
"""How much of what was written a refusal shows."""


class CellError(ValueError):
    """A cell is not what its field asks for.

    Attributes:
        problem: short code for the words.
        right: an example of what would be right.
    """

    def __init__(self, problem: str, got: str, right: str) -> None:
        super().__init__(f"{got[:LONGEST_GOT]!r}: {problem}, expected {right}")
        self.problem, self.got, self.right = problem, got[:LONGEST_GOT], right


class Alone(Enum):
    """Which day a month or a year means that stands alone: the one that never favours whoever wrote it."""

    FIRST = "first"  # since when: made, inspected, calibrated
    LAST = "last"  # until when: valid


class Marks(Enum):
    """Which mark parts the decimals."""

    COMMA = "comma"
    POINT = "point"


_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?", re.ASCII)
_POINT = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?", re.ASCII)
_UNIT = re.compile(r"\s*(%|kg|un\.?|und\.?|m|g|l|bar|R\$)\s*$", re.IGNORECASE)
_MOMENT = re.compile(r"(\d{1,2})[/.](\d{1,2})[/.](\d{4})(?:[ T]+(\d{1,2}:\d{2}(:\d{2})?))?", re.ASCII)
_TRUE = frozenset({"sim", "s", "yes", "y", "true", "verdadeiro", "1", "x"})
_FALSE = frozenset({"não", "nao", "n", "no", "false", "falso", "0"})
_NONE = frozenset({"", "-", "--", "n/d", "n/a"})
_SIZE = re.compile(r"p\s*-?\s*(\d{1,3})", re.IGNORECASE | re.ASCII)
_LINES = frozenset("\t\n\r")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""Categories that no screen draws: controls, marks of format (zero width, direction), halves, and what has no sign."""

_SELECTORS = ((0x180B, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF))
_BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {
    chr(code) for first, last in _SELECTORS for code in range(first, last + 1)
}
"""Signs of other categories that are drawn as nothing."""

_OF_EMOJI = frozenset("\u200d\ufe0f")
"""What joins the parts of one picture: phones write them in a note."""
FIRST_YEAR, LAST_YEAR = 1900, 2199
LARGEST = Decimal(1_000_000_000_000)
"""Beyond what any number of a depot can be."""

FINEST = -9
"""The exponent of the last decimal that is kept."""


def is_empty(cell: str) -> bool:
    """Tell whether the cell says nothing."""
    return cell.strip().casefold() in _NONE


def marks_of(cells: list[str]) -> Marks | None:
    """Return the decimal mark that a column's cells agree on; None where no cell tells.

    Raises:
        CellError: one cell can only be read with a comma, another only with a point.
    """
    found: dict[Marks, str] = {}
    for cell in cells:
        text = _bare(cell)
        comma, point = bool(_COMMA.fullmatch(text)), bool(_POINT.fullmatch(text))
        if comma != point:
            found.setdefault(Marks.COMMA if comma else Marks.POINT, cell)
    if len(found) == 2:
        raise CellError(
            "mixed-decimal-marks", f"{found[Marks.COMMA]} / {found[Marks.POINT]}", "one decimal mark in a column"
        )
    return next(iter(found), None)


def number(cell: str, marks: Marks | None = None) -> Decimal:
    """Read a decimal number; a unit behind it ("12 kg", "10,5 %") may stand.

    Args:
        cell: the text.
        marks: the style the file is known to be written in; None takes only what both styles read alike, or what one
            style alone can read.

    Raises:
        CellError: no number, or one that two styles read differently and no style is known.
    """
    text = _bare(cell)
    comma = _value(text, ".", ",") if _COMMA.fullmatch(text) else None
    point = _value(text, ",", ".") if _POINT.fullmatch(text) else None
    if marks is not None:
        value = comma if marks is Marks.COMMA else point
        if value is None:
            raise CellError("not-a-number", cell, "10,5" if marks is Marks.COMMA else "10.5")
        return value
    if comma is not None and point is not None and comma != point:
        raise CellError("ambiguous-number", cell, "1234 or 1,234 with the decimal mark declared")
    value = point if comma is None else comma
    if value is None:
        raise CellError("not-a-number", cell, "10,5")
    return value


def whole(cell: str, marks: Marks | None = None) -> int:
    """Read a whole number.

    Raises:
        CellError: no number, ambiguous, or with a fraction.
    """
    try:
        value = number(cell, marks)
    except CellError as error:
        raise CellError(error.problem, cell, "12" if error.problem == "not-a-number" else error.right) from error
    if value != value.to_integral_value():
        raise CellError("not-whole", cell, "12")
    return int(value)


def day(cell: str, alone: Alone | None = None) -> date:
    """Read a day: dd/mm/yyyy, yyyy-mm-dd, or where one may stand alone a month (07/2026) or a year (2026).

    Raises:
        CellError: no such day, a year of two digits, or a month or year alone where the day is asked for.
    """
    text = cell.strip()
    right = "31/07/2026 or 2026-07-31" if alone is None else "31/07/2026, 07/2026 or 2026-07-31"
    try:
        if match := re.fullmatch(r"(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})", text, re.ASCII):
            found = date(int(match[3]), int(match[2]), int(match[1]))
        elif match := re.fullmatch(r"(\d{4})-(\d{1,2})-(\d{1,2})", text, re.ASCII):
            found = date(int(match[1]), int(match[2]), int(match[3]))
        elif alone is None:
            raise CellError("not-a-date", cell, right)
        elif match := re.fullmatch(r"(\d{1,2})[/.-](\d{4})", text, re.ASCII):
            found = _month(int(match[2]), int(match[1]), alone)
        elif match := re.fullmatch(r"(\d{4})-(\d{2})", text, re.ASCII):
            found = _month(int(match[1]), int(match[2]), alone)
        elif re.fullmatch(r"\d{4}", text, re.ASCII):
            found = date(int(text), 1, 1) if alone is Alone.FIRST else date(int(text), 12, 31)
        else:
            raise CellError("not-a-date", cell, right)
    except ValueError as error:
        if isinstance(error, CellError):
            raise
        raise CellError("no-such-day", cell, right) from error
    return meant_day(found, right)


def _month(year: int, month: int, alone: Alone) -> date:
    return date(year, month, 1) if alone is Alone.FIRST else month_end(year, month)


def iso(text: str) -> str:
    """Return a day or a time as people here write it (``01/11/2026``, ``01/11/2026 14:30``) in the way of ISO 8601.

    Anything else stays as it is, and so does a month: what is wrong with it is for its reader to say.
    """
    match = _MOMENT.fullmatch(text.strip())
    if match is None:
        return text
    found = f"{match[3]}-{int(match[2]):02d}-{int(match[1]):02d}"
    return found if match[4] is None else f"{found}T{match[4].zfill(len('00:00') + len(match[5] or ''))}"


def iso_month(text: str) -> str:
    """Return a month as people here write it (``11/2026``) in the way of ISO 8601; anything else as it is."""
    match = re.fullmatch(r"(\d{1,2})[/.-](\d{4})", text.strip(), re.ASCII)
    return text if match is None else f"{match[2]}-{int(match[1]):02d}"


def meant_day(found: date, right: str = "2026-07-31") -> date:
    """Return the day if people can mean it.

    Raises:
        CellError: it is centuries away.
    """
    if not FIRST_YEAR <= found.year <= LAST_YEAR:
        raise CellError("no-such-day", found.isoformat(), right)
    return found


def meant_number(found: Decimal | int) -> Decimal | int:
    """Return the number if something of this world can have it: up to 12 digits before the mark and 9 behind it.

    Raises:
        CellError: it is too large, or too fine.
    """
    if Decimal(found).copy_abs() > LARGEST:
        raise CellError("too-large", f"{Decimal(found):.6g}", f"<= {LARGEST}")
    if isinstance(found, Decimal) and found and int(found.normalize().as_tuple().exponent) < FINEST:
        raise CellError("wrong-type", f"{found:.6g}", "10.5")
    return found


def folded(text: str) -> str:
    """Return a name without case, accents and spaces at its ends: what two people write of one thing."""
    if text.isascii():
        return typed(text).casefold()
    parts = unicodedata.normalize("NFKD", typed(text).casefold())
    return "".join(one for one in parts if not unicodedata.combining(one))


def typed(text: str) -> str:
    """Return a name as it looks: accents in one form, each run of spaces one plain space, none at its ends."""
    if text.isascii() and text.isprintable():
        return " ".join(part for part in text.split(" ") if part)
    spaced = "".join(" " if _is_space(one) else one for one in unicodedata.normalize("NFC", text))
    return " ".join(part for part in spaced.split(" ") if part)


def shown(text: str, *, prose: bool = False) -> str:
    """Return the text if everything in it can be seen: two names that look alike are one.

    `prose`: a note of several lines, in which pictures may stand.

    Raises:
        CellError: a control character, one that is drawn as nothing, or one that turns the direction of what follows.
            What was got has its number in its place, and what would be right is the text without it.
    """
    hidden = {one for one in text if _is_hidden(one) and not (prose and one in _OF_EMOJI)}
    if hidden:
        marked = "".join(f"[U+{ord(one):04X}]" if one in hidden else one for one in text)
        raise CellError("unprintable", marked, typed("".join(one for one in text if one not in hidden)) or "EXT-07")
    return text


def yes_or_no(cell: str) -> bool:
    """Read sim or não.

    Raises:
        CellError: neither.
    """
    text = cell.strip().casefold()
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise CellError("not-yes-or-no", cell, "sim / não")


def size(cell: str) -> Decimal:
    """Read a container's nominal size, kg: P-13, P13, 13 or 13 kg.

    Raises:
        CellError: no size.
    """
    match = _SIZE.fullmatch(cell.strip())
    return Decimal(match[1]) if match else number(cell)


def _is_space(one: str) -> bool:
    return one in _LINES or unicodedata.category(one) in {"Zs", "Zl", "Zp"}


def _is_hidden(one: str) -> bool:
    return one in _BLANKS or (unicodedata.category(one) in _HIDDEN and one not in _LINES)


def _bare(cell: str) -> str:
    return _UNIT.sub("", cell.strip().removeprefix("R$")).strip()


def _value(text: str, thousands: str, decimal: str) -> Decimal:
    return Decimal(text.replace(thousands, "").replace(decimal, "."))
