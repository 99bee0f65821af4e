"""Tables of a depot.toml as text, to be pasted or appended; a file is changed only once the whole of it is right."""

import os
import re
import secrets
import stat
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gateway.configuration.loading import load
from gateway.configuration.problems import ConfigError
from gateway.sealing.keys import put

MOST_ID = 64


@dataclass(frozen=True, slots=True)
class Table:
    """One ``[[name]]`` with its keys, and a comment above it."""

    name: str
    keys: Mapping[str, object]
    comment: str = ""


class ChangedError(Exception):
    """Somebody else changed the file meanwhile; nothing was written."""


def written(tables: Sequence[Table]) -> str:
    """Return the tables as TOML, a blank line before each."""
    parts = []
    for table in tables:
        lines = [f"# {_plain(table.comment)}"] if table.comment else []
        lines += [f"[[{table.name}]]", *(f"{key} = {value_text(value)}" for key, value in table.keys.items())]
        parts.append("\n" + "\n".join(lines) + "\n")
    return "".join(parts)


def value_text(value: object) -> str:
    """Return a value as TOML writes it.

    Raises:
        TypeError: it is of no kind that our files hold.
    """
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return '"' + "".join(_escaped(sign) for sign in value) + '"'
        case list() | tuple():
            return "[" + ", ".join(value_text(item) for item in value) + "]"
        case Mapping():
            return "{ " + ", ".join(f"{_key(key)} = {value_text(item)}" for key, item in value.items()) + " }"
        case _:
            raise TypeError(f"{value!r} has no place in a depot.toml")


def free_id(wanted: str, taken: Collection[str]) -> str:
    """Return an id made of the wanted words that is not taken yet, upper and lower case alike."""
    plain = unicodedata.normalize("NFKD", wanted).encode("ascii", "ignore").decode()
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", plain).strip("-._")[: MOST_ID - 5] or "detector"
    folded = {name.lower() for name in taken}
    if stem.lower() not in folded:
        return stem
    return next(name for number in range(2, len(folded) + 3) if (name := f"{stem}-{number}").lower() not in folded)


def append(file: Path, tables: Sequence[Table], environ: Mapping[str, str]) -> None:
    """Append the tables to the file, if the whole of it is right with them; nothing is changed otherwise.

    Raises:
        ConfigError: what would be wrong, named as if it stood in the file.
        ChangedError: the file is another now than when this began.
        OSError: it cannot be read or written.
    """
    file = file.resolve()
    before = file.read_bytes()
    gap = b"" if before.endswith(b"\n") or not before else b"\n"
    content = before + gap + written(tables).encode()
    draft = file.with_name(f".{secrets.token_hex(4)}-{file.name}")
    mode = stat.S_IMODE(file.stat().st_mode)
    try:
        put(draft, content, mode=mode)
        _check(draft, file, environ)
        if file.read_bytes() != before:
            raise ChangedError(file)
        owner = file.stat()
        if os.geteuid() == 0:
            os.chown(draft, owner.st_uid, owner.st_gid)
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)


def _check(draft: Path, file: Path, environ: Mapping[str, str]) -> None:
    """Load the draft, which stands beside the file so that paths in it lead where they will."""
    try:
        load(draft, environ)
    except ConfigError as error:
        mended = (
            replace(problem, file=str(file) if problem.file == str(draft) else problem.file)
            for problem in error.problems
        )
        raise ConfigError(tuple(mended)) from None


def _plain(comment: str) -> str:
    """A comment from outside must stay one line, or it would be configuration."""
    return "".join(sign if sign.isprintable() else " " for sign in comment)[:200]


def _key(key: object) -> str:
    text = str(key)
    return text if re.fullmatch(r"[A-Za-z0-9_-]+", text) else value_text(text)


def _escaped(sign: str) -> str:
    if sign in '"\\':
        return "\\" + sign
    if sign.isprintable() or sign == "\u00a0":
        return sign
    code = ord(sign)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
