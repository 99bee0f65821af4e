"""Parts of a sentence that any alarm may need: a reason, names, a number, an age; foreign text cut to fit.

Reason codes are looked up in the catalogue under ``why.<code>``; one that nobody has put into words yet is shown as
it is.
"""

from collections.abc import Sequence
from math import isfinite

from alerts.messages.catalogue import Catalogue
from sensors.stamps import SECOND, Stamp

LONGEST = 300
"""Characters of the longest sentence."""

_NAMES = 54
"""Characters for the list of detectors in a grouped notice; the rest is counted."""


def why(reason: str, catalogue: Catalogue) -> str:
    """Say a reason code in words."""
    if not reason:
        return catalogue.text("why.none")
    code = clip(reason, 40)
    key = why_key(reason)
    if key not in catalogue:
        return catalogue.text("why.unknown", code=code)
    return catalogue.text(key, code=code, number=clip(reason.rpartition("-")[2], 8), why=code)


def why_key(reason: str) -> str:
    """Return the catalogue key of a reason; numbered exceptions share one."""
    return "why.exception" if reason.startswith("exception-") else f"why.{reason}"


def listed(subjects: Sequence[str], catalogue: Catalogue) -> str:
    """List as many names as fit; say how many more there are."""
    shown: list[str] = []
    for name in subjects:
        if shown and len(", ".join([*shown, name])) > _NAMES:
            break
        shown.append(clip(name, 32))
    left = len(subjects) - len(shown)
    listed = ", ".join(shown)
    return listed if not left else catalogue.text("format.more", names=listed, count=left)


def number(lel_pct: float | None, catalogue: Catalogue) -> str | None:
    """Write a number with one decimal, within what a sentence can hold; None where there is no number."""
    if lel_pct is None or not isfinite(lel_pct):
        return None
    return f"{min(max(lel_pct, -999.9), 999.9):.1f}".replace(".", catalogue.text("format.decimal"))


def age(since: Stamp, at: Stamp, catalogue: Catalogue) -> str:
    """Say how long it is from one stamp to another, in the unit that a person would use."""
    seconds = max(at.mono - since.mono, 0) // SECOND
    if seconds < 60:
        return catalogue.text("format.seconds", count=seconds)
    if seconds < 7200:
        return catalogue.text("format.minutes", count=seconds // 60)
    return catalogue.text("format.hours", hours=min(seconds // 3600, 99_999), minutes=seconds // 60 % 60)


def clip(text: str, longest: int) -> str:
    """Bring foreign text to one printable line of at most `longest` characters."""
    if not text.isprintable():
        text = "".join(char if char.isprintable() else " " for char in text)
    line = text if " " not in text else " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"
