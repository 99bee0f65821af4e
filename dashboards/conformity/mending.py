"""Forms that mend the record: an entry corrected or made void, a thing that is no longer there. Pure.

Nothing is wiped: what is corrected or void stays in the history, with who mended it and why.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from dashboards.conformity.entering import STOCK, EntryForm, FieldView, as_typed, field_of
from dashboards.conformity.phrases import Phrases
from dashboards.conformity.records import said_of
from dashboards.office import LineAsk, Value

CORRECT, VOID, REMOVE = "corrigir", "anular", "baixa"
"""The ways to mend, as the pages' addresses have them."""

KEPT = ("attachment",)
"""What a correction takes over as it is: a file that was sent does not change."""

ALWAYS = {STOCK: ("size_kg", "state", "units", "brand", "lot")}
"""Fields that a correction offers although the entry did not have them."""


def mending_form(
    way: str,
    register: str,
    subject: str,
    entry: Mapping[str, Any] | None,
    form: Mapping[str, Any],
    areas: Sequence[str],
    phrases: Phrases,
) -> EntryForm:
    """Return the form of a way to mend; `entry` is the one that is corrected or void, None where a thing is removed."""
    t = phrases.locale.text
    thing = phrases.subject(f"{register}:{subject}")
    about = thing if entry is None else f"{thing}: {said_of(register, entry, phrases)}"
    reason = FieldView("reason", t("mend.reason"), hint=t(f"mend.{way}_reason"), needed=True)
    fields: tuple[FieldView, ...] = (reason,)
    when = FieldView("effective", t("entry.when"), "moment")
    if entry is None:
        fields = (reason, replace(when, hint=t("entry.when_hint")))
    elif way == CORRECT:
        own = [
            _field(one, register, entry, areas, phrases)
            for one in form["fields"]
            if _offered(one["name"], register, entry)
        ]
        fields = (*own, replace(when, value=local(entry["effective"], phrases)), reason)
    hidden = {"register": register, "subject": subject, "entry": "" if entry is None else entry["id"]}
    return EntryForm(
        way,
        t(f"mend.{way}"),
        t(f"mend.{way}_explain", what=about),
        fields,
        hidden=tuple(hidden.items()),
        path=f"/{way}",
    )


def mending_line(
    way: str,
    entry: Mapping[str, Any] | None,
    form: Mapping[str, Any],
    given: Mapping[str, str],
    request: str,
    phrases: Phrases,
) -> LineAsk:
    """Return what a filled form asks the office to enter."""
    register, subject, reason = (given.get(name, "").strip() for name in ("register", "subject", "reason"))
    if entry is None:
        effective = given.get("effective", "")
        return LineAsk(register, subject, "remove", {}, effective, id=request, reason=reason)
    if way == VOID:
        return LineAsk(register, subject, "void", id=request, corrects=entry["id"], reason=reason)
    when = given.get("effective", "")
    if not when or when == local(entry["effective"], phrases):
        when = entry["effective"]  # to the millisecond, as it was
    return LineAsk(
        register,
        subject,
        entry["act"],
        _values(register, entry, form, given),
        when,
        id=request,
        corrects=entry["id"],
        reason=reason,
    )


def mendable(entry: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> bool:
    """Whether an entry still counts, so that it can be corrected or made void."""
    return entry["act"] != "void" and all(other["corrects"] != entry["id"] for other in entries)


def local(at: str, phrases: Phrases) -> str:
    """A time of the office as a field of date and time holds it."""
    return datetime.fromisoformat(at).astimezone(phrases.locale.zone).strftime("%Y-%m-%dT%H:%M")


def _offered(name: str, register: str, entry: Mapping[str, Any]) -> bool:
    return name not in KEPT and (name in entry["values"] or name == "note" or name in ALWAYS.get(register, ()))


def _field(
    one: Mapping[str, Any], register: str, entry: Mapping[str, Any], areas: Sequence[str], phrases: Phrases
) -> FieldView:
    language = phrases.locale.language
    hint = "" if register == STOCK else one["ask"].get(language, "")
    kind = {**one, "field": "area"} if one["name"] == "to_area" else one
    return field_of(
        kind, one["label"].get(language) or one["name"], entry["values"].get(one["name"]), areas, phrases, hint
    )


def _values(
    register: str, entry: Mapping[str, Any], form: Mapping[str, Any], given: Mapping[str, str]
) -> dict[str, Value]:
    """The entry's values with what was typed; a field left as it was keeps its very value, a blank one is not told."""
    values: dict[str, Value] = {}
    for one in form["fields"]:
        name, before = one["name"], entry["values"].get(one["name"])
        if not _offered(name, register, entry):
            if name in entry["values"]:
                values[name] = before
            continue
        text = given.get(name, "").strip()
        plain = text.replace(",", ".") if one["type"] in ("number", "size") else text
        if plain == as_typed(before):
            if name in entry["values"]:
                values[name] = before
        elif text:
            values[name] = int(text) if one["type"] == "integer" and text.isascii() and text.isdigit() else text
    return values
