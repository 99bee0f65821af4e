"""What a key of a profile may hold: each shape checks a value, and tells an editor the same in JSON Schema.

A shape's `check(key, value)` returns the value as the builders want it, or raises `KeyFault`. Shapes know no meaning
beyond the value itself; what keys must agree with each other is the builders' matter.
"""

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from sensors.sentences import Sentence

Schema = dict[str, Any]
Table = Mapping[str, Any]

NOTHING: Final = "nothing"
ABSENT: Final = "no such key"
ASSUMED: Final = "assumed"
"""The key that lists those keys of its table which no source states."""
SHOWN_CHARS: Final = 60


class KeyFault(Exception):  # noqa: N818 - it is caught at once and becomes a ProfileError, which has the file
    """One key is wrong: which, what would be right, what stands there."""

    def __init__(self, key: str, expected: str, got: object) -> None:
        super().__init__(key, expected, got)
        self.key, self.expected = key, expected
        self.got = got if isinstance(got, str) and got in (NOTHING, ABSENT) else shown(got)

    def under(self, table: str) -> "KeyFault":
        """Return the same fault, its key inside that table."""
        fault = KeyFault(f"{table}.{self.key}", self.expected, NOTHING)
        fault.got = self.got
        return fault


def shown(value: object) -> str:
    """Write a value from a file for a message, at a bounded length."""
    text = repr(value)
    return text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1] + "…"


def one_of(names: Iterable[str], got: str = "") -> str:
    """List what would be right, nearest first when one is near."""
    known = list(names)
    near = difflib.get_close_matches(got, known, n=1, cutoff=0.6)
    return f"{near[0]!r}" if near else Sentence("one of {known}", known=", ".join(known))


class Shape(Protocol):
    """What a value may be."""

    def check(self, key: str, value: object) -> Any:  # noqa: ANN401 - each shape returns its own kind
        """Return the value, or raise `KeyFault`."""
        ...

    def schema(self) -> Schema:
        """Return the same in JSON Schema."""
        ...


@dataclass(frozen=True, slots=True)
class Number:
    """A finite number, above or from a bound; integers become floats."""

    above: float | None = None
    least: float | None = None
    not_zero: bool = False

    def check(self, key: str, value: object) -> float:
        """Return it as a float."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise KeyFault(key, "a number", value)
        if self.above is not None and value <= self.above:
            raise KeyFault(key, Sentence("a number above {above}", above=f"{self.above:g}"), value)
        if self.least is not None and value < self.least:
            raise KeyFault(key, Sentence("a number from {least} up", least=f"{self.least:g}"), value)
        if self.not_zero and value == 0:
            raise KeyFault(key, "a number other than 0", value)
        return float(value)

    def schema(self) -> Schema:
        """A number with its bounds."""
        found: Schema = {"type": "number"}
        if self.above is not None:
            found["exclusiveMinimum"] = self.above
        if self.least is not None:
            found["minimum"] = self.least
        if self.not_zero:
            found["not"] = {"const": 0}
        return found


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number within bounds, described by `what`."""

    low: int
    high: int
    what: str

    def check(self, key: str, value: object) -> int:
        """Return it."""
        if isinstance(value, bool) or not isinstance(value, int) or not self.low <= value <= self.high:
            raise KeyFault(
                key, Sentence("{what}, {low} to {high}", what=self.what, low=self.low, high=self.high), value
            )
        return value

    def schema(self) -> Schema:
        """An integer with its bounds."""
        return {"type": "integer", "minimum": self.low, "maximum": self.high}


@dataclass(frozen=True, slots=True)
class Raw:
    """A value as the device sends it: a finite number; whole ones stay integers."""

    def check(self, key: str, value: object) -> int | float:
        """Return it, 5.0 as 5."""
        number = Number().check(key, value)
        return int(number) if number.is_integer() else number

    def schema(self) -> Schema:
        """A number."""
        return {"type": "number"}


@dataclass(frozen=True, slots=True)
class Text:
    """A text; not empty unless allowed."""

    empty: bool = False
    what: str = "a text"

    def check(self, key: str, value: object) -> str:
        """Return it."""
        if not isinstance(value, str) or not (value or self.empty):
            raise KeyFault(key, self.what, value)
        return value

    def schema(self) -> Schema:
        """A string."""
        return {"type": "string"} if self.empty else {"type": "string", "minLength": 1}


