"""``vigia register``: what is on record of extinguishers, documents, containers and the rest, and how it gets there."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gateway.commands import survey
from gateway.commands.officetalk import (
    ask_or_exit,
    by_option,
    content_or_exit,
    effective_option,
    on_options,
    tell_counts,
)
from gateway.commands.talk import Talk, file_argument, json_option

if TYPE_CHECKING:
    from dashboards.conformity.phrases import Phrases
    from gateway.depot import Depot

MOST_LINES = 20
"""Of a sheet that changed nothing, named by their numbers."""


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""
    group = click.Group("register", help=talk.text("command.register"))
    for build in (_fields, _show, _set, _remove, _void, _history, _import, _template, _attach):
        group.add_command(build(talk))
    group.add_command(survey.command(talk))
    return group


def _fields(talk: Talk) -> click.Command:
    def fields(file: Path, register: str | None, *, as_json: bool) -> None:
        from dashboards.office import Look

        register = register and register_named(talk, register)
        _, forms = ask_or_exit(talk, file, Look(1, "forms"), as_json=as_json)
        chosen = [form for form in forms if register in (None, form["register"])]
        if not chosen:
            raise click.UsageError(talk.text("register.unknown", names=", ".join(form["register"] for form in forms)))
        if as_json:
            talk.put_json(chosen)
            return
        for form in chosen:
            name = f"thing.{form['register']}"
            talk.put(f"{form['register']} ({talk.text(name)})" if name in talk.words else form["register"])
            for field in form["fields"]:
                label = field["label"].get(talk.words.language, field["name"])
                words = [words.get(talk.words.language) or choice for choice, words in field["choices"].items()]
                holds = ", ".join(words) or talk.text(f"holds.{field['type']}")
                talk.put(f"  {field['name']:<28} {label} ({holds})")

    return click.Command(
        "fields",
        callback=fields,
        help=talk.text("register.fields"),
        params=[file_argument(), click.Argument(["register"], required=False), json_option(talk)],
    )


def _show(talk: Talk) -> click.Command:
    def show(file: Path, register: str, *, on: str, known: str, as_json: bool) -> None:
        from dashboards.office import Look

        register = register_named(talk, register)
        depot, held = ask_or_exit(talk, file, Look(1, "register", name=register, on=on, known=known), as_json=as_json)
        if as_json:
            talk.put_json(held)
            return
        from gateway.commands.locale import phrases_of

        phrases = phrases_of(talk.words.language, depot)
        for one in held:
            talk.put(f"{one['subject']}  {_values_line(register, one['values'], phrases)}")
        if not held:
            talk.say("register.empty")

    params = [file_argument(), click.Argument(["register"]), *on_options(talk), json_option(talk)]
    return click.Command("show", callback=show, help=talk.text("register.show"), params=params)


def _set(talk: Talk) -> click.Command:
    def record(
        file: Path,
        register: str,
        subject: str,
        fields: tuple[str, ...],
        *,
        by: str,
        effective: str,
        expect: str,
        corrects: str,
        reason: str,
        as_json: bool,
    ) -> None:
        from dashboards.office import Enter, LineAsk

        register, values = register_named(talk, register), _values(talk, fields)
        line = LineAsk(register, subject, "record", values, effective, expect=expect, corrects=corrects, reason=reason)
        depot, data = ask_or_exit(talk, file, Enter(1, by, (line,)), as_json=as_json)
        _entered(talk, data, depot, as_json=as_json)

    return click.Command(
        "set",
        callback=record,
        help=talk.text("register.set"),
        params=[
            file_argument(),
            click.Argument(["register"]),
            click.Argument(["subject"]),
            click.Argument(["fields"], nargs=-1, required=True, metavar="FIELD=VALUE..."),
            by_option(talk),
            effective_option(talk),
            click.Option(["--expect"], default="", metavar="ID", help=talk.text("register.expect")),
            click.Option(["--corrects"], default="", metavar="ID", help=talk.text("register.corrects")),
            click.Option(["--reason"], default="", help=talk.text("register.reason")),
            json_option(talk),
        ],
    )


def _remove(talk: Talk) -> click.Command:
    def remove(file: Path, register: str, subject: str, *, by: str, effective: str, reason: str, as_json: bool) -> None:
        from dashboards.office import Enter, LineAsk

        register = register_named(talk, register)
        line = LineAsk(register, subject, "remove", {}, effective, reason=reason)
        depot, data = ask_or_exit(talk, file, Enter(1, by, (line,)), as_json=as_json)
        _entered(talk, data, depot, as_json=as_json)

    return click.Command(
        "remove",
        callback=remove,
        help=talk.text("register.remove"),
        params=[
            file_argument(),
            click.Argument(["register"]),
            click.Argument(["subject"]),
            by_option(talk),
            effective_option(talk),
            click.Option(["--reason"], default="", help=talk.text("register.reason")),
            json_option(talk),
        ],
    )


def _void(talk: Talk) -> click.Command:
    def void(file: Path, register: str, subject: str, entry: str, *, by: str, reason: str, as_json: bool) -> None:
        from dashboards.office import Enter, LineAsk

        register = register_named(talk, register)
        line = LineAsk(register, subject, "void", corrects=entry, reason=reason)
        depot, data = ask_or_exit(talk, file, Enter(1, by, (line,)), as_json=as_json)
        _entered(talk, data, depot, as_json=as_json)

    return click.Command(
        "void",
        callback=void,
        help=talk.text("register.void"),
        params=[
            file_argument(),
            click.Argument(["register"]),
            click.Argument(["subject"]),
            click.Argument(["entry"]),
            by_option(talk),
            click.Option(["--reason"], required=True, help=talk.text("register.reason")),
            json_option(talk),
        ],
    )


def _history(talk: Talk) -> click.Command:
    def history(file: Path, register: str, subject: str, *, as_json: bool) -> None:
        from dashboards.office import Look

        register = register_named(talk, register)
        look = Look(1, "history", name=register, subject=subject)
        depot, entries = ask_or_exit(talk, file, look, as_json=as_json)
        if as_json:
            talk.put_json(entries)
            return
        from gateway.commands.locale import phrases_of

        phrases = phrases_of(talk.words.language, depot)
        gone = {entry["corrects"] for entry in entries if entry["corrects"]}
        void = {entry["corrects"] for entry in entries if entry["act"] == "void"}
        for entry in entries:
            marks = _marks(talk, entry, phrases, gone=gone, void=void)
            told = (phrases.moment(entry["effective"]), entry["id"], talk.text(f"act.{entry['act']}"))
            values = _values_line(register, entry["values"], phrases)
            other = "" if entry["subject"] == subject else talk.text("register.from", area=entry["subject"])
            talk.put("  ".join(filter(None, (*told, values, other, entry["by"], *marks))))
        if not entries:
            talk.say("register.empty")

    params = [file_argument(), click.Argument(["register"]), click.Argument(["subject"]), json_option(talk)]
    return click.Command("history", callback=history, help=talk.text("register.history"), params=params)


def _import(talk: Talk) -> click.Command:
    def bring(
        file: Path,
        register: str,
        sheet: Path,
        *,
        by: str,
        effective: str,
        marks: str | None,
        dry_run: bool,
        as_json: bool,
    ) -> None:
        from dashboards.office import Import

        style: Any = marks or ""
        register = register_named(talk, register)
        ask = Import(1, by, register, content_or_exit(talk, sheet), style, effective, dry=dry_run)
        depot, data = ask_or_exit(talk, file, ask, as_json=as_json, given=sheet)
        _entered(talk, data, depot, as_json=as_json)

    return click.Command(
        "import",
        callback=bring,
        help=talk.text("register.import"),
        params=[
            file_argument(),
            click.Argument(["register"]),
            click.Argument(["sheet"], metavar="FILE.csv", type=click.Path(exists=True, dir_okay=False, path_type=Path)),
            by_option(talk),
            effective_option(talk),
            click.Option(
                ["--decimal", "marks"],
                type=click.Choice(["comma", "point"]),
                default=None,
                help=talk.text("register.marks"),
            ),
            click.Option(["--dry-run"], is_flag=True, help=talk.text("register.dry")),
            json_option(talk),
        ],
    )


def _attach(talk: Talk) -> click.Command:
    def attach(file: Path, attachment: Path, *, by: str, as_json: bool) -> None:
        from dashboards.office import Attach

        _, data = ask_or_exit(
            talk, file, Attach(1, by, content_or_exit(talk, attachment)), as_json=as_json, given=attachment
        )
        if as_json:
            talk.put_json({"ok": True, **data})
            return
        talk.put(data["attachment"])
        talk.say("register.attached", name=attachment.name, field=f"attachment={data['attachment']}")

    params: list[click.Parameter] = [
        file_argument(),
        click.Argument(["attachment"], type=click.Path(exists=True, dir_okay=False, path_type=Path)),
        by_option(talk),
        json_option(talk),
    ]
    return click.Command("attach", callback=attach, help=talk.text("register.attach"), params=params)


def _template(talk: Talk) -> click.Command:
    def template(register: str) -> None:
        from compliance.registers.forms import template
        from gateway.office.forms import forms, sheet_form

        known = forms()
        register = register_named(talk, register)
        if register not in known:
            raise click.UsageError(talk.text("register.unknown", names=", ".join(known)))
        line = io.StringIO()
        csv.writer(line, delimiter=";").writerow(template(sheet_form(known[register]), talk.words.language))
        talk.put(line.getvalue().rstrip("\r\n"))

    params: list[click.Parameter] = [click.Argument(["register"])]
    return click.Command("template", callback=template, help=talk.text("register.template"), params=params)


def register_named(talk: Talk, name: str) -> str:
    """Return the register that a name means: its own, or what the person's language calls its things (``extintor``)."""
    from compliance.registers.sheets import plain

    called = {plain(word): key.partition(".")[2] for key, word in talk.words.texts.items() if key.startswith("thing.")}
    return name if f"thing.{name}" in talk.words else called.get(plain(name), name)


