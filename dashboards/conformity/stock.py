"""Stock against what each area may hold, and what falls due, nearest first. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any

from dashboards.conformity.phrases import Phrases
from dashboards.detector_cards import Badge, Tone

FULLISH = Decimal("0.9")
"""From this part of the limit on an area is shown as nearly full."""

SOON_DAYS = 30
MOST_COUNTS = 3
"""How many counts that found other than the book an area shows; the history has all."""

STATES = ("full", "part-used", "empty", "new", "in-use")
DATES = {
    "extinguisher": ("charge_until", "hydrostatic_until"),
    "document": ("valid_until",),
    "vehicle": ("scale_until",),
    "container": ("plate_until", "filling_until"),
}
"""The dates on which a thing's validity ends, by register."""


@dataclass(frozen=True, slots=True)
class AreaStock:
    """One area: kg held of kg licensed, and units by state. `filled` is 0 to 100 for the bar.

    Attributes:
        gone: it left the configuration; what is booked there can only leave.
        counts: the latest counts that found other than the book.
        doubts: what sources told and the book could not take: somebody must count.
    """

    id: str
    title: str
    kg: str
    filled: int
    badge: Badge
    classes: tuple[str, ...]
    states: tuple[str, ...]
    piles: tuple[str, ...]
    gone: bool = False
    doubts: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DueRow:
    """One date on which something ends; `register` and `subject` lead to its record."""

    what: str
    which: str
    day: str
    badge: Badge
    register: str
    subject: str


def stock_view(data: Mapping[str, Any], phrases: Phrases) -> tuple[AreaStock, ...]:
    """Say what stands in each area."""
    limits = {limit["area"]: limit for limit in data["limits"]}
    return tuple(
        replace(
            _area(area, limits.get(area["area"]), phrases),
            doubts=tuple(_doubt(one, phrases) for one in data["doubts"] if one["area"] == area["area"]),
            counts=_counts(data["discrepancies"], area["area"], phrases),
        )
        for area in data["areas"]
    )


def _doubt(one: Mapping[str, Any], phrases: Phrases) -> str:
    text, words = phrases.locale.text, phrases.locale.words
    key = f"doubt.{one['reason']}"
    why = words[key] if key in words else text("doubt.other", code=one["reason"])
    since = text("doubt.since", why=why, day=phrases.locale.day(one["since"]))
    return f"{text('doubt.asked', area=phrases.area(one['area']), source=one['source'])}. {since} {text('doubt.do')}"


def due_view(registers: Mapping[str, Sequence[Mapping[str, Any]]], on: date, phrases: Phrases) -> tuple[DueRow, ...]:
    """Say what of each thing ends next, the earliest first; what has no date on record is at the top: nobody knows."""
    rows = []
    for register, subjects in registers.items():
        for held in subjects:
            dates = list(_dates(register, held["values"]))
            if dates:
                name, day = min(dates, key=lambda one: one[1] or "")
                rows.append((day, _due(register, held["subject"], name, day, on, phrases)))
    return tuple(row for _, row in sorted(rows, key=lambda one: (one[0] or "", one[1].what)))


def _dates(register: str, values: Mapping[str, Any]) -> Iterable[tuple[str, str | None]]:
    for name in DATES.get(register, ()):
        day = values.get(name)
        if day is not None:
            yield name, str(day)
        elif register == "extinguisher" or (register == "document" and values.get("no_expiry") is not True):
            yield name, None


def _due(register: str, subject: str, name: str, day: str | None, on: date, phrases: Phrases) -> DueRow:
    locale = phrases.locale
    which = phrases.fact(f"{register}:", name)
    tone: Tone = "normal"
    if day is None:
        tone, word, shape = "aside", locale.text("due.unknown"), "?"
    else:
        left = (date.fromisoformat(day) - on).days
        if left < 0:
            tone, shape, word = "alarm", "■", locale.count("due.past", -left)
        elif left <= SOON_DAYS:
            tone, shape, word = "attention", "▲", locale.count("due.left", left) if left else locale.text("due.today")
        else:
            shape, word = "○", locale.count("due.left", left)
    return DueRow(
        phrases.subject(f"{register}:{subject}"), which, phrases.day(day), Badge(tone, shape, word), register, subject
    )


def _area(area: Mapping[str, Any], limit: Mapping[str, Any] | None, phrases: Phrases) -> AreaStock:
    locale = phrases.locale
    held = Decimal(area["kg"])
    most = Decimal(limit["licensed_kg"]) if limit else Decimal(0)
    part = held / most if most else Decimal(1 if held else 0)
    tone: Tone
    if part > 1:
        tone, key = "alarm", "over"
    elif part >= FULLISH:
        tone, key = "attention", "near"
    else:
        tone, key = "normal", "below"
    over = phrases.number(f"{abs(most - held):f}")
    word = locale.text(f"stock.{key}", kg=over, p13=phrases.number(str(int(abs(most - held) // 13))))
    counts = {state: sum(pile["units"] for pile in area["piles"] if pile["state"] == state) for state in STATES}
    return AreaStock(
        id=area["area"],
        gone=limit is None,
        title=phrases.area(area["area"]),
        kg=locale.text("stock.kg", kg=phrases.number(area["kg"]), most=phrases.number(f"{most:f}")),
        filled=min(100, int(part * 100)),
        badge=Badge(tone, {"alarm": "■", "attention": "▲"}.get(tone, "○"), word),
        classes=tuple(_class(one, phrases) for one in (limit or {}).get("classes", ())),
        states=tuple(
            locale.text("stock.state", units=phrases.number(str(units)), state=phrases.state(state))
            for state, units in counts.items()
            if units
        ),
        piles=tuple(_pile(pile, phrases) for pile in area["piles"]),
    )


def _class(one: Mapping[str, Any], phrases: Phrases) -> str:
    if one["up_to_kg"] is None:
        return phrases.locale.text("stock.class_open", name=one["class"], law=one["citation"])
    most = phrases.number(one["up_to_kg"])
    return phrases.locale.text("stock.class", name=one["class"], most=most, law=one["citation"])


def _counts(found: Sequence[Mapping[str, Any]], area: str, phrases: Phrases) -> tuple[str, ...]:
    """The latest counts of an area that found other than the book, the last one first."""
    latest = [one for one in found if one["area"] == area][: -MOST_COUNTS - 1 : -1]
    return tuple(phrases.locale.text("stock.found_here", **said_count(one, phrases)) for one in latest)


def said_count(found: Mapping[str, Any], phrases: Phrases) -> dict[str, str]:
    """Say a count that found other than the book: what, when, by whom, and how many too few or too many."""
    missing = found["booked"] - found["counted"]
    return {
        "what": f"P-{phrases.number(found['size_kg'])} {_marks(found, phrases)}".strip(),
        "area": phrases.area(found["area"]),
        "when": phrases.moment(found["at"]) if "at" in found else "",
        "by": found.get("by", ""),
        "counted": phrases.number(str(found["counted"])),
        "booked": phrases.number(str(found["booked"])),
        "off": phrases.locale.count("stock.less" if missing > 0 else "stock.more", abs(missing)),
    }


def _marks(pile: Mapping[str, Any], phrases: Phrases) -> str:
    told = (phrases.state(pile["state"]), pile["brand"], pile["lot"], phrases.place(pile["place"]))
    return " ".join(filter(None, told))


def _pile(pile: Mapping[str, Any], phrases: Phrases) -> str:
    units, size = phrases.number(str(pile["units"])), phrases.number(pile["size_kg"])
    return f"{units} × P-{size} {_marks(pile, phrases)}".strip()