@dataclass(frozen=True, slots=True)
class Scalar:
    """A text, number or yes/no, as a payload may hold it; returned as JSON would write it, a text without quotes."""

    def check(self, key: str, value: object) -> str:
        """Return it as text."""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str):
            return value
        if isinstance(value, int | float) and math.isfinite(value):
            return repr(value)
        raise KeyFault(key, "a text, a number, true or false", value)

    def schema(self) -> Schema:
        """Any scalar."""
        return {"type": ["string", "number", "boolean"]}


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""

    def check(self, key: str, value: object) -> bool:
        """Return it."""
        if not isinstance(value, bool):
            raise KeyFault(key, "true or false", value)
        return value

    def schema(self) -> Schema:
        """A boolean."""
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some names (or numbers), each standing for something."""

    names: Mapping[Any, Any]

    def check(self, key: str, value: object) -> Any:  # noqa: ANN401 - whatever the name stands for
        """Return what the name stands for."""
        if isinstance(value, bool) or not isinstance(value, str | int) or value not in self.names:
            known = [str(name) for name in self.names]
            raise KeyFault(key, one_of(known, value if isinstance(value, str) else ""), value)
        return self.names[value]

    def schema(self) -> Schema:
        """An enumeration."""
        return {"enum": list(self.names)}


def words(*names: str) -> Choice:
    """Return a choice among names that stand for themselves."""
    return Choice({name: name for name in names})


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list; every item of one shape. `size` fixes its length. With `alone` a single item may stand without a list."""

    item: Shape
    size: int | None = None
    alone: bool = False

    def check(self, key: str, value: object) -> tuple[Any, ...]:
        """Return its items, checked."""
        if not isinstance(value, list | tuple):
            if self.alone:
                return (self.item.check(key, value),)
            raise KeyFault(key, "a list", value)
        if self.size is not None and len(value) != self.size:
            raise KeyFault(key, Sentence("a list of {size}", size=self.size), value)
        return tuple(self.item.check(f"{key}.{index}", item) for index, item in enumerate(value))

    def schema(self) -> Schema:
        """An array."""
        found: Schema = {"type": "array", "items": self.item.schema()}
        if self.size is not None:
            found |= {"minItems": self.size, "maxItems": self.size}
        return {"anyOf": [self.item.schema(), found]} if self.alone else found


@dataclass(frozen=True, slots=True)
class TableOf:
    """A table of known keys, some required."""

    keys: Mapping[str, Shape]
    required: Sequence[str] = ()

    def check(self, key: str, value: object) -> dict[str, Any]:
        """Return its values, checked; absent keys stay absent."""
        if not isinstance(value, Mapping):
            raise KeyFault(key, "a table", value)
        prefix = f"{key}." if key else ""
        for name in value:
            if name not in self.keys:
                raise KeyFault(f"{prefix}{name}", one_of(self.keys, str(name)), ABSENT)
        for name in self.required:
            if name not in value:
                raise KeyFault(f"{prefix}{name}", "a value", NOTHING)
        found = {name: self.keys[name].check(f"{prefix}{name}", item) for name, item in value.items()}
        for name in found.get(ASSUMED, ()):
            if name not in self.keys:
                raise KeyFault(f"{prefix}{ASSUMED}", one_of(self.keys, name), name)
        return found

    def schema(self) -> Schema:
        """An object without other keys."""
        found: Schema = {
            "type": "object",
            "properties": {name: shape.schema() for name, shape in self.keys.items()},
            "additionalProperties": False,
        }
        if self.required:
            found["required"] = list(self.required)
        return found


@dataclass(frozen=True, slots=True)
class MapOf:
    """A table whose keys are free (or checked by `names`), every value of one shape."""

    item: Shape
    names: Mapping[str, Any] | None = None

    def check(self, key: str, value: object) -> dict[str, Any]:
        """Return its values, checked."""
        if not isinstance(value, Mapping):
            raise KeyFault(key, "a table", value)
        found = {}
        for name, item in value.items():
            if self.names is not None and name not in self.names:
                raise KeyFault(f"{key}.{name}", one_of(self.names, str(name)), ABSENT)
            found[str(name)] = self.item.check(f"{key}.{name}", item)
        return found

    def schema(self) -> Schema:
        """An object with such values."""
        if self.names is None:
            return {"type": "object", "additionalProperties": self.item.schema()}
        properties = {name: self.item.schema() for name in self.names}
        return {"type": "object", "properties": properties, "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class Either:
    """A table, or something simpler."""

    simple: Shape
    table: Shape

    def check(self, key: str, value: object) -> Any:  # noqa: ANN401 - of one shape or the other
        """Check as a table if it is one, else as the simple thing."""
        return (self.table if isinstance(value, Mapping) else self.simple).check(key, value)

    def schema(self) -> Schema:
        """One of both."""
        return {"anyOf": [self.simple.schema(), self.table.schema()]}
