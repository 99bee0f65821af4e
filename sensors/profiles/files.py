"""Files of profiles: found, read, laid upon what they build on; and where a key stands in one. Knows no meaning."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sensors.profiles.shapes import one_of, shown
from sensors.sentences import Sentence
from sensors.toml_lines import scan

SHIPPED: Final = Path(__file__).parent
MAX_BYTES: Final = 262_144
"""A larger profile file is refused unread."""
MAX_LIKE: Final = 4
"""Profiles that build upon each other, at most."""


class ProfileError(Exception):
    """A profile or an installation's settings cannot be used. Says where, what is wrong and what would be right.

    Attributes:
        file: the profile's file or name.
        line: line of the key in that file; None for an installation's settings, which stand elsewhere.
        key: dotted, such as ``sentinels.fault``.
    """

    def __init__(self, *, file: str, line: int | None, key: str, expected: str, got: str) -> None:
        self.file, self.line, self.key, self.expected, self.got = file, line, key, expected, got
        place = file if line is None else f"{file}:{line}"
        super().__init__(f"{place}: {key}: expected {expected}, got {got}")


def names() -> tuple[str, ...]:
    """Return the shipped profiles."""
    return tuple(sorted(path.stem for path in SHIPPED.glob("*.toml")))


def found(name_or_path: str, base: Path | None) -> tuple[Path, str]:
    """Return the file of a shipped profile by name, or of a site profile by path, and what to call it.

    Raises:
        ProfileError: if no profile has this name.
    """
    if name_or_path in names():
        return SHIPPED / f"{name_or_path}.toml", name_or_path
    if "/" not in name_or_path and not name_or_path.endswith(".toml"):
        expected = Sentence("{names}, or the path of a site profile", names=one_of(names(), name_or_path))
        raise ProfileError(file=name_or_path, line=None, key="profile", expected=expected, got=shown(name_or_path))
    path = Path(name_or_path) if base is None else base / name_or_path
    return path, str(path)


def read(path: Path, name: str, depth: int = MAX_LIKE) -> tuple[str, dict[str, Any]]:
    """Return a file's text and its document, what it builds upon underneath.

    Raises:
        ProfileError: if it cannot be read.
    """
    text, document = _parsed(path, name)
    like = document.get("like")
    if like is None:
        return text, document
    if not isinstance(like, str) or depth == 0:
        expected = (
            "the name of a profile"
            if depth
            else Sentence("at most {most} profiles that build upon each other", most=MAX_LIKE)
        )
        raise ProfileError(file=name, line=line_of(text, "like"), key="like", expected=expected, got=shown(like))
    try:
        _, under = read(*found(like, path.parent), depth - 1)
    except ProfileError as error:
        if error.key != "profile":
            raise
        line = line_of(text, "like")
        raise ProfileError(file=name, line=line, key="like", expected=error.expected, got=shown(like)) from None
    return text, _merged(under, document)


def _parsed(path: Path, name: str) -> tuple[str, dict[str, Any]]:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)  # a device's size says nothing of how much it gives
        if len(content) > MAX_BYTES:
            raise ProfileError(
                file=name, line=None, key="file", expected=Sentence("at most {most} bytes", most=MAX_BYTES), got="more"
            )
        text = content.decode().replace("\r\n", "\n")
        return text, tomllib.loads(text)
    except OSError as error:
        got = error.strerror or "an error"
        raise ProfileError(file=name, line=None, key="file", expected="a readable profile", got=got) from None
    except UnicodeDecodeError:
        raise ProfileError(file=name, line=None, key="file", expected="UTF-8 text", got="other bytes") from None
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"line (\d+)", str(error))
        line = int(found.group(1)) if found else None
        raise ProfileError(file=name, line=line, key="file", expected="TOML", got=str(error)) from None


def _merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return `over` upon `under`: tables are joined key by key, everything else is replaced."""
    found = dict(under)
    for name, value in over.items():
        below = found.get(name)
        found[name] = _merged(below, value) if isinstance(value, dict) and isinstance(below, dict) else value
    if "register" in over or "address" in over:
        for other in {"register", "address"} - set(over):
            found.pop(other, None)
    return found


def line_of(text: str, key: str) -> int | None:
    """Find the line of a dotted key, or of the closest thing around it."""
    steps = tuple(int(step) if step.isdigit() else step for step in key.split("."))
    return scan(text).nearest(steps)
