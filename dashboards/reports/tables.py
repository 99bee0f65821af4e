"""A report as tables for a spreadsheet: one file, a title above each, local times, the depot's language. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dashboards.sheet import MARK, local, quoted
from dashboards.wording import Locale

VERDICTS = ("statute", "clause", "rule", "subject", "verdict", "since", "margin", "holds_until", "due", "verdict_then")
BREACHES = ("statute", "clause", "rule", "subject", "severity", "begun", "ended", "duration_s", "done")
ALARMS = (
    "id", "subject", "kind", "level", "drill", "peak_lel_pct", "sampled", "first_output_ms", "sounded_ms",
    "acknowledged", "acknowledged_by", "acknowledged_after_s", "cleared", "reset", "reset_by",
)  # fmt: skip
STOCK = ("area", "lot", "size_kg", "state", "brand", "place", "units")
LEDGER = ("detector", "month", "seconds", "watched_pct", "blind_pct", "inhibited_pct", "in_test_pct", "off_pct")
GAPS = ("detector", "state", "start", "end", "seconds", "cause", "by")
REGISTERS = ("register", "subject", "field", "value", "by", "effective")
TIMES = frozenset({"begun", "ended", "sampled", "acknowledged", "cleared", "reset", "start", "end", "effective"})


def tables(report: Mapping[str, Any], locale: Locale) -> str:
    """Return every table of a report, parted by an empty line."""
    depot, proof = report["depot"], report["journal"]
    head = [
        ("depot", depot["name"]),
        ("address", depot["address"]),
        ("from", local(report["from"], locale)),
        ("to", local(report["to"], locale)),
        ("timezone", report["timezone"]),
        ("made", local(report["made"], locale)),
        ("entries", str(proof["entries"])),
        ("root", proof["root"]),
        ("problems", "; ".join(proof["problems"]) or locale.text("report.none")),
    ]
    parts = [
        "".join(_line((locale.text(f"report.{name}"), value)) for name, value in head),
        _table("verdicts", VERDICTS, (_verdict(one) for one in report["verdicts"]["findings"]), locale),
        _table("breaches", BREACHES, (_breach(one) for one in report["breaches"]), locale),
        _table("alarms", ALARMS, report["alarms"], locale),
        _table("stock", STOCK, (pile for area in report["stock"]["areas"] for pile in area["piles"]), locale),
        _table("registers", REGISTERS, _registers(report["registers"]), locale),
        _table("ledger", LEDGER, report["ledger"], locale),
        _table("gaps", GAPS, report["gaps"], locale),
    ]
    return MARK + "\r\n".join(parts)


def _table(title: str, names: Sequence[str], rows: Iterable[Mapping[str, Any]], locale: Locale) -> str:
    lines = [_line((locale.text(f"report.{title}"),)), _line(locale.text(f"report.column.{name}") for name in names)]
    lines += [_line(_cell(name, row.get(name), locale) for name in names) for row in rows]
    return "".join(lines)


def _line(cells: Iterable[str]) -> str:
    return ";".join(quoted(cells)) + "\r\n"


def _cell(name: str, value: object, locale: Locale) -> str:
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return locale.text("report.yes" if value else "report.no")
    if name in TIMES and isinstance(value, str):
        return local(value, locale)
    if name in ("verdict", "verdict_then"):
        return locale.text(f"report.{value}")
    if isinstance(value, float):
        return locale.number(value, 3)
    return str(value)


def _verdict(one: Mapping[str, Any]) -> dict[str, Any]:
    margin = one["margin"]
    low = None if margin is None else margin["low"]
    return {**one, "margin": "" if low is None else f"{low} {margin['unit']}"}


def _breach(one: Mapping[str, Any]) -> dict[str, Any]:
    done = ", ".join(f"{step['register']} {step['subject']}" for step in one["done"])
    return {**one, "done": done}


def _registers(registers: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    for name, held in registers.items():
        for one in held:
            for field, value in one["values"].items():
                told = one["told"][field]
                yield {
                    "register": name,
                    "subject": one["subject"],
                    "field": field,
                    "value": value,
                    "by": told["by"],
                    "effective": told["effective"],
                }
