"""What a person may say of a subject: a register's fields, and text, JSON or a spreadsheet's row read by them.

Pure. The fields of most registers are the facts of the catalogue; this module knows none by name.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, InvalidOperation
from enum import Enum

from compliance.registers import cells
from compliance.registers.cells import Alone, CellError, Marks
from compliance.registers.entries import Scalar
from compliance.registers.sheets import Row, plain

MAX_TEXT_CHARS = 500


class FieldType(Enum):
    """What a field holds."""

    NUMBER = "number"
    INTEGER = "integer"
    DATE = "date"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    TEXT = "text"
    SIZE = "size"  # nominal kg of a container, written P-13 or 13


@dataclass(frozen=True, slots=True)
class Field:
    """One thing that can be said.

    Attributes:
        name: as entries and facts name it, the unit at its end.
        label: a short heading, by language (``pt-BR``, ``en``).
        ask: the whole question, by language.
        choices: what a choice may be, with the words for each by language.
        least, most: bounds of a number.
        needed: an entry that brings a new subject must have it.
        prose: a text of several lines; any other is a name.
        deed: a day on which something was done: never one to come.
        years_ahead: of a day, how many years it may lie ahead at most; None: as many as there are.
        renews: an answer grows old, so that telling the same again says something new.
        alone: which day of a month or a year a date means that gives no day; None where the day must be given.
    """

    name: str
    type: FieldType
    label: Mapping[str, str] = field(default_factory=dict)
    ask: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    least: Decimal | None = None
    most: Decimal | None = None
    needed: bool = False
    prose: bool = False
    deed: bool = False
    renews: bool = False
    alone: Alone | None = None
    years_ahead: int | None = None

    def heading(self, language: str) -> str:
        """The field's short name in a language; its bare name where none is given."""
        return self.label.get(language) or self.name


