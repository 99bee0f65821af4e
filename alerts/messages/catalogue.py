"""Words by key and language, from TOML files inside a package. Knows no alarm and no sentence of its own."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from string import Formatter
from types import MappingProxyType

LANGUAGES = ("pt-BR", "en")
"""What every catalogue is written in; the first is the one the others are translated from."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All texts of one package in one language. Keys are dotted: ``[gas.raised] head = ...`` is ``gas.raised.head``."""

    package: str
    language: str
    texts: Mapping[str, str]

    @classmethod
    def load(cls, package: str, language: str) -> "Catalogue":
        """Read ``<package>/<language>.toml``.

        A language without its region, or with one we do not have, is served by the one we have: ``pt`` is ``pt-BR``.
        The file is read once in a process: what stands inside a package does not change while it runs.

        Raises:
            ValueError: if no such language is written, the file is no TOML, or a value in it is no text.
        """
        return _load(package, _written(language))

    def __contains__(self, key: object) -> bool:
        return key in self.texts

    def text(self, key: str, **values: object) -> str:
        """Return the text with its placeholders filled in. Values are text, never templates.

        ``{count:problem|problems}`` is the first form for 1, the second for any other count.

        Raises:
            KeyError: if the key is missing or the text asks for a value that was not given; names key and language.
        """
        try:
            template = self.texts[key]
        except KeyError:
            raise KeyError(f"{self._name()} has no text {key!r}") from None
        try:
            return template.format_map(_counted(values) if "|" in template else values)
        except KeyError as missing:
            raise KeyError(f"{self._name()}: text {key!r} needs a value for {missing.args[0]!r}") from None

    def placeholders(self, key: str) -> frozenset[str]:
        """Return the names a text wants filled in.

        Raises:
            KeyError: if the key is missing.
        """
        return frozenset(name for _, name, _, _ in Formatter().parse(self.texts[key]) if name)

    def _name(self) -> str:
        return f"{self.package}/{self.language}.toml"


class _Count(int):
    """A whole number that knows whether it wants a word in its singular."""

    def __format__(self, spec: str) -> str:
        one, bar, many = spec.partition("|")
        return (one if self == 1 else many) if bar else super().__format__(spec)


def _counted(values: Mapping[str, object]) -> dict[str, object]:
    return {name: _Count(value) if isinstance(value, int) else value for name, value in values.items()}


@lru_cache(maxsize=16)
def _written(language: str) -> str:
    """Return the written language that serves `language`."""
    wanted = language.replace("_", "-").lower()
    for have in LANGUAGES:
        if have.lower() == wanted:
            return have
    for have in LANGUAGES:
        if have.lower().partition("-")[0] == wanted.partition("-")[0]:
            return have
    raise ValueError(f"no words in {language!r}; written are {', '.join(LANGUAGES)}")


@lru_cache(maxsize=16)
def _load(package: str, language: str) -> Catalogue:
    file = resources.files(package).joinpath(f"{language}.toml")
    tables = tomllib.loads(file.read_text(encoding="utf-8"))
    return Catalogue(package, language, MappingProxyType(dict(_flat(tables, "", f"{package}/{language}.toml"))))


def _flat(table: Mapping[str, object], prefix: str, file: str) -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        match value:
            case str():
                yield prefix + name, value
            case dict():
                yield from _flat(value, f"{prefix}{name}.", file)
            case _:
                raise ValueError(f"{file}: {prefix}{name} is {type(value).__name__}, expected text")
