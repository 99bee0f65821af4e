"""What is wrong with a depot.toml, where, and what would be right: collected, never one at a time."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, time
from difflib import get_close_matches

from alerts.messages.catalogue import Catalogue
from gateway.words.sentences import spoken
from sensors.toml_lines import Lines, Path

SHOWN = 60
"""Longest value quoted in a message, in characters."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing the installer must mend (or, as a warning, should know).

    Attributes:
        file: the file's name, or the environment variable that said it.
        line: counts from 1; 0 where a line has no meaning.
        where: the entry and key, as a person would name them: ``detector GD-101 / register``; empty for the whole file.
    """

    file: str
    line: int
    where: str
    wrong: str
    right: str

    def __str__(self) -> str:
        """``depot.toml:12: detector GD-101 / register: what is wrong; what would be right``."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        return ": ".join(part for part in (place, self.where, f"{self.wrong}; {self.right}") if part)


class ConfigError(Exception):
    """The configuration is refused. Carries every problem found, in the file's order."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Sheet:
    """One configuration under examination: its text's lines, its raw tables, and what was found so far.

    Attributes:
        overlaid: which environment variable set the value at a path.
        unread: tables of which a key could not be read, and the paths of those keys: enough was said of them.
    """

    file: str
    words: Catalogue
    lines: Lines
    tables: Mapping[str, object] = field(default_factory=dict)
    overlaid: Mapping[Path, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    unread: dict[Path, set[Path]] = field(default_factory=dict)

    def refuse(self, path: Path, reason: str, /, **values: object) -> None:
        """Note a problem at `path`. `reason` names the texts ``refused.<reason>.wrong`` and ``.right``."""
        if not self._is_unread(path):
            self.problems.append(self._problem(path, f"refused.{reason}", values))

    def refuse_on(self, line: int, path: Path, reason: str, /, **values: object) -> None:
        """Note a problem on a line of its own, with `path` as its name."""
        self.problems.append(replace(self._problem(path, f"refused.{reason}", values), line=line))

    def warn(self, path: Path, reason: str, /, **values: object) -> None:
        """Note a warning at `path`, with the texts ``warned.<reason>.wrong`` and ``.right``."""
        self.warnings.append(self._problem(path, f"warned.{reason}", values))

    def finish(self) -> None:
        """Raise what was found.

        Raises:
            ConfigError: if there is any problem.
        """
        if self.problems:
            raise ConfigError(tuple(sorted(dict.fromkeys(self.problems), key=lambda problem: problem.line)))

    def at(self, path: Path) -> str:
        """Name a place for a cross-reference: its line, or the variable that set it."""
        return self.overlaid.get(path) or f"{self.file}:{self.lines.nearest(path)}"

    def where(self, path: Path) -> str:
        """Name a path as a person would: ``detector GD-101 / head / milliamp``."""
        parts: list[str] = []
        for depth, step in enumerate(path):
            if isinstance(step, str):
                parts.append(step)
            elif depth == 1:
                parts[-1] = f"{parts[-1]} {self._named(path[:2])}"
            else:
                parts[-1] = f"{parts[-1]}[{step + 1}]"
        return " / ".join(parts)

    def _is_unread(self, path: Path) -> bool:
        """Tell whether `path` is a table that was read in part only, as a whole, or lies in a key that was not read."""
        keys = {key for keys in self.unread.values() for key in keys}
        return path in self.unread or any(path[:depth] in keys for depth in range(1, len(path) + 1))

    def _named(self, path: Path) -> str:
        entries = self.tables.get(str(path[0]))
        index = path[1]
        if isinstance(entries, list) and isinstance(index, int) and index < len(entries):
            entry = entries[index]
            if isinstance(entry, dict) and isinstance(entry.get("id"), str) and entry["id"]:
                return shown(entry["id"], quoted=False)
        return f"#{index + 1}" if isinstance(index, int) else str(index)

    def _problem(self, path: Path, key: str, values: Mapping[str, object]) -> Problem:
        variable = self.overlaid.get(path)
        values = {name: _said(self.words, name, value) for name, value in values.items()}
        return Problem(
            file=variable or self.file,
            line=0 if variable else self.lines.nearest(path),
            where=visible(self.where(path)),
            wrong=visible(self.words.text(f"{key}.wrong", **values)),
            right=visible(self.words.text(f"{key}.right", **values)),
        )


FROM_OTHERS = ("expected", "got", "example", "reason")
"""Values that a profile, the TOML parser or the system may have put into words of its own."""


def _said(words: Catalogue, name: str, value: object) -> object:
    return spoken(words, value) if name in FROM_OTHERS and isinstance(value, str | Exception) else value


def visible(text: str) -> str:
    """Spell out what no terminal shows, or obeys. A mistake that cannot be seen cannot be mended."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def shown(value: object, *, quoted: bool = True) -> str:
    """A value as it would stand in TOML, shortened, on one line."""
    if isinstance(value, bool):
        text = str(value).lower()
    elif isinstance(value, str):
        text = " ".join(value.split())
    elif isinstance(value, date | time):
        text = value.isoformat()
    else:
        text = " ".join(repr(value).split())
    text = text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
    return f'"{text}"' if quoted and isinstance(value, str) else text


def near(word: str, known: list[str]) -> str:
    """Return the known word that was probably meant; all of them where none is close."""
    folded = {name.lower(): name for name in known}
    close = get_close_matches(word.lower(), folded, n=1, cutoff=0.6)
    return folded[close[0]] if close else ", ".join(known)
