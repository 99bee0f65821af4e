"""From the bytes of depot.toml to its raw tables and lines; what is no TOML is explained. Knows none of our keys."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace

from gateway.configuration.problems import Sheet, shown
from sensors.toml_lines import Lines, Path, scan

LIMIT = 1 << 22
"""Largest file read, in bytes: a depot of a thousand detectors is a sixteenth of it."""

_PLACE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)$")

_ID = re.compile(r"""\s*id\s*=\s*["']([^"']*)["']""")

_LESSONS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("percent_sign", re.compile(r"""^\s*[\w"'.\-]+\s*=\s*(?P<value>[+-]?\d+(?:[.,]\d+)?)\s*%""")),
    ("decimal_comma", re.compile(r"""^\s*[\w"'.\-]+\s*=\s*(?P<value>[+-]?\d+,\d+)\b""")),
    ("date_slashes", re.compile(r"""^\s*[\w"'.\-]+\s*=\s*(?P<value>\d{1,4}[/.]\d{1,2}[/.]\d{1,4})\b""")),
    ("leading_zeros", re.compile(r"""^\s*[\w"'.\-]+\s*=\s*(?P<value>[+-]?0\d+)\s*(?:#.*)?$""")),
    ("no_value", re.compile(r"""^\s*(?P<value>[\w"'.\-]+)\s*=\s*(?:#.*)?$""")),
    ("bare_text", re.compile(r"""^\s*[\w"'.\-]+\s*=\s*(?P<value>[^\W\d_][^"'#\[\]{}=]*?)\s*(?:#.*)?$""")),
    (
        "number_with_unit",
        re.compile(r"""^\s*[\w"'.\-]+\s*=\s*(?P<value>[+-]?\d+(?:\.\d+)?\s*[^\W\d_][\w/%]*)\s*(?:#.*)?$"""),
    ),
    ("colon", re.compile(r"""^\s*(?P<value>[\w.\-]+)\s*:""")),
    ("open_quote", re.compile(r"""^\s*[\w"'.\-]+\s*=\s*(?P<value>"(?:[^"\\]|\\.)*|'[^']*)$""")),
    ("bare_key", re.compile(r"""^\s*(?P<value>(?=[^=]*(?:[^\w\s.=-]|[^\x00-\x7f]|\w\s+\w))[^="'\[\]#{}]+?)\s*=""")),
)
"""What people write for TOML, in the order they are tried against the refused line."""


def read(sheet: Sheet, content: bytes) -> Sheet:
    """Return the sheet with its lines and raw tables; what cannot be read is noted on it and raised.

    Raises:
        ConfigError: if the content is no TOML, in whatever way.
    """
    text = _decoded(sheet, content)
    lines = scan(text)
    sheet = replace(sheet, lines=lines, tables=_ids(text, lines))
    _note_twice(sheet)
    if lines.deep:  # not for the parser: it takes time that grows with the square, and dies of more
        sheet.refuse_on(lines.deep[0], (), "too_deep")
        sheet.finish()
    try:
        tables: Mapping[str, object] = tomllib.loads(text)
    except RecursionError:
        sheet.refuse((), "too_deep")
    except ValueError as error:  # TOMLDecodeError, and what int() and datetime() say of impossible values
        if not sheet.lines.twice:
            _explain(sheet, text, str(error))
    else:
        sheet = replace(sheet, tables=tables)
    sheet.finish()
    return sheet


def _ids(text: str, lines: Lines) -> dict[str, object]:
    """Entries of arrays of tables with nothing but their ids: names for places in a text that is not parsed yet."""
    rows = text.split("\n")
    tables: dict[str, list[dict[str, str]]] = {}
    for path, line in lines.of.items():
        match path:
            case (str(table), int()):
                tables.setdefault(table, []).append({})
            case (str(table), int(), "id") if tables.get(table):
                found = _ID.match(rows[line - 1])
                if found:
                    tables[table][-1]["id"] = found[1]
            case _:
                pass
    return dict(tables)


def _note_twice(sheet: Sheet) -> None:
    """Note what is given twice, but not what stands inside a table that is."""
    inside: Path = ()
    for twice in sheet.lines.twice:
        if inside and twice.path[: len(inside)] == inside:
            continue
        is_table = isinstance(twice.path[-1], int) or len(twice.path) == 1
        inside = twice.path if is_table else ()
        sheet.refuse_on(
            twice.second,
            twice.path,
            "table_twice" if is_table else "given_twice",
            first=f"{sheet.file}:{twice.first}",
            second=f"{sheet.file}:{twice.second}",
            name=next(step for step in reversed(twice.path) if isinstance(step, str)),
        )


def _decoded(sheet: Sheet, content: bytes) -> str:
    if len(content) > LIMIT:
        sheet.refuse((), "too_large", limit=LIMIT)
    elif content.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in content[:4]:
        sheet.refuse((), "not_utf8", byte="UTF-16")
    sheet.finish()
    if content.startswith(b"\xef\xbb\xbf"):
        sheet.warn((), "byte_order_mark")
        content = content[3:]
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        sheet.refuse_on(line, (), "not_utf8", byte=f"0x{content[error.start]:02X}")
        sheet.finish()
        raise


def _explain(sheet: Sheet, text: str, reason: str) -> None:
    """Note a syntax error, with the lesson that fits the refused line where one does."""
    place = _PLACE.search(reason)
    lines = text.split("\n")
    line = min(int(place[1]), len(lines)) if place and place[1] else len(lines)
    path = _path_on(sheet, line)
    for lesson, pattern in _LESSONS:
        found = pattern.match(lines[line - 1])
        if found:
            value = found["value"].strip()
            sheet.refuse_on(line, path, lesson, value=shown(value, quoted=False), point=value.replace(",", "."))
            return
    sheet.refuse_on(
        line, path, "no_toml", reason=_PLACE.sub("", reason), value=shown(lines[line - 1].strip(), quoted=False)
    )


def _path_on(sheet: Sheet, line: int) -> Path:
    """Return the path of what stands on a line, else of the table it stands in."""
    table: Path = ()
    for path, where in sheet.lines.of.items():
        if where == line and isinstance(path[-1], str):
            return path
        if where < line and (len(path) == 1 or isinstance(path[1], int)):
            table = path[:2] if len(path) > 1 else path
    return table
