"""A depot.toml as text: edited, and then loaded or refused."""

from pathlib import Path

import pytest

from gateway.configuration.loaded import Loaded
from gateway.configuration.loading import load
from gateway.configuration.problems import ConfigError, Problem

ENGLISH = {"VIGIA_LANG": "en"}
BASE = Path(__file__).with_name("gateway").joinpath("base.toml").read_text("utf-8")
"""A small depot that is right."""

SMALLEST = """[depot]
id = "d"
name = "Depósito"
[levels]
A1 = 10
A2 = 20
A3 = 40
[[area]]
id = "patio"
licensed_kg = 520
"""
"""A depot without a detector: enough for its papers."""


def loaded(folder: Path, text: str, **environ: str) -> Loaded:
    file = folder / "depot.toml"
    file.write_bytes(text.encode())
    return load(file, {**ENGLISH, **environ})


def problems(folder: Path, text: str, **environ: str) -> tuple[Problem, ...]:
    with pytest.raises(ConfigError) as refused:
        loaded(folder, text, **environ)
    return refused.value.problems


def replaced(old: str, new: str, text: str = BASE) -> str:
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the base"
    return text.replace(old, new)
