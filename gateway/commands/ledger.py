"""``vigia ledger``: what each detector was good for, out of the journal, running or not."""

import sys
import time
from pathlib import Path
from typing import Literal

import click

from gateway.commands.reasons import why
from gateway.commands.talk import EXIT_FAILED, Talk, file_argument, load_or_exit


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""

    def ledger(
        file: Path,
        start: str | None,
        end: str | None,
        form: Literal["text", "json", "csv"],
        table: Literal["stretches", "months"],
        *,
        as_json: bool,
    ) -> None:
        depot = load_or_exit(talk, file, as_json=as_json, secrets=False).depot
        import msgspec

        from dashboards.ledger import months_csv, stretches_csv
        from gateway.commands.figures import month_lines
        from gateway.commands.locale import locale_of
        from gateway.commands.moments import moment
        from gateway.journal.errors import StoreError
        from gateway.ledger.watchbook import ledger as read

        now = time.time_ns() // 1_000_000
        first = None if start is None else moment(talk, start, depot.timezone) * 1000
        last = now if end is None else moment(talk, end, depot.timezone, beyond=True) * 1000
        try:
            view = read(depot.journal, depot.timezone, first, last, now)
        except StoreError as error:
            talk.say("ledger.none", reason=why(talk, error))
            click.get_current_context().exit(EXIT_FAILED)
        if as_json or form == "json":
            talk.put_json(msgspec.to_builtins(view))
        elif form == "csv":
            locale = locale_of(depot.language, depot.timezone)
            text = (months_csv if table == "months" else stretches_csv)(view, locale)
            sys.stdout.buffer.write(text.encode())
            sys.stdout.buffer.flush()
        else:
            for line in month_lines(talk, view.months, locale_of(talk.words.language, depot.timezone)):
                talk.put(line)

    return click.Command("ledger", callback=ledger, help=talk.text("command.ledger"), params=_params(talk))


def _params(talk: Talk) -> list[click.Parameter]:
    return [
        file_argument(),
        click.Option(["--from", "start"], help=talk.text("ledger.from")),
        click.Option(["--to", "end"], help=talk.text("ledger.to")),
        click.Option(
            ["--format", "form"],
            type=click.Choice(["text", "json", "csv"]),
            default="text",
            help=talk.text("ledger.format"),
        ),
        click.Option(
            ["--table"], type=click.Choice(["stretches", "months"]), default="stretches", help=talk.text("ledger.table")
        ),
        click.Option(["--json", "as_json"], is_flag=True, help=talk.text("option.json")),
    ]
