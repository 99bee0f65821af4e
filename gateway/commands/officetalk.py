"""How the commands of the registers ask the office and tell what it answers. Knows no register."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from gateway.commands.reasons import why
from gateway.commands.talk import EXIT_FAILED, Talk, load_or_exit

if TYPE_CHECKING:
    from dashboards.office import Attach, Enter, Import, Look, Reply
    from gateway.depot import Depot

OPENS_WITHIN_S = 15.0
"""The office opens some seconds after the watch; whoever asks earlier waits for it."""

LOOK_AGAIN_S = 0.2


MOST_BYTES = 8 * 1024 * 1024
"""Of a file that the office takes."""


def ask_or_exit(
    talk: Talk, file: Path, ask: "Enter | Import | Attach | Look", *, as_json: bool, given: Path | None = None
) -> tuple["Depot", Any]:
    """Return the depot and what the office answered; what it refuses is told and ends the command with 1.

    `given`: the file that what is asked was read from, which is named where something in it is wrong.
    """
    depot = load_or_exit(talk, file, as_json=as_json, secrets=False).depot
    reply = _asked(talk, depot, ask)
    if not reply.ok:
        _refuse(talk, depot, ask, reply, as_json=as_json, given=given)
    return depot, reply.data


def content_or_exit(talk: Talk, given: Path) -> bytes:
    """Return what a file holds; one that the office would not take is told of and ends the command with 1."""
    try:
        with given.open("rb") as held:
            content = held.read(MOST_BYTES + 1)
    except OSError as error:
        problem = talk.text("register.cannot_read", file=given, error=why(talk, error.strerror or error))
    else:
        if len(content) <= MOST_BYTES:
            return content
        problem = talk.text("register.too_long", file=given, most=MOST_BYTES // 1024**2)
    click.secho(problem, err=True, fg="red")
    raise SystemExit(EXIT_FAILED)


def _refuse(
    talk: Talk,
    depot: "Depot",
    ask: "Enter | Import | Attach | Look",
    reply: "Reply",
    *,
    as_json: bool,
    given: Path | None,
) -> NoReturn:
    from dashboards.office import Enter, Look

    alone = isinstance(ask, Enter) and len(ask.lines) == 1
    if as_json and reply.error != "would-break-law":
        talk.put_json({"ok": False, "error": reply.error, "faults": [_fault(talk, fault) for fault in reply.faults]})
    for fault in reply.faults:
        line = talk.text("register.line", line=fault.line) if fault.line and not alone else ""
        where = "" if given is None else f"{given}: "
        click.secho(where + line + _said(talk, fault), err=True, fg="red")
    if reply.error == "would-break-law":
        if as_json:
            talk.put_json({"ok": False, "error": reply.error, **reply.data})
        tell_breaks(talk, reply.data["breaks"], depot)
        talk.say("stock.not_entered")
    elif reply.error == "refused":
        if not isinstance(ask, Look):
            talk.say("register.nothing_entered", count=len(reply.faults))
    elif reply.error == "unsettled":
        talk.say("register.office_unsettled", look=_look_with(ask))
    else:
        talk.say(f"register.office_{reply.error}".replace("-", "_"), detail=reply.data)
    click.get_current_context().exit(EXIT_FAILED)


def tell_breaks(talk: Talk, breaks: list[dict[str, Any]], depot: "Depot") -> None:
    """Say what the law has against a movement: the clause, what it asks, and by how much it is missed."""
    from dashboards.conformity.phrases import HOUSE
    from gateway.commands.locale import phrases_of

    language = "en" if talk.words.language == "en" else "pt"
    for one in breaks:
        law = one["clause"] if one["statute"] == HOUSE else f"{one['citation']}, {one['clause']}"
        margin = one["margin"] or {}
        over = ""
        if margin.get("high") is not None:
            known = "over" if margin["low"] == margin["high"] else "over_at_least"
            by = phrases_of(talk.words.language, depot).amount(margin["high"].lstrip("-"), margin["unit"])
            over = talk.text(f"stock.{known}", over=by)
        text = talk.text("stock.breaks", law=law, text=one["text"][language], over=over)
        click.secho(text, err=True, fg="yellow")


def tell_counts(talk: Talk, found: list[dict[str, Any]], depot: "Depot") -> None:
    """Say what a count found that the book did not have."""
    if not found:
        return
    from dashboards.conformity.stock import said_count
    from gateway.commands.locale import phrases_of

    phrases = phrases_of(talk.words.language, depot)
    for one in found:
        click.secho(phrases.locale.text("stock.found", **said_count(one, phrases)), err=True, fg="yellow")


def by_option(talk: Talk) -> click.Option:
    """``--by``: every entry has a person."""
    return click.Option(["--by"], required=True, metavar="NAME", help=talk.text("register.by"))


def effective_option(talk: Talk) -> click.Option:
    """``--effective``: since when it is true."""
    return click.Option(["--effective"], default="", metavar="DATE", help=talk.text("register.effective"))


def on_options(talk: Talk) -> list[click.Parameter]:
    """``--on`` and ``--known``."""
    return [
        click.Option(["--on"], default="", metavar="DATE", help=talk.text("register.on")),
        click.Option(["--known"], default="", metavar="DATE", help=talk.text("register.known")),
    ]


def _asked(talk: Talk, depot: "Depot", ask: "Enter | Import | Attach | Look") -> "Reply":
    from dashboards.office import Attach, Look
    from gateway.machine.sockets import ControlError, answers
    from gateway.office.door import UnansweredError, ask_office

    until = time.monotonic() + OPENS_WITHIN_S
    while True:
        try:
            return ask_office(depot.office, ask)
        except UnansweredError:
            if isinstance(ask, Attach | Look):  # a file sent twice is kept once
                talk.say("register.office_silent", path=depot.office)
            else:
                talk.say("register.office_unsettled", look=_look_with(ask))
            click.get_current_context().exit(EXIT_FAILED)
        except ControlError:
            if time.monotonic() > until or not answers(depot.socket):
                talk.say("register.no_office", path=depot.office)
                click.get_current_context().exit(EXIT_FAILED)
        time.sleep(LOOK_AGAIN_S)


def _look_with(ask: "Enter | Import | Attach | Look") -> str:
    """The command that shows whether an entry went in."""
    from dashboards.office import Enter, Import
    from gateway.office.desk import STOCK

    match ask:
        case Enter(lines=(line, *_)):
            return f"vigia register history depot.toml {line.register} {line.subject}"
        case Import(register=register) if register != STOCK:
            return f"vigia register show depot.toml {register}"
        case _:
            return "vigia stock show depot.toml"


def _fault(talk: Talk, fault: Any) -> dict[str, Any]:  # noqa: ANN401 - dashboards.office.Fault, imported late
    return {
        "line": fault.line,
        "field": fault.field,
        "problem": fault.problem,
        "got": fault.got,
        "right": fault.right,
        "text": _said(talk, fault),
    }


def _said(talk: Talk, fault: Any) -> str:  # noqa: ANN401 - as above
    return str(fault.texts.get(talk.words.language) or fault.problem)
