"""A table of a TOML file that knows where it stands, so that each mistake in it can be named."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from importlib.resources.abc import Traversable
from typing import TypeVar, cast

from compliance.vocabulary import Period, Words

Choice = TypeVar("Choice", bound=Enum)


class StatuteError(Exception):
    """A file of the law is wrong; its author can mend it.

    Attributes:
        file: the file's name.
        key: dotted key, empty when the file as a whole is meant.
        expected: what would be right; `template` and `values` are its two halves, for other languages.
        got: what is there instead.
    """

    def __init__(self, file: str, key: str, template: str, got: str, **values: object) -> None:
        self.file, self.key, self.got, self.template, self.values = file, key, got, template, values
        self.place = f"{file}: {key}" if key else file
        self.expected = template.format_map(values)
        super().__init__(f"{self.place}: expected {self.expected}, got {got}")


def read(folder: Traversable, file: str) -> "Entries":
    """Read a file.

    Raises:
        StatuteError: if it is not TOML in UTF-8.
    """
    try:
        return Entries(file, "", tomllib.loads(folder.joinpath(file).read_text("utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StatuteError(file, "", "TOML in UTF-8", str(error)) from error


@dataclass(frozen=True, slots=True)
class Entries:
    """One table. `name` is its dotted key, empty for the file itself."""

    file: str
    name: str
    values: Mapping[str, object]

    def only(self, *known: str) -> None:
        """Refuse a key that is none of these."""
        for key in self.values:
            if key not in known:
                raise self.wrong(key, "only {known}", "an unknown key", known=", ".join(known))

    def wrong(self, key: str, template: str, got: str, **values: object) -> StatuteError:
        """Return the error that names a key of this table; `values` fill in the `{name}`s of what would be right."""
        return StatuteError(self.file, self.dotted(key), template, got, **values)

    def table(self, key: str) -> "Entries":
        """Return a table in this one."""
        value = self.values.get(key)
        if not isinstance(value, dict):
            raise self.wrong(key, "a table", shown(value))
        return Entries(self.file, self.dotted(key), cast("Mapping[str, object]", value))

    def listed(self, key: str) -> "Iterator[Entries]":
        """Return each table of an array of tables, named by its id, locator or number; none if there is no such key."""
        value = self.values.get(key, [])
        if not isinstance(value, list):
            raise self.wrong(key, "an array of tables", shown(value))
        for number, entry in enumerate(value, 1):
            if not isinstance(entry, dict):
                raise self.wrong(f"{key} {number}", "a table", shown(entry))
            label = next((entry[name] for name in ("id", "locator", "name", "pt") if entry.get(name)), number)
            yield Entries(self.file, self.dotted(f"{key} {label}"), cast("Mapping[str, object]", entry))

    def text(self, key: str, default: str | None = None) -> str:
        """Return words that are not empty."""
        value = self.values.get(key, default)
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(key, "text", shown(value))
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of words; none if there is no such key."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.wrong(key, "a list of texts", shown(value))
        return tuple(value)

    def flag(self, key: str, *, default: bool) -> bool:
        """Return true or false."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false", shown(value))
        return value

    def number(self, key: str) -> float | None:
        """Return a number, 0 or more, or None if there is no such key."""
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
            raise self.wrong(key, "a number, 0 or more", shown(value))
        return float(value)

    def needed(self, key: str) -> float:
        """Return a number, 0 or more, that must be there."""
        value = self.number(key)
        if value is None:
            raise self.wrong(key, "a number, 0 or more", "nothing")
        return value

    def day(self, key: str) -> date:
        """Return a date."""
        value = self.values.get(key)
        if not isinstance(value, date) or isinstance(value, datetime):
            raise self.wrong(key, "a date such as 2013-11-11", shown(value))
        return value

    def period(self, since: str = "from", until: str = "until") -> Period:
        """Return the days in force; a key that is missing sets no end."""
        found = Period(*(self.day(key) if key in self.values else None for key in (since, until)))
        if found.since and found.until and found.until < found.since:
            raise self.wrong(until, "a day from {since} on", str(found.until), since=found.since)
        return found

    def choice(self, key: str, choices: type[Choice]) -> Choice:
        """Return one of the words of an enumeration."""
        said, words = self.text(key), [each.value for each in choices]
        if said not in words:
            raise self.wrong(key, "one of {known}", repr(said), known=", ".join(words))
        return choices(said)

    def words(self, key: str) -> Words:
        """Return the same in both languages."""
        table = self.table(key)
        table.only("pt", "en")
        return Words(table.text("pt"), table.text("en"))

    def words_or_none(self, key: str) -> Words | None:
        """Return the same in both languages, or None if there is no such key."""
        return self.words(key) if key in self.values else None

    def dotted(self, key: str) -> str:
        """Return a key of this table as it stands in the file."""
        return f"{self.name}.{key}" if self.name else key


def shown(value: object) -> str:
    """Return a value as an error shows it."""
    return "nothing" if value is None else repr(value)
