"""Finds the line of every key and table in a TOML text, and keys given twice. Knows no meaning; never refuses a text.

`tomllib` says what a file holds but not where. This scanner says where, also for files that `tomllib` refuses, because
that is when the line is wanted most.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TypeAlias

Path: TypeAlias = "tuple[str | int, ...]"
"""Keys, and indices for arrays of tables and array items: ``("detector", 0, "head", "milliamp", 1)``."""

MAX_DEPTH = 64
"""Keys with more parts and values nested deeper are not recorded, only that they stand there: no depot needs them, and
what they cost whoever reads them grows with their square."""

_BARE_KEY = re.compile(r"[A-Za-z0-9_\-]+")
_BARE_VALUE = re.compile(r"[^,\]}#\n]*")
_BLANK = re.compile(r"[ \t\r]*")
_BLANK_LINES = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")


@dataclass(frozen=True, slots=True)
class Twice:
    """One key or table given again: its path and both lines."""

    path: Path
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class Lines:
    """Where everything stands; lines count from 1. `deep`: those on which keys or values go beyond `MAX_DEPTH`."""

    of: dict[Path, int] = field(default_factory=dict)
    twice: list[Twice] = field(default_factory=list)
    deep: list[int] = field(default_factory=list)

    def nearest(self, path: Path) -> int:
        """Return the line of `path`, else of the closest thing around it; 1 if nothing is known."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.of:
                return self.of[path[:end]]
        return 1


def scan(text: str) -> Lines:
    """Scan a whole TOML text."""
    scanner = _Scanner(text)
    scanner.document()
    return scanner.found


class _UnreadableError(Exception):
    """The statement makes no sense to the scanner; it goes on with the next line."""


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found = Lines()
        self._ends = [found.start() for found in re.finditer("\n", text)]
        self._arrays: dict[Path, int] = {}
        self._headers: set[Path] = set()

    def document(self) -> None:
        table: Path = ()
        while self._skip(_BLANK_LINES) < len(self.text):
            start = self.at
            try:
                if self._take("[["):
                    table = self._array_header()
                elif self._take("["):
                    table = self._table_header()
                else:
                    self._entry(table, depth=0)
            except _UnreadableError:
                self.at = start
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end

    # --- statements

    def _array_header(self) -> Path:
        line, keys = self._line_here(), self._keys()
        path = (*self._resolved(keys[:-1]), keys[-1])
        if path in self._headers:  # [[x]] after [x]
            self.found.twice.append(Twice(path, self.found.of[path], line))
        index = self._arrays[path] = self._arrays.get(path, -1) + 1
        self._place(path, line)
        self.found.of[*path, index] = line
        return (*path, index)

    def _table_header(self) -> Path:
        line, keys = self._line_here(), self._keys()
        path = self._resolved(keys)
        if path in self._headers or isinstance(path[-1], int):  # an index last: [x] after [[x]]
            self.found.twice.append(Twice(path, self.found.of[path], line))
        else:
            self._headers.add(path)
            self._place(path, line)
        return path

    def _entry(self, table: Path, depth: int) -> None:
        line, keys = self._line_here(), self._keys()
        if not self._take("="):
            raise _UnreadableError
        path = (*table, *keys)
        self._place(path[:-1], line)
        if path in self.found.of:
            self.found.twice.append(Twice(path, self.found.of[path], line))
        else:
            self.found.of[path] = line
        self._value(path, depth)

    def _place(self, path: Path, line: int) -> None:
        """Record a table and those it brings into being around itself."""
        for end in range(1, len(path) + 1):
            self.found.of.setdefault(path[:end], line)

    def _resolved(self, keys: list[str]) -> Path:
        """A header's keys with the index of the newest element for each array of tables they pass through."""
        path: Path = ()
        for key in keys:
            path = (*path, key)
            if path in self._arrays:
                path = (*path, self._arrays[path])
        return path

    # --- values

    def _value(self, path: Path, depth: int) -> None:
        if depth > MAX_DEPTH:
            self._note_deep()
            raise _UnreadableError
        self._skip(_BLANK)
        for fence in ('"""', "'''"):
            if self._take(fence):
                self._past(fence, escapes=fence == '"""')
                return
        if self._at_quote():
            self._quoted()
        elif self._take("["):
            self._array(path, depth)
        elif self._take("{"):
            self._inline_table(path, depth)
        else:
            self._skip(_BARE_VALUE)

    def _array(self, path: Path, depth: int) -> None:
        index = 0
        while True:
            self._skip(_BLANK_LINES)
            if self._take("]"):
                return
            before = self.at
            self.found.of[*path, index] = self._line_here()
            self._value((*path, index), depth + 1)
            index += 1
            self._skip(_BLANK_LINES)
            if not self._take(",") and (self._here() != "]" or self.at == before):
                raise _UnreadableError

    def _inline_table(self, path: Path, depth: int) -> None:
        while True:
            self._skip(_BLANK_LINES)
            if self._take("}"):
                return
            self._entry(path, depth + 1)
            self._skip(_BLANK_LINES)
            if not self._take(",") and self._here() != "}":
                raise _UnreadableError

    # --- words

    def _keys(self) -> list[str]:
        keys = []
        while True:
            self._skip(_BLANK)
            if self._at_quote():
                keys.append(self._quoted())
            else:
                start = self.at
                self._skip(_BARE_KEY)
                if self.at == start:
                    raise _UnreadableError
                keys.append(self.text[start : self.at])
            self._skip(_BLANK)
            if not self._take("."):
                return keys
            if len(keys) >= MAX_DEPTH:
                self._note_deep()
                raise _UnreadableError

    def _note_deep(self) -> None:
        line = self._line_here()
        if line not in self.found.deep[-1:]:
            self.found.deep.append(line)

    def _quoted(self) -> str:
        quote, start = self._here(), self.at + 1
        self.at = start
        while self._here() != quote:
            if self._here() in ("", "\n"):
                raise _UnreadableError
            self.at += 2 if quote == '"' and self._here() == "\\" else 1
        self.at += 1
        return self.text[start : self.at - 1]

    def _past(self, fence: str, *, escapes: bool) -> None:
        while not self.text.startswith(fence, self.at):
            if self.at >= len(self.text):
                raise _UnreadableError
            self.at += 2 if escapes and self._here() == "\\" else 1
        self.at += 3
        while self._here() == fence[0]:  # up to two quotes may stand before the closing fence
            self.at += 1

    def _at_quote(self) -> bool:
        return self._here() in ('"', "'")

    def _here(self) -> str:
        return self.text[self.at : self.at + 1]

    def _take(self, token: str) -> bool:
        if self.text.startswith(token, self.at):
            self.at += len(token)
            return True
        return False

    def _skip(self, pattern: re.Pattern[str]) -> int:
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.at

    def _line_here(self) -> int:
        return bisect_left(self._ends, self.at) + 1