@dataclass(frozen=True, slots=True)
class Form:
    """A register's fields. `key` is the column that says which subject a row is about."""

    register: str
    fields: tuple[Field, ...]
    key: str = "id"

    def field(self, name: str) -> Field | None:
        """Return a field by its name."""
        return next((field for field in self.fields if field.name == name), None)

    def column(self, heading: str) -> str | None:
        """Return the field that a spreadsheet's heading means: its name or its label in any language.

        A label's unit in brackets may be left out where no other label is alike.
        """
        if heading == plain(self.key):
            return self.key
        for known in self.fields:
            if heading == plain(known.name) or heading in {plain(label) for label in known.label.values()}:
                return known.name
        bare = [
            known.name
            for known in self.fields
            if heading in {plain(label.partition("(")[0]) for label in known.label.values()}
        ]
        return bare[0] if len(bare) == 1 else None


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one value.

    Attributes:
        line: the spreadsheet's line; 0 outside one.
        field: the column or field.
        problem: short code for the words.
        right: what would be right.
    """

    line: int
    field: str
    problem: str
    got: str
    right: str


@dataclass(frozen=True, slots=True)
class Filled:
    """One row that was read: its line, its subject and its values; an empty cell says nothing."""

    line: int
    subject: str
    values: Mapping[str, Scalar]


def fill(form: Form, rows: Sequence[Row], marks: Marks | None = None) -> tuple[tuple[Filled, ...], tuple[Problem, ...]]:
    """Read a whole spreadsheet by a form: the rows that can be read, and every problem of the others.

    Args:
        form: the register's.
        rows: as `sheets.read` gives them.
        marks: the decimal mark the file is declared to use; None finds it in each column.
    """
    headings = list(rows[0].cells) if rows else []
    problems = [_unknown(form, heading) for heading in headings if form.column(heading) is None]
    columns = {heading: name for heading in headings if (name := form.column(heading)) is not None}
    if form.key not in columns.values():
        problems.append(Problem(1, form.key, "column-missing", ", ".join(headings), form.key))
    if problems:
        return (), tuple(problems)
    styles, problems = _styles(form, columns, rows, marks)
    filled = [_row(form, columns, row, styles, problems) for row in rows]
    wrong = {problem.line for problem in problems}
    return tuple(row for row in filled if row.line not in wrong), tuple(problems)


def read(known: Field, text: str, marks: Marks | None = None) -> Scalar:
    """Read what a person typed in a field.

    Raises:
        CellError: it is not what the field holds.
    """
    value: Scalar
    cells.shown(text, prose=known.prose)
    text = text.strip() if known.prose else cells.typed(text)
    match known.type:
        case FieldType.NUMBER:
            value = cells.number(text, marks)
        case FieldType.SIZE:
            value = cells.size(text)
        case FieldType.INTEGER:
            value = cells.whole(text, marks)
        case FieldType.DATE:
            value = cells.day(text, known.alone)
        case FieldType.BOOLEAN:
            value = cells.yes_or_no(text)
        case FieldType.CHOICE:
            value = _choice(known, text)
        case FieldType.TEXT:
            value = text
    return checked(known, value)


def checked(known: Field, value: Scalar) -> Scalar:
    """Return the value if the field may hold it.

    Raises:
        CellError: out of bounds, or of another type.
    """
    if value is None:
        return None
    fits: bool
    match known.type:
        case FieldType.NUMBER | FieldType.SIZE:
            fits = isinstance(value, Decimal | int) and not isinstance(value, bool)
        case FieldType.INTEGER:
            fits = isinstance(value, int) and not isinstance(value, bool)
        case FieldType.DATE:
            fits = type(value) is date
        case FieldType.BOOLEAN:
            fits = isinstance(value, bool)
        case FieldType.CHOICE:
            fits = value in known.choices
        case FieldType.TEXT:
            fits = isinstance(value, str) and len(value) <= MAX_TEXT_CHARS
    if not fits:
        raise CellError("wrong-type", str(value), _right(known))
    if isinstance(value, str):
        cells.shown(value, prose=known.prose)
    elif type(value) is date:
        cells.meant_day(value)
    elif isinstance(value, Decimal | int) and not isinstance(value, bool):
        _within(known, value)
    return value


def _within(known: Field, value: Decimal | int) -> None:
    cells.meant_number(value)
    if known.least is not None and value < known.least:
        raise CellError("too-small", str(value), f">= {known.least}")
    if known.most is not None and value > known.most:
        raise CellError("too-large", str(value), f"<= {known.most}")


def to_json(value: Scalar) -> str | int | bool | None:
    """A value as canonical JSON may hold it: no floats, decimals and dates as text."""
    if isinstance(value, Decimal):
        return format(value.normalize(), "f")
    return value.isoformat() if isinstance(value, date) else value


def from_json(known: Field | None, value: object) -> Scalar:
    """A value of `to_json` back again; what no field is known for any more stays as it is written.

    Raises:
        CellError: it is not what the field holds.
    """
    if value is None or isinstance(value, bool):
        return value if known is None else checked(known, value)
    if known is not None and isinstance(value, str | int | float):
        match known.type:
            case FieldType.NUMBER | FieldType.SIZE:
                return checked(known, _decimal(value))
            case FieldType.DATE:
                return checked(known, _day(str(value)))
            case _:
                pass
    if not isinstance(value, str | int):
        raise CellError("wrong-type", str(value), _right(known) if known else "text")
    return value if known is None else checked(known, value)


def missing(form: Form, values: Mapping[str, Scalar]) -> tuple[str, ...]:
    """Return the fields that a new subject must have and these values lack."""
    return tuple(known.name for known in form.fields if known.needed and values.get(known.name) is None)


def template(form: Form, language: str) -> tuple[str, ...]:
    """The headings of a spreadsheet that `fill` takes."""
    return (form.key, *(known.heading(language) for known in form.fields))


def _styles(
    form: Form, columns: Mapping[str, str], rows: Iterable[Row], marks: Marks | None
) -> tuple[dict[str, Marks | None], list[Problem]]:
    styles: dict[str, Marks | None] = {}
    problems: list[Problem] = []
    rows = list(rows)
    for heading, name in columns.items():
        known = form.field(name)
        if known is None or known.type not in {FieldType.NUMBER, FieldType.INTEGER}:
            continue
        try:
            styles[name] = marks or cells.marks_of([row.cells.get(heading, "") for row in rows])
        except CellError as error:
            problems.append(Problem(1, name, error.problem, error.got, error.right))
    return styles, problems


def _row(
    form: Form, columns: Mapping[str, str], row: Row, styles: Mapping[str, Marks | None], problems: list[Problem]
) -> Filled:
    values: dict[str, Scalar] = {}
    subject = ""
    for heading, name in columns.items():
        cell = row.cells.get(heading, "")
        known = form.field(name)
        if name == form.key and known is None:
            subject = cells.typed(cell)
            continue
        assert known is not None
        if cells.is_empty(cell):
            continue
        try:
            values[name] = read(known, cell, styles.get(name))
        except CellError as error:
            problems.append(Problem(row.line, name, error.problem, error.got, error.right))
    if form.field(form.key) is not None:
        subject = str(values.get(form.key) or "")
    if not subject:
        problems.append(Problem(row.line, form.key, "empty", "", "a name that no other subject has"))
    return Filled(row.line, subject, values)


def _unknown(form: Form, heading: str) -> Problem:
    return Problem(1, heading, "unknown-column", heading, ", ".join((form.key, *(known.name for known in form.fields))))


def _choice(known: Field, text: str) -> str:
    wanted = plain(text)
    for choice, words in known.choices.items():
        if wanted in {plain(choice), *(plain(word) for word in words.values())}:
            return choice
    raise CellError("no-such-choice", text, _right(known))


def _right(known: Field) -> str:
    return ", ".join(known.choices) if known.choices else known.type.value


def _decimal(value: str | float) -> Decimal:
    try:
        found = Decimal(str(value))
    except InvalidOperation as error:
        raise CellError("not-a-number", str(value), "10.5") from error
    if not found.is_finite():
        raise CellError("not-a-number", str(value), "10.5")
    return found


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise CellError("not-a-date", text, "2026-07-31") from error