def _marks(talk: Talk, entry: dict[str, Any], phrases: "Phrases", *, gone: set[str], void: set[str]) -> Iterator[str]:
    """What a reader of an entry must know: that it no longer counts, what it corrects and why, that it came late."""
    if entry["id"] in void:
        yield talk.text("register.is_void")
    elif entry["id"] in gone:
        yield talk.text("register.is_corrected")
    if entry["corrects"]:
        yield talk.text("register.of", id=entry["corrects"], reason=entry["reason"])
    elif entry["reason"]:
        yield talk.text("register.why", reason=entry["reason"])
    if entry["late"]:
        yield talk.text("register.late", at=phrases.moment(entry["recorded"]))


def _values(talk: Talk, fields: tuple[str, ...]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for field in fields:
        name, found, text = field.partition("=")
        if not found:
            raise click.UsageError(talk.text("register.field_form", got=field))
        values[name.strip()] = text if text.strip() else None
    return values


def _entered(talk: Talk, data: dict[str, Any], depot: "Depot", *, as_json: bool) -> None:
    if as_json:
        talk.put_json({"ok": True, **data})
        return
    for entry in data["entered"]:
        talk.put(entry)
    if unchanged := data["unchanged"]:
        lines = ", ".join(str(one["line"]) for one in unchanged[:MOST_LINES])
        more = talk.text("register.unchanged_more") if len(unchanged) > MOST_LINES else ""
        talk.say("register.unchanged", count=len(unchanged), lines=lines + more)
    tell_counts(talk, data["discrepancies"], depot)
    talk.say("register.would_enter" if data["dry"] else "register.entered", count=len(data["entered"]))


def _values_line(register: str, values: dict[str, Any], phrases: "Phrases") -> str:
    """The values by the names that `set` takes, each as people say it."""
    kind = "container:" if register == "stock" else f"{register}:"
    return "  ".join(f"{name}={_value_of(kind, name, value, phrases)}" for name, value in values.items())


def _value_of(kind: str, name: str, value: object, phrases: "Phrases") -> str:
    from dashboards.conformity.phrases import OF_AREAS

    if value is None:
        return "-"
    bare = name.removeprefix("to_")
    return str(value) if bare in OF_AREAS else phrases.value(kind, bare, value)
