"""Reads statutes from their files under ``statutes/``. Holds no number of any norm itself."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from importlib import resources
from importlib.resources.abc import Traversable
from typing import cast

from compliance.vocabulary import Detection, Statute, StatuteKind

HOUSE = "house"
"""The pack that always applies, beside whatever statutes a depot names."""


class StatuteError(Exception):
    """A statute's file is wrong; its author can mend it.

    Attributes:
        file: the file's name.
        key: dotted key, empty when the file as a whole is meant.
    """

    def __init__(self, file: str, key: str, expected: str, got: str) -> None:
        super().__init__(f"{f'{file}: {key}' if key else file}: expected {expected}, got {got}")
        self.file, self.key, self.expected, self.got = file, key, expected, got


def names(folder: Traversable | None = None) -> tuple[str, ...]:
    """Return the ids that `load` knows, sorted."""
    files = (entry.name for entry in (folder or _shipped()).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml")))


def load(statute: str, folder: Traversable | None = None) -> Statute:
    """Read one statute by its id, which is its file's name without ``.toml``.

    Raises:
        StatuteError: if there is no such statute, or its file is not as it should be.
    """
    file = f"{statute}.toml"
    if statute not in names(folder):
        raise StatuteError(file, "", f"one of {', '.join(names(folder))}", "no such statute")
    try:
        tables = tomllib.loads((folder or _shipped()).joinpath(file).read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StatuteError(file, "", "TOML in UTF-8", str(error)) from error
    return _statute(_Table(file, "", tables), statute)


def _shipped() -> Traversable:
    return resources.files("compliance") / "statutes"


def _statute(top: "_Table", statute: str) -> Statute:
    top.only("statute", "detection")
    head = top.table("statute")
    head.only("id", "title", "citation", "kind", "in_force_from")
    if head.text("id") != statute:
        raise StatuteError(head.file, "statute.id", f"{statute!r}, as the file is named", repr(head.text("id")))
    kinds = [kind.value for kind in StatuteKind]
    if head.text("kind") not in kinds:
        raise StatuteError(head.file, "statute.kind", f"one of {', '.join(kinds)}", repr(head.text("kind")))
    kind = StatuteKind(head.text("kind"))
    return Statute(
        id=statute,
        title=head.text("title"),
        citation=head.text("citation"),
        kind=kind,
        in_force_from=None if kind is StatuteKind.HOUSE else head.day("in_force_from"),
        detection=_detection(top.table("detection")) if "detection" in top.entries else None,
    )


def _detection(table: "_Table") -> Detection:
    table.only("clause", "set_point_lel_pct", "within_s", "above_kg")
    set_point = table.number("set_point_lel_pct")
    if set_point is not None and not 0 < set_point < 100:
        raise StatuteError(table.file, "detection.set_point_lel_pct", "%LEL between 0 and 100", repr(set_point))
    return Detection(
        clause=table.text("clause"),
        set_point_lel_pct=set_point,
        within_s=table.number("within_s"),
        above_kg=table.number("above_kg") or 0.0,
    )


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of the file that knows where it stands, so that each mistake can be named."""

    file: str
    name: str
    entries: Mapping[str, object]

    def only(self, *known: str) -> None:
        for key in self.entries:
            if key not in known:
                raise StatuteError(self.file, self._dotted(key), f"only {', '.join(known)}", "an unknown key")

    def table(self, key: str) -> "_Table":
        value = self.entries.get(key)
        if not isinstance(value, dict):
            raise StatuteError(self.file, self._dotted(key), "a table", _shown(value))
        return _Table(self.file, self._dotted(key), cast("Mapping[str, object]", value))

    def text(self, key: str) -> str:
        value = self.entries.get(key)
        if not isinstance(value, str) or not value.strip():
            raise StatuteError(self.file, self._dotted(key), "text", _shown(value))
        return value

    def number(self, key: str) -> float | None:
        value = self.entries.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
            raise StatuteError(self.file, self._dotted(key), "a number, 0 or more", _shown(value))
        return float(value)

    def day(self, key: str) -> date:
        value = self.entries.get(key)
        if type(value) is not date:
            raise StatuteError(self.file, self._dotted(key), "a date such as 2013-11-11", _shown(value))
        return value

    def _dotted(self, key: str) -> str:
        return f"{self.name}.{key}" if self.name else key


def _shown(value: object) -> str:
    return "nothing" if value is None else repr(value)
