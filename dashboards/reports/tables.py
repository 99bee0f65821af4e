"""A report as tables for a spreadsheet: one file, a title above each, local times, the depot's language. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dashboards.conformity.phrases import Phrases
from dashboards.reports.readable import Readable
from dashboards.sheet import MARK, local, quoted
from dashboards.wording import Locale

VERDICTS = (
    "statute", "clause", "rule", "subject", "verdict", "since", "effective_on", "margin", "holds_until", "due",
    "verdict_then",
)  # fmt: skip
VERDICTS_SAID = ("law", "asked", "thing", "margin_said")
BREACHES = (
    "statute", "clause", "rule", "subject", "severity", "effective_on", "until_on", "begun", "ended", "duration_s",
    "past", "done",
)  # fmt: skip
BREACHES_SAID = ("law", "asked", "thing", "severity_said", "done_said", "evidence_said", "past_said")
ALARMS = (
    "id", "subject", "kind", "level", "drill", "peak_lel_pct", "sampled", "first_output_ms", "sounded_ms",
    "acknowledged", "acknowledged_by", "acknowledged_after_s", "cleared", "reset", "reset_by",
)  # fmt: skip
ALARMS_SAID = ("thing", "kind_said", "reason_said")
STOCK = ("area", "lot", "size_kg", "state", "brand", "place", "units", "area_said", "state_said", "place_said")
LEDGER = (
    "detector", "month", "seconds", "watched_pct", "blind_pct", "inhibited_pct", "in_test_pct", "off_pct",
    "out_of_service_pct", "thing",
)  # fmt: skip
GAPS = ("detector", "state", "start", "end", "seconds", "cause", "by", "state_said", "cause_said", "thing")
REGISTERS = ("register", "subject", "field", "value", "by", "effective")
REGISTERS_SAID = ("register_said", "thing", "field_said", "value_said", "recorded", "late")
COUNTS = ("at", "area", "lot", "size_kg", "state", "brand", "place", "booked", "counted", "off", "by")
COUNTS_SAID = ("area_said", "state_said", "place_said")
MOVEMENTS = ("size_kg", "state", "brand", "opening", "in", "out", "changed", "recounted", "closing", "state_said")
MENDED = ("recorded", "register", "subject", "act", "entry", "corrects", "reason", "by", "thing", "act_said")
TIMES = frozenset(
    {"at", "recorded", "begun", "ended", "sampled", "acknowledged", "cleared", "reset", "start", "end", "effective"}
)


def tables(report: Mapping[str, Any], phrases: Phrases) -> str:
    """Return every table of a report, parted by an empty line: ids and keys first, then what they mean in words."""
    depot, proof, locale = report["depot"], report["journal"], phrases.locale
    said = Readable.of(report, phrases)
    piles = (pile for area in report["stock"]["areas"] for pile in area["piles"])
    found = (_verdict(said.verdict(one)) for one in report["verdicts"]["findings"])
    broken = (_breach(said.breach(one)) for one in report["breaches"])
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
        _table("verdicts", (*VERDICTS, *VERDICTS_SAID), found, locale),
        _table("breaches", (*BREACHES, *BREACHES_SAID), broken, locale),
        _table("alarms", (*ALARMS, *ALARMS_SAID), map(said.alarm, report["alarms"]), locale),
        _table("stock", STOCK, map(said.pile, piles), locale),
        _table("counts", (*COUNTS, *COUNTS_SAID), map(said.count, _within(report)), locale),
        _table("movements", MOVEMENTS, map(said.movement, report["movements"]), locale),
        _table("mended", MENDED, map(said.mended, report["mended"]), locale),
        _table("registers", (*REGISTERS, *REGISTERS_SAID), said.registered(report["registers"]), locale),
        _table("ledger", LEDGER, map(said.watched, report["ledger"]), locale),
        _table("gaps", GAPS, map(said.gap, report["gaps"]), locale),
    ]
    return MARK + "\r\n".join(parts)


MONTH = ("size_kg", "state", "brand", "opening", "in", "out", "changed", "recounted", "closing")


def month_sheet(rows: Iterable[Mapping[str, Any]], phrases: Phrases) -> str:
    """Return a month's map of movements (MCMM) as a spreadsheet takes it, states in words."""
    said = ({**row, "state": phrases.state(row["state"]), "recounted": row["counted"]} for row in rows)
    lines = [_line(phrases.locale.text(f"report.column.{name}") for name in MONTH)]
    lines += [_line(_cell(name, row[name], phrases.locale) for name in MONTH) for row in said]
    return MARK + "".join(lines)


def _within(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The counts of the report's time that found other than the book."""
    start = report["from"]
    return [one for one in report["stock"]["discrepancies"] if one.get("at", start) >= start]


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
        return locale.text(f"verdict.{value}")
    if isinstance(value, float):
        return locale.number(value, 3)
    return str(value)


def _verdict(one: Mapping[str, Any]) -> dict[str, Any]:
    margin = one["margin"]
    low = None if margin is None else margin["low"]
    said = {"margin": "" if low is None else f"{low} {margin['unit']}", "effective_on": one.get("effective")}
    return {**one, **said}


def _breach(one: Mapping[str, Any]) -> dict[str, Any]:
    done = ", ".join(f"{step['register']} {step['subject']}" for step in one["done"])
    return {**one, "done": done, "effective_on": one.get("effective"), "until_on": one.get("until")}
