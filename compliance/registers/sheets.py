"""A spreadsheet's bytes -> rows with their line numbers, whatever program saved it. All of it, or a refusal.

Reads UTF-8 with or without a byte-order mark, UTF-16 and UTF-32 with one, and Windows-1252; comma, semicolon or tab;
any line ending; quoted line breaks; a first line ``sep=;``. Knows no register.
"""

import csv
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

MAX_BYTES = 8 * 1024 * 1024
MAX_ROWS = 100_000
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)

WORKBOOKS = ((b"PK\x03\x04", "Excel .xlsx, LibreOffice .ods"), (b"\xd0\xcf\x11\xe0", "Excel .xls"))
"""What programs save by themselves, by its first bytes: no text."""


class SheetError(ValueError):
    """The file as a whole, or a line of it, cannot be read.

    Attributes:
        line: 1 is the first; 0 means the file.
    """

    def __init__(self, line: int, problem: str, got: str, right: str) -> None:
        super().__init__(f"line {line}: {problem}: got {got}, expected {right}")
        self.line, self.problem, self.got, self.right = line, problem, got, right


@dataclass(frozen=True, slots=True)
class Row:
    """One row: the line it starts on, and its cells by the plain name of their column."""

    line: int
    cells: Mapping[str, str]


def read(content: bytes) -> tuple[Row, ...]:
    """Read a whole file.

    Raises:
        SheetError: the encoding, the heading or a row is not as it should be.
    """
    if len(content) > MAX_BYTES:
        raise SheetError(0, "too-large", f"{len(content)} B", f"<= {MAX_BYTES} B")
    if program := next((name for mark, name in WORKBOOKS if content.startswith(mark)), None):
        raise SheetError(0, "workbook", program, "CSV saved as UTF-8")
    text = _text(content).replace("\r\n", "\n").replace("\r", "\n")
    skipped, separator, text = _declared(text)
    lines = csv.reader((line + "\n" for line in text.split("\n")), delimiter=separator or _separator(text), strict=True)
    rows: list[Row] = []
    heading: list[str] | None = None
    start = skipped + 1
    try:
        for cells in lines:
            line, start = start, skipped + lines.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if heading is None:
                heading = _heading(cells, line)
                continue
            rows.append(Row(line, _cells(heading, cells, line)))
            if len(rows) > MAX_ROWS:
                raise SheetError(line, "too-many-rows", f"> {MAX_ROWS}", f"<= {MAX_ROWS}")
    except csv.Error as error:
        got = "open quotes" if "end of data" in str(error) else "stray quotes"
        raise SheetError(skipped + lines.line_num, "not-csv", got, "cells in one style of quotes") from error
    if heading is None:
        raise SheetError(0, "no-heading", "", "a first line with the names of the columns")
    if not rows:
        raise SheetError(0, "no-rows", ", ".join(heading), "a line for each record")
    return tuple(rows)


def plain(name: str) -> str:
    """A column's name without accents, case, spaces at its ends and marks: ``VALIDADE `` -> ``validade``."""
    parts = unicodedata.normalize("NFKD", name.strip().casefold())
    bare = "".join(sign for sign in parts if not unicodedata.combining(sign))
    return "_".join("".join(sign if sign.isalnum() else " " for sign in bare).split())


def _text(content: bytes) -> str:
    marked = next((encoding for mark, encoding in _MARKS if content.startswith(mark)), None)
    try:
        text = _decoded(content, marked) if marked else content.decode("utf-8")
    except UnicodeDecodeError:
        text = _decoded(content, "cp1252")
    if "\0" in text:
        raise SheetError(text[: text.index("\0")].count("\n") + 1, "not-text", "zero bytes", "CSV saved as UTF-8")
    return text


def _decoded(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise SheetError(line, "encoding", f"byte 0x{content[error.start]:02X}", "CSV saved as UTF-8") from error


def _declared(text: str) -> tuple[int, str | None, str]:
    first, _, rest = text.partition("\n")
    bare = first.strip().strip('"')
    if bare.casefold().startswith("sep=") and len(bare) == 5:
        return 1, bare[4], rest
    if bare.casefold() == "sep=" and first.endswith("\t"):
        return 1, "\t", rest
    return 0, None, text


def _separator(text: str) -> str:
    """The mark that parts the heading into most columns; a tie goes to the semicolon, which is no decimal mark."""
    heading = next((line for line in text.split("\n") if line.strip()), "")
    return max(";\t,", key=heading.count)


def _heading(cells: list[str], line: int) -> list[str]:
    names = [plain(cell) for cell in cells]
    for place, name in enumerate(names):
        if name and name in names[:place]:
            raise SheetError(line, "column-twice", cells[place].strip(), "each column once")
    return names


def _cells(heading: list[str], cells: list[str], line: int) -> dict[str, str]:
    for place, cell in enumerate(cells):
        if cell.strip() and (place >= len(heading) or not heading[place]):
            raise SheetError(line, "cell-without-column", cell.strip(), str(len(heading)))
        if "\ufffd" in cell:
            raise SheetError(line, "encoding", cell.strip(), "CSV saved as UTF-8")
    return {name: cell.strip() for name, cell in zip(heading, cells, strict=False) if name}
