"""Puts what the TOML parser says of a file, in English only, into the person's language. Knows no command."""

import re
from typing import Final

from alerts.messages.catalogue import Catalogue

PLACE: Final = re.compile(r" \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$")
TOLD: Final = tuple(
    (re.compile(pattern, re.DOTALL), word)
    for pattern, word in (
        (r"Invalid statement", "statement"),
        (r"Expected newline or end of document after a statement", "newline"),
        (r"Expected '=' after a key in a key/value pair", "equals"),
        (r"Expected '\]\]?' at the end of (?:a table|an array) declaration", "closing"),
        (r"Expected (?P<what>.+)", "wanted"),
        (r"(?:Found invalid|Illegal) character (?P<what>.+)", "character"),
        (r"Cannot declare (?P<what>.+) twice", "table_twice"),
        (r"Cannot overwrite a value", "value_twice"),
        (r"Cannot (?:mutate immutable|redefine) namespace (?P<what>.+)", "whole"),
        (r"Invalid initial character for a key part", "key"),
        (r"Unclosed array", "list"),
        (r"Unclosed inline table", "inline"),
        (r"Duplicate inline table key (?P<what>.+)", "key_twice"),
        (r"Unescaped '\\' in a string", "backslash"),
        (r"Invalid hex value|Escaped character is not a Unicode scalar value", "code"),
        (r"Unterminated string", "quotes"),
        (r"Invalid date or datetime", "date"),
        (r"Invalid value", "value"),
    )
)
PART: Final = re.compile(r"'([^']*)'")


def told(words: Catalogue, text: str) -> str:
    """Return the parser's sentence and place in these words; any other text as it stands."""
    place = PLACE.search(text)
    said = PLACE.sub("", text)
    for pattern, word in TOLD:
        if found := pattern.fullmatch(said):
            what = found.groupdict().get("what") or ""
            named = ".".join(PART.findall(what)) if what.startswith("(") else what
            return words.text(f"syntax.{word}", what=named) + (f" ({_at(words, place)})" if place else "")
    return text


def _at(words: Catalogue, place: re.Match[str]) -> str:
    return words.text("syntax.place", **place.groupdict()) if place["line"] else words.text("syntax.end")
