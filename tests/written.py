"""The project's pages as the tests of them read: text, fenced blocks, and whatever is set as code."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]

page = pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def blocks(path: Path, info: str) -> list[str]:
    """Fenced blocks with exactly this info string."""
    return re.findall(rf"^```{re.escape(info)}\n(.*?)^```$", text_of(path), re.DOTALL | re.MULTILINE)


def prose(path: Path) -> str:
    return re.sub(r"^```.*?^```$", "", text_of(path), flags=re.DOTALL | re.MULTILINE)


def code(path: Path) -> str:
    """Everything set as code: fenced shell blocks and what stands between backticks."""
    return "\n".join([*blocks(path, "sh"), *inline(path)])


def inline(path: Path) -> list[str]:
    """What stands between backticks."""
    return re.findall(r"`([^`\n]+)`", prose(path))
