"""What people enter in the registers of a drawn depot: papers, extinguishers, stock, late, wrong, twice. Pure."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import Final

import msgspec

from dashboards.office import Enter, LineAsk, Value
from simulator.drawn_file import AREA

PERSON: Final = "Ana"
KINDS: Final = ("extinguisher", "document", "stock", "stock-out", "late", "correct", "void", "twice", "round")
"""``late``: of days ago; ``twice``: the same call a second time, as a double tap makes it."""

LEFT_DAYS: Final = (-40, -3, 0, 0, 5, 20, 45)
"""Until when something holds, seen from the day on which it is told; 0 runs out at midnight."""

SIZE: Final = "45"
"""Of what people book by hand: the counters at the gates count others."""


def calls(kind: str, number: int, today: date, before: Sequence[LineAsk]) -> tuple[Enter, ...]:
    """Return what is asked of the office. `number` is drawn, and no other entry has it; `before`: what was entered."""
    if kind == "twice":
        tapped = _enter(_extinguisher(number, today))
        return (tapped, tapped)
    if kind in ("correct", "void") and before:
        return (_enter(_mended(kind, number, today, before[number % len(before)])),)
    if kind == "late":
        true = (_stock if number % 2 else _document)(number, today)
        return (_enter(msgspec.structs.replace(true, effective=(today - timedelta(days=1 + number % 5)).isoformat())),)
    return (_enter(_PLAIN.get(kind, _extinguisher)(number, today)),)


# --- details -------------------------------------------------------------------------------------


def _mended(kind: str, number: int, today: date, wrong: LineAsk) -> LineAsk:
    said = {"corrects": wrong.id, "reason": "digitei errado", "effective": wrong.effective}
    if kind == "void":
        return _line(number, wrong.register, wrong.subject, "void", {}, **said)
    return _line(number, wrong.register, wrong.subject, wrong.act, _again(wrong, number, today).values, **said)


def _again(wrong: LineAsk, number: int, today: date) -> LineAsk:
    if wrong.register == "stock":
        return _stock(number, today, wrong.act)
    return (_document if wrong.register == "document" else _extinguisher)(number, today)


def _extinguisher(number: int, today: date) -> LineAsk:
    held = (today + timedelta(days=LEFT_DAYS[number % len(LEFT_DAYS)])).isoformat()
    values: dict[str, Value] = {
        "area": AREA, "agent": "powder-bc", "charge_kg": "12", "present": number % 11 != 0, "sealed": True,
        "charge_until": held, "hydrostatic_until": "2030-01-31", "inspected_on": today.isoformat(),
    }  # fmt: skip
    return _line(number, "extinguisher", f"EXT-{number % 4}", "record", values)


def _document(number: int, today: date) -> LineAsk:
    held = (today + timedelta(days=LEFT_DAYS[number % len(LEFT_DAYS)])).isoformat()
    kind = ("operating-licence", "fire-brigade-inspection", "anp-registration")[number % 3]
    values: dict[str, Value] = {"kind": kind, "valid_until": held, "no_expiry": False, "revoked": number % 13 == 0}
    return _line(number, "document", kind, "record", values)


def _stock(number: int, _: date, act: str = "in") -> LineAsk:
    values: dict[str, Value] = {"size_kg": SIZE, "state": "full", "units": 20 + number % 120}
    return _line(number, "stock", AREA, act, values)


def _line(number: int, register: str, subject: str, act: str, values: dict[str, Value], **more: str) -> LineAsk:
    return LineAsk(register, subject, act, values, id=f"p{number}", **more)


def _enter(line: LineAsk) -> Enter:
    return Enter(1, PERSON, (line,), anyway=True)


def _listed(number: int, _: date) -> LineAsk:
    values: dict[str, Value] = {f"{things}_listed": True for things in ("extinguishers", "documents")}
    return _line(number, "depot", "depot", "record", values)


_PLAIN: Final[Mapping[str, Callable[[int, date], LineAsk]]] = {
    "extinguisher": _extinguisher,
    "document": _document,
    "stock": _stock,
    "stock-out": lambda number, today: _stock(number, today, "out"),
    "round": _listed,
}
