"""Cells of a spreadsheet's file: quoted, disarmed, with local times. Pure."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from dashboards.wording import Locale

MARK = "\ufeff"
"""UTF-8's byte order mark: without it spreadsheets take the file for another encoding."""

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""How a formula begins; for some spreadsheets with a wide sign too."""


def quoted(row: Iterable[str]) -> Iterator[str]:
    """Quote what a spreadsheet would cut in two, and disarm what it would take for a formula."""
    for text in row:
        plain = f"'{text}" if text.startswith(FORMULA) and not _is_number(text) else text
        yield '"' + plain.replace('"', '""') + '"' if any(sign in plain for sign in ';"\r\n') else plain


def local(rfc3339: str, locale: Locale) -> str:
    """As spreadsheets read a time: no zone in the cell (the file has it), milliseconds only where there are some."""
    moment = datetime.fromisoformat(rfc3339).astimezone(locale.zone)
    text = f"{moment:%Y-%m-%d %H:%M:%S}"
    return text if not moment.microsecond else f"{text}.{moment.microsecond // 1000:03d}"


def _is_number(text: str) -> bool:
    return text.lstrip("-").replace(",", "").replace(".", "").isdigit()
