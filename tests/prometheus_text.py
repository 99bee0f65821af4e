"""A strict reader of the Prometheus text format 0.0.4: raises on whatever a scraper might take amiss."""

import re
from itertools import groupby
from typing import Any

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"')
NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|NaN|[-+]Inf")
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? (\S+)")
Series = tuple[str, tuple[tuple[str, str], ...]]


def parsed(text: str) -> dict[Series, float]:
    """Return every series with its value.

    Raises:
        ValueError: a line is malformed, a family is split, unnamed or untyped, a series stands twice, a counter is not
            called one or something else is, or a label is given twice or empty-named.
    """
    if not text.endswith("\n"):
        raise ValueError("the last line does not end")
    helps: dict[str, str] = {}
    types: dict[str, str] = {}
    series: dict[Series, float] = {}
    for line in text[:-1].split("\n"):
        if found := re.fullmatch(rf"# HELP ({NAME}) ((?:[^\\]|\\\\|\\n)+)", line):
            _once(helps, found[1], found[2])
        elif found := re.fullmatch(rf"# TYPE ({NAME}) (counter|gauge)", line):
            _typed(found[1], found[2], helps)
            _once(types, found[1], found[2])
        elif found := SAMPLE.fullmatch(line):
            _sample(*found.groups(), types, series)
        else:
            raise ValueError(f"malformed: {line!r}")
    told = [name for name, _ in groupby(name for name, _ in series)]
    if len(told) != len(set(told)):
        raise ValueError("the figures of one name do not stand together")
    if not set(told) == set(types) == set(helps):
        raise ValueError("a help or a type stands without figures")
    return series


def _typed(name: str, kind: str, helps: dict[str, str]) -> None:
    if name not in helps:
        raise ValueError(f"{name} has a type before its help")
    if (kind == "counter") != name.endswith("_total"):
        raise ValueError(f"{name} is called {kind}")


def _sample(name: str, labels: str | None, value: str, types: dict[str, str], series: dict[Series, float]) -> None:
    if name not in types:
        raise ValueError(f"{name} has no type before its first figure")
    if not NUMBER.fullmatch(value):
        raise ValueError(f"{value!r} is no number")
    _once(series, (name, _labels(labels)), float(value.replace("Inf", "inf")))


def _labels(text: str | None) -> tuple[tuple[str, str], ...]:
    if text is None:
        return ()
    found = LABEL.findall(text)
    if ",".join(f'{name}="{value}"' for name, value in found) != text or not found:
        raise ValueError(f"malformed labels: {text!r}")
    if len({name for name, _ in found}) != len(found):
        raise ValueError(f"a label stands twice: {text!r}")
    unescaped = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}
    return tuple((name, re.sub(r"\\.", lambda sign: unescaped[sign[0]], value)) for name, value in found)


def _once(where: dict[Any, Any], key: Any, value: Any) -> None:
    if key in where:
        raise ValueError(f"{key} stands twice")
    where[key] = value
