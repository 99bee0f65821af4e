"""What the registers hold, and everything that was told of one thing. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboards.conformity.phrases import Phrases


@dataclass(frozen=True, slots=True)
class Line:
    """One thing told: a heading and its value. `attachment` is the file's name where it is one."""

    what: str
    value: str
    attachment: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """One entry: when it was true, who told it, and what it said.

    Attributes:
        counts: it is neither void nor corrected.
        subject: whose entry it is: of another area, where that one handed stock over.
    """

    when: str
    by: str
    mark: str
    lines: tuple[Line, ...]
    id: str = ""
    counts: bool = True
    subject: str = ""


@dataclass(frozen=True, slots=True)
class RecordView:
    """One thing of a register."""

    lines: tuple[Line, ...]
    history: tuple[Kept, ...]


@dataclass(frozen=True, slots=True)
class RegisterView:
    """One register's things, each with its id and a few of its values."""

    register: str
    title: str
    things: tuple[tuple[str, str, str], ...]


STOCK = "stock"
SHOWN = 4
"""How many values a row of the list shows."""


def records_view(held: Mapping[str, Sequence[Mapping[str, Any]]], phrases: Phrases) -> tuple[RegisterView, ...]:
    """List every register that holds something."""
    return tuple(
        RegisterView(
            register,
            phrases.locale.words.get(f"register.{register}", register),
            tuple(
                (one["subject"], phrases.subject(f"{register}:{one['subject']}"), _brief(register, one, phrases))
                for one in things
            ),
        )
        for register, things in held.items()
        if things
    )


def history_view(
    register: str,
    subject: str,
    held: Mapping[str, Any] | None,
    entries: Sequence[Mapping[str, Any]],
    phrases: Phrases,
) -> RecordView:
    """Say what stands of a thing and everything that was ever told of it, the latest first."""
    gone = {entry["corrects"] for entry in entries if entry["corrects"]}
    return RecordView(
        () if held is None else _lines(register, held["values"], phrases),
        tuple(_kept(register, entry, phrases, subject, void=entry["id"] in gone) for entry in reversed(entries)),
    )


def _kept(register: str, entry: Mapping[str, Any], phrases: Phrases, subject: str = "", *, void: bool) -> Kept:
    text = phrases.locale.text
    marks = [
        text("record.void") if void or entry["act"] == "void" else "",
        text("record.removed") if entry["act"] == "remove" else "",
        text(f"act.{entry['act']}") if register == STOCK and entry["act"] != "void" else "",
        text("record.from", what=phrases.area(entry["subject"])) if subject not in ("", entry["subject"]) else "",
        text("record.late") if entry["late"] else "",
        phrases.locale.words.get(f"source.{entry['source']}", ""),
        entry["reason"],
    ]
    return Kept(
        when=phrases.moment(entry["effective"]),
        by=_told_by(entry, phrases),
        mark=" · ".join(filter(None, marks)),
        lines=_lines(register, entry["values"], phrases),
        id=entry["id"],
        counts=not void and entry["act"] != "void",
        subject=entry["subject"],
    )


def _told_by(entry: Mapping[str, Any], phrases: Phrases) -> str:
    """Who told it, and when, where that is another minute than the one in which it was true."""
    told = phrases.moment(entry["recorded"])
    if told == phrases.moment(entry["effective"]):
        return phrases.locale.text("record.by", by=entry["by"])
    return phrases.locale.text("record.by_on", by=entry["by"], told=told)


def said_of(register: str, entry: Mapping[str, Any], phrases: Phrases) -> str:
    """Say one entry in a line: its day, who told it, and what."""
    kept = _kept(register, entry, phrases, void=False)
    values = ", ".join(f"{line.what}: {line.value}" for line in kept.lines)
    return f"{kept.when} {kept.by}, {values}" if values else f"{kept.when} {kept.by}"


def _lines(register: str, values: Mapping[str, Any], phrases: Phrases) -> tuple[Line, ...]:
    return tuple(_line(register, name, value, phrases) for name, value in values.items())


def _line(register: str, name: str, value: object, phrases: Phrases) -> Line:
    if name == "attachment":
        return Line(
            phrases.locale.text("entry.attachment_kept"), "" if value is None else str(value)[:12], str(value or "")
        )
    kind = "container:" if register == STOCK else f"{register}:"
    known = f"entry.{'size' if name == 'size_kg' else name}"
    own = register == STOCK or name == "note"
    heading = phrases.locale.text(known) if own and known in phrases.locale.words else phrases.fact(kind, name)
    if register == STOCK and name == "size_kg" and value is not None:
        return Line(heading, f"P-{phrases.number(str(value))}")
    if name == "to_area" and isinstance(value, str):
        return Line(heading, phrases.area(value))
    return Line(heading, phrases.value(kind, name.removeprefix("to_"), value))


def _brief(register: str, one: Mapping[str, Any], phrases: Phrases) -> str:
    lines = [_line(register, name, value, phrases) for name, value in one["values"].items() if value is not None]
    return " · ".join(f"{line.what}: {line.value}" for line in lines[:SHOWN])
