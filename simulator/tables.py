"""A TOML table of the simulator's own files that knows where it stands, so that every error names file and key."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from math import isfinite
from typing import NoReturn, TypeGuard

from sensors.sentences import Sentence


class ScenarioError(Exception):
    """A scenario or yard file that cannot be used. For its author."""


@dataclass(slots=True)
class TableText:
    """A TOML table that knows where it stands, and which of its keys were asked for."""

    file: str
    path: str
    values: Mapping[str, object]
    asked: set[str] = field(default_factory=set)

    def fail(self, key: str, why: str, **values: object) -> NoReturn:
        """Raise for one key; `values` fill in the `{name}`s of `why`."""
        where = f"{self.path}.{key}" if self.path else key
        raise ScenarioError(Sentence("{place}: {why}", place=f"{self.file}: {where}", why=Sentence(why, **values)))

    def has(self, key: str) -> bool:
        """Tell whether the key is there."""
        return key in self.values

    def get(self, key: str, default: object = None) -> object:
        """Return what stands at the key; without a default it must be there."""
        self.asked.add(key)
        if key not in self.values and default is None:
            self.fail(key, "is missing")
        return self.values.get(key, default)

    def text(self, key: str) -> str:
        """Read a text."""
        value = self.get(key)
        if not isinstance(value, str) or not value:
            self.fail(key, "must be a text in quotes, got {got}", got=repr(value))
        return value

    def flag(self, key: str) -> bool:
        """Read true or false; false where it is not there."""
        value = self.get(key, default=False)
        if not isinstance(value, bool):
            self.fail(key, "must be true or false, got {got}", got=repr(value))
        return value

    def choice(self, key: str, known: Iterable[str], default: str | None = None) -> str:
        """Read one of a few words."""
        value, words = self.get(key, default), list(known)
        if value not in words:
            listed, hint = ", ".join(words), perhaps(str(value), words)
            self.fail(key, "must be one of {known}, got {got}{hint}", known=listed, got=repr(value), hint=hint)
        return str(value)

    def number(self, key: str, low: float, high: float, default: float | None = None) -> float:
        """Read a number within bounds."""
        value = self.get(key, default)
        if not is_number(value):
            self.fail(
                key,
                "must be a number from {low} to {high}, got {got}",
                low=f"{low:g}",
                high=f"{high:g}",
                got=repr(value),
            )
        if not low <= value <= high:
            self.fail(
                key, "must lie from {low} to {high}, got {got}", low=f"{low:g}", high=f"{high:g}", got=f"{value:g}"
            )
        return float(value)

    def whole(self, key: str, low: int, high: int, default: int | None = None) -> int:
        """Read a whole number within bounds."""
        value = self.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            self.fail(
                key, "must be a whole number from {low} to {high}, got {got}", low=low, high=high, got=repr(value)
            )
        return value

    def wholes(self, key: str, count: int) -> tuple[int, ...]:
        """Read a list of so many whole numbers."""
        value = self.get(key)
        if not isinstance(value, list) or len(value) != count or not all(type(item) is int for item in value):
            self.fail(key, "must be a list of {count} whole numbers, got {got}", count=count, got=repr(value))
        return tuple(value)

    def texts(self, key: str) -> tuple[str, ...]:
        """Read a list of texts."""
        value = self.get(key)
        if not isinstance(value, list) or not value or not all(isinstance(item, str) and item for item in value):
            self.fail(key, 'must be a list such as ["linha-1"], got {got}', got=repr(value))
        return tuple(value)

    def table(self, key: str) -> "TableText":
        """Read a table within this one."""
        value = self.get(key)
        if not isinstance(value, dict):
            self.fail(key, "must be a table ([{name}]), got {got}", name=key, got=repr(value))
        return TableText(self.file, f"[{key}]", value)

    def tables(self, key: str) -> "list[TableText]":
        """Read a list of tables; none where the key is not there."""
        value = self.get(key, ())
        if not isinstance(value, Sequence) or not all(isinstance(item, dict) for item in value):
            self.fail(key, "must be written as [[{name}]], got {got}", name=key, got=repr(value))
        return [TableText(self.file, f"[[{key}]] {number}", item) for number, item in enumerate(value, start=1)]

    def done(self) -> None:
        """Refuse keys that nobody asked for.

        Raises:
            ScenarioError: with the nearest known key.
        """
        for key in self.values:
            if key not in self.asked:
                known = Sentence("; known are: {known}", known=", ".join(sorted(self.asked)))
                self.fail(key, "unknown key{hint}", hint=perhaps(key, self.asked) or known)


def is_number(value: object) -> TypeGuard[int | float]:
    """Tell whether a TOML value is a number (a truth value is none, nor are nan and inf)."""
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def perhaps(value: str, known: Iterable[str]) -> Sentence:
    """Return what ends an error where something known is near, else nothing."""
    near = get_close_matches(value, list(known), n=1)
    return Sentence("; did you mean {near}?", near=repr(near[0])) if near else Sentence("")


def read_table(file: str, text: str) -> TableText:
    """Read a whole file; `file` is its name in messages.

    Raises:
        ScenarioError: if it is no TOML.
    """
    try:
        return TableText(file, "", tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(Sentence("{place}: {why}", place=file, why=error)) from error
