"""What a source told and the book could not take: it stands in doubt until a person counts the area. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from compliance.registers.entries import Act, Entry, Millis
from gateway.office.counting import MARKS
from gateway.office.desk import STOCK
from gateway.office.shown import time


@dataclass(frozen=True, slots=True)
class Doubt:
    """`reason` is ``jump``, or why the movement was refused (``not-that-many``, ``unknown-area`` ...)."""

    area: str
    source: str
    reason: str
    since: Millis


def open_doubts(entries: Iterable[Entry], areas: Mapping[str, str]) -> tuple[Doubt, ...]:
    """Return what is still in doubt, the first of each source in each area.

    Args:
        entries: everything told, in the order in which it was told.
        areas: each source's area, for entries that do not name it.
    """
    found: dict[tuple[str, str], Doubt] = {}
    for entry in entries:
        if entry.register == STOCK and entry.act is Act.COUNT:
            found = {
                key: doubt for key, doubt in found.items() if key[0] != entry.subject or entry.effective < doubt.since
            }
        elif entry.register == MARKS and (reason := entry.values.get("doubt")):
            area = str(entry.values.get("area") or areas.get(entry.subject, ""))
            doubt = Doubt(area, entry.subject, str(reason), entry.effective)
            found.setdefault((area, entry.subject), doubt)
    return tuple(found.values())


def as_json(doubts: Iterable[Doubt]) -> list[dict[str, Any]]:
    """As screens and programs get them."""
    return [
        {"area": doubt.area, "source": doubt.source, "reason": doubt.reason, "since": time(doubt.since)}
        for doubt in doubts
    ]
