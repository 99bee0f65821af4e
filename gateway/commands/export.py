"""``vigia export``: readings of the past as CSV or JSON lines."""

import contextlib
import io
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TextIO

import click

from gateway.commands.moments import moment
from gateway.commands.reasons import why
from gateway.commands.talk import EXIT_FAILED, Talk, file_argument, load_or_exit
from gateway.machine.wholefile import whole


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""

    def export(
        file: Path,
        start: str,
        end: str | None,
        form: Literal["csv", "jsonl"],
        output: Path | None,
        detectors: tuple[str, ...],
    ) -> None:
        depot = load_or_exit(talk, file, secrets=False).depot
        first = moment(talk, start, depot.timezone)
        last = int(time.time()) + 1 if end is None else moment(talk, end, depot.timezone)
        if last <= first:
            raise click.UsageError(talk.text("readings.backwards"))
        from gateway.journal.errors import StoreError
        from gateway.recording import readings_path
        from gateway.store.history import ReadingsHistory
        from gateway.store.past import kept, write_csv, write_jsonl

        write = {"csv": write_csv, "jsonl": write_jsonl}[form]
        try:
            with contextlib.ExitStack() as stack:
                history = stack.enter_context(ReadingsHistory(readings_path(depot)))
                known = history.detectors()
                unknown = [name for name in detectors if name not in known]
                if unknown:
                    raise click.UsageError(talk.text("export.unknown", ids=", ".join(unknown), known=", ".join(known)))
                out = sys.stdout if output is None else stack.enter_context(_text_of(output))
                count = write(kept(history, detectors or known, first, last), out)
        except StoreError as error:
            talk.say("readings.none", reason=why(talk, error))
            click.get_current_context().exit(EXIT_FAILED)
        talk.say("export.done", count=count)

    params: list[click.Parameter] = [
        file_argument(),
        click.Option(["--from", "start"], required=True, help=talk.text("export.from")),
        click.Option(["--to", "end"], help=talk.text("backfill.to")),
        click.Option(
            ["--format", "form"], type=click.Choice(["csv", "jsonl"]), default="csv", help=talk.text("export.format")
        ),
        click.Option(["-o", "--output"], type=click.Path(path_type=Path), help=talk.text("export.output")),
        click.Option(["--detector", "detectors"], multiple=True, help=talk.text("export.detector")),
    ]
    return click.Command("export", callback=export, help=talk.text("command.export"), params=params)


@contextlib.contextmanager
def _text_of(output: Path) -> Iterator[TextIO]:
    with whole(output) as out:
        text = io.TextIOWrapper(out, encoding="utf-8", newline="")
        yield text
        text.detach()
