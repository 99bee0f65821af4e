"""``vigia report``: the compliance history of a time, for whoever inspects the depot; running or not."""

import json
import sys
import time
from pathlib import Path
from typing import Literal

import click

from gateway.commands.reasons import why
from gateway.commands.talk import EXIT_FAILED, Talk, file_argument, load_or_exit
from gateway.machine.wholefile import whole


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""

    def make(file: Path, start: str, end: str, form: Literal["json", "csv"], output: Path | None) -> None:
        depot = load_or_exit(talk, file, as_json=form == "json", secrets=False).depot
        from compliance.registers.entries import Millis
        from dashboards.reports.tables import tables
        from gateway.commands.locale import phrases_of
        from gateway.commands.moments import moment
        from gateway.journal.errors import StoreError
        from gateway.office.bygone import Told
        from gateway.office.report import report

        first = Millis(moment(talk, start, depot.timezone) * 1000)
        beyond = Millis(moment(talk, end, depot.timezone, beyond=True) * 1000)
        if beyond <= first:
            raise click.UsageError(talk.text("report.backwards", start=start, end=end))
        if first > time.time_ns() // 1_000_000:
            raise click.UsageError(talk.text("report.to_come", start=start))
        try:
            found = report(depot, first, beyond, Millis(time.time_ns() // 1_000_000))
            text = (
                tables(found, phrases_of(depot.language, depot))
                if form == "csv"
                else json.dumps(found, ensure_ascii=False, indent=1) + "\n"
            )
            if output is None:
                sys.stdout.buffer.write(text.encode())
                sys.stdout.buffer.flush()
            else:
                with whole(output) as out:
                    out.write(text.encode())
        except (StoreError, OSError) as error:
            talk.say("report.none", reason=why(talk, error))
            click.get_current_context().exit(EXIT_FAILED)
        if output is not None:
            breaches = [one for one in found["breaches"] if one["past"] != Told.NEVER_WAS.value]
            talk.say("report.done", file=output, breaches=len(breaches), alarms=len(found["alarms"]))

    forms = click.Choice(["json", "csv"])
    params: list[click.Parameter] = [
        file_argument(),
        click.Option(["--from", "start"], required=True, metavar="DATE", help=talk.text("report.from")),
        click.Option(["--to", "end"], required=True, metavar="DATE", help=talk.text("report.to")),
        click.Option(["--format", "form"], type=forms, default="json", help=talk.text("report.format")),
        click.Option(["-o", "--output"], type=click.Path(path_type=Path), help=talk.text("report.output")),
    ]
    return click.Command("report", callback=make, help=talk.text("command.report"), params=params)
